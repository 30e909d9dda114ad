package main

import (
	"context"
	"io/fs"
	"strings"

	"filebus/store/folder"
)

// size returns what the database, the index and the large bodies take, in bytes.
func (w *workspace) size() map[string]int64 {
	sizes := map[string]int64{storeFile: 0, "index": 0, "bodies": 0}
	_ = folder.At(w.Store.Dir()).Walk(".", func(name string, e fs.DirEntry) error {
		top, _, _ := strings.Cut(name, "/")
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sizes[top] += info.Size()
		}
		return nil
	}) // what cannot be read does not count
	return map[string]int64{"database": sizes[storeFile], "index": sizes["index"], "bodies": sizes["bodies"]}
}

func runCompact(ctx context.Context, w *workspace, _ []string) error {
	before := w.size()
	swept, err := w.compact(ctx)
	if err != nil {
		return err
	}
	after := w.size()
	var rows [][]string
	for _, what := range []string{"database", "index", "bodies"} {
		rows = append(rows, []string{what, byteSize(after[what]), "was " + byteSize(before[what])})
	}
	return w.print(map[string]any{"before": before, "after": after, "swept": swept}, "%s", w.table(rows))
}

// compact makes all of the store as small as it gets: nothing is left in it of what was
// destroyed.
func (w *workspace) compact(ctx context.Context) (swept int, err error) {
	swept, err = w.Store.Sweep(ctx)
	if err == nil {
		_, _, err = w.Store.Compact(ctx, 0)
	}
	if err == nil && w.size()["index"] > 0 {
		_, err = w.reindex(ctx)
	}
	return swept, err
}

// compactIfSparse compacts the database after something was destroyed, if much of it is free.
func (w *workspace) compactIfSparse(ctx context.Context) {
	const leastFree = 8 << 20 // how much of a database must be free for a command to compact it by itself
	before, after, err := w.Store.Compact(ctx, leastFree)
	if err != nil {
		w.note("%v", err)
	} else if after < before {
		w.note("the database was compacted: %s, was %s", byteSize(after), byteSize(before))
	}
}
