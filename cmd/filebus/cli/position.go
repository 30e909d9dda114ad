package cli

import (
	"context"
	"path/filepath"
	"strconv"

	"filebus/query"
	"filebus/store"
)

// Position returns the log position that a time, or @ and a number, stands for.
func (w *Work) Position(ctx context.Context, text string) (position uint64, err error) {
	if text == "" {
		return 0, nil
	}
	if text[0] == '@' {
		if position, err = strconv.ParseUint(text[1:], 10, 63); err != nil {
			return 0, UsageError("%q is not a log position: write @ and a number", text)
		}
		return position, nil
	}
	at, err := ParseTime(text, w.Now())
	if err != nil {
		return 0, err
	}
	return query.View(ctx, w.Store, func(tx *store.Tx) (uint64, error) { return tx.AsOf(at) })
}

// Expectation returns what --expect says of the version that is to be replaced.
func (w *Work) Expectation(ctx context.Context, text string) (store.Expect, error) {
	switch text {
	case "":
		return store.Expect{}, nil
	case "absent":
		return store.Absent(), nil
	}
	v, err := w.VersionOf(ctx, text)
	return store.Current(v.Ref), err
}

// WorkspaceFiles returns paths as the workspace has them.
func WorkspaceFiles(w *Work, files []string) []string {
	var paths []string
	for _, file := range files {
		if rel, err := filepath.Rel(w.Root, w.Abs(file)); err == nil && filepath.IsLocal(rel) {
			file = rel
		}
		paths = append(paths, filepath.ToSlash(file))
	}
	return paths
}
