package remote_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filebus/materialize/remote"
)

// looks lets two machines exchange all, and returns a replica of the second that has nothing more to do.
func looks(t *testing.T, a, b *machine, settle func()) *remote.Replica {
	t.Helper()
	trusts(a, b)
	a.put("one", "the text of one")
	a.push()
	r := b.replica()
	for range 3 {
		_, pullErr := r.Pull(context.Background())
		_, pushErr := r.Push(context.Background())
		if err := errors.Join(pullErr, pushErr); err != nil {
			t.Fatal(err)
		}
		settle()
	}
	return r
}

// A look at which nothing is new costs one short request, and one at news finds them.
func TestLookNATS(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	address := s.ClientURL() + "/looks"
	a, b := newMachine(t, "a", openRemote(t, address, true), 0), newMachine(t, "b", openRemote(t, address, false), 0)
	r := looks(t, a, b, func() {})
	traffic := func() (messages, bytes int64) {
		v, err := s.Varz(nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.InMsgs, v.InBytes + v.OutBytes
	}
	for _, do := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := r.Pull(ctx); return err },
		func(ctx context.Context) error { _, err := r.Push(ctx); return err },
	} {
		messages, bytes := traffic()
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, sent := traffic()
		if after-messages != 1 || sent-bytes > 1000 {
			t.Errorf("a look without news costs %d requests and %d bytes", after-messages, sent-bytes)
		}
	}
	a.put("two", "the text of two")
	a.push()
	if _, err := r.Pull(t.Context()); err != nil || b.head("two") == "" {
		t.Errorf("what is new has not come: %v", err)
	}
}

// A look at which nothing is new reads no folder, and one at news reads those of their store.
func TestLookFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := newMachine(t, "a", openFolder(t, dir), 0), newMachine(t, "b", openFolder(t, dir), 0)
	old := time.Now().Add(-time.Hour)
	settle := func() {
		err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chtimes(name, old, old))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r := looks(t, a, b, settle)
	before, log := list(t, b.through), filepath.Join(dir, string(a.id()), "log", string(a.id()))
	if err := errors.Join(os.WriteFile(filepath.Join(log, "a stray"), nil, 0o666), os.Chtimes(log, old, old)); err != nil {
		t.Fatal(err)
	}
	if after := list(t, b.through); after != before {
		t.Error("without news there is another listing")
	}
	if _, err := r.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.put("two", "the text of two")
	a.push()
	if _, err := r.Pull(t.Context()); err != nil || b.head("two") == "" {
		t.Errorf("what is new has not come: %v", err)
	}
}
