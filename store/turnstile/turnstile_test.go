package turnstile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filebus/store/folder"
)

// long is a wait that no sound test uses up.
const long = 2 * time.Minute

func acquire(t *testing.T, of *Turnstile, mode Mode) *Hold {
	t.Helper()
	hold, err := of.Acquire(t.Context(), mode, long)
	if err != nil {
		t.Fatal(err)
	}
	return hold
}

func release(t *testing.T, hold *Hold) {
	t.Helper()
	if err := hold.Release(); err != nil {
		t.Error(err)
	}
}

// wantBusy tries the turnstile for a short time and returns the error.
func wantBusy(t *testing.T, of *Turnstile, mode Mode) *BusyError {
	t.Helper()
	hold, err := of.Acquire(t.Context(), mode, 30*time.Millisecond)
	var busy *BusyError
	if !errors.As(err, &busy) || !errors.Is(err, ErrBusy) {
		t.Fatalf("Acquire(%v) = %v, %v; want a BusyError", mode, hold, err)
	}
	return busy
}

func TestModes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		label         string
		first, second Mode
		together      bool
	}{
		{"two readers", Shared, Shared, true},
		{"reader, writer", Shared, Exclusive, false},
		{"writer, reader", Exclusive, Shared, false},
		{"two writers", Exclusive, Exclusive, false},
	} {
		t.Run(test.label, func(t *testing.T) {
			dir := t.TempDir()
			one, other := New(folder.At(dir), "one"), New(folder.At(dir), "other")
			hold := acquire(t, one, test.first)
			if !test.together {
				wantBusy(t, other, test.second)
				wantBusy(t, one, test.second) // the same value, as from another goroutine
				release(t, hold)
				release(t, acquire(t, other, test.second))
				return
			}
			second := acquire(t, other, test.second)
			third := acquire(t, one, test.second)
			for _, h := range []*Hold{hold, second, third} {
				release(t, h)
			}
			release(t, acquire(t, other, Exclusive))
		})
	}
}

func TestHolderIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	hold := acquire(t, New(folder.At(dir), "a long import"), Exclusive)
	busy := wantBusy(t, New(folder.At(dir), "put"), Shared)
	want := fmt.Sprintf("pid %d on %s: a long import", os.Getpid(), host)
	if busy.Holder != want || busy.Path != filepath.Join(dir, "lock") || busy.Waited < 30*time.Millisecond {
		t.Errorf("busy = %+v, want holder %q", busy, want)
	}
	if text := busy.Error(); !strings.Contains(text, want) || !strings.Contains(text, busy.Path) {
		t.Errorf("Error() = %q, want it to hold %q and %q", text, want, busy.Path)
	}
	release(t, hold)

	reader := acquire(t, New(folder.At(dir), "show"), Shared)
	busy = wantBusy(t, New(folder.At(dir), "put"), Exclusive)
	if busy.Holder != "" || !strings.Contains(busy.Error(), "held by readers") {
		t.Errorf("busy while a reader holds it: %v, want readers", busy)
	}
	release(t, reader)
}

// TestTold lets somebody wait for more than a second, at the lock, and behind the gate. Nobody is told that he waits for himself.
func TestTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hold := acquire(t, New(folder.At(dir), "a long import"), Exclusive)
	var waiters sync.WaitGroup
	for _, name := range []string{"put", "put", "a long import"} {
		waiters.Go(func() {
			var told []string
			waiter := New(folder.At(dir), name)
			waiter.Tell = func(text string) { told = append(told, text) }
			_, err := waiter.Acquire(t.Context(), Exclusive, 1500*time.Millisecond)
			text := strings.Join(told, "\n")
			isTold := len(told) == 1 && strings.HasPrefix(text, "waiting since ") && strings.HasSuffix(text, ": a long import")
			if !errors.Is(err, ErrBusy) || isTold != (name == "put") || !isTold && text != "" {
				t.Errorf("a waiter was told %q, and ended with %v", told, err)
			}
		})
	}
	waiters.Wait()
	release(t, hold)
}

