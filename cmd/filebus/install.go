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
	setup.Options
	User bool `flag:"user" not:"project"`
	cmd  *cobra.Command
}

func (o *setupFlags) prepare(cmd *cobra.Command) {
	o.cmd, cmd.ValidArgs = cmd, strings.Split(clientNames, "|")
}

// instructionsText is what a client's agents are told, in Markdown.
func instructionsText(root *cobra.Command) string {
	return "## filebus: what earlier work has found\n\n" + roles()[0].text(root, "- `%s`: %s\n")
}

// carryOut makes a plan and does it, while no other process of this user does so.
func (o *setupFlags) carryOut(ctx context.Context, w *workspace, client string) (p *setup.Plan, err error) {
	if !slices.Contains(o.cmd.ValidArgs, client) {
		return nil, usageError("%q is none of %s", client, strings.Join(o.cmd.ValidArgs, ", "))
	}
	if w.dir == "" && o.Project {
		return nil, errNoDir
	}
	o.Version, o.Guide = versionView().Version, instructionsText(o.cmd.Root())
	o.Root, o.Home, o.Getenv = w.dir, w.home(), w.getenv
	if at, _ := materialize.Locate(w.dir, "", w.home()); at.Root != "" { // a store is not needed
		o.Root = at.Root
	}
	do := func() error {
		if p, err = setup.New(client, o.Options); err == nil && !o.DryRun {
			err = p.Apply()
		}
		return err
	}
	if dir := filepath.Join(w.stateDir(), "install"); w.stateDir() == "" || os.MkdirAll(dir, 0o700) != nil {
		err = do() // what another does meanwhile is noticed
	} else {
		err = w.alone(ctx, folder.At(dir), do)
	}
	if err == nil && w.global.json {
		return p, w.printJSON(p)
	}
	if err != nil {
		return nil, err
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
	o.Options.Prompts = o.Prompts
	_, err := o.carryOut(ctx, w, args[0])
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
	o.Options.Leave, o.Options.Force = true, o.Force
	p, err := o.carryOut(ctx, w, args[0])
	if err == nil && !o.Force && slices.ContainsFunc(p.Files, func(f *setup.File) bool { return len(f.Kept) > 0 }) {
		scope := map[bool]string{true: " --project"}[o.Project]
		return record.Partly.Errorf("what was changed since it was installed is kept").
			Try("filebus uninstall {1}"+scope+" --force removes it too", args[0])
	}
	return err
}
