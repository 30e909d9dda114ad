package remote_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"filebus/materialize/remote"
	"filebus/store/folder"
	"filebus/store/record"
)

// asNobody runs something with the rights of a user who has none, where root can.
func asNobody(t *testing.T, run func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // the thread ends with the test's goroutine
		before, _ := unix.SetfsuidRetUid(65534)
		defer func() { _, _ = unix.SetfsuidRetUid(before) }() // root may
	}
	run()
}

// TestForeign puts links, pipes and folders where blobs are. None is followed, opened or
// waited for, nothing outside is changed, and all are named.
func TestForeign(t *testing.T) {
	t.Parallel()
	state, segment := string(storeA)+"/state", string(storeA)+"/log/"+string(storeA)+"/"+first
	for _, test := range []struct {
		path string
		kind string
		blob string // what is reached by it
	}{
		{state, "a symbolic link", state}, {state, "a named pipe", state}, {state, "a folder", state}, {segment, "a symbolic link", segment},
		{segment, "a named pipe", segment}, {segment, "a folder", segment}, {string(storeA), "a symbolic link", state}, {string(storeA), "a named pipe", state},
		{string(storeA), "a file", state}, {string(storeA) + "/log", "a symbolic link", segment}, {string(storeA) + "/log", "a file", segment},
		{filepath.Dir(segment), "a symbolic link", segment},
	} {
		t.Run(test.kind+" "+test.path, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			r := open(t, dir, true)
			at, target := filepath.Join(dir, test.path), filepath.Join(outside, "it")
			rest := strings.TrimPrefix(test.blob, test.path)
			write(t, filepath.Join(target, rest), "secret")
			if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := map[string]func() error{
				"a symbolic link": func() error { return os.Symlink(target, at) },
				"a named pipe":    func() error { return syscall.Mkfifo(at, 0o666) },
				"a folder":        func() error { return os.Mkdir(at, 0o777) },
				"a file":          func() error { return os.WriteFile(at, nil, 0o666) },
			}[test.kind](); err != nil {
				t.Fatal(err)
			}
			l := list(t, r)
			if len(l.Strays) != 1 || l.Strays[0] != (remote.Stray{Path: test.path, Why: "is " + test.kind}) || len(l.Blobs) != 0 {
				t.Errorf("List = %+v, want one stray", l)
			}
			name, err := remote.ParseName(test.blob)
			if err != nil {
				t.Fatal(err)
			}
			_, getting := r.Get(t.Context(), name)
			for method, err := range map[string]error{
				"Get": getting, "Put": r.Put(t.Context(), name, 1, strings.NewReader("x")), "Remove": r.Remove(t.Context(), name),
			} {
				if !errors.Is(err, folder.ErrForeign) {
					t.Errorf("%s = %v, want that it is not of filebus", method, err)
				}
			}
			if text, err := os.ReadFile(filepath.Join(target, rest)); err != nil || string(text) != "secret" {
				t.Errorf("outside there is now %q, %v", text, err)
			}
		})
	}
}

func TestTopIsPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "remote")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if l, err := open(t, pipe, false).List(t.Context()); !errors.Is(err, record.Usage) || !strings.Contains(err.Error(), "a named pipe") {
		t.Errorf("List = %v, %v", l, err)
	}
}

// TestTopIsLink: the user may have a link to the shared folder.
func TestTopIsLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	r := open(t, link, true)
	put(t, r, remote.StateName(storeA), "x")
	if l := list(t, r); !slices.Contains(l.Blobs, remote.StateName(storeA)) {
		t.Errorf("List = %+v", l)
	}
}

func TestNoRights(t *testing.T) {
	t.Parallel()
	dir, name := t.TempDir(), remote.StateName(storeA)
	r := open(t, dir, true)
	put(t, r, name, "old")
	put(t, r, remote.StateName(storeB), "old")
	closed := filepath.Join(dir, string(storeB))
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(closed, 0), os.Chmod(filepath.Join(dir, string(storeA)), 0o555), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = os.Chmod(dir, 0o777), os.Chmod(closed, 0o777) })
	asNobody(t, func() {
		ctx := t.Context()
		_, getting := r.Get(ctx, remote.StateName(storeB))
		_, making := remote.Open(ctx, filepath.Join(dir, "new"), remote.Options{Create: true})
		for label, err := range map[string]error{
			"Get of what is closed": getting, "Put": r.Put(ctx, name, 3, strings.NewReader("new")), "Remove": r.Remove(ctx, name),
			"Put of a new store": r.Put(ctx, remote.StateName("cccccccccccccccccccccccccccccccc"), 3, strings.NewReader("new")), "making a remote": making,
		} {
			known := (*record.Error)(nil)
			if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &known) || known.Hint == "" {
				t.Errorf("%s = %v, want that there are no rights, with a hint", label, err)
			}
		}
		l := list(t, r) // one store's closed folder does not keep the others from being heard
		if !slices.Contains(l.Blobs, remote.StateName(storeA)) || len(l.Strays) != 1 || l.Strays[0].Path != string(storeB) {
			t.Errorf("List = %+v, want the state of one store, and the other's folder as a stray", l)
		}
	})
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		if l, err := r.List(t.Context()); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("List of a closed folder = %v, %v", l, err)
		}
	})
}

// TestModes: what is shared has the modes that the user's mask leaves; others than its store
// may read it.
func TestModes(t *testing.T) {
	before := syscall.Umask(0o022)
	defer syscall.Umask(before)
	dir := filepath.Join(t.TempDir(), "remote")
	put(t, open(t, dir, true), remote.StateName(storeA), "x")
	for path, want := range map[string]fs.FileMode{"": 0o755, "filebus-remote": 0o644, string(storeA): 0o755, string(storeA) + "/state": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q has the mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestKeyOpenToOthers(t *testing.T) {
	t.Parallel()
	keys := remote.Keys{Dir: t.TempDir()}
	if _, err := keys.Of(storeA); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(keys.Dir, string(storeA))
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if key, err := keys.Of(storeA); !errors.Is(err, record.Untrusted) {
		t.Errorf("Of = %v, %v; want that the key is not trusted", key, err)
	}
	if err := errors.Join(os.Remove(file), os.Symlink("/dev/zero", file)); err != nil {
		t.Fatal(err)
	}
	if key, err := keys.Of(storeA); !errors.Is(err, folder.ErrForeign) {
		t.Errorf("Of with a link = %v, %v", key, err)
	}
}

// TestIdle waits where nothing happens: it must cost next to no time of the processor.
func TestIdle(t *testing.T) { // alone, as it measures the process
	dir := t.TempDir()
	r := open(t, dir, true)
	for n := range 50 {
		put(t, r, remote.StateName(record.StoreID(strings.Repeat("0", 30)+string("0123456789abcdef"[n/16])+string("0123456789abcdef"[n%16]))), "x")
	}
	time.Sleep(50 * time.Millisecond)
	list(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before) // else it is zero
	err := r.Wait(ctx)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	if used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano(); used > int64(100*time.Millisecond) {
		t.Errorf("a wait of 0.7 s (%v) took %v of the processor", err, time.Duration(used))
	}
}
