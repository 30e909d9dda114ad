package query

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"time"

	"filebus/index"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// The slices in which the index catches up. Small batches cost the index merges:
// 57 MB took 6 s in slices of 2 s, and 15 to 60 s in slices of 250 ms. So what is
// far behind, which all others need too, is caught up in long slices.
const (
	indexSlice = 250 * time.Millisecond // of holding the index's lock
	bulkSlice  = 2 * time.Second        // while far behind
	farBehind  = 200                    // log entries
	minBatch   = 4 << 20                // bytes of text in one batch, if there are so many
	bulkBatch  = 32 << 20               // while far behind and the speed is not known; half of it at least
	maxBatch   = 32 << 20               // one is indexed while the next is read
	maxChanges = 32768                  // in one batch
)

// A catchUp brings the index to a position of the log that was fixed when it
// began.
type catchUp struct {
	*Reader
	origin record.StoreID
	end    uint64 // of the log, fixed
	// An index that ends before stepped, where the log's time went back last, takes
	// what stands behind again once more, which got wrong times.
	stepped, again uint64
	speed          float64 // bytes of text per second; 0: not known yet

	position   uint64            // of the index that was searched
	incomplete bool              // its hits were not all read
	until      time.Time         // when reading them ends; zero: scanTime from its beginning
	unread     uint64            // hits that may have what is looked for in texts
	reasons    reasons           // why there are none
	literal    bool              // see SearchAnswer.Literal
	quote      string            // what lifted hits have word by word
	completed  map[string]string // terms that a word of the query stands for, with its own

	next    *loading // the batch after those that are indexed, already being read; nil: none
	swept   uint64   // drops up to here left nothing in the index; see sweep
	renewed bool     // a damaged index was thrown away once
	cannot  error    // why the index cannot be read or written, as on a full disk: all that it lacks is scanned
}

// newCatchUp fixes the end: what is put from now on is left to later searches, so
// that a search ends however fast others write.
func (r *Reader) newCatchUp(ctx context.Context) (*catchUp, error) {
	c := &catchUp{Reader: r}
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		c.origin, c.end = tx.Origin(), tx.Position()
		c.stepped, c.again, err = tx.SteppedBack()
		return err
	})
	return c, err
}

// openCurrent returns the index, and the lock under which it may be searched,
// once it has every entry up to c.end, or as it is when the deadline has passed.
// The index is nil when there is none by then.
func (c *catchUp) openCurrent(ctx context.Context, deadline time.Time) (*index.Index, *turnstile.Hold, error) {
	if err := c.own.Make(indexFolder); err != nil {
		if c.isRefused(err) {
			return nil, nil, nil // the store can be read, the index cannot be made
		}
		return nil, nil, fmt.Errorf("making the index: %w", err)
	}
	reading, stop := context.WithCancel(ctx)
	defer func() { stop(); c.next = nil }()
	for {
		x, hold, err := c.open(ctx)
		if err != nil {
			return nil, nil, err
		}
		late := time.Now().After(deadline)
		if x != nil && x.Position() >= c.end || late {
			return x, hold, nil
		}
		if err := closeIndex(x, hold); err != nil {
			return nil, nil, err
		}
		if err := c.advance(reading); err != nil {
			if c.isRefused(err) || errors.Is(err, turnstile.ErrBusy) && time.Now().After(deadline) {
				deadline = time.Time{}
				continue
			}
			return nil, nil, err
		}
	}
}

// ask calls fn with the index as openCurrent returns it: with nil, if there is none.
// Damage that shows only then costs one more try, with a new index.
func (c *catchUp) ask(ctx context.Context, deadline time.Time, fn func(x *index.Index) error) error {
	var err error
	for range 2 {
		x, hold, openErr := c.openCurrent(ctx, deadline)
		if err = openErr; err == nil {
			err = fn(x)
		}
		if err = errors.Join(err, closeIndex(x, hold)); !errors.Is(err, index.ErrDamaged) {
			break
		}
		if removeErr := c.remove(ctx); c.isRefused(removeErr) {
			return fn(nil)
		} else if removeErr != nil {
			return errors.Join(err, removeErr)
		}
	}
	if errors.Is(err, index.ErrBusy) {
		return &turnstile.BusyError{Path: c.dir, Holder: "a program that is not filebus"}
	}
	return err
}

