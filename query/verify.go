package query

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"filebus/index"
	"filebus/store/turnstile"
)

// VerifyIndex reads the whole index and returns index.ErrDamaged with the name
// of the damaged file. An index that does not exist, or that the next search
// makes again because it is of another store or format, is not damaged.
func (r *Reader) VerifyIndex(ctx context.Context) error {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	hold, err := r.turn.Acquire(ctx, turnstile.Shared, r.opts.Wait)
	if err != nil {
		return err
	}
	err = index.Verify(r.dir, c.origin)
	if mustRenew(err) && !errors.Is(err, index.ErrDamaged) {
		err = nil
	}
	return errors.Join(err, hold.Release())
}
