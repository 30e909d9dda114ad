package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/setup"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

func clientNames() string {
	return strings.Join(markdown.Each(setup.Clients(), func(c setup.Client) string { return c.Name }), "|")
}

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
	o.cmd, cmd.ValidArgs = cmd, strings.Split(clientNames(), "|")
}

// options returns what is put where.
func (o *setupFlags) options(e *environ, client string) (setup.Options, error) {
	if !slices.Contains(o.cmd.ValidArgs, client) {
		return setup.Options{}, usageError("%q is none of %s", client, strings.Join(o.cmd.ValidArgs, ", "))
	}
	options := setup.Options{
		Client: client, Project: o.Project, Version: versionView().Version, Guide: instructionsText(o.cmd.Root()),
		Allowed: allowedRules(), Root: e.dir, Home: e.home(), Getenv: e.getenv,
	}
	for _, part := range []struct {
		isChosen bool
		name     string
	}{{o.Hooks, setup.Hooks}, {o.MCP, setup.MCP}, {o.Permissions, setup.Permissions}, {o.Instructions, setup.Instructions}} {
		if part.isChosen {
			options.Parts = append(options.Parts, part.name)
		}
	}
	if e.dir == "" && o.Project {
		return options, errNoDir
	}
	if at, _ := materialize.Locate(e.dir, "", e.home()); o.Project && at.Root != "" { // a store is not needed
		options.Root = at.Root
	}
	return options, nil
}

// instructionsText is what a client's agents are told, in Markdown.
func instructionsText(root *cobra.Command) string {
	return "## filebus: what earlier work has found\n\n" + roles()[0].text(root, "- `%s`: %s\n")
}

// readingCommands that need no question of the client, and tools that are the same.
func allowedRules() (rules []string) {
	for _, path := range []string{"search", "get", "show", "list", "context", "knowledge list", "knowledge show", "task show", "issue list", "guide"} {
		rules = append(rules, "Bash(filebus "+path+" *)")
	}
	for _, tool := range []string{"search", "get", "context"} {
		rules = append(rules, "mcp__plugin_filebus_filebus__"+tool)
	}
	return rules
}

// setupJSON is what install and uninstall print.
type setupJSON struct {
	setup.Plan
	DryRun bool   `json:"dry_run,omitempty"`
	Diff   string `json:"diff,omitempty"`
}

// carryOut makes a plan and does it, while no other process does.
func (o *setupFlags) carryOut(ctx context.Context, w *workspace, plan func() (*setup.Plan, error)) error {
	p, err := plan()
	if err == nil && !o.DryRun {
		err = w.alone(ctx, func() error {
			if p, err = plan(); err != nil { // another may have been faster
				return err
			}
			return p.Apply()
		})
	}
	if err != nil {
		return err
	}
	v := setupJSON{Plan: *p, DryRun: o.DryRun}
	switch {
	case o.DryRun && w.global.json:
		v.Diff = p.Diff()
	case o.DryRun:
		w.printf("%s", p.Diff())
	}
	if w.global.json {
		return w.printJSON(v)
	}
	w.printSetup(&v)
	return nil
}

func (w *workspace) printSetup(v *setupJSON) {
	changed := 0
	for _, f := range v.Files {
		line := []string{f.Action, f.Path}
		if f.Target != "" {
			line[1] += " -> " + f.Target
		}
		if !v.DryRun {
			w.printTable([][]string{line})
		}
		if f.Action != setup.Unchanged {
			changed++
		}
		for _, why := range f.Kept {
			w.note("%s: %s, and kept", f.Path, why)
		}
	}
	switch {
	case changed == 0:
		w.note("nothing is to be changed")
	case v.DryRun:
		w.note("nothing was changed; without --dry-run it is")
	default:
		for _, next := range v.Next {
			w.note("%s", next)
		}
	}
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
	if err != nil {
		return err
	}
	options.Prompts = o.Prompts
	err = o.carryOut(ctx, w, func() (*setup.Plan, error) { return setup.Install(options) })
	if err == nil && !w.isOnPath() {
		w.note("there is no filebus in the folders of PATH, where clients look for it: put it into one of them")
	}
	return err
}

// isOnPath reports whether clients can call the program by its name.
func (e *environ) isOnPath() bool {
	name := "filebus"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return slices.ContainsFunc(filepath.SplitList(e.getenv("PATH")), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
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
	isKept := false
	err = o.carryOut(ctx, w, func() (*setup.Plan, error) {
		p, err := setup.Uninstall(options, o.Force)
		if err == nil {
			isKept = slices.ContainsFunc(p.Files, func(f *setup.File) bool { return len(f.Kept) > 0 })
		}
		return p, err
	})
	if err == nil && isKept && !o.Force {
		return record.Partly.Errorf("what was changed since it was installed is kept").Try("filebus uninstall {1} --force removes it too", args[0])
	}
	return err
}
