package remotetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"filebus/materialize/remote"
	"filebus/store/record"
)

// An Op is a method of a transport, for the hooks.
type Op string

// The methods that hooks are called for.
const (
	List   Op = "list"
	Get    Op = "get"
	Put    Op = "put"
	Remove Op = "remove"
	Wait   Op = "wait"
)

// A Memory is a remote in memory. Set its hooks before it is used; they may be called at once.
type Memory struct {
	Before func(Op, remote.Name) error                              // what it returns is the method's error, and nothing is done
	After  func(Op, remote.Name) error                              // the same, once it is done: its outcome is unknown to the caller
	Damage func(name remote.Name, text []byte) []byte               // what Get reads instead of text, which it must not change
	Hide   func(teller record.StoreID, o remote.Offer) remote.Offer // what List says of a store

	mu      sync.Mutex
	blobs   map[string][]byte
	version int
	changed chan struct{} // is closed by the next change
}

// NewMemory returns a remote in which nothing is.
func NewMemory() *Memory { return &Memory{blobs: map[string][]byte{}, changed: make(chan struct{})} }

// Open returns a transport to the remote, as of another machine.
func (m *Memory) Open() remote.Transport { return &transport{m: m, listed: -1} }

// Plant puts something at any path, as somebody else than filebus does. No text removes it.
func (m *Memory) Plant(path string, text []byte) {
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
func (m *Memory) Blob(path string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.blobs[path])
}

// Paths returns where something is, in order.
func (m *Memory) Paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for path := range m.blobs {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

type transport struct {
	m      *Memory
	mu     sync.Mutex
	listed int // the version that was listed
}

// do does something between the hooks.
func (t *transport) do(ctx context.Context, op Op, name remote.Name, act func() error) error {
	err := ctx.Err()
	if err == nil && op != List && op != Wait {
		err = name.Check()
	}
	if err == nil && t.m.Before != nil {
		err = t.m.Before(op, name)
	}
	if err == nil {
		err = act()
	}
	if err == nil && t.m.After != nil {
		err = t.m.After(op, name)
	}
	return err
}

func (t *transport) List(ctx context.Context) (l *remote.Listing, err error) {
	l = &remote.Listing{Tellers: map[record.StoreID]remote.Offer{}}
	err = t.do(ctx, List, remote.Name{}, func() error {
		t.m.mu.Lock()
		version := t.m.version
		t.m.mu.Unlock()
		t.mu.Lock()
		t.listed = version
		t.mu.Unlock()
		for _, path := range t.m.Paths() {
			add(l, path)
		}
		for teller, offer := range l.Tellers {
			if t.m.Hide != nil {
				l.Tellers[teller] = t.m.Hide(teller, offer)
			}
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
	offer := l.Tellers[name.Teller()]
	switch name.Kind() {
	case remote.KindState:
		offer.HasState = true
	case remote.KindSegment:
		offer.Segments = append(offer.Segments, name.Span())
	}
	l.Tellers[name.Teller()] = offer
}

func (t *transport) Get(ctx context.Context, name remote.Name) (blob io.ReadCloser, err error) {
	err = t.do(ctx, Get, name, func() error {
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

func (t *transport) Put(ctx context.Context, name remote.Name, size int64, from io.Reader) error {
	return t.do(ctx, Put, name, func() error {
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

func (t *transport) Remove(ctx context.Context, name remote.Name) error {
	return t.do(ctx, Remove, name, func() error {
		t.m.Plant(name.String(), nil)
		return nil
	})
}

func (t *transport) Wait(ctx context.Context) error {
	return t.do(ctx, Wait, remote.Name{}, func() error {
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

func (t *transport) Close() error { return nil }

// Spans returns the segments of a listing as texts, "TELLER ORIGIN FIRST-LAST", sorted.
func Spans(l *remote.Listing) []string {
	var all []string
	for teller, offer := range l.Tellers {
		for _, s := range offer.Segments {
			all = append(all, strings.Join([]string{string(teller), string(s.Origin), s.String()}, " "))
		}
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}
