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
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// WaitOptions say for which issues to wait, and for how long.
type WaitOptions struct {
	// From is the log position after which an issue counts as new. See query.Position.
	From  uint64
	Limit time.Duration // 0: none
	// Taking says that files which agents change by hand are imported.
	Taking bool
}

// Wait blocks until an issue is to be done that was not at a position of the log:
// one that was added, by a command or by hand, or that was reopened. It returns
// all of them, the one to be done next first, or an error when the time is up.
func (q *Queue) Wait(ctx context.Context, opts WaitOptions) ([]Issue, error) {
	w := waiter{Queue: q, opts: opts, seen: opts.From, touched: map[record.Name]bool{}}
	folders, err := w.follow(ctx)
	if err != nil {
		return nil, err
	}
	over, err := q.Work.Await(ctx, opts.Limit, w.look, folders...)
	if err == nil && !over {
		return nil, record.Timeout.Errorf("no new issue in %v", opts.Limit).Try("filebus issue wait --since @{1}",
			strconv.FormatUint(opts.From, 10))
	}
	return w.found, err
}

// A waiter follows the log, and the files of the queue.
type waiter struct {
	*Queue
	opts    WaitOptions
	files   []string             // the store's first
	before  []stamp              // of the files, when they were looked at last
	seen    uint64               // the log was looked at up to here
	touched map[record.Name]bool // the issues that the log names since the start
	found   []Issue
}

// follow lists the files that change when an issue is added: the store, and those
// where queues are or may be, which agents write too. It watches the folders of
// those that are; what changes elsewhere is found by the watch's slow scan.
func (w *waiter) follow(ctx context.Context) (folders []string, err error) {
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
	w.files = []string{filepath.Join(w.Work.Location.Store, "store.db")}
	for _, p := range paths {
		w.files = append(w.files, w.Work.FilePath(p))
	}
	return folders, nil
}

// look looks for new issues if one of the files has changed since it did so last, or
// has lately.
func (w *waiter) look(ctx context.Context) (over bool, again time.Duration, err error) {
	now := stamps(w.files) // what changes while it looks is found by the next look
	settling := slices.ContainsFunc(now[1:], func(s stamp) bool { return w.Now().Sub(s.time) < settles })
	if slices.Equal(w.before, now) && !(w.opts.Taking && settling) {
		return false, 0, nil
	}
	w.before = now
	w.found, err = w.findNew(ctx)
	if errors.Is(err, turnstile.ErrBusy) && ctx.Err() == nil {
		w.before, err = nil, nil // others are at it: look again
	}
	return len(w.found) > 0, 0, err
}

// findNew imports changed files, and returns the issues that are new.
func (w *waiter) findNew(ctx context.Context) ([]Issue, error) {
	if w.opts.Taking {
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
func (w *waiter) isNew(tx *store.Tx, name record.Name) (i Issue, isNew bool, err error) {
	i, err = w.made(w.Head(tx, name))
	if query.IsAbsent(err) {
		return i, false, nil
	}
	if err != nil || !i.IsFree("") {
		return i, false, err
	}
	old, err := tx.HeadAt(name, w.opts.From)
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

// A stamp changes with its file.
type stamp struct {
	size int64
	time time.Time
}

// stamps returns the stamps of files; that of a file that is not there is zero.
func stamps(files []string) []stamp {
	all := make([]stamp, len(files))
	for i, file := range files {
		if info, err := os.Stat(file); err == nil {
			all[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return all
}
