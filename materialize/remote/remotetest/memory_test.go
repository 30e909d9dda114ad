package remotetest_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/remote"
	"filebus/materialize/remote/remotetest"
	"filebus/store/record"
)

const store = record.StoreID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")

func TestMemory(t *testing.T) {
	remotetest.Run(t, func(*testing.T) func() remote.Transport { return remotetest.NewMemory().Open })
}

// TestHooks fails each method before and after it is done.
func TestHooks(t *testing.T) {
	m, broken, name := remotetest.NewMemory(), errors.New("broken"), remote.StateName(store)
	fails := func(remotetest.Op, remote.Name) error { return broken }
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
	m.Hide = func(record.StoreID, remote.Offer) remote.Offer { return remote.Offer{} }
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
		Tellers: map[record.StoreID]remote.Offer{store: {}},
		Strays:  []remote.Stray{{Path: "x (conflicted copy)", Why: "has no name of a blob"}},
	}
	if l, err := r.List(t.Context()); err != nil || !cmp.Equal(l, want) {
		t.Errorf("List = %+v, %v; want %+v", l, err, want)
	}
	if got := m.Paths(); len(got) != 2 {
		t.Errorf("Paths = %q", got)
	}
}
