package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
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

func listTrees(ctx context.Context, w *cli.Work, _ []string) error {
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
			v.Captured, captured = &t.Captured, w.Minute(t.Captured)
		}
		report, err := w.Refresh(ctx, t, materialize.CaptureOptions{DryRun: true})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			v.Problem = cli.Message(err)
			state = v.Problem
		} else {
			v.Bytes, size, state = report.Bytes, cli.ByteSize(report.Bytes), changeText(report)
			v.New, v.Gone = report.Added-len(report.Moved), len(report.Removed)-len(report.Moved)
			v.Changed, v.Moved = report.Changed-report.Added, len(report.Moved)
			if v.Problem = cli.FirstNames(cli.LeftOut(report)); v.Problem != "" {
				state += "; " + v.Problem
			}
		}
		views = append(views, v)
		rows = append(rows, []string{
			string(t.Name), cli.Plural(v.Files, "file"), size, captured, state, cli.OneLine(t.Dir),
		})
	}
	return w.PresentTable(rows, cli.Presentation{JSON: func(int) any { return map[string]any{"trees": views} },
		None: "no trees"})
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

func (o *treeRefresh) Do(ctx context.Context, w *cli.Work, args []string) error {
	trees, err := treesOf(ctx, w, args)
	if err != nil {
		return err
	}
	partly, reports := false, []*materialize.CaptureReport{}
	for _, t := range trees {
		show, clear := w.Progress("refreshing " + string(t.Name))
		report, err := w.Refresh(ctx, t, materialize.CaptureOptions{
			DryRun: o.DryRun, MayEmpty: o.Empty, Progress: cli.Counted(show),
		})
		clear()
		switch {
		case err != nil && (len(trees) == 1 || ctx.Err() != nil):
			return err
		case err != nil:
			w.Note("%v; try: %s", err, cli.Explain(err).Hint)
			partly = true
			continue
		}
		partly = partly || report.Partial()
		reports = append(reports, report)
		printRefresh(w, report)
	}
	if err == nil && w.Global.JSON {
		err = w.PrintJSON(map[string]any{"trees": reports})
	}
	if err == nil && partly {
		err = cli.SilentError(record.Partly)
	}
	return err
}

func printRefresh(w *cli.Work, r *materialize.CaptureReport) {
	for _, text := range cli.LeftOut(r) {
		w.Note("%s", text)
	}
	noteHidden(w.Environ, r.Hidden)
	if w.Global.JSON {
		return
	}
	w.Printf("%s: %s, %s\n", r.Tree, cli.Plural(r.Files, "file"), changeText(r))
	const mostMoved = 20 // how many moved files are named
	for _, m := range r.Moved[:min(len(r.Moved), mostMoved)] {
		w.Printf("  moved %s to %s\n", cli.OneLine(m.From), cli.OneLine(m.To))
	}
}

// treesOf returns the trees that are named, or all.
func treesOf(ctx context.Context, w *cli.Work, names []string) ([]*materialize.Tree, error) {
	if len(names) == 0 {
		return w.Trees(ctx)
	}
	var trees []*materialize.Tree
	for _, name := range names {
		t, err := w.FindTree(ctx, record.Tree(name))
		if err != nil {
			return nil, w.Meant(ctx, err, name)
		}
		trees = append(trees, t)
	}
	return trees, nil
}

type treeRemove struct {
	DryRun bool `flag:"dry-run"`
	Drop   bool `flag:"drop"`
}

func (o *treeRemove) Do(ctx context.Context, w *cli.Work, args []string) error {
	tree, err := record.ParseTree(args[0]) // never the own one
	if err != nil {
		return cli.Coded(record.Usage, "", err)
	}
	names, err := w.NamesOf(ctx, tree, o.Drop)
	if err != nil {
		return err
	}
	if _, err := w.FindTree(ctx, tree); err != nil && len(names) == 0 {
		return w.Meant(ctx, err, args[0])
	}
	report := &release.Report{}
	if o.Drop && len(names) > 0 { // a tree of which something is needed stays as a whole
		report, err = giveUp(ctx, w, release.Request{Names: names, DryRun: true})
	}
	if err == nil && !o.DryRun {
		err = w.RemoveTree(ctx, tree)
	}
	if err == nil && !o.DryRun && len(report.Released) > 0 {
		report, err = giveUp(ctx, w, release.Request{Names: names})
	}
	switch {
	case err != nil:
		return err
	case o.Drop:
		return printRelease(w.Environ, report, o.DryRun)
	}
	how := "%s: %s hidden; the name is free\n"
	if o.DryRun {
		how = "%s: %s would be hidden\n"
	}
	return w.Print(map[string]any{"tree": tree, "hidden": len(names)}, how, tree, cli.Plural(len(names), "record"))
}

func renameTree(ctx context.Context, w *cli.Work, args []string) error {
	from, err := record.ParseTree(args[0]) // never the own one
	to, errTo := record.ParseTree(args[1])
	if err = cmp.Or(err, errTo); err != nil {
		return cli.Coded(record.Usage, "", err)
	}
	renamed, err := w.RenameTree(ctx, from, to)
	if err != nil {
		return w.Meant(ctx, err, args[0])
	}
	return w.Print(map[string]any{"tree": to, "was": args[0], "records": renamed}, "%s is %s now: %s\n", args[0], to,
		cli.Plural(renamed, "record"))
}
