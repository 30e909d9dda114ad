package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/bbolt"

	"filebus/migrations"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// The files of a store, below its directory.
const (
	databaseFile = "store.db"
	bodiesDir    = "bodies"
	tmpDir       = "tmp"
)

// DefaultWait is how long a command waits for its turn.
const DefaultWait = 10 * time.Second

// Options are the environment of a Store. The zero value is ready to use.
type Options struct {
	Now           func() time.Time // default time.Now
	Random        io.Reader        // for the store id; default crypto/rand
	Wait          time.Duration    // the longest wait for a turn; default DefaultWait
	Command       string           // what others are told of who holds the lock
	AllowUnsafeFS bool             // accept network and FUSE file systems
	// Healed, if not nil, is told of each put that has made a damaged body whole,
	// once it is committed.
	Healed func(record.Name)

	// Notify, if not nil, is told what somebody should know of a store that is used all the
	// same, from whatever goroutine uses it: each thing once.
	Notify func(text string)
	// SteppedBack is told of the time of the log's last entry that was so far ahead of
	// the clock that the next one has an earlier time. Nil: nobody is.
	SteppedBack func(from time.Time)

	steps []migrations.Step // default migrations.Steps(); tests add one
}

// A Store is the handle of one store's directory. It is safe for use by several
// goroutines, and holds no lock between calls.
type Store struct {
	dir  string
	own  folder.Folder
	opts Options
	turn *turnstile.Turnstile
	made bool
	told sync.Once // Options.Notify
	kept atomic.Pointer[kept]

	mapped atomic.Pointer[mapping] // for the next reader; nil: there is none

	encoders sync.Pool // of *zstd.Encoder
	decoder  sync.Once
	decode   *zstd.Decoder
}

// Open returns the store in dir. It returns ErrNoStore if there is none, and
// reads nothing: damage shows when the store is used.
func Open(dir string, opts Options) (*Store, error) {
	_, err := folder.At(dir).Stat(databaseFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", dir, ErrNoStore)
	case err != nil:
		return nil, fmt.Errorf("opening store: %w", err)
	}
	return open(dir, opts)
}

// Create returns the store in dir, making dir and an empty store if there is
// none. Any number of processes may do so at once.
func Create(ctx context.Context, dir string, opts Options) (*Store, error) {
	if err := folder.At(dir).Make("."); err != nil {
		return nil, fmt.Errorf("making store: %w", err)
	}
	s, err := open(dir, opts)
	if err != nil {
		return nil, err
	}
	if _, err := s.own.Stat(databaseFile); !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	hold, err := s.turn.Acquire(ctx, turnstile.Exclusive, s.opts.Wait)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(s.initialise(), hold.Release())
}

func open(dir string, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Random == nil {
		opts.Random = rand.Reader
	}
	if opts.Wait == 0 {
		opts.Wait = DefaultWait
	}
	if opts.steps == nil {
		opts.steps = migrations.Steps()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if !opts.AllowUnsafeFS {
		if err := checkFS(dir); err != nil {
			return nil, err
		}
	}
	own := folder.At(dir)
	s := &Store{dir: dir, own: own, opts: opts, turn: turnstile.New(own, opts.Command)}
	s.turn.Tell = opts.Notify
	return s, nil
}

// Dir returns the store's directory, absolute.
func (s *Store) Dir() string { return s.dir }

// initialise makes the database under a temporary name, so that a crash never
// leaves a half-made one under the real name. The lock is held.
func (s *Store) initialise() error {
	if _, err := s.own.Stat(databaseFile); !errors.Is(err, fs.ErrNotExist) {
		return err // another process was first
	}
	for _, sub := range []string{bodiesDir, tmpDir} {
		if err := s.own.Make(sub); err != nil {
			return fmt.Errorf("making store: %w", err)
		}
	}
	const tmp = databaseFile + ".new"
	if err := s.writeEmpty(tmp); err != nil {
		return fmt.Errorf("making store: %w", err)
	}
	if err := errors.Join(s.forgetSignoff(), s.own.Rename(tmp, databaseFile)); err != nil { // that of one which is lost
		return fmt.Errorf("making store: %w", err)
	}
	s.made = true
	return s.own.Sync(".")
}

// IsNew reports whether Create has made the store: of several processes that
// create one at once, one has.
func (s *Store) IsNew() bool { return s.made }

func (s *Store) writeEmpty(name string) error {
	id, err := s.newID()
	if err != nil {
		return err
	}
	return s.makeDatabase(name, s.opts.steps, func(db *bbolt.DB) error {
		return db.Update(func(btx *bbolt.Tx) error { return putMeta(btx, id, record.FormatTime(s.opts.Now())) })
	})
}

func (s *Store) newID() (string, error) {
	var id [16]byte
	_, err := io.ReadFull(s.opts.Random, id[:])
	return hex.EncodeToString(id[:]), err
}

func putMeta(btx *bbolt.Tx, origin, created string) error {
	meta := btx.Bucket(bucketMeta)
	return errors.Join(meta.Put([]byte(metaOrigin), []byte(origin)), meta.Put([]byte(metaCreated), []byte(created)))
}

// makeDatabase makes an empty database by these steps and lets fill fill it. It is synced
// at the end.
func (s *Store) makeDatabase(name string, steps []migrations.Step, fill func(db *bbolt.DB) error) error {
	if err := s.own.RemoveAll(name); err != nil { // of one that was killed
		return err
	}
	file, err := s.own.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	options := databaseOptions(forWriting)
	options.NoSync, options.NoGrowSync = true, true
	db, err := openBolt(file, options)
	if err != nil {
		return err
	}
	err = db.Update(func(btx *bbolt.Tx) error {
		_, err := migrations.Apply(btx, steps)
		return err
	})
	if err == nil {
		err = fill(db)
	}
	if err == nil {
		err = s.noteFile(db, name)
	}
	return errors.Join(err, db.Sync(), db.Close())
}

// SyncFolder makes new files and renames in a folder durable as far as one call can.
func SyncFolder(dir string) error { return folder.At(dir).Sync(".") }
