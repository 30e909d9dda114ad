package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	api "github.com/blevesearch/bleve_index_api"

	"filebus/store/folder"
	"filebus/store/record"
)

// chunkText and chunkDocuments bound what is analysed and given to the engine
// at a time: small chunks repeat their dictionaries, large ones take memory. An
// analysed text takes about as much again, and its segment half of that.
const (
	leastChunk     = 4 << 20
	mostChunk      = 16 << 20
	chunkDocuments = 16384
)

// pollInterval is how often a waiting batch looks whether its engine has died.
const pollInterval = 100 * time.Millisecond

// engineGrace is how long a batch may go on after the engine reported a failure
// before it is given up: the engine answers nobody once one of its goroutines
// has died.
const engineGrace = 10 * time.Second

// errClosed is returned by a Writer that was closed, or closed itself after an
// error.
var errClosed = errors.New("the index writer is closed")

// A Writer applies changes to the index. It is not safe for concurrent use, and
// must be the only opener of its folder.
type Writer struct {
	engine    *engine     // nil: closed
	totals    totals      // as of the last batch
	serial    uint64      // of the last batch that carried totals
	replaced  error       // why a new generation was begun; nil: there was no reason
	analyzers []*Analyzer // one a core
}

// OpenWriter opens the index in dir, which need not exist, for the records of
// store. If there is no index, or it belongs to another store, has another
// format or is damaged, it begins a new generation at position 0. Any other
// error, ErrBusy among them, leaves everything as it is.
func OpenWriter(dir string, store record.StoreID) (*Writer, error) {
	if err := folder.Within(dir).Make("."); err != nil {
		return nil, err
	}
	w := &Writer{}
	for range runtime.GOMAXPROCS(0) {
		w.analyzers = append(w.analyzers, NewAnalyzer())
	}
	err := w.openCurrent(dir, store)
	if err == nil {
		return w, nil
	}
	if !MustRenew(err) {
		return nil, fmt.Errorf("index in %s: %w", dir, err)
	}
	w.replaced = err
	if w.engine, err = newGeneration(dir, store); err != nil {
		return nil, fmt.Errorf("beginning a new index in %s: %w", dir, err)
	}
	return w, nil
}

// openCurrent opens the generation in use. Its error says whether there is
// reason to begin another.
func (w *Writer) openCurrent(dir string, store record.StoreID) error {
	generation, err := currentGeneration(dir, store)
	if err != nil {
		return err
	}
	if err := checkSegments(generation); err != nil {
		return err
	}
	engine, err := openEngine(generation, false)
	if err != nil {
		return err
	}
	if w.totals, err = readTotals(engine); err != nil {
		return errors.Join(err, engine.Close())
	}
	w.engine, w.serial = engine, w.totals.Serial
	sweep(folder.Within(dir), filepath.Base(generation.Path(".")))
	return nil
}

// Position returns the log position up to which the index is complete.
func (w *Writer) Position() uint64 { return w.totals.Position }

// Close closes the index. What Apply returned for without an error is durable
// before.
func (w *Writer) Close() error {
	if w.engine == nil {
		return nil
	}
	// Segments may have been merged since the last batch.
	err := w.engine.note(w.serial)
	return errors.Join(err, w.close())
}

// close closes the index as it is, after an error.
func (w *Writer) close() error {
	engine := w.engine
	w.engine = nil
	return engine.Close()
}

// Apply makes the changes, of which the last for a name counts, and moves the
// index to position. It returns when both are durable. A call of more than 8 MB
// of text is several batches, of which only the last moves the position: after
// a crash between two, applying the same changes again gives the same index.
// About 64 MB a call are enough to be fast. After an error, the context's among
// them, the Writer is closed, unless the error is the caller's: an earlier
// position, or a document that is not of its change's name.
func (w *Writer) Apply(ctx context.Context, changes []Change, position uint64) error {
	if w.engine == nil {
		return errClosed
	}
	if err := w.check(changes, position); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := guard(func() error { return w.apply(ctx, lastChanges(changes), position) }); err != nil {
		err = condemn(w.engine.generation, fmt.Errorf("indexing up to position %d: %w", position, err))
		return errors.Join(err, w.close())
	}
	return nil
}

// Compact merges the segments into few large ones, which takes some seconds per
// 100 MB of text and makes the index about a third smaller: each segment repeats
// its dictionary. It changes no answer and no score. After an error the Writer is
// closed.
func (w *Writer) Compact(ctx context.Context) error {
	if w.engine == nil {
		return errClosed
	}
	if err := guard(func() error { return w.compact(ctx) }); err != nil {
		err = condemn(w.engine.generation, fmt.Errorf("merging segments: %w", err))
		return errors.Join(err, w.close())
	}
	return ctx.Err()
}

