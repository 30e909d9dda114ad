package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/release"
	"filebus/store/record"
)

// treeView is what tree list prints of a tree.
type treeView struct {
	Tree     record.Tree `json:"tree"`
	Folder   string      `json:"folder"`
	Files    int         `json:"files"` // that the store has
	Bytes    int64       `json:"bytes"` // that the folder has
	Captured *time.Time  `json:"captured,omitempty"`
	Changed  int         `json:"changed"`
	New      int         `json:"new"`
	Moved    int         `json:"moved"`
	Gone     int         `json:"gone"`
	Problem  string      `json:"problem,omitempty"`
}

func listTrees(ctx context.Context, w *workspace, _ []string) error {
	trees, err := w.Trees(ctx)
	if err != nil {
		return err
	}
	views, rows := []treeView{}, [][]string(nil)
	for _, t := range trees {
		stored, err := w.StoredPaths(ctx, t.Name)
		if err != nil {
			return err
		}
		v := treeView{Tree: t.Name, Folder: t.Dir, Files: len(stored)}
		captured, size, state := "-", "-", ""
		if !t.Captured.IsZero() {
			v.Captured, captured = &t.Captured, w.minute(t.Captured)
		}
		report, err := w.Refresh(ctx, t, materialize.CaptureOptions{DryRun: true})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			v.Problem = message(err)
			state = v.Problem
		} else {
			v.Bytes, size, state = report.Bytes, byteSize(report.Bytes), changeText(report)
			v.New, v.Gone = report.Added-len(report.Moved), len(report.Removed)-len(report.Moved)
			v.Changed, v.Moved = report.Changed-report.Added, len(report.Moved)
			if v.Problem = firstNames(leftOut(report)); v.Problem != "" {
				state += "; " + v.Problem
			}
		}
		views = append(views, v)
		rows = append(rows, []string{
			string(t.Name), plural(v.Files, "file"), size, captured, state, oneLine(t.Dir),
		})
	}
	return w.presentTable(rows, presentation{json: func(int) any { return map[string]any{"trees": views} }, none: "no trees"})
}

// changeText says what a refresh has found.
func changeText(r *materialize.CaptureReport) string {
	moved := len(r.Moved)
	var parts []string
	for _, c := range []struct {
		n    int
		text string
	}{
		{r.Changed - r.Added, "changed"}, {r.Added - moved, "new"}, {moved, "moved"},
		{len(r.Removed) - moved, "gone"}, {len(r.Hidden), "left out by now"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprint(c.n, " ", c.text))
		}
	}
	if len(parts) == 0 {
		return "unchanged"
	}
	return strings.Join(parts, ", ")
}

type treeRefresh struct {
	DryRun bool `flag:"dry-run"`
	Empty  bool `flag:"empty"`
}

func (o *treeRefresh) run(ctx context.Context, w *workspace, args []string) error {
	trees, err := w.treesOf(ctx, args)
	if err != nil {
		return err
	}
	partly, reports := false, []*materialize.CaptureReport{}
	for _, t := range trees {
		show, clear := w.progress("refreshing " + string(t.Name))
		report, err := w.Refresh(ctx, t, materialize.CaptureOptions{
			DryRun: o.DryRun, MayEmpty: o.Empty, Progress: counted(show),
		})
		clear()
		switch {
		case err != nil && (len(trees) == 1 || ctx.Err() != nil):
			return err
		case err != nil:
			w.note("%v; try: %s", err, explain(err).Hint)
			partly = true
			continue
		}
		partly = partly || report.Partial()
		reports = append(reports, report)
		w.printRefresh(report)
	}
	if err == nil && w.global.json {
		err = w.printJSON(map[string]any{"trees": reports})
	}
	if err == nil && partly {
		err = silentError(record.Partly)
	}
	return err
}

// leftOut says what should have been taken in and could not.
func leftOut(r *materialize.CaptureReport) (texts []string) {
	for _, s := range r.Skipped {
		if !s.Harmless {
			texts = append(texts, "left out "+oneLine(s.Path)+": "+s.Reason)
		}
	}
	return texts
}

