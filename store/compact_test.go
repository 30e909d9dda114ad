package store_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// dropMost puts texts of many sizes and drops three of four.
func dropMost(t testing.TB, s *store.Store) {
	t.Helper()
	var refs []record.Ref
	for i := range 80 {
		refs = append(refs, put(t, s, fmt.Sprint("note/dropped ", i), randomText(i*i)).Ref)
	}
	for i, ref := range refs {
		if i%4 != 0 {
			update(t, s, func(tx *store.Tx) error { return tx.Drop(ref) })
		}
	}
}

// TestCompact compares all buckets of a store before and after.
func TestCompact(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	large := randomText(store.InlineLimit + 7)
	put(t, s, "note/large", large)
	dropMost(t, s)
	for _, stray := range []string{"", "not a database"} { // of a process that was killed
		if stray != "" {
			writeFile(t, filepath.Join(s.Dir(), "store.db.compact-KILLED"), []byte(stray))
		}
		was := contents(t, s)
		before, after, err := s.Compact(t.Context(), 0)
		if err != nil || stray == "" && after > before/2 || after <= 0 {
			t.Errorf("Compact = %d, %d, %v; three of four texts were dropped", before, after, err)
		}
		is := contents(t, s)
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("the buckets (-before +after):\n%s", diff)
		}
		if entries, err := filepath.Glob(filepath.Join(s.Dir(), "store.db*")); len(entries) != 1 {
			t.Errorf("beside the database: %q, %v", entries, err)
		}
		mustCheck(t, s)
		put(t, s, "note/after"+stray, "Written after it.")
	}
	wantText(t, s, "note/large", large)
	if told := notes(t, s.Dir()); len(told) > 0 {
		t.Errorf("the store says %q", told)
	}
}

// TestCompactUnlessSparse asks for more free space than there is, and for as much.
func TestCompactUnlessSparse(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	dropMost(t, s)
	if before, after, err := s.Compact(t.Context(), 1<<30); err != nil || before != after {
		t.Errorf("Compact for 1 GB = %d, %d, %v", before, after, err)
	}
	if before, after, err := s.Compact(t.Context(), 4096); err != nil || after >= before {
		t.Errorf("Compact for 4 KB = %d, %d, %v", before, after, err)
	}
	if before, after, err := s.Compact(t.Context(), 1); err != nil || before != after {
		t.Errorf("Compact of what is dense = %d, %d, %v", before, after, err)
	}
}

// TestCompactBeside compacts again and again, by two at once, beside writers and readers.
func TestCompactBeside(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	dropMost(t, s)
	done := make(chan struct{})
	var writers, compactors sync.WaitGroup
	for range 2 {
		compactors.Go(func() {
			other, err := store.Open(s.Dir(), store.Options{})
			for n := 0; err == nil; n++ {
				select {
				case <-done:
					return
				default:
				}
				_, _, err = other.Compact(t.Context(), 0)
			}
			t.Errorf("Compact: %v", err)
		})
	}
	for w := range 3 {
		writers.Go(func() {
			for i := range 30 {
				put(t, s, fmt.Sprintf("note/%d/%d", w, i), fmt.Sprint("Text ", w, i))
				wantText(t, s, fmt.Sprintf("note/%d/%d", w, i/2), fmt.Sprint("Text ", w, i/2))
			}
		})
	}
	writers.Wait()
	close(done)
	compactors.Wait()
	if _, _, err := s.Compact(t.Context(), 0); err != nil {
		t.Errorf("Compact when nobody writes: %v", err)
	}
	for w := range 3 {
		for i := range 30 {
			wantText(t, s, fmt.Sprintf("note/%d/%d", w, i), fmt.Sprint("Text ", w, i))
		}
	}
	mustCheck(t, s)
}

// TestCompactGetsItsTurn compacts a store that is written to all the time, more often than it can be copied.
func TestCompactGetsItsTurn(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	for i := range 40 {
		put(t, s, fmt.Sprint("note/large/", i), strings.Repeat(fmt.Sprint(rand.Text(), i), 1000))
	}
	var stop atomic.Bool
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				put(t, s, fmt.Sprintf("note/%d/%d", w, i%9), fmt.Sprint("Text ", w, i))
			}
		})
	}
	other, err := store.Open(s.Dir(), store.Options{Wait: time.Minute})
	for range 5 {
		if err == nil {
			_, _, err = other.Compact(t.Context(), 0)
		}
	}
	stop.Store(true)
	writers.Wait()
	if err != nil {
		t.Errorf("Compact beside writers that do not stop: %v", err)
	}
	mustCheck(t, s)
}

// TestCompactCopy compacts a copy of a store, which goes on under an origin of its own all
// the same, and a store that has gone back.
func TestCompactCopy(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	populated(t, s)
	was, err := s.Origins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), ".filebus")
	if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
		t.Fatal(err)
	}
	copied, err := store.Open(dir, store.Options{})
	if err == nil {
		_, _, err = copied.Compact(t.Context(), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	put(t, copied, "note/new", "x")
	is, err := copied.Origins(t.Context())
	if err != nil || len(is) != 2 || is[0] == was[0] {
		t.Errorf("the copy's origins are %v, %v; the original has %v", is, err, was)
	}
	mustCheck(t, copied)
}

// TestCompactDamaged leaves a damaged database as it is.
func TestCompactDamaged(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	populated(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	rewrite(t, database, func(data []byte) { data[len(data)/2] ^= 0xff; data[len(data)/2+4096+20] ^= 0xff })
	damaged := readFile(t, database)
	_, _, err := s.Compact(t.Context(), 0)
	if now := readFile(t, database); err != nil && len(now) != len(damaged) {
		t.Errorf("after %v the database has %d bytes, was %d", err, len(now), len(damaged))
	}
	// Bytes that have changed by themselves, without a sign: that is no sign of a writer.
	s = unchecked(t)
	for i := range 60 {
		put(t, s, fmt.Sprintf("note/%d", i), fmt.Sprint("Text ", i))
	}
	database = filepath.Join(s.Dir(), "store.db")
	found := 0
	for at := 3*4096 + 9; at < len(readFile(t, database)); at += 5 * 4096 {
		rewrite(t, database, func(data []byte) { data[at] ^= 0x40 })
		_, _, err := s.Compact(t.Context(), 0)
		if errors.Is(err, store.ErrDamaged) {
			found++
			rewrite(t, database, func(data []byte) { data[at] ^= 0x40 })
		}
		if errors.Is(err, turnstile.ErrBusy) {
			t.Fatalf("byte %d is damaged: %v", at, err)
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir(), "*.compact-*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}
