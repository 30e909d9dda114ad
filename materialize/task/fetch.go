package task

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"filebus/materialize/layout"
)

// fetch looks for the marker of a task in the other worktrees of the project, and
// brings it and the journal here. A marker from before the task's start, or before
// the wait where no start is known, is left alone. It reports whether there was one.
func (w *waiter) fetch(ctx context.Context, id ID) (fetched bool, err error) {
	var since time.Time
	for _, root := range w.others {
		for _, markerID := range w.markerIDs(id) {
			p := w.markerPath(markerID)
			if !filepath.IsLocal(filepath.FromSlash(p)) { // an outside folder is everybody's
				return fetched, nil
			}
			info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p)))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if since.IsZero() {
				since = w.startOf(ctx, root, id)
			}
			if info.ModTime().Before(since) {
				continue
			}
			if err := w.work.FetchFrom(ctx, root, w.journalPath(id), p); err != nil {
				if ctx.Err() != nil {
					return false, ctx.Err()
				}
				w.say(root+p, "%v", err)
				continue
			}
			fetched = true
		}
	}
	return fetched, nil
}

// startOf returns when a task began, to the second, as its journal says in another
// root or in the store; else when the wait did.
func (w *waiter) startOf(ctx context.Context, root string, id ID) time.Time {
	if text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(w.journalPath(id)))); err == nil {
		journal, _ := layout.ParseJournal(text) // what departs from the layout has no start
		if at, err := time.Parse(time.RFC3339, journal.Started); err == nil {
			return at
		}
	}
	if j, err := w.Get(ctx, id); err == nil {
		if at, err := time.Parse(time.RFC3339, j.Started); err == nil {
			return at
		}
	}
	return w.begun
}
