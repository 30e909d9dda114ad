package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"

	"filebus/store/record"
	"filebus/store/turnstile"
)

const (
	compactFile  = databaseFile + ".compact-" // begins the name of a database that Compact is making
	compactTries = 4
	copyBatch    = 256 << 10 // bytes of one transaction of the copy, about
)

// errMoved says that the database is not the one any more of which a copy was begun.
var errMoved error = record.Busy.Errorf("%w: it is written to all the time", turnstile.ErrBusy).
	Try("run it again when less is written")

// Compact makes the database again without free pages and with full ones, beside the old
// one, and lets it take its place in one step, if at least half of it is free, and at least
// so many bytes; 0: always. Nobody waits for that: if somebody writes meanwhile the copy is
// begun again, some times. Where that never ends, it is made while the others wait, or, with a
// least number of bytes, ends with ErrBusy. After an error the database is
// as it was. It returns its size before and after, in bytes.
func (s *Store) Compact(ctx context.Context, leastFree int64) (before, after int64, err error) {
	if leastFree == 0 { // else something was written just now
		// What is a copy itself goes on under its own origin, and an older schema is migrated.
		err = s.Update(ctx, (*Tx).claim)
	}
	if err != nil {
		return 0, 0, err
	}
	turn := func(do func() error) error { return s.locked(ctx, turnstile.Exclusive, do) }
	tries := func() (err error) {
		err = errMoved
		for try := 0; try < compactTries && errors.Is(err, errMoved); try++ {
			if before, after, err = s.compact(ctx, leastFree, turn); errors.Is(err, fs.ErrNotExist) {
				err = errMoved // another process has begun a copy, and removed this one
			}
		}
		return err
	}
	take := turn
	if err = tries(); errors.Is(err, errMoved) && leastFree == 0 {
		turn = func(do func() error) error { return do() }
		err = take(tries)
	}
	if err != nil {
		_, removeErr := s.removeWith(compactFile)
		err = errors.Join(fmt.Errorf("compacting %s: %w", s.own.Path(databaseFile), err), removeErr)
	}
	return before, after, err
}

// compact reads the pages as they are without a lock: a transaction changes none in place
// that the one before it has, and two would show in the meta page.
func (s *Store) compact(
	ctx context.Context, leastFree int64, turn func(func() error) error,
) (before, after int64, err error) {
	old, err := s.own.Open(databaseFile)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = old.Close() }() // only read
	meta, metaErr := readMeta(old)
	_, numbers, err := readFree(old, meta)
	if err = errors.Join(metaErr, err); err != nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	before = int64(meta.end) * pageSize
	if free := int64(len(numbers)/8) * pageSize; err == nil && leastFree > 0 && free < max(leastFree, before/2) {
		return before, before, nil
	}
	// Two that are at it at once must not take each other's copy for their own.
	name, now := compactFile+rand.Text(), signoff{}
	if err == nil {
		now, err = s.makeCopy(ctx, old, before, name)
	}
	if newest, metaErr := readMeta(old); errors.Is(err, ErrDamaged) && metaErr == nil && newest != meta {
		err = errMoved // pages that the newest meta page leads to are as they were, or damaged
	}
	if err != nil {
		return before, 0, err
	}
	return before, now.size, turn(func() error {
		info, err := old.Stat()
		newest, metaErr := readMeta(old)
		if err = errors.Join(err, metaErr); err != nil || newest != meta || !s.is(databaseFile, info) {
			return cmp.Or(err, errMoved)
		}
		signed, known := s.readSignoff()
		if err := errors.Join(old.Close(), s.own.Rename(name, databaseFile), s.own.Sync(".")); err != nil {
			return err
		}
		if now.end, now.lost = signed.end, signed.lost; known {
			s.sign(now)
		}
		return nil
	})
}

// makeCopy makes the copy, looks at each of its pages, and returns its state.
func (s *Store) makeCopy(ctx context.Context, old *os.File, size int64, name string) (now signoff, err error) {
	if _, err := s.removeWith(compactFile); err != nil { // of those that were killed
		return now, err
	}
	err = s.makeDatabase(name, s.opts.steps, func(db *bbolt.DB) error { return copyPages(ctx, old, size, db) })
	if err != nil {
		return now, err
	}
	return s.lookAt(name)
}

// lookAt looks at each page of a database that was made, and returns its state.
func (s *Store) lookAt(name string) (now signoff, err error) {
	file, err := s.own.Open(name)
	if err != nil {
		return now, err
	}
	d := &database{file: file}
	err = errors.Join(d.look(forWriting), file.Close())
	return d.now, err
}

// is reports whether a name is still that of a file.
func (s *Store) is(name string, file fs.FileInfo) bool {
	there, err := s.own.Stat(name)
	return err == nil && os.SameFile(there, file)
}

// copyPages copies every pair of a database.
func copyPages(ctx context.Context, from *os.File, size int64, to *bbolt.DB) error {
	f := filler{ctx: ctx, db: to, fill: 1, most: copyBatch}
	var fault error
	err := walkPages(from, size, func(bucket string, key, value []byte) error {
		if fault != nil { // what comes now may be of no bucket
			return fault
		}
		return f.put(bucket, key, value)
	}, func(page uint64, why string) { fault = damaged("page %d: %s", page, why) })
	return cmp.Or(fault, errors.Join(err, f.flush()))
}

// A filler writes pairs to a new database, in transactions that fit into memory.
type filler struct {
	ctx  context.Context
	db   *bbolt.DB
	fill float64   // how full the pages get
	most int       // bytes of one transaction, about
	btx  *bbolt.Tx // what was put of late; nil: nothing
	size int       // of that, in bytes
}

func (f *filler) put(bucket string, key, value []byte) (err error) {
	if f.btx == nil {
		if f.btx, err = f.db.Begin(true); err != nil {
			return err
		}
	}
	b := f.btx.Bucket([]byte(bucket))
	b.FillPercent = f.fill
	if err := errors.Join(f.ctx.Err(), b.Put(bytes.Clone(key), bytes.Clone(value))); err != nil {
		return err
	}
	if f.size += len(key) + len(value); f.size > f.most {
		return f.flush()
	}
	return nil
}

// flush must be called at the end, also after an error.
func (f *filler) flush() error {
	if f.btx == nil {
		return nil
	}
	btx := f.btx
	f.btx, f.size = nil, 0
	return btx.Commit()
}
