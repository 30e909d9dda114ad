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
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// WaitOptions say for which issues to wait, and for how long.
type WaitOptions struct {
	// From is the log position after which an issue counts as new. See Position.
	From  uint64
	Limit time.Duration // 0: none
	// Taking says that files which agents change by hand are taken in.
	Taking bool
}

// A WaitError says that no new issue came in time. From is where to go on.
type WaitError struct {
	Limit time.Duration
	From  uint64
}

func (e *WaitError) Error() string { return fmt.Sprintf("no new issue in %v", e.Limit) }

// Position returns the position of the last entry of the log that is not later
// than a time; with the zero time, of the last one.
func (q *Queue) Position(ctx context.Context, at time.Time) (position uint64, err error) {
	err = q.work.Store.View(ctx, func(tx *store.Tx) error {
		position = tx.Position()
		if !at.IsZero() {
			position, err = tx.AsOf(at)
		}
		return err
	})
	return position, err
}

// Wait blocks until an issue is to be done that was not at a position of the log:
// one that was added, by a command or by hand, or that was reopened. It returns
// all of them, the one to be done next first, or a *WaitError.
func (q *Queue) Wait(ctx context.Context, opts WaitOptions) ([]Issue, error) {
	if opts.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, opts.Limit, &WaitError{opts.Limit, opts.From})
		defer cancel()
	}
	w := waiter{Queue: q, opts: opts, seen: opts.From, touched: map[record.Name]bool{}}
	ctx, cancel := context.WithCancel(ctx) // ends the watch
	defer cancel()
	if err := w.follow(ctx); err != nil {
		return nil, waitEnd(ctx, err)
	}
	for {
		before := stamps(w.files) // what changes while it looks is found by the next look
		found, err := w.look(ctx)
		if errors.Is(err, turnstile.ErrBusy) && ctx.Err() == nil {
			before, err = nil, nil // others are at it: look again
		}
		if len(found) > 0 {
			return found, nil
		}
		if err == nil {
			err = w.pause(ctx, before)
		}
		if err != nil {
			return nil, waitEnd(ctx, err)
		}
	}
}

// waitEnd returns why a wait ends: the *WaitError if its time was up.
func waitEnd(ctx context.Context, err error) error {
	if late := (*WaitError)(nil); errors.As(context.Cause(ctx), &late) {
		return late
	}
	return err
}

// A waiter follows the log, and the files of the queue.
type waiter struct {
	*Queue
	opts    WaitOptions
	files   []string             // the store's first
	wake    <-chan struct{}      // something may have changed
	seen    uint64               // the log was looked at up to here
	touched map[record.Name]bool // the issues that the log names since the start
}

// follow lists the files that change when an issue is added: the store, and those
// where queues are or may be, which agents write too. It watches the folders of
// those that are; what changes elsewhere is found by the watch's slow scan.
func (w *waiter) follow(ctx context.Context) error {
	paths, err := w.paths(ctx)
	if err != nil {
		return err
	}
	var folders []string
	for _, p := range paths {
		folders = append(folders, path.Dir(p))
	}
	for _, profile := range layout.Profiles() {
		if p, err := profile.Path(record.KindIssue, "new"); err == nil && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	w.files = []string{filepath.Join(w.work.Location.Store, "store.db")}
	for _, p := range paths {
		w.files = append(w.files, w.work.FilePath(p))
	}
	w.wake, err = w.work.Watch(ctx, folders...)
	return err
}

// look takes in changed files, and returns the issues that are new.
func (w *waiter) look(ctx context.Context) ([]Issue, error) {
	if w.opts.Taking {
		_, err := w.work.Sync(ctx, w.work.Root, materialize.SyncOptions{CaptureOnly: true, Budget: takeBudget})
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("taking in changed files: %w", err)
		}
	}
	var found []Issue
	err := w.work.Store.View(ctx, func(tx *store.Tx) error {
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
	sortIssues(found, w.now())
	return found, err
}

// isNew reads an issue and reports whether it is to be done and was not at the
// start.
func (w *waiter) isNew(tx *store.Tx, name record.Name) (i Issue, isNew bool, err error) {
	v, err := tx.Head(name)
	if errors.Is(err, store.ErrNotFound) {
		return Issue{}, false, nil
	}
	if err != nil {
		return Issue{}, false, err
	}
	i, found, err := readIssue(tx, v.Ref)
	if err != nil || !found || !i.Free("", w.now()) {
		return Issue{}, false, err
	}
	old, err := tx.HeadAt(name, w.opts.From)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDropped):
		return i, true, nil
	case err != nil:
		return Issue{}, false, err
	}
	return i, !Status(old.Record.Status).IsOpen(), nil
}

const (
	// takeBudget is how long changed files are looked for at a time.
	takeBudget = 50 * time.Millisecond
	// settles is how long after a change a file may still not be taken in, as
	// somebody may be writing to it: see materialize.SyncOptions.
	settles = 5 * time.Second
)

// pause returns when one of the files has changed since it had its stamp, or did
// so lately.
func (w *waiter) pause(ctx context.Context, before []stamp) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.wake:
		}
		now := stamps(w.files)
		settling := slices.ContainsFunc(now[1:], func(s stamp) bool { return w.now().Sub(s.time) < settles })
		if !slices.Equal(before, now) || w.opts.Taking && settling {
			return nil
		}
	}
}

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
