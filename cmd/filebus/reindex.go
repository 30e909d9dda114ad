package main

import (
	"context"

	"filebus/query"
)

func runReindex(ctx context.Context, w *workspace, _ []string) error {
	entries, err := w.reindex(ctx)
	if err != nil {
		return err
	}
	return w.print(map[string]uint64{"position": entries}, "indexed up to log entry %d\n", entries)
}

// reindex makes the index again, and returns up to which log entry.
func (w *workspace) reindex(ctx context.Context) (entries uint64, err error) {
	show, clear := w.progress("indexing")
	err = w.reader(w.Store, query.Options{Progress: func(done, total uint64) {
		entries = done
		show(done, total)
	}}).Reindex(ctx)
	clear()
	return entries, err
}
