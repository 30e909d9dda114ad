package main

import (
	"context"

	"filebus/cmd/filebus/cli"
	"filebus/query"
)

func runReindex(ctx context.Context, w *cli.Work, _ []string) error {
	entries, err := reindex(ctx, w)
	if err != nil {
		return err
	}
	return w.Print(map[string]uint64{"position": entries}, "indexed up to log entry %d\n", entries)
}

// reindex makes the index again, and returns up to which log entry.
func reindex(ctx context.Context, w *cli.Work) (entries uint64, err error) {
	show, clear := w.Progress("indexing")
	err = w.NewReader(w.Store, query.Options{Progress: func(done, total uint64) {
		entries = done
		show(done, total)
	}}).Reindex(ctx)
	clear()
	return entries, err
}
