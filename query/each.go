package query

import (
	"context"
	"errors"
	"iter"

	"filebus/store"
	"filebus/store/record"
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

// Head returns the current version of a name.
func (r *Reader) Head(ctx context.Context, name record.Name) (head Summary, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Head(name)
		if err == nil {
			head = Summarize(tx, v)
		}
		return err
	})
	return head, err
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
	for first, err := range Versions(tx, v.Record.Name) {
		return first, err
	}
	return v, nil
}

// Versions returns the versions of a name that are still stored, the oldest first. It
// ends after the first error.
func Versions(tx *store.Tx, name record.Name) iter.Seq2[store.Version, error] {
	return func(yield func(store.Version, error) bool) {
		events, err := tx.History(name)
		if err != nil {
			yield(store.Version{}, err)
		}
		for _, e := range events {
			if e.Change != store.ChangePut {
				continue
			}
			v, err := tx.Get(e.Ref)
			if !errors.Is(err, store.ErrDropped) && (!yield(v, err) || err != nil) {
				return
			}
		}
	}
}

// Position returns the position of the last entry of a store's log.
func Position(ctx context.Context, s *store.Store) (position uint64, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		position = tx.Position()
		return nil
	})
	return position, err
}
