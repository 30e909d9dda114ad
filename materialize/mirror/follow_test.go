package mirror

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"filebus/store/record"
)

// TestFollowerLimits has a system that gives events of three folders only, or has no
// handles left: the one goes on with these, the other gives all of them up.
func TestFollowerLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	watched := Watched{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		watched.Add(filepath.Join(dir, name), true)
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		err  error
		want string
		left int
	}{
		{syscall.ENOSPC, "no events of 2 of 5 folders: ", 3},
		{syscall.EMFILE, "no events of folders: ", 0},
		{fs.ErrNotExist, "", 3},
		{syscall.ENOTDIR, "", 3},
	} {
		given, left := 0, 0
		wake, err := watched.events(t.Context(), func(events *fsnotify.Watcher, dir string) error {
			if given++; given > 3 {
				return &fs.PathError{Op: "watch", Path: dir, Err: test.err}
			}
			err := events.Add(dir)
			left = len(events.WatchList())
			return err
		})
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.err, err, test.want)
		}
		if wake == nil {
			left = 0
		}
		if left != test.left {
			t.Errorf("%v: events of %d folders, want %d", test.err, left, test.left)
		}
	}
}

// TestFollowerCounts makes changes that count and others, between two of which a folder
// is put in the place of another.
func TestFollowerCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name string) func() error {
		return func() error { return os.WriteFile(at(name), []byte("x"), 0o666) }
	}
	mkdir := func(name string) func() error { return func() error { return os.Mkdir(at(name), 0o777) } }
	rename := func(from, to string) func() error { return func() error { return os.Rename(at(from), at(to)) } }
	var wake <-chan struct{}
	end := func() {}
	watch := func() (err error) {
		end()
		ctx, cancel := context.WithCancel(t.Context())
		wake, err = Watched{dir: false, at("notes"): true, at("notes/Ünter ordner"): true}.events(ctx, (*fsnotify.Watcher).Add)
		end = cancel
		return err
	}
	defer func() { end() }()
	for _, step := range []struct {
		what  string
		do    func() error
		wakes bool
	}{
		{"only the top", watch, false},
		{"a file beside the folders", write("main.o"), false},
		{"the database", write("store.db"), true},
		{"a folder appears", mkdir("notes"), true},
		{"it is watched", watch, false},
		{"a file in it", write("notes/ä b.md"), true},
		{"a temporary file", write("notes/.filebus-tmp-0123456789abcdef.new"), false},
		{"a mode", func() error { return os.Chmod(at("notes/ä b.md"), 0o600) }, false},
		{"a folder in it", mkdir("notes/Ünter ordner"), true},
		{"it is watched too", watch, false},
		{"a written file is renamed", rename("main.o", "notes/Ünter ordner/c.md"), true},
		{"the folder is renamed", rename("notes", "away"), true},
		{"and made again", mkdir("notes"), true},
		{"it is watched again", watch, false},
		{"a file in the new one", write("notes/d.md"), true},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		woke, limit := false, 100*time.Millisecond
		if step.wakes {
			limit = time.Minute
		}
		for end := time.After(limit); end != nil; {
			select {
			case <-wake:
				woke, end = true, time.After(100*time.Millisecond) // nothing of it is left for the next step
			case <-end:
				end = nil
			}
		}
		if woke != step.wakes && step.what != "a temporary file" {
			t.Errorf("%s: woke %t, want %t", step.what, woke, step.wakes)
		}
	}
}

// TestForwardLost loses events, and then all of them: neither may go unnoticed, nor
// keep a processor busy.
func TestForwardLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		events := &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}
		wake := make(chan struct{}, 1)
		go forward(ctx, events, wake, func(fsnotify.Event) bool { return false })
		events.Errors <- fsnotify.ErrEventOverflow
		<-wake
		events.Events <- fsnotify.Event{Name: "x", Op: fsnotify.Write}
		close(events.Events)
		synctest.Wait()
		select {
		case <-wake:
			t.Error("an event that counts for nothing woke")
		default:
		}
		cancel()
	})
}

// TestFollow counts the looks: at once, again where folders are new, at the time that a
// look asks for, and at the usual one. A look that fails ends it.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir, broken := t.TempDir(), errors.New("broken")
	looks := 0
	start := time.Now()
	err := Follow(t.Context(), 50*time.Millisecond, nil, func(context.Context) (Watched, time.Duration, error) {
		switch looks++; looks {
		case 1, 2, 4:
			return Watched{dir: true}, time.Millisecond, nil
		case 3:
			return Watched{dir: true}, 0, nil
		}
		return Watched{}, 0, broken
	}, func(err error) { t.Log(err) })
	if !errors.Is(err, broken) || looks != 5 || time.Since(start) < 50*time.Millisecond {
		t.Errorf("%d looks in %v, %v; want 5 in 50 ms at least, broken", looks, time.Since(start), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = Follow(ctx, time.Hour, nil, func(context.Context) (Watched, time.Duration, error) {
		time.AfterFunc(time.Millisecond, cancel)
		return Watched{}, 0, nil
	}, func(error) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestWithoutEvents names a setting only where that is what is used up.
func TestWithoutEvents(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cause error
		want  string // of the hint, on Linux
	}{
		{syscall.ENOSPC, "_watches="}, {syscall.EMFILE, "_instances="}, {syscall.EACCES, ""}, {syscall.ENOSYS, ""},
	} {
		var err *record.Error
		if !errors.As(withoutEvents("1 of 2 folders", test.cause), &err) || (err.Hint == "") != (test.want == "") {
			t.Errorf("%v: %+v", test.cause, err)
		} else if runtime.GOOS == "linux" && !strings.Contains(err.Hint, test.want) {
			t.Errorf("%v: hint %q, want %q", test.cause, err.Hint, test.want)
		}
	}
}
