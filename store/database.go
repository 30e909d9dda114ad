package store

import (
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
	"filebus/store/record"
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
)

// The keys of the meta bucket, besides the schema version.
const (
	metaOrigin  = "origin"
	metaCreated = "created"
	metaSteps   = "steps"
)

// pageSize is fixed, so that a store is the same on every machine.
const pageSize = 4096

// An access says what a database is opened for.
type access int

const (
	forReading access = iota
	forWriting
	forChecking // reading, and the list of free pages too
)

func databaseOptions(a access) *bbolt.Options {
	return &bbolt.Options{
		ReadOnly:        a != forWriting,
		PreLoadFreelist: a == forChecking,
		Timeout:         time.Second, // only a foreign program can hold the file
		FreelistType:    bbolt.FreelistMapType,
		PageSize:        pageSize,
		NoStatistics:    true,
	}
}

// View runs fn in a read transaction. Other readers go on, writers wait: fn
// should take at most 50 ms and do no I/O. The Tx and the slices it returns are
// valid only inside fn; Records and Contents remain valid.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	err := s.view(ctx, forReading, fn)
	if errors.Is(err, errOldSchema) {
		// Any write migrates; this one has nothing else to do.
		if err := s.Update(ctx, func(*Tx) error { return nil }); err != nil {
			return err
		}
		return s.view(ctx, forReading, fn)
	}
	return err
}

// errOldSchema says that a store must be migrated before it can be read.
var errOldSchema = errors.New("the store has an older schema")

func (s *Store) view(ctx context.Context, a access, fn func(*Tx) error) error {
	return s.locked(ctx, turnstile.Shared, func() error {
		db, err := s.openDatabase(a)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }() // nothing was written
		return db.View(func(btx *bbolt.Tx) error {
			tx, err := s.newTx(btx)
			if err != nil {
				return err
			}
			return fn(tx)
		})
	})
}

// Update runs fn in a write transaction, alone. It commits durably if fn returns
// nil, else nothing has happened. The fn may be slow only in proportion to what
// it writes.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.locked(ctx, turnstile.Exclusive, func() error {
		db, err := s.openDatabase(forWriting)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }() // after a panic; else it is closed already
		tx, err := s.update(db, fn)
		closeErr := db.Close()
		if tx != nil && err != nil {
			err = s.lookAgain(tx, err)
		}
		if err == nil && tx != nil {
			tx.removeReleased()
			if s.opts.SteppedBack != nil && !tx.wasAhead.IsZero() {
				s.opts.SteppedBack(tx.wasAhead)
			}
		}
		return errors.Join(err, closeErr)
	})
}

// update returns the transaction only once it was given to Commit.
func (s *Store) update(db *bbolt.DB, fn func(*Tx) error) (*Tx, error) {
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
	if err := fn(tx); err != nil {
		return nil, err
	}
	return tx, btx.Commit()
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

func (s *Store) openDatabase(a access) (*bbolt.DB, error) {
	path := s.path(databaseFile)
	if err := s.checkFile(path); err != nil {
		return nil, err
	}
	db, err := openBolt(path, databaseOptions(a))
	var system syscall.Errno
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, &turnstile.BusyError{Path: path, Waited: time.Second, Holder: "a program that is not filebus"}
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", s.dir, ErrNoStore)
	case errors.As(err, &system): // no permission, no descriptors left, ...
		return nil, fmt.Errorf("opening store: %w", err)
	default:
		return nil, damaged("opening %s: %w", path, err)
	}
}

// openBolt unlocks the file when bbolt panics on what it finds there: else the
// next caller would take the store for busy.
func openBolt(path string, options *bbolt.Options) (*bbolt.DB, error) {
	var file *os.File
	options.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	done := false
	defer func() {
		if !done && file != nil {
			_, _ = unlock(file), file.Close() // the panic says more
		}
	}()
	db, err := bbolt.Open(path, 0o666, options)
	done = true
	return db, err
}

// checkSize finds a file that ends before its last page. Reading that page
// would fault, writing would hide that pages are lost.
func (s *Store) checkSize(btx *bbolt.Tx) error {
	path := s.path(databaseFile)
	info, err := os.Stat(path)
	if err == nil && info.Size() < btx.Size() {
		return damaged("%s was cut short: %d of %d bytes", path, info.Size(), btx.Size())
	}
	return err
}

// checkFile finds what bbolt would take for a new database or fault on: a file
// that was cut short.
func (s *Store) checkFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", s.dir, ErrNoStore)
	}
	if err == nil && info.Size() < 2*pageSize {
		return damaged("%s has only %d bytes", path, info.Size())
	}
	return err
}

// migrate brings an older store to the newest schema, after a copy was made.
func (s *Store) migrate(btx *bbolt.Tx) error {
	err := s.checkSchema(btx)
	if !errors.Is(err, errOldSchema) {
		return err
	}
	version, err := migrations.Version(btx)
	if err != nil {
		return err
	}
	if err := s.copyDatabase(btx, databaseFile+".schema"+strconv.Itoa(version)); err != nil {
		return fmt.Errorf("copying the store before migration: %w", err)
	}
	_, err = migrations.Apply(btx, s.opts.steps)
	return err
}

func (s *Store) latest() int { return s.opts.steps[len(s.opts.steps)-1].Version }

// checkSchema tells a store that a newer filebus wrote from one that is older
// and one that is none.
func (s *Store) checkSchema(btx *bbolt.Tx) error {
	version, err := migrations.Version(btx)
	switch {
	case err != nil:
		return damaged("store %s: %w", s.dir, err)
	case version > s.latest():
		return &SchemaError{Dir: s.dir, Have: s.latest(), Want: version}
	case version == 0:
		return damaged("store %s has no schema version", s.dir)
	case version < s.latest():
		return errOldSchema
	}
	return nil
}

// copyDatabase writes the database as the transaction sees it, durably.
func (s *Store) copyDatabase(btx *bbolt.Tx, name string) error {
	tmp, err := os.CreateTemp(s.dir, name+".*")
	if err != nil {
		return err
	}
	_, err = btx.WriteTo(io.Writer(tmp))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	if err := os.Rename(tmp.Name(), s.path(name)); err != nil {
		return err
	}
	return SyncFolder(s.dir)
}

// ID returns the store's id, which every record made here carries as origin.
func (s *Store) ID(ctx context.Context) (id record.StoreID, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		id = tx.origin
		return nil
	})
	return id, err
}
