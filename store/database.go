package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"filebus/migrations"
	"filebus/store/folder"
	"filebus/store/turnstile"
)

// The buckets, as docs/format.md describes them.
var (
	bucketMeta         = []byte("meta")
	bucketRecords      = []byte("records")
	bucketBodies       = []byte("bodies")
	bucketUses         = []byte("uses")
	bucketDescriptions = []byte("descriptions")
	bucketNames        = []byte("names")
	bucketHistory      = []byte("history")
	bucketLookups      = []byte("lookups")
	bucketLog          = []byte("log")
	bucketDropped      = []byte("dropped")
	bucketAbsent       = []byte("absent")
	bucketTold         = []byte("told")
	bucketDigests      = []byte("digests")
)

// The keys of the meta bucket, besides the schema version.
const (
	metaOrigin  = "origin"
	metaCreated = "created"
	metaSteps   = "steps"
	metaOrigins = "origins"
	metaFile    = "file"
)

// pageSize is fixed, so that a store is the same on every machine.
const pageSize = 4096

// An access says what a database is opened for.
type access int

const (
	forReading access = iota
	forWriting
)

func databaseOptions(a access) *bbolt.Options {
	return &bbolt.Options{
		ReadOnly:     a != forWriting,
		Timeout:      time.Second, // only a foreign program can hold the file
		FreelistType: bbolt.FreelistMapType,
		PageSize:     pageSize,
		NoStatistics: true,
	}
}

// View runs fn in a read transaction. Other readers go on, writers wait: fn
// should take at most 50 ms and do no I/O. The Tx and the slices it returns are
// valid only inside fn; Records and Contents remain valid.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	return s.locked(ctx, turnstile.Shared, func() error {
		db, err := s.openDatabase(forReading)
		if err != nil {
			return err
		}
		isWhole := false
		defer func() {
			if isWhole {
				s.keep(db)
			} else { // a panic went through it
				_ = db.Close() // nothing was written
			}
		}()
		err = db.View(func(btx *bbolt.Tx) error {
			tx, err := s.newTx(btx)
			if err != nil {
				return err
			}
			s.compare(db, tx)
			defer tx.isOver.Store(true)
			return fn(tx)
		})
		isWhole = true
		return err
	})
}

// Update runs fn in a write transaction, alone. It commits durably if fn returns
// nil, else nothing has happened. The fn may be slow only in proportion to what
// it writes.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.locked(ctx, turnstile.Exclusive, func() error {
		db, err := s.openNewest(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }() // after a panic; else it is closed already
		tx, err := s.update(db, fn)
		if tx != nil && err == nil {
			if now, err := db.state(true); err == nil {
				s.signAs(now, tx)
			}
		}
		closeErr := db.Close()
		if tx != nil && err != nil {
			err = s.lookAgain(tx, err)
		}
		if err == nil && tx != nil {
			tx.removeReleased()
			tx.tellRenewed()
			for _, name := range tx.healed {
				if s.opts.Healed != nil {
					s.opts.Healed(name)
				}
			}
			if s.opts.SteppedBack != nil && !tx.wasAhead.IsZero() {
				s.opts.SteppedBack(tx.wasAhead)
			}
		}
		return errors.Join(err, closeErr)
	})
}

// update returns the transaction only once it was given to Commit.
func (s *Store) update(db *database, fn func(*Tx) error) (*Tx, error) {
	btx, err := db.Begin(true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = btx.Rollback() }() // does nothing after a commit
	if err := s.migrate(btx); err != nil {
		return nil, err
	}
	tx, err := s.newTx(btx)
	if err != nil {
		return nil, err
	}
	s.compare(db, tx)
	tx.file = s.numberOf(databaseFile)
	if k := s.kept.Swap(nil); k != nil && k.next == btx.ID() && k.file == tx.file && k.chain == tx.chain { // nobody has written between
		tx.facts = k.facts
	}
	if err := cmp.Or(fn(tx), tx.putWaiting()); err != nil {
		return nil, err
	}
	next := btx.ID() + 1
	if err = btx.Commit(); err == nil {
		s.kept.Store(&kept{next, tx.file, tx.chain, tx.facts})
	}
	return tx, err
}

