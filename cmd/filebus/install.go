package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/setup"
	"filebus/materialize"
	"filebus/store/folder"
	"filebus/store/record"
)

// clientNames are the arguments of install and uninstall.
const clientNames = "claude|codex|cursor|opencode"

// setupFlags are the flags of install and uninstall.
type setupFlags struct {
	Hooks        bool `flag:"hooks"`
	MCP          bool `flag:"mcp"`
	Permissions  bool `flag:"permissions"`
	Instructions bool `flag:"instructions"`
	Project      bool `flag:"project"`
	User         bool `flag:"user" not:"project"`
	DryRun       bool `flag:"dry-run"`
	cmd          *cobra.Command
}

func (o *setupFlags) prepare(cmd *cobra.Command) { o.cmd, cmd.ValidArgs = cmd, strings.Split(clientNames, "|") }

// fill says what is put where.
func (o *setupFlags) fill(e *environ, client string, options *setup.Options) error {
	if !slices.Contains(o.cmd.ValidArgs, client) {
		return usageError("%q is none of %s", client, strings.Join(o.cmd.ValidArgs, ", "))
	}
	if e.dir == "" && o.Project {
		return errNoDir
	}
	options.Client, options.Project, options.DryRun = client, o.Project, o.DryRun
	options.Version, options.Guide = versionView().Version, instructionsText(o.cmd.Root())
	options.Root, options.Home, options.Getenv = e.dir, e.home(), e.getenv
	if at, _ := materialize.Locate(e.dir, "", e.home()); at.Root != "" { // a store is not needed
		options.Root = at.Root
	}
	for _, part := range []string{setup.Hooks, setup.MCP, setup.Permissions, setup.Instructions} {
		if isChosen, _ := o.cmd.Flags().GetBool(part); isChosen { // each is a flag
			options.Parts = append(options.Parts, part)
		}
	}
	return nil
}

// instructionsText is what a client's agents are told, in Markdown.
func instructionsText(root *cobra.Command) string {
	return "## filebus: what earlier work has found\n\n" + roles()[0].text(root, "- `%s`: %s\n")
}

// carryOut makes a plan and does it, while no other process of this user does so.
func (o *setupFlags) carryOut(ctx context.Context, w *workspace, client string, options setup.Options) (p *setup.Plan, err error) {
	if err := o.fill(w.environ, client, &options); err != nil {
		return nil, err
	}
	do := func() error {
		if p, err = setup.New(options); err == nil && !o.DryRun {
			err = p.Apply()
		}
		return err
	}
	if dir := filepath.Join(w.stateDir(), "install"); w.stateDir() == "" || os.MkdirAll(dir, 0o700) != nil {
		err = do() // what another does meanwhile is noticed
	} else {
		err = w.alone(ctx, folder.At(dir), do)
	}
	switch {
	case err != nil:
		return nil, err
	case w.global.json:
		return p, w.printJSON(p)
	}
	w.printf("%s", p.Patch)
	for _, f := range p.Files {
		if !o.DryRun {
			w.printTable([][]string{{f.Action, strings.TrimSuffix(f.Path+" -> "+f.Target, " -> ")}})
		}
		for _, why := range f.Kept {
			w.note("%s: %s, and kept", f.Path, why)
		}
	}
	for _, text := range p.Next {
		w.note("%s", text)
	}
	return p, nil
}

type installCommand struct {
	setupFlags
	Prompts bool `flag:"prompt-context"`
}

func (o *installCommand) run(ctx context.Context, w *workspace, args []string) error {
	_, err := o.carryOut(ctx, w, args[0], setup.Options{Prompts: o.Prompts})
	if _, missing := exec.LookPath("filebus"); missing != nil && err == nil {
		w.note("there is no filebus in the folders of PATH, where clients look for it: put it into one of them")
	}
	return err
}

type uninstallCommand struct {
	setupFlags
	Force bool `flag:"force"`
}

func (o *uninstallCommand) run(ctx context.Context, w *workspace, args []string) error {
	p, err := o.carryOut(ctx, w, args[0], setup.Options{Leave: true, Force: o.Force})
	if err == nil && !o.Force && slices.ContainsFunc(p.Files, func(f *setup.File) bool { return len(f.Kept) > 0 }) {
		scope := map[bool]string{true: " --project"}[o.Project]
		return record.Partly.Errorf("what was changed since it was installed is kept").
			Try("filebus uninstall {1}"+scope+" --force removes it too", args[0])
	}
	return err
}
