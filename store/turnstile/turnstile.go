// Package turnstile is the lock between processes: shared for readers,
// exclusive for writers, first come first served, with a deadline.
//
// It works on two files that are never replaced. Whoever wants in waits for
// "gate" blocking; its holder, who is alone, tries "lock" without blocking until
// it is free or the deadline has passed, releases the gate and works. So a
// stream of readers cannot starve a writer, as it can with one flock, and a
// waiter that gives up leaves nothing behind. The locks belong to the process:
// they vanish with it, also when it is killed.
//
// Within one process a Turnstile may be used from several goroutines.
package turnstile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrBusy is what a BusyError is, for errors.Is.
var ErrBusy = errors.New("busy")

// A BusyError says that the lock was not free before the deadline.
type BusyError struct {
	Path   string        // of the lock file
	Waited time.Duration // how long
	Holder string        // "pid 12 on host: command", or empty when readers hold it
}

// Error names the holder, so that a user can decide what to do about it.
func (e *BusyError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "readers"
	}
	return fmt.Sprintf("%s is busy: waited %v, held by %s", e.Path, e.Waited.Round(time.Millisecond), holder)
}

// Is reports whether target is ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// A Mode says how a turnstile is passed.
type Mode int

// The modes: any number of readers, or one writer.
const (
	Shared Mode = iota
	Exclusive
)

// The pauses between tries of the lock, by the holder of the gate.
const (
	firstPause = 100 * time.Microsecond
	lastPause  = 2 * time.Millisecond
)

// A Turnstile guards one directory.
type Turnstile struct {
	dir    string
	holder string
	turn   chan struct{} // one goroutine of the process waits at a time
}

// New returns the turnstile of the files "gate" and "lock" in dir, which must
// exist; the files are made when first needed. The command is what a waiter is
// told of an exclusive holder.
func New(dir, command string) *Turnstile {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	holder := fmt.Sprintf("pid %d on %s: %s", os.Getpid(), host, command)
	return &Turnstile{dir: dir, holder: holder, turn: make(chan struct{}, 1)}
}

// A Hold is a passed turnstile. Release it once.
type Hold struct {
	lock *os.File
	mode Mode
}

// Acquire waits for at most wait. It returns a *BusyError when that time is up,
// and the context's error when ctx ends first.
func (t *Turnstile) Acquire(ctx context.Context, mode Mode, wait time.Duration) (*Hold, error) {
	start := time.Now()
	waiting, cancel := context.WithTimeoutCause(ctx, wait, ErrBusy)
	defer cancel()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-waiting.Done():
		return nil, t.gaveUp(waiting, start)
	}
	gate, err := t.passGate(waiting, start)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = gate.Close() // closing an unchanged file, which also releases it
	}()
	return t.takeLock(waiting, mode, start)
}

// passGate returns the gate, held exclusively. A waiter that gives up leaves its
// blocked call behind; that one closes the file as soon as it gets through.
func (t *Turnstile) passGate(ctx context.Context, start time.Time) (*os.File, error) {
	gate, err := open(filepath.Join(t.dir, "gate"))
	if err != nil {
		return nil, err
	}
	free, err := tryLock(gate, Exclusive)
	if err != nil {
		return nil, errors.Join(err, gate.Close())
	}
	if free {
		return gate, nil
	}
	passed := make(chan error, 1)
	go func() { passed <- waitLock(gate) }()
	select {
	case err := <-passed:
		if err != nil {
			return nil, errors.Join(err, gate.Close())
		}
		return gate, nil
	case <-ctx.Done():
		go func() {
			<-passed
			_ = gate.Close() // nothing was written
		}()
		return nil, t.gaveUp(ctx, start)
	}
}

func (t *Turnstile) takeLock(ctx context.Context, mode Mode, start time.Time) (*Hold, error) {
	lock, err := open(filepath.Join(t.dir, "lock"))
	if err != nil {
		return nil, err
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		free, err := tryLock(lock, mode)
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		if free {
			return t.hold(lock, mode), nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(t.gaveUp(ctx, start), lock.Close())
		case <-time.After(pause):
		}
	}
}

// hold notes in the lock file who holds it, and wipes the note of a writer that
// was killed: behind the gate nobody else can have written one. The note only
// serves error messages: failing to write it harms nobody.
func (t *Turnstile) hold(lock *os.File, mode Mode) *Hold {
	if info, err := lock.Stat(); err == nil && info.Size() > 0 {
		_ = lock.Truncate(0)
	}
	if mode == Exclusive {
		_, _ = lock.WriteAt([]byte(t.holder+"\n"), 0)
	}
	return &Hold{lock, mode}
}

func (t *Turnstile) gaveUp(ctx context.Context, start time.Time) error {
	if err := context.Cause(ctx); !errors.Is(err, ErrBusy) {
		return err
	}
	path := filepath.Join(t.dir, "lock")
	return &BusyError{Path: path, Waited: time.Since(start), Holder: readHolder(path)}
}

func readHolder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line)
}

// Release gives the lock back.
func (h *Hold) Release() error {
	if h.mode == Exclusive {
		_ = h.lock.Truncate(0) // the note only serves messages
	}
	return errors.Join(unlock(h.lock), h.lock.Close())
}

// open opens a lock file, making it when it is missing. In a folder or on a file
// system that cannot be written, a file that exists is opened for reading: that
// is enough to lock.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if f, readErr := os.Open(path); readErr == nil {
			return f, nil
		}
	}
	return f, err
}
