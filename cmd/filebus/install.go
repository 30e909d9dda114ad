package main

import (
	"context"
	"errors"
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
	"filebus/store/turnstile"
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

func (o *setupFlags) prepare(cmd *cobra.Command) {
	o.cmd, cmd.ValidArgs = cmd, strings.Split(clientNames, "|")
}

// options returns what is put where.
func (o *setupFlags) options(e *environ, client string) (setup.Options, error) {
	options := setup.Options{
		Client: client, Project: o.Project, Version: versionView().Version, Guide: instructionsText(o.cmd.Root()),
		Root: e.dir, Home: e.home(), Getenv: e.getenv,
	}
	if !slices.Contains(o.cmd.ValidArgs, client) {
		return options, usageError("%q is none of %s", client, strings.Join(o.cmd.ValidArgs, ", "))
	}
	for part, isChosen := range map[string]bool{
		setup.Hooks: o.Hooks, setup.MCP: o.MCP, setup.Permissions: o.Permissions, setup.Instructions: o.Instructions,
	} {
		if isChosen {
			options.Parts = append(options.Parts, part)
		}
	}
	slices.Sort(options.Parts)
	if at, _ := materialize.Locate(e.dir, "", e.home()); at.Root != "" { // a store is not needed
		options.Root = at.Root
	}
	if e.dir == "" && o.Project {
		return options, errNoDir
	}
	return options, nil
}

// instructionsText is what a client's agents are told, in Markdown.
func instructionsText(root *cobra.Command) string {
	return "## filebus: what earlier work has found\n\n" + roles()[0].text(root, "- `%s`: %s\n")
}

// carryOut makes a plan and does it, while no other process does.
func (o *setupFlags) carryOut(ctx context.Context, w *workspace, options setup.Options) (p *setup.Plan, err error) {
	err = w.alone(ctx, func() error {
		if p, err = setup.New(options); err == nil && !o.DryRun {
			err = p.Apply()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.DryRun = o.DryRun; p.DryRun {
		p.Patch = p.Diff()
	}
	if w.global.json {
		return p, w.printJSON(p)
	}
	isChanged := false
	w.printf("%s", p.Patch)
	for _, f := range p.Files {
		isChanged = isChanged || f.Action != setup.Unchanged
		if !o.DryRun {
			w.printTable([][]string{{f.Action, strings.TrimSuffix(f.Path+" -> "+f.Target, " -> ")}})
		}
		for _, why := range f.Kept {
			w.note("%s: %s, and kept", f.Path, why)
		}
	}
	next := p.Next
	if !isChanged {
		next = []string{"nothing is to be changed"}
	} else if o.DryRun {
		next = []string{"nothing was changed; without --dry-run it is"}
	}
	for _, text := range next {
		w.note("%s", text)
	}
	return p, nil
}

// alone does something while no other process of this user does so.
func (e *environ) alone(ctx context.Context, do func() error) (err error) {
	dir := filepath.Join(e.stateDir(), "install")
	if e.stateDir() == "" || os.MkdirAll(dir, 0o700) != nil {
		return do() // what another does meanwhile is noticed
	}
	hold, err := turnstile.New(folder.At(dir), e.command).Acquire(ctx, turnstile.Exclusive, e.global.wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	return do()
}

type installCommand struct {
	setupFlags
	Prompts bool `flag:"prompt-context"`
}

func (o *installCommand) run(ctx context.Context, w *workspace, args []string) error {
	options, err := o.options(w.environ, args[0])
	if options.Prompts = o.Prompts; err == nil {
		_, err = o.carryOut(ctx, w, options)
	}
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
	options, err := o.options(w.environ, args[0])
	if err != nil {
		return err
	}
	options.Leave, options.Force = true, o.Force
	p, err := o.carryOut(ctx, w, options)
	if err == nil && !o.Force && slices.ContainsFunc(p.Files, func(f *setup.File) bool { return len(f.Kept) > 0 }) {
		scope := map[bool]string{true: " --project"}[o.Project]
		return record.Partly.Errorf("what was changed since it was installed is kept").
			Try("filebus uninstall {1}"+scope+" --force removes it too", args[0])
	}
	return err
}
