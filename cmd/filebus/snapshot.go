package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
)

func newSnapshotCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "snapshot",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newSnapshotTakeCommand(env), newSnapshotListCommand(env), newSnapshotShowCommand(env),
		newSnapshotDiffCommand(env), newSnapshotRestoreCommand(env),
	)
	return cmd
}

func newSnapshotTakeCommand(env *environ) *cobra.Command {
	var id string
	var loop int
	cmd := &cobra.Command{
		Use:  "take",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSnapshotTake(cmd.Context(), env, id, loop) },
	}
	cmd.Flags().StringVar(&id, "run", "", "")
	cmd.Flags().IntVar(&loop, "loop", 0, "")
	return cmd
}

// A snapshotJSON is a snapshot in JSON.
type snapshotJSON struct {
	Run          string    `json:"run"`
	Loop         int       `json:"loop"`
	Time         time.Time `json:"time"`
	FilesChanged int       `json:"files_changed"`
	LinesAdded   int       `json:"lines_added"`
	LinesRemoved int       `json:"lines_removed"`
	Issues       []string  `json:"issues,omitempty"`
	Completed    int       `json:"completed"`         // agents that ended in the loop
	Changed      []string  `json:"changed,omitempty"` // the first files
	Files        []string  `json:"files"`             // of the snapshot
	Notes        []string  `json:"notes,omitempty"`
}

// snapshotView returns what is printed of a manifest.
func snapshotView(m *layout.Manifest, taken time.Time) snapshotJSON {
	view := snapshotJSON{
		Run: m.Run, Loop: m.Loop, Time: taken, FilesChanged: m.FilesChanged, LinesAdded: m.LinesAdded, LinesRemoved: m.LinesRemoved,
		Issues: m.Issues, Completed: m.Completed, Files: []string{}, Notes: m.Notes,
	}
	for _, f := range m.Files {
		view.Files = append(view.Files, f.Path)
	}
	for _, c := range m.Changed[:min(len(m.Changed), maxShown)] {
		view.Changed = append(view.Changed, changeText(c))
	}
	return view
}

// maxShown is how many changed files, and issues, are named.
const maxShown = 10

func runSnapshotTake(ctx context.Context, env *environ, id string, loop int) error {
	if loop < 0 {
		return usageError("--loop %d: loops count from 1", loop)
	}
	s, err := env.open()
	if err != nil {
		return err
	}
	m, err := env.book(s).Take(ctx, id, loop)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(snapshotView(m, env.now().UTC()))
	}
	for _, note := range m.Notes {
		env.note("%s", oneLine(note))
	}
	env.printf("%s/loop-%d  %s, %s\n", m.Run, m.Loop, countsText(m), plural(len(m.Issues), "issue")+" completed")
	return nil
}

// countsText says how much was changed.
func countsText(m *layout.Manifest) string {
	text := plural(m.FilesChanged, "file") + " changed"
	if m.Method == layout.MethodGit {
		text += fmt.Sprintf(" +%d -%d", m.LinesAdded, m.LinesRemoved)
	}
	return text
}

// changeText shows a changed file: added, deleted, changed, renamed.
func changeText(c layout.SnapshotChange) string {
	text := c.Status + " " + c.Path
	if c.Was != "" {
		text += " from " + c.Was
	}
	if c.Added+c.Removed > 0 {
		text += fmt.Sprintf(" +%d -%d", c.Added, c.Removed)
	}
	if c.Binary {
		text += " binary"
	}
	return validText(text)
}

func newSnapshotListCommand(env *environ) *cobra.Command {
	var id string
	limit := 20
	cmd := &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSnapshotList(cmd.Context(), env, id, limit) },
	}
	cmd.Flags().StringVar(&id, "run", "", "")
	cmd.Flags().IntVar(&limit, "limit", limit, "")
	return cmd
}

// A snapshotListJSON is a list of snapshots in JSON.
type snapshotListJSON struct {
	Snapshots []snapshotJSON `json:"snapshots"`
	More      int            `json:"more,omitempty"`
}

func runSnapshotList(ctx context.Context, env *environ, id string, limit int) error {
	if limit < 0 {
		return usageError("--limit %d is negative", limit)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	b := env.book(s)
	all, err := b.Snapshots(ctx, id)
	if err != nil {
		return err
	}
	list := snapshotListJSON{Snapshots: []snapshotJSON{}}
	if limit > 0 && len(all) > limit {
		list.More, all = len(all)-limit, all[:limit]
	}
	var rows [][]string
	for _, snap := range all {
		if err := b.ReadManifest(ctx, snap); err != nil {
			return err
		}
		view := viewOf(snap)
		view.Changed, view.Notes = nil, nil
		list.Snapshots = append(list.Snapshots, view)
		rows = append(rows, []string{snap.Name(), env.minute(snap.Time), summaryOf(snap), strings.Join(view.Files, " ")})
	}
	if env.global.json {
		return env.printJSON(list)
	}
	env.printTable(rows)
	switch {
	case len(all) == 0:
		env.note("no snapshots")
	case list.More > 0:
		env.note("%s more; see --limit", plural(list.More, "snapshot"))
	}
	return nil
}

// viewOf returns what is printed of a snapshot, also of one that somebody else
// has kept.
func viewOf(s *runs.Snapshot) snapshotJSON {
	view := snapshotJSON{Run: s.Run, Loop: s.Loop}
	if s.Manifest != nil {
		view = snapshotView(s.Manifest, s.Time)
	}
	view.Time, view.Files = s.Time, []string{}
	for _, f := range s.Files {
		view.Files = append(view.Files, validText(f.Path))
	}
	return view
}

// summaryOf says in a few words what a snapshot holds.
func summaryOf(s *runs.Snapshot) string {
	if m := s.Manifest; m != nil {
		return countsText(m) + ", " + plural(len(m.Issues), "issue")
	}
	for _, f := range s.Files {
		if f.Path == layout.SnapshotDiff {
			return f.Summary
		}
	}
	return ""
}
