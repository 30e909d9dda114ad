package query

import (
	"context"
	"errors"

	"filebus/store"
)

// Each calls visit with the current versions whose field has a value, newest
// first, until it says that it has enough. The transaction is valid during the
// call alone.
func (r *Reader) Each(ctx context.Context, field store.Field, value string, visit func(tx *store.Tx, v store.Version) (enough bool)) error {
	refs, err := r.refs(ctx, field, value)
	if err != nil {
		return err
	}
	return r.eachVersion(ctx, refs, visit)
}

// Values returns the values of a field that begin with prefix, in order, with the
// number of current records that have each.
func (r *Reader) Values(ctx context.Context, field store.Field, prefix string) (values []store.Value, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		for value, err := range tx.Values(field, prefix) {
			if err != nil {
				return err
			}
			values = append(values, value)
		}
		return nil
	})
	return values, err
}

// FirstOf returns the first version of v's name that is still stored: tags that
// were added later do not change when something came in. It is v itself if there
// is no older one.
func FirstOf(tx *store.Tx, v store.Version) (store.Version, error) {
	if v.Record.Prev.IsZero() {
		return v, nil
	}
	events, err := tx.History(v.Record.Name)
	if err != nil {
		return v, err
	}
	for _, e := range events {
		if e.Change != store.ChangePut {
			continue
		}
		first, err := tx.Get(e.Ref)
		if !errors.Is(err, store.ErrDropped) {
			return first, err
		}
	}
	return v, nil
}
