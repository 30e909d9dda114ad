package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/setup"
	"filebus/materialize"
	"filebus/store/folder"
	"filebus/store/record"
)

// clientNames are the arguments of install and uninstall.
const clientNames = "claude|codex|cursor|opencode"

// A setupCommand is install, and below uninstall, which leaves.
type setupCommand struct {
	setup.Options
	User bool `flag:"user" not:"project"`
	cmd  *cobra.Command
}

// An uninstallCommand takes filebus out of a client, or out of all, of the project and of the user.
type uninstallCommand struct {
	setupCommand
	All   bool `flag:"all" not:"project"`
	State bool `flag:"state"`
}

func (o *setupCommand) Prepare(cmd *cobra.Command) {
	o.cmd, cmd.ValidArgs = cmd, strings.Split(clientNames, "|")
}

// instructionsText is what a client's agents are told, in Markdown.
func instructionsText(root *cobra.Command) string {
	return "## filebus: what earlier work has found\n\n" + roles()[0].text(root, "- `%s`: %s\n")
}

// locate says where client, project and user keep their files.
func (o *setupCommand) locate(w *cli.Work) {
	o.Version, o.Guide = versionView().Version, instructionsText(o.cmd.Root())
	o.Root, o.Home, o.Getenv = w.Dir, w.Home(), w.Getenv
	if at, _ := materialize.Locate(w.Dir, "", w.Home()); at.Root != "" { // a store is not needed
		o.Root = at.Root
	}
}

func (o *setupCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	o.locate(w)
	return o.each(ctx, w, setup.Installed{Client: args[0], Project: o.Project})
}

func (o *uninstallCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	if o.All == (len(args) == 1) {
		return cli.UsageError("name a client, or all of them with --all")
	}
	if !o.All {
		err := o.setupCommand.Do(ctx, w, args)
		isLeft := func(in setup.Installed) bool { return in.Client == args[0] && in.Project && !o.Project }
		if err == nil && slices.ContainsFunc(o.Installed(), isLeft) {
			w.Note("the project still has filebus: filebus uninstall %s --project", args[0])
		}
		return err
	}
	o.locate(w)
	err := o.each(ctx, w, o.Installed()...)
	if dir := w.StateDir(); dir != "" && cli.IsThere(dir) && err == nil {
		if o.State && !o.DryRun {
			err = w.Forget()
		} else {
			w.Note("%s stays: stores that were opened or trusted, and keys for remotes; uninstall --all --state takes it away", dir)
		}
	}
	w.Note("stores stay, each the folder .filebus of its workspace, and so does the program")
	return err
}

// each makes a plan for each client and does it, while no other process of this user does so.
func (o *setupCommand) each(ctx context.Context, w *cli.Work, all ...setup.Installed) error {
	do := func() (err error) {
		for _, in := range all {
			o.Project = in.Project
			p, planErr := setup.New(in.Client, o.Options)
			if planErr == nil && !o.DryRun {
				planErr = p.Apply()
			}
			if planErr == nil {
				planErr = printPlan(w.Environ, p)
			}
			if planErr == nil && o.Leave && slices.ContainsFunc(p.Files, func(f *setup.File) bool { return len(f.Kept) > 0 }) {
				planErr = record.Partly.Errorf("parts that were changed since they were installed are kept; take them out by hand")
			}
			err = cmp.Or(err, planErr)
		}
		return err
	}
	if dir := filepath.Join(w.StateDir(), "install"); w.StateDir() != "" && os.MkdirAll(dir, 0o700) == nil {
		return alone(ctx, w.Environ, folder.At(dir), do)
	}
	return do() // what another does meanwhile is noticed
}

func printPlan(e *cli.Environ, p *setup.Plan) error {
	if e.Global.JSON {
		return e.PrintJSON(p)
	}
	e.Printf("%s", p.Patch)
	for _, f := range p.Files {
		if !p.DryRun {
			e.PrintTable([][]string{{f.Action, strings.TrimSuffix(f.Path+" -> "+f.Target, " -> ")}})
		}
		for _, why := range f.Kept {
			e.Note("%s: %s, and kept", f.Path, why)
		}
	}
	for _, text := range p.Next {
		e.Note("%s", text)
	}
	if _, err := exec.LookPath("filebus"); err != nil {
		e.Note("there is no filebus in the folders of PATH, where clients look for it: put it into one of them")
	}
	return nil
}
