package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type captureCommand struct {
	Tree     string `flag:"tree"`
	Layout   string `flag:"layout"`
	DryRun   bool   `flag:"dry-run"`
	Problems bool   `flag:"problems"`

	profile *layout.Profile
}

func (o *captureCommand) check(_ *environ, dirs []string) error {
	if len(dirs) > 1 && o.Tree != "" {
		return usageError("--tree names one tree, and %d folders were given", len(dirs))
	}
	if o.Layout == "" {
		return nil
	}
	p, err := layout.ParseProfile(o.Layout)
	if err != nil {
		return coded(record.Usage, "", err)
	}
	o.profile = &p
	return nil
}

func (o *captureCommand) run(ctx context.Context, w *workspace, dirs []string) error {
	partly := false
	for _, dir := range dirs {
		report, err := o.capture(ctx, w, dir)
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

func (o *captureCommand) capture(ctx context.Context, w *workspace, dir string) (*materialize.CaptureReport, error) {
	name := cmp.Or(o.Tree, filepath.Base(w.abs(dir)))
	tree, err := record.ParseTree(name)
	if err != nil {
		return nil, coded(record.Usage, "run it again with --tree NAME", err)
	}
	show, clear := w.progress("capturing " + name)
	report, err := w.Capture(ctx, w.abs(dir), materialize.CaptureOptions{
		Tree: tree, Profile: o.profile, DryRun: o.DryRun, Progress: counted(show),
	})
	clear()
	if err != nil {
		return report, err
	}
	return report, w.printCapture(report, o.DryRun, o.Problems)
}

func (e *environ) printCapture(r *materialize.CaptureReport, dryRun, all bool) error {
	for _, s := range r.Skipped {
		e.note("left out %s: %s", s.Path, s.Reason)
	}
	e.printProblems(r.Problems, all)
	if e.global.json {
		return e.printJSON(r)
	}
	if dryRun {
		for _, p := range r.Planned {
			var names []string
			for _, name := range p.Names {
				names = append(names, name.String())
			}
			e.printf("%s\t%s\n", p.Path, strings.Join(names, "\t"))
		}
		return nil
	}
	e.printf("%s: %s, %s; %s stored", r.Tree, plural(r.Files, "file"), byteSize(r.Bytes), plural(r.Records, "record"))
	if len(r.Removed) > 0 {
		e.printf(", %s gone and hidden", plural(len(r.Removed), "file"))
	}
	e.printf("\n")
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.KindCount)) {
		if kind != record.KindFrame {
			kinds = append(kinds, fmt.Sprintf("%d %s", r.KindCount[kind], kind))
		}
	}
	if len(kinds) > 0 {
		e.printf("  %s\n", strings.Join(kinds, ", "))
	}
	return nil
}

// printProblems says where files depart from their layout. They are stored all
// the same, and agents depart from layouts all the time, so by default it only
// says how often.
func (e *environ) printProblems(problems []*layout.SyntaxError, all bool) {
	if !all && len(problems) > 0 {
		e.note("%s from a layout, all stored as they are; --problems lists them",
			count(len(problems), "1 place departs", "%d places depart"))
		return
	}
	for _, p := range problems {
		e.note("%v", p)
	}
}
