package main

import (
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

// A setupCommand is install, and uninstall where it leaves.
type setupCommand struct {
	setup.Options
	User bool `flag:"user" not:"project"`
	cmd  *cobra.Command
}

func (o *setupCommand) Prepare(cmd *cobra.Command) {
	o.cmd, cmd.ValidArgs = cmd, strings.Split(clientNames, "|")
}

// instructionsText is what a client's agents are told, in Markdown.
func instructionsText(root *cobra.Command) string {
	return "## filebus: what earlier work has found\n\n" + roles()[0].text(root, "- `%s`: %s\n")
}

// Do makes a plan and does it, while no other process of this user does so.
func (o *setupCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	o.Version, o.Guide = versionView().Version, instructionsText(o.cmd.Root())
	o.Root, o.Home, o.Getenv = w.Dir, w.Home(), w.Getenv
	if at, _ := materialize.Locate(w.Dir, "", w.Home()); at.Root != "" { // a store is not needed
		o.Root = at.Root
	}
	do := func() error {
		p, err := setup.New(args[0], o.Options)
		if err == nil && !o.DryRun {
			err = p.Apply()
		}
		if err == nil {
			err = printPlan(w.Environ, p)
		}
		if err == nil && o.Leave && slices.ContainsFunc(p.Files, func(f *setup.File) bool { return len(f.Kept) > 0 }) {
			err = record.Partly.Errorf("parts that were changed since they were installed are kept; take them out by hand")
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
