package issue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// WaitOptions say for which issues to wait.
type WaitOptions struct {
	mirror.Waiter
	// From is the log position after which an issue counts as new. See query.Position.
	From uint64
	// Taking says that files which agents change by hand are imported.
	Taking bool
}

// Wait blocks until an issue is to be done that was not at a position of the log:
// one that was added, by a command or by hand, or that was reopened. It returns
// all of them, the one to be done next first, or an error when the time is up.
func (q *Queue) Wait(ctx context.Context, opts WaitOptions) ([]Issue, error) {
	w := awaiting{Queue: q, WaitOptions: opts, seen: opts.From, touched: map[record.Name]bool{}}
	w.Waiter.Now = q.Now
	folders, err := w.follow(ctx)
	if err != nil {
		return nil, err
	}
	late, err := q.Work.Await(ctx, &w.Waiter, folders, w.look)
	if late {
		return nil, w.Late("no new issue").Try("filebus issue wait --since @{1}", strconv.FormatUint(opts.From, 10))
	}
	return w.found, err
}

// An awaiting follows the log, and the files of the queue.
type awaiting struct {
	*Queue
	WaitOptions
	files   []string             // the store's first
	isDue   bool                 // something has changed since it looked last
	seen    uint64               // the log was looked at up to here
	touched map[record.Name]bool // the issues that the log names since the start
	found   []Issue
}

// follow lists the files that change when an issue is added: the store, and those
// where queues are or may be, which agents write too. It watches the folders of
// those that are; what changes elsewhere is found by the watch's slow scan.
func (w *awaiting) follow(ctx context.Context) (folders []string, err error) {
	paths, err := w.Files(ctx)
	if err != nil {
		return nil, err
	}
	folders = markdown.Each(paths, path.Dir)
	for _, profile := range layout.Profiles() {
		if p, err := profile.Path(record.KindIssue, "new"); err == nil && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	w.isDue = true
	w.files = []string{filepath.Join(w.Work.Location.Store, "store.db")}
	for _, p := range paths {
		w.files = append(w.files, w.Work.FilePath(p))
	}
	return folders, nil
}

// look looks for new issues if one of the files has changed since it did so last, or
// has lately.
func (w *awaiting) look(ctx context.Context) (missing string, again time.Duration, err error) {
	const none = "a new issue"
	for i, file := range w.files { // what changes while it looks is found by the next look
		info, _ := os.Stat(file) // nil: there is none yet
		isNew, age := w.Seen(file, info)
		w.isDue = w.isDue || isNew || i > 0 && w.Taking && age < settles
	}
	if !w.isDue {
		return none, 0, nil
	}
	if w.found, err = w.findNew(ctx); err != nil || len(w.found) == 0 {
		w.isDue = err != nil
		return none, 0, err
	}
	return "", 0, nil
}

// findNew imports changed files, and returns the issues that are new.
func (w *awaiting) findNew(ctx context.Context) ([]Issue, error) {
	if w.Taking {
		_, err := w.Work.Sync(ctx, w.Work.Root, materialize.SyncOptions{CaptureOnly: true, Budget: takeBudget})
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("taking in changed files: %w", err)
		}
	}
	var found []Issue
	err := w.Work.Store.View(ctx, func(tx *store.Tx) error {
		for e, err := range tx.Log(w.seen + 1) {
			if err != nil {
				return err
			}
			v, err := tx.Get(e.Ref)
			if err == nil && v.Record.Name.Kind == record.KindIssue && v.Record.Name.Tree == "" {
				w.touched[v.Record.Name] = true
			}
			w.seen = e.Position
		}
		for name := range w.touched {
			i, isNew, err := w.isNew(tx, name)
			if err != nil {
				return err
			}
			if isNew {
				found = append(found, i)
			}
		}
		return nil
	})
	sortIssues(found)
	return found, err
}

// isNew reads an issue and reports whether it is to be done and was not at the
// start.
func (w *awaiting) isNew(tx *store.Tx, name record.Name) (i Issue, isNew bool, err error) {
	i, err = w.made(w.Head(tx, name))
	if query.IsAbsent(err) {
		return i, false, nil
	}
	if err != nil || !i.IsFree("") {
		return i, false, err
	}
	old, err := tx.HeadAt(name, w.From)
	if query.IsAbsent(err) {
		return i, true, nil
	}
	return i, err == nil && !w.IsOpen(old.Record.Status), err
}

const (
	// takeBudget is how long changed files are looked for at a time.
	takeBudget = 50 * time.Millisecond
	// settles is how long after a change a file may still not be imported, as
	// somebody may be writing to it: see materialize.SyncOptions.
	settles = 5 * time.Second
)
