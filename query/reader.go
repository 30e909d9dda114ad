package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// indexFolder is the folder of the index, below the store's.
const indexFolder = "index"

// storeSlice is how long one read transaction lasts at most.
const storeSlice = 50 * time.Millisecond

// DefaultMaxWait is how long a search catches up the index before it answers
// from what is there.
const DefaultMaxWait = 10 * time.Second

// Options are the environment of a Reader. The zero value is ready to use.
type Options struct {
	Now     func() time.Time // default time.Now
	MaxWait time.Duration    // of a search for the index to catch up; default DefaultMaxWait
	Wait    time.Duration    // for the index's lock; default store.DefaultWait
	Command string           // what others are told of who holds the lock
	// Progress, if not nil, is told how far the index is: done of total log
	// entries. It is called from the goroutine that searches.
	Progress func(done, total uint64)
}

// A Reader answers from one store. It holds no file open between calls and is
// safe for use by several goroutines.
type Reader struct {
	store *store.Store
	opts  Options
	own   folder.Folder // of the store
	dir   string        // of the index
	turn  *turnstile.Turnstile

	scanUntil time.Time // when a scan ends; zero: scanTime after its beginning
}

// New returns the Reader of a store.
func New(s *store.Store, opts Options) *Reader {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.MaxWait, opts.Wait = cmp.Or(opts.MaxWait, DefaultMaxWait), cmp.Or(opts.Wait, store.DefaultWait)
	if opts.Progress == nil {
		opts.Progress = func(uint64, uint64) {}
	}
	dir := filepath.Join(s.Dir(), indexFolder)
	own := folder.At(s.Dir())
	return &Reader{store: s, opts: opts, own: own, dir: dir, turn: turnstile.New(own.Sub(indexFolder), opts.Command)}
}

// Store returns the store that the Reader answers from.
func (r *Reader) Store() *store.Store { return r.store }

// InSlices calls step again and again, in a new transaction whenever a slice of
// time is over, until step says that it is done.
func (r *Reader) InSlices(ctx context.Context, step func(tx *store.Tx) (done bool, err error)) error {
	for done := false; !done; {
		err := r.store.View(ctx, func(tx *store.Tx) (err error) {
			for end := time.Now().Add(storeSlice); !done && err == nil && time.Now().Before(end); {
				done, err = step(tx)
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// View returns what fn reads in one transaction.
func View[T any](ctx context.Context, s *store.Store, fn func(tx *store.Tx) (T, error)) (value T, err error) {
	err = s.View(ctx, func(tx *store.Tx) (err error) {
		value, err = fn(tx)
		return err
	})
	return value, err
}

// collect returns all that a sequence of the store has.
func collect[T any](ctx context.Context, r *Reader, of func(tx *store.Tx) iter.Seq2[T, error]) ([]T, error) {
	return View(ctx, r.store, func(tx *store.Tx) (all []T, err error) {
		for value, err := range of(tx) {
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		return all, nil
	})
}

// eachFrom calls visit with what a sequence has, in slices, until it says that it is
// done. The sequence of a slice begins behind what was visited last.
func eachFrom[T any](
	ctx context.Context, r *Reader, from func(tx *store.Tx) iter.Seq2[T, error],
	visit func(tx *store.Tx, value T) (done bool, err error),
) error {
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		end := time.Now().Add(storeSlice)
		for value, err := range from(tx) {
			if err != nil {
				return false, err
			}
			if done, err := visit(tx, value); done || err != nil {
				return true, err
			}
			if time.Now().After(end) {
				return false, nil
			}
		}
		return true, nil
	})
}

// eachPut calls visit with the versions that log entries put and a filter picks, and whether they are current, in
// slices, from position next, or the log's end, back to behind another one, until it says that it is done.
// What was dropped is left out.
func (r *Reader) eachPut(
	ctx context.Context, next *uint64, stop uint64, f *record.Filter,
	visit func(tx *store.Tx, e store.Entry, v store.Version, isHead bool) (done bool, err error),
) error {
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		*next = min(*next, tx.Position())
		if *next <= stop {
			return true, nil
		}
		e, err := tx.Entry(*next)
		if err != nil {
			return false, err
		}
		*next--
		if e.Op != store.OpPut {
			return false, nil
		}
		v, err := mustFind(tx.Get(e.Ref))
		switch {
		case errors.Is(err, store.ErrDropped):
			return false, nil
		case err != nil:
			return false, err
		case !f.Accepts(v.Record):
			return false, nil
		}
		last, isHead, err := tx.Last(v.Record.Name)
		if err != nil {
			return false, err
		}
		return visit(tx, e, v, isHead && last.Ref == v.Ref)
	})
}

// mustFind makes a record that the store's own look-ups, names or log lead to, and
// that is neither there nor dropped, what it is: damage.
func mustFind(v store.Version, err error) (store.Version, error) {
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: the store leads to a missing record: %w", store.ErrDamaged, err)
	}
	return v, err
}

// parallel calls work with each number below n, on all cores, and joins the errors.
func parallel(n int, work func(i int) error) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	failed := make([]error, n)
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				failed[i] = work(i)
			}
		})
	}
	workers.Wait()
	return errors.Join(failed...)
}

// EachOf calls visit with each of some things, in slices: see InSlices.
func EachOf[T any](ctx context.Context, r *Reader, things []T, visit func(tx *store.Tx, thing T) error) error {
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		if len(things) == 0 {
			return true, nil
		}
		thing := things[0]
		things = things[1:]
		return false, visit(tx, thing)
	})
}