func (w *workspace) printRefresh(r *materialize.CaptureReport) {
	for _, text := range leftOut(r) {
		w.note("%s", text)
	}
	w.noteHidden(r.Hidden)
	if w.global.json {
		return
	}
	w.printf("%s: %s, %s\n", r.Tree, plural(r.Files, "file"), changeText(r))
	const mostMoved = 20 // how many moved files are named
	for _, m := range r.Moved[:min(len(r.Moved), mostMoved)] {
		w.printf("  moved %s to %s\n", oneLine(m.From), oneLine(m.To))
	}
}

// treesOf returns the trees that are named, or all.
func (w *workspace) treesOf(ctx context.Context, names []string) ([]*materialize.Tree, error) {
	if len(names) == 0 {
		return w.Trees(ctx)
	}
	var trees []*materialize.Tree
	for _, name := range names {
		t, err := w.FindTree(ctx, record.Tree(name))
		if err != nil {
			return nil, w.meant(ctx, err, name)
		}
		trees = append(trees, t)
	}
	return trees, nil
}

type treeRemove struct {
	DryRun bool `flag:"dry-run"`
	Drop   bool `flag:"drop"`
}

func (o *treeRemove) run(ctx context.Context, w *workspace, args []string) error {
	tree, err := record.ParseTree(args[0]) // never the own one
	if err != nil {
		return coded(record.Usage, "", err)
	}
	names, err := w.NamesOf(ctx, tree, o.Drop)
	if err != nil {
		return err
	}
	if _, err := w.FindTree(ctx, tree); err != nil && len(names) == 0 {
		return w.meant(ctx, err, args[0])
	}
	report := &release.Report{}
	if o.Drop && len(names) > 0 { // a tree of which something is needed stays as a whole
		report, err = w.release(ctx, release.Request{Names: names, DryRun: true})
	}
	if err == nil && !o.DryRun {
		err = w.RemoveTree(ctx, tree)
	}
	if err == nil && !o.DryRun && len(report.Released) > 0 {
		report, err = w.release(ctx, release.Request{Names: names})
	}
	switch {
	case err != nil:
		return err
	case o.Drop:
		return w.printRelease(report, o.DryRun)
	}
	how := "%s: %s hidden; the name is free\n"
	if o.DryRun {
		how = "%s: %s would be hidden\n"
	}
	return w.print(map[string]any{"tree": tree, "hidden": len(names)}, how, tree, plural(len(names), "record"))
}

func renameTree(ctx context.Context, w *workspace, args []string) error {
	from, err := record.ParseTree(args[0]) // never the own one
	to, errTo := record.ParseTree(args[1])
	if err = cmp.Or(err, errTo); err != nil {
		return coded(record.Usage, "", err)
	}
	renamed, err := w.RenameTree(ctx, from, to)
	if err != nil {
		return w.meant(ctx, err, args[0])
	}
	return w.print(map[string]any{"tree": to, "was": args[0], "records": renamed}, "%s is %s now: %s\n", args[0], to,
		plural(renamed, "record"))
}

// autoBudget is how long a reading command refreshes trees unasked.
const autoBudget = 2 * time.Second

// refreshBy refreshes trees, or all, if that is wanted, for at most some time; 0: any.
// What could not be refreshed is said.
func (w *workspace) refreshBy(ctx context.Context, wanted bool, budget time.Duration, only ...record.Tree) {
	if !wanted {
		return
	}
	trees, err := w.Trees(ctx)
	if err != nil {
		w.note("the trees were not refreshed: %v", err)
	}
	if budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, budget)
		defer cancel()
	}
	for _, t := range trees {
		if len(only) > 0 && !slices.Contains(only, t.Name) || t.Dir == "" {
			continue
		}
		report, err := w.Refresh(ctx, t, materialize.CaptureOptions{})
		if err == nil && report.Partial() {
			err = fmt.Errorf("of the tree %s: %s", t.Name, firstNames(leftOut(report)))
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the tree %s was not refreshed within %v; filebus tree refresh %s does it all", t.Name, budget,
				record.ShellWord(string(t.Name)))
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			w.note("%v", err)
		}
	}
}
