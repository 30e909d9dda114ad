package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// runSync compares a sync that finds nothing to do with git status, on one folder
// that both know.
func runSync(ctx context.Context, b *bench) ([]row, error) {
	bodies, err := b.bodies()
	if err != nil {
		return nil, err
	}
	w, err := b.mirrored(ctx, b.docs, bodies)
	if err != nil {
		return nil, err
	}
	if hasTool("git") {
		if err := b.commitAll(ctx, w); err != nil {
			return nil, err
		}
	}
	samples, err := inTurns(ctx, 4*b.runs,
		side{name: "filebus sync", run: b.process(b.filebusIn(w, "sync"))},
		side{name: "git status", tool: "git", run: b.process(command{dir: w.dir, args: []string{"git", "status", "--short"}})})
	return []row{
		measured(fmt.Sprintf("idle sync of %d mirrored files", b.docs), "ms", samples[0]).over(samples[1]).ratioAtMost(3, "≤ 3 × git status"),
		measured("git status of these", "ms", samples[1]).of("git"),
	}, err
}

// mirrored returns a workspace whose files are the mirror of its store: so many
// results, with the bodies that next returns.
func (b *bench) mirrored(ctx context.Context, files int, next func() ([]byte, error)) (*workspace, error) {
	w, err := b.newWorkspace("sync")
	if err != nil {
		return nil, err
	}
	for i := range files {
		file := fmt.Sprintf(".claude/agent_tool_results/conversation-%03d/call-%06d.md", i/100, i)
		body, err := next()
		if err == nil {
			err = writeFile(filepath.Join(w.dir, filepath.FromSlash(file)), body)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"init"}, {"sync"}, {"sync"}} {
		if _, err := b.execute(ctx, b.filebusIn(w, args...)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// commitAll makes a workspace a git repository that has all files.
func (b *bench) commitAll(ctx context.Context, w *workspace) error {
	for _, args := range [][]string{
		{"git", "init", "-q"},
		{"git", "add", "-A"},
		{"git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "all"},
	} {
		if _, err := b.execute(ctx, command{dir: w.dir, args: args}); err != nil {
			return err
		}
	}
	return nil
}
