package main

import (
	"context"
	"fmt"
)

// runCapture compares taking in a folder of new files with git add, and doing it
// again when nothing has changed.
func runCapture(ctx context.Context, b *bench) ([]row, error) {
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	var w *workspace
	var repository string
	newStore := func(context.Context) (err error) { w, err = b.newWorkspace("capture"); return err }
	newRepository := func(ctx context.Context) (err error) {
		if repository, err = b.folder("git"); err != nil {
			return err
		}
		_, err = b.execute(ctx, command{dir: repository, args: []string{"git", "init", "-q"}})
		return err
	}
	capture := func(ctx context.Context) (float64, error) {
		return b.process(b.filebusIn(w, "capture", "--tree", "made", texts.dir))(ctx)
	}
	add := func(ctx context.Context) (float64, error) {
		git := []string{"git", "--git-dir", repository + "/.git", "--work-tree", texts.dir, "add", "-A", "."}
		return b.process(command{dir: texts.dir, args: git})(ctx)
	}
	first, err := inTurns(ctx, b.runs,
		side{name: "filebus capture", prepare: newStore, run: capture},
		side{name: "git add", tool: "git", prepare: newRepository, run: add})
	if err != nil {
		return nil, err
	}
	again, err := inTurns(ctx, b.runs,
		side{name: "filebus capture again", run: capture},
		side{name: "git add again", tool: "git", run: add})
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("capture of %d new files", len(texts.files))
	return []row{
		measured(what, "ms", first[0]).over(first[1]).ratioAtMost(1, "≤ 1.0 × git add"),
		measured("git add of these", "ms", first[1]),
		measured("capture again, nothing changed", "ms", again[0]).over(again[1]),
		measured("git add again, nothing changed", "ms", again[1]),
	}, nil
}
