package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"filebus/materialize/remote"
	"filebus/store/folder"
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

func varz(t *testing.T, s *server.Server) *server.Varz {
	t.Helper()
	v, err := s.Varz(nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A look at which nothing is new costs one short request, and one at news finds them.
func TestLookNATS(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	address := s.ClientURL() + "/looks"
	a, b := newMachine(t, "a", openRemote(t, address, true), 0), newMachine(t, "b", openRemote(t, address, false), 0)
	r := looks(t, a, b, func() {})
	traffic := func() (messages, bytes int64) {
		v := varz(t, s)
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

// once lets a machine pull and push as two processes do, which know of each other what is kept beside the setting.
func once(t *testing.T, m *machine, address string) {
	t.Helper()
	dir, s := folder.At(m.Store.Dir()), remote.Setting{Name: "r", Address: address}
	for _, do := range []func(*remote.Replica) error{
		func(r *remote.Replica) error { _, err := r.Pull(t.Context()); return err },
		func(r *remote.Replica) error { _, err := r.Push(t.Context()); return err },
	} {
		r := m.replica()
		r.Seen = s.LoadSeen(dir)
		through, err := remote.Open(t.Context(), address, remote.Options{Seen: r.Seen})
		if r.Transport = through; err == nil {
			err = errors.Join(do(r), r.Seen.Save(dir, s.Name), through.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Processes that do one thing each list nothing again, and find what is new: also where the streams were made anew, or
// are those of an older copy.
func TestLookOnceNATS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(o *server.Options) { o.StoreDir = dir }
	s := newServer(t, keep)
	address := s.ClientURL() + "/looks"
	a, b := newMachine(t, "a", openRemote(t, address, true), 0), newMachine(t, "b", nil, 0)
	trusts(a, b)
	told := 0
	tell := func() {
		t.Helper()
		told++
		a.put(fmt.Sprint("note", told), fmt.Sprint("the text of ", told))
		a.push()
		if once(t, b, address); b.head(fmt.Sprint("note", told)) == "" {
			t.Errorf("the %d. note has not come", told)
		}
	}
	restart := func(change func() error) {
		t.Helper()
		at := s.Addr().(*net.TCPAddr).Port
		s.Shutdown()
		s.WaitForShutdown()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		s = newServer(t, func(o *server.Options) { keep(o); o.Port = at })
		a.through = openRemote(t, address, true)
	}
	tell()
	old := filepath.Join(t.TempDir(), "old")
	restart(func() error { return os.CopyFS(old, os.DirFS(dir)) })
	tell()
	once(t, b, address)
	before := varz(t, s)
	once(t, b, address)
	if now := varz(t, s); now.InMsgs-before.InMsgs != 2 || now.InBytes+now.OutBytes-before.InBytes-before.OutBytes > 2<<10 {
		t.Errorf("two looks without news cost %d requests, and %d and %d bytes", now.InMsgs-before.InMsgs,
			now.InBytes-before.InBytes, now.OutBytes-before.OutBytes)
	}
	restart(func() error { return errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(old))) })
	tell()
	restart(func() error { return os.RemoveAll(dir) })
	tell()
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

// Processes that do one thing each read no folder again that was not changed, and find what is new: also where the
// remote was made anew, or is an older copy.
func TestLookOnceFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := newMachine(t, "a", openFolder(t, dir), 0), newMachine(t, "b", nil, 0)
	trusts(a, b)
	log := filepath.Join(dir, string(a.id()), "log", string(a.id()))
	told, day := 0, time.Now().Add(-1000*time.Hour)
	tell := func() {
		t.Helper()
		told++
		a.put(fmt.Sprint("note", told), fmt.Sprint("the text of ", told))
		a.push()
		for range 3 {
			once(t, b, dir)
			err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Chtimes(name, day, day)) // long ago
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if day = day.Add(time.Hour); b.head(fmt.Sprint("note", told)) == "" {
			t.Errorf("the %d. note has not come", told)
		}
	}
	tell()
	old := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	tell()
	times, err := os.Stat(log)
	if err = errors.Join(err, os.WriteFile(filepath.Join(log, "a stray"), nil, 0o666)); err == nil {
		err = os.Chtimes(log, times.ModTime(), times.ModTime())
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := (&remote.Setting{Name: "r", Address: dir}).LoadSeen(folder.At(b.Store.Dir()))
	again, err := remote.Open(t.Context(), dir, remote.Options{Seen: seen})
	if err != nil || len(list(t, again).Strays) > 0 {
		t.Errorf("a folder that was not changed is read again: %v", err)
	}
	for _, change := range []func() error{
		func() error { return errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(old))) },
		func() error { return os.RemoveAll(dir) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		a.through = openFolder(t, dir)
		tell()
	}
}
