package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listed returns a remote that was listed, with its folders changed long ago.
func listed(t *testing.T) (*folderRemote, string) {
	t.Helper()
	dir := t.TempDir()
	f := newFolder(dir, &Seen{})
	if err := f.create(); err != nil {
		t.Fatal(err)
	}
	if err := f.Put(t.Context(), StateName(idA), 1, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(dir, old, old), os.Chtimes(filepath.Join(dir, string(idA)), old, old)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f, dir
}

// TestChanged finds changes by looks alone, as where the system gives no events.
func TestChanged(t *testing.T) {
	t.Parallel()
	for label, change := range map[string]func(f *folderRemote, dir string) error{
		"another store": func(f *folderRemote, _ string) error {
			return f.Put(context.Background(), StateName(idB), 1, strings.NewReader("x"))
		},
		"the same blob": func(f *folderRemote, _ string) error {
			return f.Put(context.Background(), StateName(idA), 1, strings.NewReader("x"))
		},
		"a blob is gone":  func(f *folderRemote, _ string) error { return f.Remove(context.Background(), StateName(idA)) },
		"a store is gone": func(_ *folderRemote, dir string) error { return os.RemoveAll(filepath.Join(dir, string(idA))) },
	} {
		f, dir := listed(t)
		if f.changed() {
			t.Errorf("%s: changed before the change", label)
		}
		if err := change(f, dir); err != nil {
			t.Fatal(err)
		}
		if !f.changed() {
			t.Errorf("%s: the change is not seen", label)
		}
	}
}

// TestChangedAtOnce lists what was changed just now: a change right behind it may leave the
// time of its folder, so that it must be looked at once more.
func TestChangedAtOnce(t *testing.T) {
	t.Parallel()
	f, dir := listed(t)
	now := time.Now()
	if err := os.Chtimes(filepath.Join(dir, string(idA)), now, now); err != nil {
		t.Fatal(err)
	}
	if _, err := f.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.changed() || f.settled.IsZero() {
		t.Errorf("changed at once, or not to be looked at again (%v)", f.settled)
	}
	f.settled = time.Now().Add(-time.Millisecond)
	if !f.changed() {
		t.Error("not looked at again")
	}
}

// TestEvents wakes a wait long before the next look.
func TestEvents(t *testing.T) {
	t.Parallel()
	f, dir := listed(t)
	events := f.events(t.Context())
	if events == nil {
		t.Skip("this system gives no events")
	}
	if err := os.WriteFile(filepath.Join(dir, string(idA), "state"), []byte("in place"), 0o666); err != nil {
		t.Fatal(err)
	}
	select {
	case <-events:
	case <-time.After(10 * time.Second):
		t.Error("no event came")
	}
}
