package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type captureOptions struct {
	tree, layout string
	dryRun       bool
	problems     bool
}

func newCaptureCommand(env *environ) *cobra.Command {
	var opts captureOptions
	cmd := newCommand("capture DIR...", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) error {
		return runCapture(ctx, env, opts, args)
	})
	flags := cmd.Flags()
	flags.StringVar(&opts.tree, "tree", "", "")
	flags.StringVar(&opts.layout, "layout", "", "")
	flags.BoolVar(&opts.dryRun, "dry-run", false, "")
	flags.BoolVar(&opts.problems, "problems", false, "")
	return cmd
}

func runCapture(ctx context.Context, env *environ, opts captureOptions, dirs []string) error {
	if len(dirs) > 1 && opts.tree != "" {
		return usageError("--tree names one tree, and %d folders were given", len(dirs))
	}
	var profile *layout.Profile
	if opts.layout != "" {
		p, err := layout.ParseProfile(opts.layout)
		if err != nil {
			return coded(record.Usage, "", err)
		}
		profile = &p
	}
	w, err := env.create(ctx)
	if err != nil {
		return err
	}
	partly := false
	for _, dir := range dirs {
		report, err := captureOne(ctx, env, w, opts, profile, dir)
		if err != nil {
			return err
		}
		partly = partly || report.Partial()
	}
	if partly {
		return silentError(record.Partly)
	}
	return nil
}

func captureOne(ctx context.Context, env *environ, w *workspace, opts captureOptions, profile *layout.Profile, dir string) (*materialize.CaptureReport, error) {
	name := opts.tree
	if name == "" {
		name = filepath.Base(env.abs(dir))
	}
	tree, err := record.ParseTree(name)
	if err != nil {
		return nil, coded(record.Usage, "name the tree with --tree", err)
	}
	show, clear := env.progress("capturing " + name)
	report, err := w.Capture(ctx, env.abs(dir), materialize.CaptureOptions{
		Tree: tree, Profile: profile, DryRun: opts.dryRun, Progress: counted(show),
	})
	clear()
	if err != nil {
		return report, err
	}
	return report, printCapture(env, report, opts.dryRun, opts.problems)
}

func printCapture(env *environ, r *materialize.CaptureReport, dryRun, all bool) error {
	for _, s := range r.Skipped {
		env.note("left out %s: %s", s.Path, s.Reason)
	}
	printProblems(env, r.Problems, all)
	if env.global.json {
		return env.printJSON(r)
	}
	if dryRun {
		for _, p := range r.Planned {
			var names []string
			for _, name := range p.Names {
				names = append(names, name.String())
			}
			env.printf("%s\t%s\n", p.Path, strings.Join(names, "\t"))
		}
		return nil
	}
	env.printf("%s: %s, %s; %s stored", r.Tree, plural(r.Files, "file"), byteSize(r.Bytes), plural(r.Records, "record"))
	if len(r.Removed) > 0 {
		env.printf(", %s gone and hidden", plural(len(r.Removed), "file"))
	}
	env.printf("\n")
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.KindCount)) {
		if kind != record.KindFrame {
			kinds = append(kinds, fmt.Sprintf("%d %s", r.KindCount[kind], kind))
		}
	}
	if len(kinds) > 0 {
		env.printf("  %s\n", strings.Join(kinds, ", "))
	}
	return nil
}

// printProblems says where files depart from their layout. They are stored all
// the same, and agents depart from layouts all the time, so by default it only
// says how often.
func printProblems(env *environ, problems []*layout.SyntaxError, all bool) {
	if !all && len(problems) > 0 {
		env.note("%s from a layout, all stored as they are; --problems lists them", departures(len(problems)))
		return
	}
	for _, p := range problems {
		env.note("%v", p)
	}
}

func departures(n int) string {
	if n == 1 {
		return "1 place departs"
	}
	return fmt.Sprintf("%d places depart", n)
}