// compact merges and waits until the merged segment is the one that is stored.
// The engine stores a merge with the batch after it, and removes the segments it
// was made from some time after that.
func (w *Writer) compact(ctx context.Context) error {
	if err := w.engine.merge(ctx); err != nil {
		return err
	}
	for range compactTries {
		if err := w.runWith(api.NewBatch(), w.totals); err != nil {
			return err
		}
		stale, err := w.engine.staleSegments()
		if err != nil || stale == 0 || ctx.Err() != nil {
			return err
		}
		time.Sleep(compactPause)
	}
	return nil
}

// How long Compact waits for segments that are merged to go. What stays costs
// only space, until the next batch.
const (
	compactTries = 40
	compactPause = 50 * time.Millisecond
)

// check reports a mistake of the caller's.
func (w *Writer) check(changes []Change, position uint64) error {
	if position < w.totals.Position {
		return fmt.Errorf("position %d is before %d", position, w.totals.Position)
	}
	for _, c := range changes {
		if c.Document != nil && c.Document.Name != c.Name {
			return fmt.Errorf("the change of %s holds the document of %s", c.Name, c.Document.Name)
		}
	}
	return nil
}

// lastChanges returns the last change of each name. Each name is then counted
// out once, and chunks can be made in any order.
func lastChanges(changes []Change) []Change {
	last := make(map[record.Name]int, len(changes))
	for i := range changes {
		last[changes[i].Name] = i
	}
	if len(last) == len(changes) {
		return changes
	}
	var out []Change
	for i := range changes {
		if last[changes[i].Name] == i {
			out = append(out, changes[i])
		}
	}
	return out
}

// apply makes changes, one a name. If they are few, that is one batch.
func (w *Writer) apply(ctx context.Context, changes []Change, position uint64) error {
	after := w.totals
	batch := api.NewBatch()
	err := w.engine.read(func(state *scorch.IndexSnapshot) (err error) {
		if size := w.chunkSize(changes); chunk(changes, size) < len(changes) {
			after, err = w.applyChunks(ctx, state, changes, position, size)
		} else if batch, err = w.prepare(ctx, changes); err == nil {
			err = after.count(w, state, changes, batch)
		}
		return err
	})
	if err != nil {
		return err
	}
	after.Position = position
	if err := w.runWith(batch, after); err != nil {
		return err
	}
	w.totals = after
	return nil
}

// A load is an Apply that is cut into chunks.
type load struct {
	writer *Writer
	state  *scorch.IndexSnapshot // of the index before
	size   int                   // bytes of text in a chunk

	mutex   sync.Mutex
	changes []Change // not yet taken
	after   totals   // with all that were taken
	failed  error
}

// applyChunks makes changes in several batches, as many at a time as there are
// cores: the engine uses one core a batch. It returns the totals after them, and
// leaves the index unfinished.
func (w *Writer) applyChunks(
	ctx context.Context, state *scorch.IndexSnapshot, changes []Change, position uint64, size int,
) (totals, error) {
	unfinished := w.totals
	unfinished.Unfinished, unfinished.Reached = true, max(w.totals.Reached, position)
	if err := w.runWith(api.NewBatch(), unfinished); err != nil {
		return totals{}, err
	}
	l := &load{writer: w, state: state, size: size, changes: changes, after: w.totals}
	l.after.Reached = unfinished.Reached
	var workers sync.WaitGroup
	for _, analyzer := range w.analyzers {
		workers.Go(func() { l.fail(guard(func() error { return l.work(ctx, analyzer) })) })
	}
	workers.Wait()
	return l.after, l.failed
}

// work makes chunks into batches until none is left or one failed.
func (l *load) work(ctx context.Context, analyzer *Analyzer) error {
	for changes := l.take(); len(changes) > 0; changes = l.take() {
		for len(changes) > 0 {
			entries, err := analyzer.entries(ctx, changes)
			if err != nil {
				return err
			}
			batch := l.writer.newBatch(changes, entries)
			if err := l.count(changes[:len(entries)], batch); err != nil {
				return err
			}
			if err := l.writer.run(batch); err != nil {
				return err
			}
			changes = changes[len(entries):]
		}
	}
	return nil
}

// take returns the next chunk; none if all are taken or one has failed.
func (l *load) take() []Change {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.failed != nil {
		return nil
	}
	n := chunk(l.changes, l.size)
	taken := l.changes[:n]
	l.changes = l.changes[n:]
	return taken
}

// count counts a chunk into the totals. Its names are in no other chunk.
func (l *load) count(changes []Change, batch *api.Batch) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.after.count(l.writer, l.state, changes, batch)
}

// fail remembers an error, if it is one.
func (l *load) fail(err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.failed = errors.Join(l.failed, err)
}

