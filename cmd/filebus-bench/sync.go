package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// runSync compares a sync that finds nothing to do with git status, on one folder
// that both know.
func runSync(ctx context.Context, b *bench) ([]row, error) {
	w, files, err := b.mirrored(ctx)
	if err != nil {
		return nil, err
	}
	samples, err := inTurns(ctx, 4*b.runs,
		side{name: "filebus sync", run: b.process(b.filebusIn(w, "sync"))},
		side{name: "git status", tool: "git", run: b.process(command{dir: w.dir, args: []string{"git", "status", "--short"}})})
	if err != nil {
		return nil, err
	}
	return []row{
		measured(fmt.Sprintf("idle sync of %d mirrored files", files), "ms", samples[0]).over(samples[1]).ratioAtMost(3, "≤ 3 × git status"),
		measured("git status of these", "ms", samples[1]),
	}, nil
}

// mirrored returns a workspace whose files are the mirror of its store, and are
// committed in a git repository too.
func (b *bench) mirrored(ctx context.Context) (*workspace, int, error) {
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, 0, err
	}
	w, err := b.newWorkspace("sync")
	if err != nil {
		return nil, 0, err
	}
	var mirror corpus
	mirror.dir = w.dir
	g := newGenerator(b.seed)
	for i := range texts.files {
		file := fmt.Sprintf(".claude/agent_tool_results/conversation-%03d/call-%06d.md", i/100, i)
		if err := mirror.add(filepath.FromSlash(file), g.next().body); err != nil {
			return nil, 0, err
		}
	}
	steps := []command{b.filebusIn(w, "init"), b.filebusIn(w, "sync"), b.filebusIn(w, "sync")}
	if hasTool("git") {
		steps = append(steps,
			command{dir: w.dir, args: []string{"git", "init", "-q"}},
			command{dir: w.dir, args: []string{"git", "add", "-A"}},
			command{dir: w.dir, args: []string{"git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "all"}})
	}
	for _, step := range steps {
		if _, err := b.execute(ctx, step); err != nil {
			return nil, 0, err
		}
	}
	return w, len(mirror.files), nil
}
