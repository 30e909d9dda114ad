package main

import (
	"context"
	"fmt"
	"strings"

	runs "filebus/cmd/filebus/run"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

type snapshotTake struct {
	Run  string `flag:"run"`
	Loop int    `flag:"loop" least:"0"`
}

func (o *snapshotTake) run(ctx context.Context, w *workspace, _ []string) error {
	taken, err := w.book().Take(ctx, o.Run, o.Loop)
	if err != nil {
		return err
	}
	for _, note := range taken.Notes {
		w.remark("%s", oneLine(note))
	}
	return w.print(taken, "%s  %s completed, %s\n", taken.Name(), summaryOf(taken), taken.Tasks)
}

type snapshotList struct {
	Run   string `flag:"run"`
	Limit int    `flag:"limit" least:"0"`
}

type snapshotListJSON struct {
	Snapshots []*runs.Snapshot `json:"snapshots"`
	More      int              `json:"more,omitempty"`
}

func (o *snapshotList) run(ctx context.Context, w *workspace, _ []string) error {
	b := w.book()
	all, err := b.Snapshots(ctx, o.Run)
	if err != nil {
		return err
	}
	list := snapshotListJSON{Snapshots: all}
	if o.Limit > 0 && len(all) > o.Limit {
		list.More, list.Snapshots = len(all)-o.Limit, all[:o.Limit]
	}
	var rows [][]string
	for _, snap := range list.Snapshots {
		if err := b.ReadManifest(ctx, snap); err != nil {
			return err
		}
		snap.Changed, snap.Notes = nil, nil
		row := []string{snap.Name(), w.minute(snap.Time), summaryOf(snap)}
		var files []string
		for _, f := range snap.Files {
			files = append(files, f.Path)
		}
		rows = append(rows, append(row, strings.Join(files, " ")))
	}
	return w.presentTable(rows, presentation{
		json: func(int) any { return list },
		none: "no snapshots", left: list.More, rest: "--limit 0",
	})
}

// summaryOf says in a few words what a snapshot holds.
func summaryOf(s *runs.Snapshot) string {
	if m := s.Manifest; m != nil {
		text := plural(m.FilesChanged, "file") + " changed"
		if m.Method == "git" {
			text += fmt.Sprintf(" +%d -%d", m.LinesAdded, m.LinesRemoved)
		}
		return text + ", " + plural(len(m.Issues), "issue")
	}
	if len(s.Files) > 0 && s.Files[0].Path == layout.SnapshotDiff {
		return s.Files[0].Summary
	}
	return ""
}

// snapshotTokens is how much of a snapshot's file, or of a difference, is printed
// unless more is asked for.
const snapshotTokens = 2000

type snapshotShow struct {
	given
	MaxTokens int `flag:"max-tokens" least:"0"`
}

func (o *snapshotShow) run(ctx context.Context, w *workspace, args []string) error {
	if len(args) == 1 {
		if !o.has("max-tokens") {
			o.MaxTokens = stateTokens
		}
		return printSnapshot(ctx, w, args[0], o.MaxTokens)
	}
	v, err := w.book().FileOf(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	return w.printBody(ctx, v.Record.Name.String(), v, query.BodyRequest{MaxTokens: o.MaxTokens})
}

func printSnapshot(ctx context.Context, w *workspace, text string, maxTokens int) error {
	snap, err := w.book().Find(ctx, text)
	if err != nil {
		return err
	}
	lines := []string{snap.Name() + "  " + w.minute(snap.Time) + "  " + summaryOf(snap)}
	for _, f := range snap.Files {
		line := "  " + f.Version.Ref.Short() + "  " + f.Path + "  " + byteSize(f.Version.Record.Size)
		if f.Path == layout.SnapshotIssues || f.Path == layout.SnapshotState {
			line += "  " + cutText(f.Summary)
		}
		lines = append(lines, line)
	}
	lines = append(lines, led("  ", snap.Changed)...)
	if more := snap.FilesChanged - len(snap.Changed); more > 0 && len(snap.Changed) > 0 {
		diff := " " + record.ShellWord(snap.Name()) + " " + layout.SnapshotDiff
		lines = append(lines, "  "+w.rest(more, "filebus snapshot show"+diff+" --max-tokens 0"))
	}
	lines = append(lines, led("note  ", snap.Notes)...)
	return w.presentShort(lines, presentation{maxTokens: maxTokens, exact: true, json: func(int) any { return snap }})
}

// led returns lines behind a lead.
func led(lead string, lines []string) []string {
	return markdown.Each(lines, func(line string) string { return lead + line })
}

func restoreState(ctx context.Context, w *workspace, args []string) error {
	r, err := w.book().RestoreState(ctx, args[0])
	if err != nil {
		return err
	}
	switch {
	case r.Unchanged:
		w.remark("%s is as it was at the end of %s", r.File, r.From)
	case r.Before == record.ShortRef{}:
		w.remark("%s is there again, as it was at the end of %s", r.File, r.From)
	default:
		w.remark("%s is as it was at the end of %s again; filebus get %s prints what was there before", r.File, r.From,
			r.Before)
	}
	return w.print(r, "%s  %s\n", r.Ref, r.File)
}