// chunkSize returns how much text to take at a time, in bytes, so that all cores
// have something to do.
func (w *Writer) chunkSize(changes []Change) int {
	size := 0
	for i := range changes {
		size += changes[i].textSize()
	}
	if size <= 2*leastChunk {
		return 2 * leastChunk
	}
	return min(max(size/len(w.analyzers)+1, leastChunk), mostChunk)
}

// textSize returns the bytes of text that c brings.
func (c *Change) textSize() int {
	if c.Document == nil {
		return 0
	}
	return min(len(c.Document.Text), maxText)
}

// chunk returns how many changes to take at a time, for about a size of text.
func chunk(changes []Change, size int) int {
	taken := 0
	for i := range changes {
		taken += changes[i].textSize()
		if i > 0 && (taken > size || i == chunkDocuments) {
			return i
		}
	}
	return len(changes)
}

// prepare analyses the documents of changes on all cores.
func (w *Writer) prepare(ctx context.Context, changes []Change) (*api.Batch, error) {
	entries := make([]*entry, len(changes))
	failed := make([]error, len(w.analyzers))
	var next atomic.Int64
	var workers sync.WaitGroup
	for worker, analyzer := range w.analyzers[:min(len(w.analyzers), len(changes))] {
		workers.Go(func() {
			failed[worker] = guard(func() error {
				analyzer.rest()
				for n := int(next.Add(1)) - 1; n < len(changes) && ctx.Err() == nil; n = int(next.Add(1)) - 1 {
					if d := changes[n].Document; d != nil {
						entries[n] = analyzer.entry(d)
					}
				}
				return ctx.Err()
			})
		})
	}
	workers.Wait()
	return w.newBatch(changes, entries), errors.Join(failed...)
}

// entries analyses the documents of changes, of as many as it can remember the
// terms of; nil stands for a deletion.
func (a *Analyzer) entries(ctx context.Context, changes []Change) ([]*entry, error) {
	a.rest()
	entries := make([]*entry, 0, len(changes))
	for _, c := range changes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(entries) > 0 && a.isFull() {
			break
		}
		var e *entry
		if c.Document != nil {
			e = a.entry(c.Document)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// isNew reports whether the index cannot have the name of a change.
func (w *Writer) isNew(c *Change) bool { return c.Since > max(w.totals.Position, w.totals.Reached) }

// newName stands before a name that the index does not have. The engine looks in every
// segment for the document that a key replaces, unless the key is behind all of its names;
// and no name begins so: what stands before the first slash of one ends with a kind.
const newName = "\xff/"

// newBatch returns a batch of what changes say, given their analysed documents.
func (w *Writer) newBatch(changes []Change, entries []*entry) *api.Batch {
	batch := api.NewBatch()
	for i, e := range entries {
		switch {
		case e == nil:
			batch.Delete(changes[i].Name.String())
		case w.isNew(&changes[i]):
			batch.IndexOps[newName+e.id] = e
		default:
			batch.Update(e)
		}
	}
	return batch
}

// count brings the totals from before batch to after it: what the changes
// replace is counted out with the lengths that were stored with it.
func (t *totals) count(w *Writer, state *scorch.IndexSnapshot, changes []Change, batch *api.Batch) error {
	facts := factsReader{segments: state.Segments()}
	for _, c := range changes {
		if w.isNew(&c) {
			continue
		}
		name := c.Name.String()
		id, err := state.InternalID(name)
		if err != nil {
			return err
		}
		if id == nil {
			continue
		}
		old, err := facts.read(id.Value())
		if err == nil {
			err = t.remove(&old)
		}
		if err != nil {
			return fmt.Errorf("%w: replacing %s: %w", ErrDamaged, name, err)
		}
	}
	for _, document := range batch.IndexOps {
		if e, ok := document.(*entry); ok {
			t.add(&e.facts)
		}
	}
	return nil
}

// runWith runs a batch that carries the totals after it.
func (w *Writer) runWith(batch *api.Batch, after totals) error {
	w.serial++
	after.Serial = w.serial
	text, err := json.Marshal(after)
	if err != nil {
		return err
	}
	batch.SetInternal([]byte(totalsKey), text)
	if err := w.run(batch); err != nil {
		return err
	}
	return w.engine.note(w.serial)
}

// run gives a batch to the engine and waits until it is durable, or until the
// engine is known to be dead.
func (w *Writer) run(batch *api.Batch) error {
	before := w.engine.failures()
	done := make(chan error, 1)
	go func() { done <- guard(func() error { return w.engine.Batch(batch) }) }()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			if err != nil && CauseOf(err) != 0 {
				err = &machineError{err, CauseOf(err)}
			}
			return err
		case <-ticker.C:
			if w.engine.failures() == before {
				continue
			}
		}
		select {
		case err := <-done:
			return err
		case <-time.After(engineGrace):
			why, _ := lastFailures.Load(w.engine.generation.Path(engineFolder))
			return fmt.Errorf("%w: the engine has stopped: %v", ErrDamaged, why)
		}
	}
}