// lookAgain answers whether a transaction whose commit failed has happened all
// the same: when only the last sync failed, it has.
func (s *Store) lookAgain(tx *Tx, commitErr error) error {
	db, err := s.openDatabase(forReading)
	if err != nil {
		return errors.Join(commitErr, err)
	}
	defer func() { _ = db.Close() }() // nothing was written
	happened := false
	err = db.View(func(btx *bbolt.Tx) error {
		again, err := s.newTx(btx)
		happened = err == nil && tx.wrote && again.chain == tx.chain
		return err
	})
	if happened {
		return nil
	}
	return errors.Join(fmt.Errorf("committing: %w", commitErr), err)
}

// locked runs fn while the turnstile is held. A panic out of the database, and
// a fault in its memory map, mean damaged files.
func (s *Store) locked(ctx context.Context, mode turnstile.Mode, fn func() error) (err error) {
	hold, err := s.turn.Acquire(ctx, mode, s.opts.Wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if p := recover(); p != nil {
			err = damaged("store %s: %v", s.dir, p)
		}
	}()
	return fn()
}

// openDatabase opens the database, once it is known that bbolt will find no page there
// that keeps it busy or makes it fail: see look.
func (s *Store) openDatabase(a access) (*database, error) {
	d := &database{}
	d.signed, _ = s.readSignoff()
	flag := os.O_RDWR
	if a == forReading {
		if m := s.takeMapping(); m != nil {
			d.DB, d.file = m.db, m.file
			if err := d.look(a); err != nil {
				return nil, errors.Join(s.openError(err), d.Close())
			}
			return d, nil
		}
		flag = os.O_RDONLY
	}
	file, err := s.own.OpenFile(databaseFile, flag)
	if err != nil {
		return nil, s.openError(err)
	}
	d.file = file
	if err := d.look(a); err != nil {
		return nil, errors.Join(s.openError(err), file.Close())
	}
	if d.DB, err = openBolt(file, databaseOptions(a)); err != nil {
		return nil, s.openError(err)
	}
	d.AllocSize = 1 << 20 // bytes by which the file grows, of bbolt's 16 MiB most would stay empty
	return d, nil
}

// openError says what an error of opening the database means.
func (s *Store) openError(err error) error {
	path := s.own.Path(databaseFile)
	var system syscall.Errno
	switch {
	case errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, bolterrors.ErrTimeout):
		return &turnstile.BusyError{Path: path, Waited: time.Second, Holder: "a program that is not filebus"}
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", s.dir, ErrNoStore)
	case errors.As(err, &system), errors.Is(err, folder.ErrForeign): // no permission, no descriptors left, ...
		return fmt.Errorf("opening store: %w", err)
	}
	return damaged("opening %s: %w", path, err)
}

// openBolt unlocks the file when bbolt panics on what it finds there: else the
// next caller would take the store for busy.
func openBolt(file *os.File, options *bbolt.Options) (*bbolt.DB, error) {
	options.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return file, nil }
	done := false
	defer func() {
		if !done {
			_, _ = unlock(file), file.Close() // the panic says more
		}
	}()
	db, err := bbolt.Open(file.Name(), 0, options)
	done = true
	return db, err
}

const migrateFile = databaseFile + ".migrate"

// openNewest opens the database for writing. One of an older schema whose keys are others is made again beside it,
// and that takes its place in one step. Readers know the older ones too, so it waits for the first write.
func (s *Store) openNewest(ctx context.Context) (*database, error) {
	db, err := s.openDatabase(forWriting)
	if err != nil {
		return nil, err
	}
	isWhole := false
	defer func() {
		if !isWhole { // a panic went through it
			_ = db.Close() // nothing was written
		}
	}()
	version, err := s.makeNewest(ctx, db)
	if isWhole = true; version == 0 && err == nil {
		return db, nil
	}
	if err = errors.Join(err, db.Close()); err == nil {
		err = s.takeNewest(version)
	}
	if err != nil {
		return nil, errors.Join(err, s.own.RemoveAll(migrateFile))
	}
	return s.openDatabase(forWriting)
}

