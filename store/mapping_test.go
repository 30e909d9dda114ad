package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/turnstile"
)

// TestMapping reads with a handle what another one changes in between, in every way in which the file
// under the mapping that it keeps can become another.
func TestMapping(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("nothing is kept mapped there")
	}
	s, _ := testStore(t)
	put(t, s, "note/a", "first")
	r, err := store.Open(s.Dir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.Dir(), "store.db")
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	kept := 0
	reads := func(want string) {
		t.Helper()
		if got, err := read(t, r, "note/a"); err != nil || got != want {
			t.Fatalf("reads %q, %v; want %q", got, err, want)
		}
		if r.HasMapping() { // unless a second has passed since
			kept++
		}
	}
	reads("first")
	for i := range 50 { // in the pages that are mapped
		put(t, s, "note/a", fmt.Sprint(i))
		reads(fmt.Sprint(i))
	}
	if kept == 0 {
		t.Fatal("nothing is kept mapped")
	}

	// A program that is not filebus may write it at any time.
	foreign, err := bbolt.Open(file, 0o600, &bbolt.Options{Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatalf("while it is kept mapped: %v", err)
	}
	if _, err := read(t, r, "note/a"); !errors.Is(err, turnstile.ErrBusy) {
		t.Errorf("while another program has it: %v", err)
	}
	if err := foreign.Close(); err != nil {
		t.Fatal(err)
	}

	reads("49")
	for before := size(); size() == before; { // the file grows
		put(t, s, "note/filler", randomText(store.InlineLimit-1))
	}
	put(t, s, "note/a", "grown")
	reads("grown")
	if _, _, err := s.Compact(t.Context(), 0); err != nil { // another file has its name
		t.Fatal(err)
	}
	put(t, s, "note/a", "compact")
	reads("compact")

	var readers sync.WaitGroup
	for range 8 { // beside each other, and beside a writer
		readers.Go(func() {
			for range 20 {
				if got, err := read(t, r, "note/a"); err != nil || got != "compact" {
					t.Errorf("reads %q, %v", got, err)
				}
			}
		})
	}
	for i := range 20 {
		put(t, s, "note/b", fmt.Sprint(i))
	}
	readers.Wait()

	for begun := time.Now(); r.HasMapping(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("it is mapped for good, although nobody reads it")
		}
	}
	if got, err := read(t, r, "note/a"); err != nil || got != "compact" {
		t.Errorf("after a rest: %q, %v", got, err)
	}
}
