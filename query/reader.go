package query

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"filebus/store"
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
	dir   string // of the index
	turn  *turnstile.Turnstile

	shared *shared // with other stores that are searched; see SearchEverywhere
}

// New returns the Reader of a store.
func New(s *store.Store, opts Options) *Reader {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.MaxWait == 0 {
		opts.MaxWait = DefaultMaxWait
	}
	if opts.Wait == 0 {
		opts.Wait = store.DefaultWait
	}
	if opts.Progress == nil {
		opts.Progress = func(uint64, uint64) {}
	}
	dir := filepath.Join(s.Dir(), indexFolder)
	return &Reader{store: s, opts: opts, dir: dir, turn: turnstile.New(dir, opts.Command)}
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

// An item is a version with what was derived from its body.
type item struct {
	version     store.Version
	description record.Description
}

// tokens estimates what reading the whole body costs.
func (i *item) tokens() int {
	if i.description.Tokens > 0 {
		return i.description.Tokens
	}
	return record.EstimateTokens(i.version.Record.Size)
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