// TestStaleNote leaves the note of a writer that was killed: who comes next must
// not be taken for it.
func TestStaleNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, note := range []string{"pid 1 on host: killed\n", "pid 1 on host: no line feed", "pid 1 on host: two\nlines", "\x00\x00\x00",
		"p", "pid ", "pid 1", "pid 1 o", "pid 1 on host"} { // the last ones were cut short by a full disk
		if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(note), 0o666); err != nil {
			t.Fatal(err)
		}
		reader := acquire(t, New(folder.At(dir), "show"), Shared)
		if busy := wantBusy(t, New(folder.At(dir), "put"), Exclusive); busy.Holder != "" {
			t.Errorf("after the note %.30q a reader holds it; the error names %q", note, busy.Holder)
		}
		release(t, reader)
		if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(note), 0o666); err != nil {
			t.Fatal(err)
		}
		writer := acquire(t, New(folder.At(dir), "put"), Exclusive)
		if busy := wantBusy(t, New(folder.At(dir), "show"), Shared); !strings.HasSuffix(busy.Holder, ": put") {
			t.Errorf("after the note %.30q put holds it; the error names %q", note, busy.Holder)
		}
		release(t, writer)
	}
}

// TestForeignText leaves a text in a lock file that no filebus has written: it is
// somebody's, and stays.
func TestForeignText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"no line feed", "\n", strings.Repeat("x", 10000), "\xff\x00", "pid x on host: put\n", "pid 1 at", "pidgin",
		"pid 1 on host: put" + strings.Repeat("x", 10000),
	} {
		for _, mode := range []Mode{Shared, Exclusive} {
			dir := t.TempDir()
			file := filepath.Join(dir, "lock")
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := New(folder.At(dir), "put").Acquire(t.Context(), mode, time.Second)
			if !errors.Is(err, folder.ErrForeign) || !strings.Contains(err.Error(), file) {
				t.Errorf("with the text %.30q: %v, want an error that names %s", text, err, file)
			}
			if left, err := os.ReadFile(file); err != nil || string(left) != text {
				t.Errorf("the text %.30q became %.30q, %v", text, left, err)
			}
		}
	}
}

// holdGate blocks the gate as a foreign program would.
func holdGate(t *testing.T, dir string) *os.File {
	t.Helper()
	gate, err := New(folder.At(dir), "").open(gateFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := waitLock(gate); err != nil {
		t.Fatal(err)
	}
	return gate
}

func letGo(t *testing.T, gate *os.File) {
	t.Helper()
	if err := unlockClose(gate); err != nil {
		t.Fatal(err)
	}
}

// TestTimeoutLeavesNothing lets waiters give up at both files and looks whether
// others get in, and whether goroutines or open files are left.
func TestTimeoutLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	release(t, acquire(t, New(folder.At(dir), "first"), Exclusive))
	goroutines, files := runtime.NumGoroutine(), openFiles()

	hold := acquire(t, New(folder.At(dir), "holder"), Exclusive)
	for range 5 {
		wantBusy(t, New(folder.At(dir), "waiter"), Shared)
	}
	release(t, hold)
	release(t, acquire(t, New(folder.At(dir), "next"), Exclusive))

	gate := holdGate(t, dir)
	one := New(folder.At(dir), "waiter")
	for range 5 {
		wantBusy(t, one, Exclusive)
		wantBusy(t, New(folder.At(dir), "waiter"), Shared)
	}
	letGo(t, gate)
	release(t, acquire(t, one, Exclusive))
	release(t, acquire(t, New(folder.At(dir), "next"), Shared))

	for end := time.Now().Add(long); ; time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= goroutines && openFiles() <= files {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d goroutines and %d files, before %d and %d", runtime.NumGoroutine(), openFiles(), goroutines, files)
		}
	}
}

