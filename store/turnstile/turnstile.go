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
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"filebus/store/folder"
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
	waited, holder := e.Waited.Round(time.Millisecond), cmp.Or(e.Holder, "readers")
	return fmt.Sprintf("%s is busy: waited %v, held by %s", e.Path, waited, holder)
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

// The files, below the folder that is guarded.
const (
	gateFile = "gate"
	lockFile = "lock"
)

// A Turnstile guards one directory.
type Turnstile struct {
	// Tell, if not nil, is told once of a wait that takes more than a second: for what, since when, and who is in the way.
	Tell func(text string)

	dir    folder.Folder
	holder string
	turn   chan struct{} // one goroutine of the process waits at a time
}

// New returns the turnstile of the files "gate" and "lock" in dir, which must
// exist; the files are made when first needed. The command is what a waiter is
// told of an exclusive holder.
func New(dir folder.Folder, command string) *Turnstile {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	holder := fmt.Sprintf("pid %d on %s: %.*s", os.Getpid(), host, maxNote/8, command)
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
	if err := t.takeTurn(waiting); err != nil {
		return nil, t.gaveUp(waiting, start)
	}
	defer func() { <-t.turn }()
	slow := time.After(time.Second)
	gate, err := t.passGate(waiting, start, slow)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlockClose(gate) }() // nothing was written
	return t.takeLock(waiting, mode, start, slow)
}

// tell says what is waited for, unless that is the process itself.
func (t *Turnstile) tell(start time.Time) {
	if holder := t.readHolder(); t.Tell != nil && holder != t.holder {
		busy := &BusyError{Path: t.dir.Path(lockFile), Waited: time.Since(start), Holder: holder}
		t.Tell(fmt.Sprintf("waiting since %s: %v", start.Format(time.TimeOnly), busy))
	}
}

// takeTurn waits until the turn is free. One that is free is taken also when the time
// is up already, as a process that waits for its processor finds it.
func (t *Turnstile) takeTurn(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// passGate returns the gate, held exclusively. A waiter that gives up leaves its
// blocked call behind; that one closes the file as soon as it gets through.
func (t *Turnstile) passGate(ctx context.Context, start time.Time, slow <-chan time.Time) (*os.File, error) {
	gate, err := t.open(gateFile)
	if err != nil {
		return nil, err
	}
	free, err := TryLock(gate, Exclusive)
	if err != nil {
		return nil, errors.Join(err, gate.Close())
	}
	if free {
		return gate, nil
	}
	passed := make(chan error, 1)
	go func() { passed <- waitLock(gate) }()
	for {
		select {
		case err := <-passed:
			if err != nil {
				return nil, errors.Join(err, gate.Close())
			}
			return gate, nil
		case <-slow:
			t.tell(start)
		case <-ctx.Done():
			go func() {
				<-passed
				_ = unlockClose(gate) // nothing was written
			}()
			return nil, t.gaveUp(ctx, start)
		}
	}
}

func (t *Turnstile) takeLock(ctx context.Context, mode Mode, start time.Time, slow <-chan time.Time) (*Hold, error) {
	lock, err := t.open(lockFile)
	if err != nil {
		return nil, err
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		free, err := TryLock(lock, mode)
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		if free {
			return t.hold(lock, mode)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(t.gaveUp(ctx, start), lock.Close())
		case <-slow:
			t.tell(start)
		case <-time.After(pause):
		}
	}
}

// hold notes in the lock file who holds it, and wipes the note of a writer that
// was killed: behind the gate nobody else can have written one. The note only
// serves error messages: failing to write it harms nobody. A file that holds
// anything else is not ours to wipe.
func (t *Turnstile) hold(lock *os.File, mode Mode) (*Hold, error) {
	if info, err := lock.Stat(); err == nil && info.Size() > 0 {
		if !isNote(lock) {
			err := t.dir.Refuse(lockFile, "holds a text that filebus has not written")
			return nil, errors.Join(err, lock.Close())
		}
		_ = lock.Truncate(0)
	}
	if mode == Exclusive {
		_, _ = lock.WriteAt([]byte(t.holder+"\n"), 0)
	}
	return &Hold{lock, mode}, nil
}

// isNote reports whether a lock file holds one note, or the beginning of one: what
// a full disk, or a crash of the machine, has left of it.
func isNote(lock *os.File) bool {
	text, err := io.ReadAll(io.NewSectionReader(lock, 0, maxNote+1))
	text = bytes.Trim(text, "\x00")
	rest, found := bytes.CutPrefix(text, []byte("pid "))
	rest = bytes.TrimLeft(rest, "0123456789")
	begun := !found && strings.HasPrefix("pid ", string(text)) || found && strings.HasPrefix(" on ", string(rest))
	return err == nil && len(text) <= maxNote && (begun || found && bytes.HasPrefix(rest, []byte(" on ")))
}

// maxNote is the longest note, in bytes.
const maxNote = 4096

func (t *Turnstile) gaveUp(ctx context.Context, start time.Time) error {
	if err := context.Cause(ctx); !errors.Is(err, ErrBusy) {
		return err
	}
	return &BusyError{Path: t.dir.Path(lockFile), Waited: time.Since(start), Holder: t.readHolder()}
}

func (t *Turnstile) readHolder() string {
	f, err := t.dir.Open(lockFile)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()                  // only read
	text, _ := io.ReadAll(io.LimitReader(f, maxNote)) // what could be read names the holder
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line)
}

// Release gives the lock back.
func (h *Hold) Release() error {
	if h.mode == Exclusive {
		_ = h.lock.Truncate(0) // the note only serves messages
	}
	return unlockClose(h.lock)
}

// unlockClose gives a file back. Closing alone is not enough: a child that was
// just started has the file, and so its lock, until it runs its program.
func unlockClose(f *os.File) error { return errors.Join(unlock(f), f.Close()) }

// open opens a lock file, making it when it is missing. In a folder or on a file
// system that cannot be written, a file that exists is opened for reading: that
// is enough to lock.
func (t *Turnstile) open(name string) (*os.File, error) {
	f, err := t.dir.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if f, readErr := t.dir.Open(name); readErr == nil {
			return f, nil
		}
	}
	return f, err
}