// makeNewest makes a database of the newest schema of one whose keys are others, and returns the schema of that.
func (s *Store) makeNewest(ctx context.Context, old *database) (version int, err error) {
	err = old.View(func(btx *bbolt.Tx) error {
		version, err = s.schema(btx)
		return err
	})
	n := migrations.Copies(version, s.opts.steps)
	if err != nil || n == 0 {
		return 0, err
	}
	btx, err := old.Begin(true)
	if err != nil {
		return 0, err
	}
	defer func() { _ = btx.Rollback() }() // the old one stays as it is
	err = s.makeDatabase(migrateFile, s.opts.steps[:n], func(db *bbolt.DB) error {
		f := filler{ctx: ctx, db: db, fill: 1, most: copyBatch}
		if err := errors.Join(migrations.Copy(btx, s.opts.steps[:n], f.put), f.flush()); err != nil {
			return err
		}
		return db.Update(s.apply)
	})
	return version, err
}

// takeNewest puts the database that was made in the place of an older one, of which a copy is kept.
func (s *Store) takeNewest(version int) error {
	signed, known := s.readSignoff()
	now, err := s.lookAt(migrateFile)
	if err == nil {
		err = s.keepOld(version)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(s.own.Rename(migrateFile, databaseFile), s.own.Sync(".")); err != nil {
		return err
	}
	if now.end, now.lost = signed.end, signed.lost; known {
		s.sign(now)
	}
	return nil
}

// migrate brings an older store to the newest schema where it is, after a copy was made.
func (s *Store) migrate(btx *bbolt.Tx) error {
	version, err := s.schema(btx)
	if err != nil || version == s.latest() {
		return err
	}
	if err := s.keepOld(version); err != nil {
		return err
	}
	return s.apply(btx)
}

// keepOld copies a store that is to have a newer schema, and says so: that may take long.
func (s *Store) keepOld(version int) error {
	name := databaseFile + ".schema" + strconv.Itoa(version)
	if s.opts.Notify != nil {
		s.opts.Notify(fmt.Sprintf("this store is brought to schema %d; %s keeps what it was", s.latest(), s.own.Path(name)))
	}
	if err := s.copyDatabase(name); err != nil {
		return fmt.Errorf("copying the store before migration: %w", err)
	}
	return nil
}

// apply brings a database to the newest schema, with what follows from its records.
func (s *Store) apply(btx *bbolt.Tx) error {
	before, err := migrations.Version(btx)
	if err == nil {
		_, err = migrations.Apply(btx, s.opts.steps)
	}
	if err != nil || before >= schemaRanked {
		return err
	}
	tx, err := s.newTx(btx)
	if err != nil {
		return err
	}
	return tx.rankAll()
}

func (s *Store) latest() int { return s.opts.steps[len(s.opts.steps)-1].Version }

// schema returns the version of a store. One that a newer filebus wrote and one
// that is none are errors.
func (s *Store) schema(btx *bbolt.Tx) (int, error) {
	version, err := migrations.Version(btx)
	switch {
	case err != nil:
		return 0, damaged("store %s: %w", s.dir, err)
	case version > s.latest():
		return 0, &SchemaError{Dir: s.dir, Have: s.latest(), Want: version}
	case version == 0:
		return 0, damaged("store %s has no schema version", s.dir)
	}
	return version, nil
}

// copyDatabase copies the database durably, before anything is written to it.
func (s *Store) copyDatabase(name string) error {
	database, err := s.own.Open(databaseFile)
	if err != nil {
		return err
	}
	tmp, tmpName, err := s.temporary()
	if err != nil {
		return errors.Join(err, database.Close())
	}
	_, err = io.Copy(tmp, database)
	if err = errors.Join(err, database.Close(), tmp.Sync(), tmp.Close()); err == nil {
		err = s.own.Rename(tmpName, name)
	}
	if err != nil {
		return errors.Join(err, s.own.Remove(tmpName))
	}
	return s.own.Sync(".")
}
