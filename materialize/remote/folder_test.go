package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/remote"
	"filebus/store/folder"
	"filebus/store/record"
)

const first = "00000000000000000001-00000000000000000009"

func open(t *testing.T, address string, create bool) remote.Transport {
	t.Helper()
	r, err := remote.Open(t.Context(), address, remote.Options{Create: create})
	if err != nil {
		t.Fatalf("Open(%q): %v", address, err)
	}
	return r
}

// write makes a file, and the folders above it.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	testTransport(t, func(t *testing.T) func() remote.Transport {
		dir := t.TempDir()
		return func() remote.Transport { return open(t, dir, true) }
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	odd := filepath.Join(dir, "100% ü:x")
	open(t, odd, true)
	for _, test := range []struct {
		address string
		found   bool
		usage   string // what the error says
	}{
		{odd, true, ""},
		{"100% ü:x", true, ""},
		{"./100% ü:x", true, ""},
		{"file://" + filepath.ToSlash(dir) + "/100%25%20%C3%BC:x", true, ""},
		{"file:" + filepath.ToSlash(dir) + "/100%25%20%C3%BC:x", true, ""},
		{"file:///nowhere/at/all", false, ""},
		{"", false, "names no folder"},
		{"file:", false, "names no folder"},
		{"file://host/x", false, "of this machine"},
		{"file:///x?y", false, "%3F"},
		{"file:///x#y", false, "%3F"},
		{"file:///x%zz", false, "names no folder"},
		{"file:///x%00", false, "names no folder"},
		{"a\x00b", false, "names no folder"},
		{"nats://host/a.b", false, "is not nats://HOST:PORT/PREFIX"},
		{"nats:///a", false, "is not nats://HOST:PORT/PREFIX"},
		{"nats://me:PW@host/p?password=PW", false, `the address "nats://host/p" has an option "password"; known are creds, ca,`},
		{"tls://host?credentials=x", false, `has an option "credentials"; known are creds, ca,`},
		{"nats://host?%zz", false, "invalid URL escape"},
		{"nats:host", false, "known are paths, file:, nats: and tls:"},
		{"s3:bucket", false, "known are paths, file:, nats: and tls:"},
		{"host:dir", false, "known are paths, file:, nats: and tls:"},
	} {
		r, err := remote.Open(t.Context(), test.address, remote.Options{Base: dir})
		if test.usage != "" {
			if !errors.Is(err, record.Usage) || !strings.Contains(fmt.Sprint(err), test.usage) {
				t.Errorf("Open(%q) = %v, want a usage error with %q", test.address, err, test.usage)
			}
			continue
		}
		if err != nil {
			t.Errorf("Open(%q): %v", test.address, err)
			continue
		}
		if _, err := r.List(t.Context()); (err == nil) != test.found || !test.found && !errors.Is(err, remote.ErrAway) {
			t.Errorf("Open(%q), List = %v, want found %t", test.address, err, test.found)
		}
	}
}

// TestAway takes the folder away, or leaves what an unmounted disk leaves. Nothing must look
// as if the remote were empty, and nothing be written there.
func TestAway(t *testing.T) {
	t.Parallel()
	for label, spoil := range map[string]func(dir string) error{
		"gone":      os.RemoveAll,
		"unmounted": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)) },
	} {
		dir := filepath.Join(t.TempDir(), "remote")
		r := open(t, dir, true)
		list(t, r)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		ctx, name := t.Context(), remote.StateName(storeA)
		_, listing := r.List(ctx)
		_, getting := r.Get(ctx, name)
		for method, err := range map[string]error{
			"List": listing, "Get": getting, "Put": r.Put(ctx, name, 0, strings.NewReader("")), "Remove": r.Remove(ctx, name), "Wait": r.Wait(ctx),
		} {
			if !errors.Is(err, remote.ErrAway) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s = %v, want that the remote is away", label, method, err)
			}
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: %v were written", label, entries)
		}
	}
}

func TestNoRemote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	write(t, filepath.Join(dir, "newer", "filebus-remote"), "filebus remote 2\n")
	write(t, filepath.Join(dir, "damaged", "filebus-remote"), "filebus")
	write(t, filepath.Join(dir, "longer", "filebus-remote"), "filebus remote 1\nx")
	if err := os.MkdirAll(filepath.Join(dir, "foreign", "filebus-remote"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"file": record.Usage, "newer": record.NewerStore, "damaged": remote.ErrMalformed, "longer": remote.ErrMalformed, "foreign": folder.ErrForeign,
	} {
		for _, create := range []bool{false, true} {
			if name == "file" && create {
				continue // the system's error says it
			}
			r, err := remote.Open(t.Context(), filepath.Join(dir, name), remote.Options{Create: create})
			if err == nil {
				_, err = r.List(t.Context())
			}
			if !errors.Is(err, want) {
				t.Errorf("%s, created %t: %v, want %v", name, create, err, want)
			}
		}
	}
	if _, err := remote.Open(t.Context(), filepath.Join(dir, "file"), remote.Options{Create: true}); err == nil {
		t.Error("a remote was made where a file is")
	}
}

