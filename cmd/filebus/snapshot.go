package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
)

func newSnapshotCommand(env *environ) *cobra.Command {
	return newGroup("snapshot",
		newSnapshotTakeCommand(env), newSnapshotListCommand(env), newSnapshotShowCommand(env),
		newSnapshotDiffCommand(env), newSnapshotRestoreCommand(env))
}

func newSnapshotTakeCommand(env *environ) *cobra.Command {
	var id string
	var loop int
	cmd := newCommand("take", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if loop < 0 {
			return usageError("--loop %d: loops count from 1", loop)
		}
		s, err := env.open(ctx)
		if err != nil {
			return err
		}
		taken, err := s.book().Take(ctx, id, loop)
		if err != nil {
			return err
		}
		if env.global.json {
			return env.printJSON(taken)
		}
		for _, note := range taken.Notes {
			env.note("%s", oneLine(note))
		}
		env.printf("%s  %s completed\n", taken.Name(), summaryOf(taken))
		return nil
	})
	cmd.Flags().StringVar(&id, "run", "", "")
	cmd.Flags().IntVar(&loop, "loop", 0, "")
	return cmd
}

func newSnapshotListCommand(env *environ) *cobra.Command {
	var id string
	limit := 20
	cmd := newCommand("list", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runSnapshotList(ctx, env, id, limit)
	})
	cmd.Flags().StringVar(&id, "run", "", "")
	cmd.Flags().IntVar(&limit, "limit", limit, "")
	return cmd
}

// A snapshotListJSON is a list of snapshots in JSON.
type snapshotListJSON struct {
	Snapshots []*runs.Snapshot `json:"snapshots"`
	More      int              `json:"more,omitempty"`
}

func runSnapshotList(ctx context.Context, env *environ, id string, limit int) error {
	if limit < 0 {
		return usageError("--limit %d is negative", limit)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	b := s.book()
	all, err := b.Snapshots(ctx, id)
	if err != nil {
		return err
	}
	list := snapshotListJSON{Snapshots: all}
	if limit > 0 && len(all) > limit {
		list.More, list.Snapshots = len(all)-limit, all[:limit]
	}
	var rows [][]string
	for _, snap := range list.Snapshots {
		if err := b.ReadManifest(ctx, snap); err != nil {
			return err
		}
		snap.Changed, snap.Notes = nil, nil
		row := []string{snap.Name(), env.minute(snap.Time), summaryOf(snap)}
		var files []string
		for _, f := range snap.Files {
			files = append(files, f.Path)
		}
		rows = append(rows, append(row, strings.Join(files, " ")))
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
