package store

import (
	"context"
	"errors"

	"filebus/store/turnstile"
)

// CommitFailing runs fn as Update does, but in place of what the commit says it
// takes commitErr; the commit happens only if it is told to.
func (s *Store) CommitFailing(ctx context.Context, fn func(*Tx) error, happen bool, commitErr error) error {
	stop := errors.New("rolled back")
	return s.locked(ctx, turnstile.Exclusive, func() error {
		db, err := s.openDatabase(forWriting)
		if err != nil {
			return err
		}
		var given *Tx
		_, err = s.update(db, func(tx *Tx) error {
			given = tx
			if err := fn(tx); err != nil || happen {
				return err
			}
			return stop
		})
		if errors.Is(err, stop) {
			err = nil
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
		return s.lookAgain(given, commitErr)
	})
}

// LookAgain asks whether a transaction that wrote nothing has happened.
func (s *Store) LookAgain(ctx context.Context, commitErr error) error {
	return s.locked(ctx, turnstile.Exclusive, func() error { return s.lookAgain(&Tx{store: s}, commitErr) })
}
