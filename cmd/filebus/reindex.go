package main

import (
	"context"

	"filebus/query"
)

func runReindex(ctx context.Context, w *workspace, _ []string) error {
	var entries uint64
	show, clear := w.progress("indexing")
	err := w.reader(w.Store, query.Options{Progress: func(done, total uint64) {
		entries = done
		show(done, total)
	}}).Reindex(ctx)
	clear()
	if err != nil {
		return err
	}
	return w.print(map[string]uint64{"position": entries}, "indexed up to log entry %d\n", entries)
}