// isRefused reports whether err says that the machine does not let the index be read
// or written, which is no fault of the index. It remembers why.
func (c *catchUp) isRefused(err error) bool {
	isRefused := errors.Is(err, fs.ErrPermission) || index.CauseOf(err) != 0
	if isRefused {
		c.cannot = err
	}
	return isRefused
}

// enough returns when reading texts ends, if nothing else is said: what the index will
// never have by itself is read to the end.
func (c *catchUp) enough(request *SearchRequest) time.Time {
	switch {
	case c.cannot != nil, request.All:
		return time.Now().Add(never)
	case request.isScan() && !request.History:
		return time.Now().Add(expressionTime)
	}
	return time.Now().Add(scanTime)
}

// never is longer than anything takes.
const never = 365 * 24 * time.Hour

// open opens the index to search it. It is nil if there is none that can be
// used.
func (c *catchUp) open(ctx context.Context) (*index.Index, *turnstile.Hold, error) {
	hold, err := c.turn.Acquire(ctx, turnstile.Shared, c.opts.Wait)
	if c.isRefused(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	x, err := index.Open(c.dir, c.origin)
	switch {
	case err == nil:
	case c.isRefused(err), index.MustRenew(err):
		return nil, hold, nil
	default:
		return nil, nil, errors.Join(err, hold.Release())
	}
	if ahead, err := c.isAhead(ctx, x.Position()); ahead || err != nil {
		if ahead {
			_ = c.store.GoneBack(x.Position(), c.end) // another index is made
		}
		if err := errors.Join(err, x.Close()); err != nil {
			return nil, nil, errors.Join(err, hold.Release())
		}
		return nil, hold, nil
	}
	return x, hold, nil
}

// isAhead reports whether the index knows of entries that the store does not
// have, as after an older store was put back.
func (c *catchUp) isAhead(ctx context.Context, position uint64) (bool, error) {
	if position <= c.end {
		return false, nil
	}
	end, err := Position(ctx, c.store)
	return err == nil && position > end, err
}

// closeIndex gives both back, in the reverse of the order in which they were got.
// Either may be nil.
func closeIndex(x *index.Index, hold *turnstile.Hold) (err error) {
	if x != nil {
		err = x.Close()
	}
	if hold != nil {
		err = errors.Join(err, hold.Release())
	}
	return err
}

// advance holds the index's lock for one slice and indexes what it can. An index
// that turns out to be damaged is begun again, once.
func (c *catchUp) advance(ctx context.Context) error {
	return c.locked(ctx, turnstile.Exclusive, func() error {
		err := c.advanceHeld(ctx)
		if errors.Is(err, index.ErrDamaged) && !c.renewed {
			c.renewed = true
			err = index.Remove(c.dir)
		}
		return err
	})
}

// advanceHeld indexes under the held lock, with a sweep between when one is due.
func (c *catchUp) advanceHeld(ctx context.Context) error {
	for {
		err := c.fill(ctx)
		if !errors.Is(err, errSweep) {
			return err
		}
		if err := c.sweep(ctx); err != nil {
			return err
		}
	}
}

// fill indexes for one slice of time. It returns errSweep when it comes to an
// entry whose record was destroyed and whose name may still be indexed.
func (c *catchUp) fill(ctx context.Context) error {
	w, err := c.openWriter(ctx)
	if err != nil {
		return err
	}
	c.opts.Progress(w.Position(), c.end)
	slice := indexSlice
	if c.end > w.Position()+farBehind {
		slice = bulkSlice
	}
	defer limitMemory()()
	return errors.Join(c.fillUntil(ctx, w, time.Now().Add(slice), slice/3), w.Close())
}

// memoryLimit is how much memory, in bytes, is taken from the system while texts
// are indexed before garbage is collected more often. Mapped files come on top.
const memoryLimit = 300 << 20

// limitMemory sets a limit unless there is a lower one, as by GOMEMLIMIT, and returns
// what ends it.
func limitMemory() (end func()) {
	before := debug.SetMemoryLimit(-1) // only asks
	if before <= memoryLimit {
		return func() {}
	}
	debug.SetMemoryLimit(memoryLimit)
	return func() { debug.SetMemoryLimit(before) }
}

// fillUntil indexes batch after batch; while one is indexed the next is read, also for the
// next slice. A last batch that would be small is better left to that.
func (c *catchUp) fillUntil(ctx context.Context, w *index.Writer, end time.Time, small time.Duration) error {
	from := w.Position()
	if from < c.stepped {
		from = min(from, c.again)
	}
	if c.next == nil || c.next.after != from {
		c.next = c.load(ctx, from, time.Until(end))
	}
	for isLast := false; c.next != nil && !isLast; {
		began := time.Now()
		l := <-c.next.done
		c.next = nil
		if l.err != nil {
			return l.err
		}
		isLast = time.Until(end) <= small+l.cost(c.speed)
		if l.position < c.end {
			c.next = c.load(ctx, l.position, max(small, time.Until(end)))
		}
		if err := w.Apply(ctx, l.changes, max(l.position, w.Position())); err != nil {
			return err
		}
		c.again = max(c.again, l.position)
		if l.size >= minBatch {
			c.speed = float64(l.size) / time.Since(began).Seconds()
		}
		c.opts.Progress(l.position, c.end)
	}
	return nil
}

// A loading is a batch that is being read.
type loading struct {
	after uint64 // the log position before it
	done  chan loadedBatch
}

// A loadedBatch is a batch with its texts, or why there is none.
type loadedBatch struct {
	*batch
	err error
}

// cost is how long a batch will take at a speed in bytes a second, if that is
// known.
func (l *loadedBatch) cost(speed float64) time.Duration {
	if speed == 0 {
		return 0
	}
	return time.Duration(float64(l.size) / speed * float64(time.Second))
}

// load reads, beside the caller, about as much as can be indexed in the time that
// is left.
func (c *catchUp) load(ctx context.Context, after uint64, left time.Duration) *loading {
	size := max(minBatch, min(maxBatch, int(c.speed*left.Seconds())))
	switch far := c.end > after+farBehind; {
	case far && c.speed == 0:
		size = bulkBatch
	case far:
		size = max(size, bulkBatch/2)
	}
	swept := c.swept
	l := &loading{after, make(chan loadedBatch, 1)}
	go func() {
		b, err := c.gather(ctx, after, size)
		if err == nil && b.unknown > swept {
			err = errSweep
		}
		if err == nil {
			err = b.read()
		}
		l.done <- loadedBatch{b, err}
	}()
	return l
}

// openWriter opens the index to write it, and begins a new one if it is ahead.
func (c *catchUp) openWriter(ctx context.Context) (*index.Writer, error) {
	w, err := index.OpenWriter(c.dir, c.origin)
	if err != nil {
		return nil, err
	}
	ahead, err := c.isAhead(ctx, w.Position())
	if ahead && err == nil {
		if err = errors.Join(w.Close(), index.Remove(c.dir)); err == nil {
			w, err = index.OpenWriter(c.dir, c.origin)
		}
	}
	if err != nil {
		return nil, err
	}
	if w.Position() == 0 {
		// Nothing was indexed before the drops that the log has by now.
		c.swept = c.end
	}
	return w, nil
}

// Reindex throws the index away and makes it again from the store, as small as it
// gets, without a limit of time. Searches may go on until its last step.
func (r *Reader) Reindex(ctx context.Context) error {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return err
	}
	if err := c.own.Make(indexFolder); err != nil {
		return fmt.Errorf("making the index: %w", err)
	}
	if err := c.remove(ctx); err != nil {
		return err
	}
	if err := c.finish(ctx); err != nil {
		return err
	}
	return c.locked(ctx, turnstile.Exclusive, func() error {
		w, err := index.OpenWriter(c.dir, c.origin)
		if err != nil {
			return err
		}
		return errors.Join(w.Compact(ctx), w.Close())
	})
}

// CatchUp brings the index up to the log's end as it is now, without a limit of
// time.
func (r *Reader) CatchUp(ctx context.Context) error {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return err
	}
	return c.finish(ctx)
}

// finish catches up without a deadline.
func (c *catchUp) finish(ctx context.Context) error {
	x, hold, err := c.openCurrent(ctx, time.Now().Add(never))
	return errors.Join(err, closeIndex(x, hold), c.cannot)
}

// remove throws the index away.
func (c *catchUp) remove(ctx context.Context) error {
	return c.locked(ctx, turnstile.Exclusive, func() error { return index.Remove(c.dir) })
}

// locked runs fn while nobody else uses the index, or while nobody writes to it.
func (r *Reader) locked(ctx context.Context, mode turnstile.Mode, fn func() error) error {
	hold, err := r.turn.Acquire(ctx, mode, r.opts.Wait)
	if err != nil {
		return err
	}
	return errors.Join(fn(), hold.Release())
}