// TestStrays puts everything into a remote that other programs leave there.
func TestStrays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir, true)
	good := remote.SegmentName(storeA, remote.Span{Origin: storeA, First: 1, Last: 9})
	put(t, r, good, "x")
	put(t, r, remote.StateName(storeA), "x")
	noName, logs := "has no name of a blob", string(storeA)+"/log/"+string(storeA)+"/"
	want := []remote.Stray{}
	for _, path := range []string{
		logs + first + " (conflicted copy)", logs + first + ".sync-conflict-20260302-100000-ABCDEFG", logs + first + ".tmp", logs + first + "~",
		logs + "1-9", logs + "00000000000000000009-00000000000000000001", logs + "00000000000000000000-00000000000000000001", logs + first[:40] + "x",
		logs + "99999999999999999999-99999999999999999999", logs + "~" + first, logs + first + "\n", string(storeA) + "/log/notes.txt", string(storeA) + "/state (1)",
		string(storeA) + "/State", "notes.txt", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/state", string(storeA) + " (copy)/state", "..." + "/x",
		string(storeB)[:31] + "/state",
	} {
		write(t, filepath.Join(dir, path), "foreign")
		if strings.HasSuffix(path, "/state") || path == ".../x" {
			path = filepath.Dir(path)
		}
		want = append(want, remote.Stray{Path: path, Why: noName})
	}
	old := string(storeA) + "/" + folder.TemporaryName(".tmp")
	write(t, filepath.Join(dir, old), "left")
	if err := os.Chtimes(filepath.Join(dir, old), time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	want = append(want, remote.Stray{Path: old, Why: noName})
	for _, silent := range []string{
		".git/config", ".gitignore", ".stfolder/x", ".DS_Store", logs + ".DS_Store", "README.md", string(storeA) + "/" + folder.TemporaryName(".tmp"),
		string(storeA) + "/bodies/anything", string(storeA) + "/bodies/e3/x",
	} {
		write(t, filepath.Join(dir, silent), "x")
	}
	l := list(t, r)
	sorted := cmp.Transformer("paths", func(all []remote.Stray) map[remote.Stray]bool {
		set := map[remote.Stray]bool{}
		for _, s := range all {
			set[s] = true
		}
		return set
	})
	if diff := cmp.Diff(want, l.Strays, sorted); diff != "" {
		t.Errorf("strays (-want +got):\n%s", diff)
	}
	if want := []remote.Name{remote.StateName(storeA), good}; !slices.Equal(l.Blobs, want) {
		t.Errorf("the blobs are %v, want %v", l.Blobs, want)
	}
}

// TestGone lists while folders come and go.
func TestGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir, true)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	done := make(chan struct{})
	defer func() { <-done }()
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = os.MkdirAll(filepath.Join(dir, string(storeA), "log", string(storeB)), 0o777)
			_ = os.RemoveAll(filepath.Join(dir, string(storeA)))
		}
	}()
	for ctx.Err() == nil {
		if _, err := r.List(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGoneMeanwhile takes the folder away while a blob is put: it is not made anew in its place.
func TestGoneMeanwhile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	r := open(t, dir, true)
	takeAway := readerFunc(func([]byte) (int, error) { return 0, errors.Join(io.EOF, os.Rename(dir, dir+".away")) })
	if err := r.Put(t.Context(), remote.StateName(storeA), 1, takeAway); !errors.Is(err, remote.ErrAway) {
		t.Errorf("put while it goes: %v", err)
	}
	if err := folder.At(dir).Shared().Make("sub"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder in one that is away: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made anew: %v", err)
	}
}

type readerFunc func(into []byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }

// BenchmarkList lists a remote of 50 stores with 700 segments each.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	r, err := remote.Open(b.Context(), dir, remote.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	for s := range 50 {
		logs := filepath.Join(dir, fmt.Sprintf("%032x", s), "log", fmt.Sprintf("%032x", s))
		if err := os.MkdirAll(logs, 0o777); err != nil {
			b.Fatal(err)
		}
		for n := range uint64(700) {
			if err := os.WriteFile(filepath.Join(logs, remote.Span{First: n + 1, Last: n + 1}.String()), nil, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		if _, err := r.List(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
