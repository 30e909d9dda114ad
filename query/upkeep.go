package query

import (
	"context"
	"errors"
	"io/fs"
	"math"

	"filebus/index"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// Behind returns how many log entries the index does not have yet: those that the
// next search imports. An index that does not exist, or that the next search
// makes again, lacks all of them. It returns index.ErrBusy or turnstile.ErrBusy
// while a writer is at work, and index.ErrDamaged.
func (r *Reader) Behind(ctx context.Context) (uint64, error) {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return 0, err
	}
	missing := c.end
	err = c.look(ctx, func() error {
		x, err := index.Open(c.dir, c.origin)
		if err != nil {
			return err
		}
		missing -= min(missing, x.Position())
		return x.Close()
	})
	return missing, err
}

// VerifyIndex reads the whole index and returns index.ErrDamaged with the name
// of the damaged file, and store.ErrDamaged if it knows entries that the log does not have.
// An index that does not exist, or that the next search makes again because it is of
// another store or format, is not damaged.
func (r *Reader) VerifyIndex(ctx context.Context) error {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return err
	}
	return c.look(ctx, func() error {
		if err := index.Verify(c.dir, c.origin); err != nil {
			return err
		}
		x, err := index.Open(c.dir, c.origin)
		if err != nil {
			return err
		}
		ahead, err := c.isAhead(ctx, x.Position())
		if ahead {
			err = c.store.GoneBack(x.Position(), c.end)
		}
		return errors.Join(err, x.Close())
	})
}

// look calls fn while nobody writes to the index, if there is one. That it is of no
// use, unless it is damaged, is no error.
func (c *catchUp) look(ctx context.Context, fn func() error) error {
	if _, err := c.own.ReadDir(indexFolder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return c.locked(ctx, turnstile.Shared, func() error {
		err := fn()
		if index.MustRenew(err) && !errors.Is(err, index.ErrDamaged) {
			return nil
		}
		return err
	})
}

// errSweep says that the index must be swept before it can go on.
var errSweep = errors.New("the index must be swept")

// sweep removes from the index what the store has no head for. The log names a
// destroyed record by its ref alone, which the index does not know, so all names
// are compared; one sweep serves for every entry that the log has by then. The
// index's lock is held and no writer open.
func (c *catchUp) sweep(ctx context.Context) error {
	swept, err := Position(ctx, c.store)
	if err != nil {
		return err
	}
	names, err := c.indexedNames(ctx)
	if err != nil {
		return err
	}
	gone, err := c.headless(ctx, names)
	if err != nil {
		return err
	}
	w, err := index.OpenWriter(c.dir, c.origin)
	if err != nil {
		return err
	}
	// The position stays: what follows it is still to be indexed.
	if err := errors.Join(w.Apply(ctx, gone, w.Position()), w.Close()); err != nil {
		return err
	}
	c.swept = swept
	return nil
}

// indexedNames returns every name that has a document, those of quiet kinds
// included.
func (c *catchUp) indexedNames(ctx context.Context) ([]record.Name, error) {
	x, err := index.Open(c.dir, c.origin)
	if err != nil {
		return nil, err
	}
	all := index.Request{Filter: record.Filter{Kinds: record.Kinds()}, Limit: math.MaxInt32, Duplicates: true}
	result, err := x.Search(ctx, all)
	if err := errors.Join(err, x.Close()); err != nil {
		return nil, err
	}
	names := make([]record.Name, 0, len(result.Hits))
	for _, hit := range result.Hits {
		names = append(names, hit.Name)
	}
	return names, nil
}

// headless returns the deletions of those names that have no current version.
func (c *catchUp) headless(ctx context.Context, names []record.Name) ([]index.Change, error) {
	var gone []index.Change
	err := EachOf(ctx, c.Reader, names, func(tx *store.Tx, name record.Name) error {
		_, isHead, err := tx.Last(name)
		if errors.Is(err, store.ErrNotFound) || err == nil && !isHead {
			gone = append(gone, index.Change{Name: name})
			return nil
		}
		return err
	})
	return gone, err
}
