package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

// TestSweep finds what a killed process leaves: a body file whose record was
// dropped, one that never had a record, and old temporary files.
func TestSweep(t *testing.T) {
	t.Parallel()
	s, clock := testStore(t)
	kept := put(t, s, "note/kept", randomText(store.InlineLimit+1))
	stray := record.DigestOf([]byte("stray")).String()
	write := func(age time.Duration, elements ...string) string {
		t.Helper()
		path := filepath.Join(append([]string{s.Dir()}, elements...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("x"), 0o666)); err != nil {
			t.Fatal(err)
		}
		at := clock.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gone := []string{
		write(0, "bodies", stray[:2], stray+".zst"),
		write(25*time.Hour, "tmp", "body-1"),
	}
	left := []string{
		write(time.Hour, "tmp", "body-2"),
		write(0, "bodies", stray[:2], "other.txt"),
		filepath.Join(s.Dir(), "bodies", kept.Record.Body.String()[:2], kept.Record.Body.String()+".zst"),
	}
	for _, want := range []int{1, 0} {
		if got, err := s.Sweep(t.Context()); err != nil || got != want {
			t.Errorf("Sweep = %d, %v; want %d", got, err, want)
		}
	}
	for _, path := range gone {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	for _, path := range left {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	uses := func(text string) (n uint64) {
		t.Helper()
		view(t, s, func(tx *store.Tx) {
			var err error
			if n, err = tx.Uses(record.DigestOf([]byte(text))); err != nil {
				t.Error(err)
			}
		})
		return n
	}
	counts := []uint64{uses("one")}
	first := put(t, s, "note/a", "one")
	counts = append(counts, uses("one"))
	put(t, s, "note/b", "one")
	counts = append(counts, uses("one"))
	update(t, s, func(tx *store.Tx) error { return tx.Drop(first.Ref) })
	counts = append(counts, uses("one"))
	if diff := cmp.Diff([]uint64{0, 1, 2, 1}, counts); diff != "" {
		t.Errorf("Uses before, with one, with two, and after a drop (-want +got):\n%s", diff)
	}
}

func TestResolveDropped(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	v := put(t, s, "note/a", "one")
	update(t, s, func(tx *store.Tx) error { return tx.Drop(v.Ref) })
	for _, text := range []string{v.Ref.Short(), v.Ref.String()[:9], v.Ref.String()} {
		prefix, ok := record.ParsePrefix(text)
		view(t, s, func(tx *store.Tx) {
			if _, err := tx.Resolve(prefix); !ok || !errors.Is(err, store.ErrDropped) {
				t.Errorf("Resolve(%s) = %v, want dropped", text, err)
			}
		})
	}
}

// TestDroppedAt compares the names whose version at each position was destroyed
// since with those that had one there before.
func TestDroppedAt(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	a1 := put(t, s, "note/a", "one")
	put(t, s, "note/a b", "other")
	a2 := put(t, s, "note/a", "two")
	update(t, s, func(tx *store.Tx) error { return tx.Retire(name(t, "note/a"), store.Expect{}) })
	lib := put(t, s, "lib:note/a", "three")
	update(t, s, func(tx *store.Tx) error { return errors.Join(tx.Drop(a1.Ref), tx.Drop(a2.Ref), tx.Drop(lib.Ref)) })
	for position, want := range map[uint64][]store.NamedRef{
		0: nil,
		1: {{Name: name(t, "note/a"), Place: store.Place{Ref: a1.Ref}}},
		2: {{Name: name(t, "note/a"), Place: store.Place{Ref: a1.Ref}}},
		3: {{Name: name(t, "note/a"), Place: store.Place{Ref: a2.Ref}}},
		4: nil,
		5: {{Name: name(t, "lib:note/a"), Place: store.Place{Ref: lib.Ref}}},
		// The drop of a head retires it first.
		9: nil,
	} {
		view(t, s, func(tx *store.Tx) {
			got := collect(t, tx.DroppedAt(record.Name{}, position))
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(store.Place{})); diff != "" {
				t.Errorf("DroppedAt(%d) (-want +got):\n%s", position, diff)
			}
		})
	}
	view(t, s, func(tx *store.Tx) {
		if got := collect(t, tx.DroppedAt(name(t, "note/a b"), 3)); len(got) > 0 {
			t.Errorf("DroppedAt from note/a b on = %v, want none", got)
		}
	})
}
