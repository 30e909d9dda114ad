package query

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"filebus/index"
	"filebus/store/turnstile"
)

// Behind returns how many log entries the index does not have yet: those that the
// next search imports. An index that does not exist, or that the next search
// makes again, lacks all of them. It returns index.ErrBusy or turnstile.ErrBusy
// while a writer is at work, and index.ErrDamaged.
func (r *Reader) Behind(ctx context.Context) (entries uint64, err error) {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return c.end, nil
	}
	hold, err := r.turn.Acquire(ctx, turnstile.Shared, r.opts.Wait)
	if err != nil {
		return 0, fmt.Errorf("looking at the index: %w", err)
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	x, err := index.Open(r.dir, c.origin)
	if mustRenew(err) && !errors.Is(err, index.ErrDamaged) {
		return c.end, nil
	}
	if err != nil {
		return 0, err
	}
	position := x.Position()
	if position > c.end {
		return 0, x.Close()
	}
	return c.end - position, x.Close()
}