// openFiles counts the open files of this process, where the system tells.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// TestNoWait passes a free turnstile although the time is up before it is looked at.
func TestNoWait(t *testing.T) {
	t.Parallel()
	all := New(folder.At(t.TempDir()), "put")
	ctx, stop := context.WithCancel(t.Context())
	var starting sync.WaitGroup
	starting.Go(func() { // a child has the files of its parent until it runs its program
		for ctx.Err() == nil {
			_ = exec.Command(os.Args[0], "-test.run=^$").Run()
		}
	})
	defer starting.Wait()
	defer stop()
	for range 500 {
		hold, err := all.Acquire(t.Context(), Exclusive, 0)
		if err != nil {
			t.Fatal(err)
		}
		release(t, hold)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	reason := errors.New("the user has left")
	for _, test := range []struct {
		label string
		block func(t *testing.T, dir string, of *Turnstile) (free func())
	}{
		{"waiting for a goroutine", func(t *testing.T, _ string, of *Turnstile) func() {
			of.turn <- struct{}{}
			return func() { <-of.turn }
		}},
		{"waiting for the gate", func(t *testing.T, dir string, _ *Turnstile) func() {
			gate := holdGate(t, dir)
			return func() { letGo(t, gate) }
		}},
		{"waiting for the lock", func(t *testing.T, dir string, _ *Turnstile) func() {
			hold := acquire(t, New(folder.At(dir), "holder"), Exclusive)
			return func() { release(t, hold) }
		}},
	} {
		t.Run(test.label, func(t *testing.T) {
			dir := t.TempDir()
			waiter := New(folder.At(dir), "waiter")
			free := test.block(t, dir, waiter)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
			start := time.Now()
			if _, err := waiter.Acquire(ctx, Shared, long); !errors.Is(err, reason) || errors.Is(err, ErrBusy) {
				t.Errorf("Acquire = %v, want %v", err, reason)
			}
			if waited := time.Since(start); waited > long/2 {
				t.Errorf("the cancelled wait took %v", waited)
			}
			deadline, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer stop()
			if _, err := waiter.Acquire(deadline, Shared, long); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Acquire past the context's deadline = %v, want DeadlineExceeded", err)
			}
			free()
			release(t, acquire(t, waiter, Exclusive))
		})
	}
}

func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, rounds = 40, 10
	of := New(folder.At(t.TempDir()), "test")
	var writers, readers, together atomic.Int32
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for range rounds {
				if i%2 == 0 {
					hold := acquire(t, of, Exclusive)
					if w, r := writers.Add(1), readers.Load(); w != 1 || r != 0 {
						t.Errorf("%d writers and %d readers at once", w, r)
					}
					writers.Add(-1)
					release(t, hold)
					continue
				}
				hold := acquire(t, of, Shared)
				together.Store(max(together.Load(), readers.Add(1)))
				if w := writers.Load(); w != 0 {
					t.Errorf("a reader beside %d writers", w)
				}
				time.Sleep(100 * time.Microsecond)
				readers.Add(-1)
				release(t, hold)
			}
		})
	}
	wg.Wait()
	t.Logf("up to %d readers at once", together.Load())
}

// TestNoStarvation keeps the lock held by readers without a gap and lets a
// writer in between.
func TestNoStarvation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	var stop atomic.Bool
	var reads atomic.Int64
	for range 6 {
		reader := New(folder.At(dir), "reader")
		wg.Go(func() {
			for !stop.Load() {
				hold := acquire(t, reader, Shared)
				time.Sleep(5 * time.Millisecond)
				release(t, hold)
				reads.Add(1)
			}
		})
	}
	for reads.Load() < 6 {
		time.Sleep(time.Millisecond)
	}
	t.Logf("worst wait of the writer: %v", worstWait(t, New(folder.At(dir), "writer"), 20))
	for end, before := time.Now().Add(long), reads.Load(); reads.Load() < before+6; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the readers do not get in again")
		}
	}
	stop.Store(true)
	wg.Wait()
}

// worstWait passes the turnstile as a writer: who starves waits in vain, for long.
func worstWait(t *testing.T, of *Turnstile, times int) (worst time.Duration) {
	t.Helper()
	for range times {
		start := time.Now()
		hold := acquire(t, of, Exclusive)
		worst = max(worst, time.Since(start))
		release(t, hold)
	}
	return worst
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	if _, err := New(folder.At(dir), "test").Acquire(t.Context(), Shared, long); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Acquire in a folder that does not exist = %v, want an error that names it", err)
	}
}
