package dialogue

import (
	"context"
	"errors"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// PutStub writes a stub in the place of a turn that never came: a file that gives
// the reason. It is never written over a text; if one stands there by now, that is
// what the result is of, and Unchanged is set.
func (f *Forum) PutStub(ctx context.Context, s Seat, origin materialize.Origin, reason, details string) (*materialize.PutResult, error) {
	text := layout.StubText(reason, details)
	return f.edit(ctx, s, origin, func(old []byte, _ *store.Version) ([]byte, error) {
		if !isBlank(old) {
			return old, nil
		}
		return text, nil
	})
}

// maxLate bounds how many versions of a turn are looked at for a stub.
const maxLate = 32

// isLate reports whether the version of a turn came after a stub had taken its place.
func (f *Forum) isLate(ctx context.Context, v store.Version) (bool, error) {
	for range maxLate {
		if v.Record.Prev == (record.Ref{}) {
			break
		}
		var before store.Version
		err := f.w.Store.View(ctx, func(tx *store.Tx) (err error) {
			before, err = tx.Get(v.Record.Prev)
			return err
		})
		if errors.Is(err, store.ErrDropped) {
			break // nobody knows any more
		}
		if err != nil {
			return false, err
		}
		text, err := f.text(ctx, before)
		if err != nil {
			return false, err
		}
		if _, isStub := layout.ParseStub(text); isStub {
			return true, nil
		}
		v = before
	}
	return false, nil
}
