package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// runSize compares what store and index take on disk with the texts.
func runSize(ctx context.Context, b *bench) ([]row, error) {
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	w, err := b.newWorkspace("size")
	if err != nil {
		return nil, err
	}
	if err := b.fill(ctx, w, texts); err != nil {
		return nil, err
	}
	state := "before compact"
	if b.hasCommand(ctx, "compact") {
		state = "after compact"
		if _, err := b.execute(ctx, b.filebusIn(w, "compact")); err != nil {
			return nil, err
		}
	}
	all, err := folderSize(w.storeDir())
	if err != nil {
		return nil, err
	}
	indexed, err := folderSize(filepath.Join(w.storeDir(), "index"))
	if err != nil {
		return nil, err
	}
	share := func(bytes int64) sample { return sample{float64(bytes) / float64(texts.bytes)} }
	what := fmt.Sprintf("store + index / texts of mean %.1f KB, %s", texts.megabytes()*1e3/float64(len(texts.files)), state)
	return []row{
		measured(what, "", share(all)).atMost(0.8, "≤ 0.8 × the texts"),
		measured("of these, the store", "", share(all-indexed)),
		measured("of these, the index", "", share(indexed)),
	}, nil
}

// hasCommand reports whether the program that is measured has a command.
func (b *bench) hasCommand(ctx context.Context, name string) bool {
	_, err := b.execute(ctx, command{dir: b.temp, args: []string{b.program, name, "--help"}})
	return err == nil
}
