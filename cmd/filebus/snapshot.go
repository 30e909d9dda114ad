package main

import (
	"context"
	"fmt"
	"strings"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
)

// snapshotCommands are the commands of snapshots.
func snapshotCommands() []command {
	return []command{
		existing("take", &snapshotTake{}),
		fresh("list", &snapshotList{Limit: 20}),
		fresh("show RUN/LOOP [FILE]", &snapshotShow{MaxTokens: snapshotTokens}),
		fresh("diff RUN/LOOP RUN/LOOP", &snapshotDiff{MaxTokens: snapshotTokens}),
		existing("restore-state RUN/LOOP", runFunc(restoreState)),
	}
}

type snapshotTake struct {
	Run  string `flag:"run"`
	Loop int    `flag:"loop"`
}

func (o *snapshotTake) check(*environ, []string) error {
	if o.Loop < 0 {
		return usageError("--loop %d: loops count from 1", o.Loop)
	}
	return nil
}

func (o *snapshotTake) run(ctx context.Context, w *workspace, _ []string) error {
	taken, err := w.book().Take(ctx, o.Run, o.Loop)
	if err != nil {
		return err
	}
	for _, note := range taken.Notes {
		w.remark("%s", oneLine(note))
	}
	return w.print(taken, "%s  %s completed\n", taken.Name(), summaryOf(taken))
}

type snapshotList struct {
	Run   string `flag:"run"`
	Limit int    `flag:"limit" least:"0"`
}

// A snapshotListJSON is a list of snapshots in JSON.
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
		none: "no snapshots", left: list.More, rest: "%s more; see --limit", noun: "snapshot",
	})
}

// summaryOf says in a few words what a snapshot holds.
func summaryOf(s *runs.Snapshot) string {
	if m := s.Manifest; m != nil {
		text := plural(m.FilesChanged, "file") + " changed"
		if m.Method == layout.MethodGit {
			text += fmt.Sprintf(" +%d -%d", m.LinesAdded, m.LinesRemoved)
		}
		return text + ", " + plural(len(m.Issues), "issue")
	}
	if len(s.Files) > 0 && s.Files[0].Path == layout.SnapshotDiff {
		return s.Files[0].Summary
	}
	return ""
}
