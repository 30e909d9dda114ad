package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"

	"go.etcd.io/bbolt"

	"filebus/store/record"
	"filebus/store/turnstile"
)

// A Step is an entry of the log to be played again.
type Step struct {
	Entry
	Draft *Draft      // of a put whose record is there
	Name  record.Name // of one whose content is destroyed, if anybody knows it
	Trace *Trace      // of what has no record, if anybody knows it
	Pass  *Pass       // of an entry of OpPass
	Known []Known     // versions on the way to the one that is put: see Tx.Passed
}

// A Replay is a database in which the log of a store is played again.
type Replay struct {
	h    *healer
	s    *Store
	db   *bbolt.DB
	puts map[record.Ref]uint64 // of what has no record

	Barred int // records whose content was left out
}

// Restore puts a database in the place of the one that is there, in which feed plays the log of
// the store with an origin, and its earlier ones, again; it goes on under a new one. What was put and has no content is dropped at the end. What is
// replaced becomes a store of its own in the folder into, if that is a name. At last, before
// the exchange, ready is called. A Restore that is killed before it has done nothing.
func (s *Store) Restore(
	ctx context.Context, origin record.StoreID, past, into string, feed func(*Replay) error, ready func() error,
) error {
	const tmp = databaseFile + ".restore"
	return s.locked(ctx, turnstile.Exclusive, func() error {
		if err := s.forgetAside(); err != nil {
			return err
		}
		err := s.makeDatabase(tmp, s.opts.steps, func(db *bbolt.DB) error {
			r := &Replay{h: newHealer(ctx, RepairOptions{}, &Repaired{}), s: s, db: db, puts: map[record.Ref]uint64{}}
			err := db.Update(func(btx *bbolt.Tx) error {
				meta := btx.Bucket(bucketMeta)
				return errors.Join(putMeta(btx, string(origin), record.FormatTime(s.opts.Now())), meta.Put([]byte(metaOrigins), []byte(past)))
			})
			if err = cmp.Or(err, s.keepBars(db)); err == nil {
				err = feed(r)
			}
			if err == nil {
				err = r.Update(r.finish)
			}
			return err
		})
		if err == nil && into != "" {
			err = s.putAside(into)
		}
		for _, step := range [...]func() error{ready, s.forgetSignoff, func() error { return s.own.Rename(tmp, databaseFile) }} {
			if err == nil {
				err = step()
			}
		}
		if err != nil {
			return errors.Join(err, s.own.RemoveAll(tmp), s.forgetAside())
		}
		return s.own.Sync(".")
	})
}

// forgetAside removes what a Restore that was cut short has put aside. Its database is the one in
// use under a second name: whoever wrote to it, or repaired it, would do so here.
func (s *Store) forgetAside() error {
	entries, err := s.own.ReadDir(".")
	for _, e := range entries {
		if n := s.numberOf(path.Join(e.Name(), databaseFile)); n != "" && n == s.numberOf(databaseFile) {
			err = errors.Join(err, s.own.RemoveAll(e.Name()))
		}
	}
	return err
}

// putAside gives the database and the large bodies second names in a folder.
func (s *Store) putAside(into string) error {
	err := errors.Join(s.own.Make(path.Join(into, bodiesDir)), s.own.Link(databaseFile, path.Join(into, databaseFile)))
	return errors.Join(err, s.own.Walk(bodiesDir, func(name string, e fs.DirEntry) error {
		if e.IsDir() {
			return s.own.Make(path.Join(into, name))
		}
		return s.own.Link(name, path.Join(into, name))
	}))
}

// Update is a transaction in which Play is called.
func (r *Replay) Update(fn func(tx *Tx) error) error {
	return r.db.Update(func(btx *bbolt.Tx) error {
		tx, err := r.s.newTx(btx)
		if err == nil {
			err = cmp.Or(fn(tx), tx.putWaiting())
		}
		return errors.Join(err, r.h.ctx.Err())
	})
}

// Play does again what an entry of the log did. What is barred here has no content.
func (r *Replay) Play(tx *Tx, step Step) (err error) {
	if d := step.Draft; d != nil {
		if b, isBarred := tx.Barred(*d); isBarred && b.Own {
			trace := TraceOf(&d.Record)
			step.Draft, step.Trace, step.Name = nil, &trace, d.Record.Name
			r.Barred++
		}
	}
	if step.Trace != nil && step.Draft == nil {
		if _, err = tx.Tell(step.Ref, *step.Trace); err != nil {
			return err
		}
	}
	if d := step.Draft; d != nil {
		if _, err = tx.keepBody(d.Body, step.Position); err == nil {
			err = tx.keep(d.Record.Encode(), step.Position, d.Description)
		}
	} else if step.Op == OpPut {
		r.puts[step.Ref], r.h.holders[step.Ref] = step.Position, holder{name: step.Name}
	}
	return errors.Join(err, r.h.play(tx, step.Entry, r.puts))
}

// finish drops what was put and has no content, under a new origin: others may go on under the old one.
func (r *Replay) finish(tx *Tx) error {
	for i := range tx.past {
		tx.past[i].end = min(tx.past[i].end, tx.position)
	}
	if err := tx.Renew(); err != nil {
		return err
	}
	for ref, position := range r.puts {
		if tx.dropped.Get(ref[:]) == nil {
			if err := tx.drop(r.h.version(tx, ref, position)); err != nil {
				return err
			}
		}
	}
	return tx.concludeAll()
}
