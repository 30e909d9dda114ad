package remote_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"filebus/materialize/remote"
)

// An op is a method of a transport, for the hooks.
type op string

// The methods that hooks are called for.
const (
	opList   op = "list"
	opGet    op = "get"
	opPut    op = "put"
	opRemove op = "remove"
	opWait   op = "wait"
)

// A memory is a remote in memory. Set its hooks before it is used; they may be called at once.
type memory struct {
	Before func(op, remote.Name) error                // what it returns is the method's error, and nothing is done
	After  func(op, remote.Name) error                // the same, once it is done: its outcome is unknown to the caller
	Damage func(name remote.Name, text []byte) []byte // what Get reads instead of text, which it must not change
	Hide   func(remote.Name) bool                     // what List does not say

	mu      sync.Mutex
	blobs   map[string][]byte
	version int
	changed chan struct{} // is closed by the next change
}

// newMemory returns a remote in which nothing is.
func newMemory() *memory { return &memory{blobs: map[string][]byte{}, changed: make(chan struct{})} }

// Open returns a transport to the remote, as of another machine.
func (m *memory) Open() remote.Transport { return &memoryTransport{m: m, listed: -1} }

// Plant puts something at any path, as somebody else than filebus does. No text removes it.
func (m *memory) Plant(path string, text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs[path] = text; text == nil {
		delete(m.blobs, path)
	}
	m.version++
	close(m.changed)
	m.changed = make(chan struct{})
}

// Blob returns what is at a path; nil if nothing is.
func (m *memory) Blob(path string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.blobs[path])
}

// Paths returns where something is, in order.
func (m *memory) Paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for path := range m.blobs {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

type memoryTransport struct {
	m      *memory
	mu     sync.Mutex
	listed int // the version that was listed
}

// do does something between the hooks.
func (t *memoryTransport) do(ctx context.Context, what op, name remote.Name, act func() error) error {
	err := ctx.Err()
	if err == nil && what != opList && what != opWait {
		err = name.Check()
	}
	if err == nil && t.m.Before != nil {
		err = t.m.Before(what, name)
	}
	if err == nil {
		err = act()
	}
	if err == nil && t.m.After != nil {
		err = t.m.After(what, name)
	}
	return err
}

func (t *memoryTransport) List(ctx context.Context) (l *remote.Listing, err error) {
	l = &remote.Listing{}
	err = t.do(ctx, opList, remote.Name{}, func() error {
		t.m.mu.Lock()
		version := t.m.version
		t.m.mu.Unlock()
		t.mu.Lock()
		t.listed = version
		t.mu.Unlock()
		for _, path := range t.m.Paths() {
			add(l, path)
		}
		if t.m.Hide != nil {
			l.Blobs = slices.DeleteFunc(l.Blobs, t.m.Hide)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func add(l *remote.Listing, path string) {
	name, err := remote.ParseName(path)
	if err != nil {
		l.Strays = append(l.Strays, remote.Stray{Path: path, Why: "has no name of a blob"})
		return
	}
	switch {
	case name.Kind() == remote.KindState: // it is before the segments
		at := slices.IndexFunc(l.Blobs, func(n remote.Name) bool { return n.Teller() == name.Teller() })
		if at < 0 {
			at = len(l.Blobs)
		}
		l.Blobs = slices.Insert(l.Blobs, at, name)
	case name.Kind() == remote.KindSegment:
		l.Blobs = append(l.Blobs, name)
	}
}

func (t *memoryTransport) Get(ctx context.Context, name remote.Name) (blob io.ReadCloser, err error) {
	err = t.do(ctx, opGet, name, func() error {
		text := t.m.Blob(name.String())
		if text == nil {
			return &fs.PathError{Op: "get", Path: name.String(), Err: fs.ErrNotExist}
		}
		if t.m.Damage != nil {
			text = t.m.Damage(name, text)
		}
		blob = io.NopCloser(bytes.NewReader(text))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return blob, nil
}

func (t *memoryTransport) Put(ctx context.Context, name remote.Name, size int64, from io.Reader) error {
	return t.do(ctx, opPut, name, func() error {
		text, err := io.ReadAll(io.LimitReader(from, size+1))
		if err == nil && int64(len(text)) != size {
			err = fmt.Errorf("%s is not of %d bytes, which were announced", name, size)
		}
		if err == nil {
			t.m.Plant(name.String(), text)
		}
		return err
	})
}

func (t *memoryTransport) Remove(ctx context.Context, name remote.Name) error {
	return t.do(ctx, opRemove, name, func() error {
		t.m.Plant(name.String(), nil)
		return nil
	})
}

func (t *memoryTransport) Wait(ctx context.Context) error {
	return t.do(ctx, opWait, remote.Name{}, func() error {
		t.mu.Lock()
		listed := t.listed
		t.mu.Unlock()
		t.m.mu.Lock()
		version, changed := t.m.version, t.m.changed
		t.m.mu.Unlock()
		if version != listed {
			return nil
		}
		select {
		case <-changed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func (t *memoryTransport) Close() error { return nil }

// Spans returns the segments of a listing as texts, "TELLER ORIGIN FIRST-LAST", sorted.
func Spans(l *remote.Listing) []string {
	var all []string
	for _, n := range l.Blobs {
		if s := n.Span(); n.Kind() == remote.KindSegment {
			all = append(all, strings.Join([]string{string(n.Teller()), string(s.Origin), s.String()}, " "))
		}
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}

func TestMemory(t *testing.T) {
	t.Parallel()
	testTransport(t, func(*testing.T) func() remote.Transport { return newMemory().Open })
}

// TestHooks fails each method before and after it is done.
func TestHooks(t *testing.T) {
	t.Parallel()
	m, broken, name := newMemory(), errors.New("broken"), remote.StateName(storeA)
	fails := func(op, remote.Name) error { return broken }
	r := m.Open()
	put := func() error { return r.Put(t.Context(), name, 3, strings.NewReader("abc")) }
	m.Before = fails
	if err := put(); !errors.Is(err, broken) || m.Blob(name.String()) != nil {
		t.Errorf("Put that fails before = %v, and %q is there", err, m.Blob(name.String()))
	}
	m.Before, m.After = nil, fails
	if err := put(); !errors.Is(err, broken) || string(m.Blob(name.String())) != "abc" {
		t.Errorf("Put that fails after = %v, and %q is there", err, m.Blob(name.String()))
	}
	if _, err := r.Get(t.Context(), name); !errors.Is(err, broken) {
		t.Errorf("Get = %v", err)
	}
	if l, err := r.List(t.Context()); !errors.Is(err, broken) || l != nil {
		t.Errorf("List = %v, %v", l, err)
	}
	m.After = nil
	m.Damage = func(_ remote.Name, text []byte) []byte { return bytes.ToUpper(text[:2]) }
	m.Hide = func(remote.Name) bool { return true }
	blob, err := r.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(blob); err != nil || text.String() != "AB" {
		t.Errorf("damaged, Get = %q, %v", &text, err)
	}
	m.Plant("x (conflicted copy)", []byte("x"))
	want := &remote.Listing{
		Blobs:  []remote.Name{},
		Strays: []remote.Stray{{Path: "x (conflicted copy)", Why: "has no name of a blob"}},
	}
	if l, err := r.List(t.Context()); err != nil || !gocmp.Equal(l, want) {
		t.Errorf("List = %+v, %v; want %+v", l, err, want)
	}
	if got := m.Paths(); len(got) != 2 {
		t.Errorf("Paths = %q", got)
	}
}
