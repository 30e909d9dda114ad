package main

import (
	"context"
	"errors"
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
	newRepository := func(ctx context.Context) (err error) { repository, err = b.newRepository(ctx); return err }
	capture := func(ctx context.Context) (float64, error) {
		return b.process(b.filebusIn(w, "capture", "--tree", "made", texts.dir))(ctx)
	}
	add := func(ctx context.Context) (float64, error) {
		git := []string{"git", "--git-dir", repository, "--work-tree", texts.dir, "add", "-A", "."}
		return b.process(command{dir: texts.dir, args: git})(ctx)
	}
	first, err := inTurns(ctx, b.runs,
		side{name: "filebus capture", prepare: newStore, run: capture},
		side{name: "git add", tool: "git", prepare: newRepository, run: add})
	again, againErr := inTurns(ctx, b.runs,
		side{name: "filebus capture again", run: capture},
		side{name: "git add again", tool: "git", run: add})
	what := fmt.Sprintf("capture of %d new files", len(texts.files))
	return []row{
		measured(what, "ms", first[0]).over(first[1]).ratioAtMost(1, "≤ 1.0 × git add"),
		measured("git add of these", "ms", first[1]).of("git"),
		measured("capture again, nothing changed", "ms", again[0]).over(again[1]),
		measured("git add again, nothing changed", "ms", again[1]).of("git"),
	}, errors.Join(err, againErr)
}
