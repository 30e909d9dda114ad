package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/record"
)

// copyStore copies a store's folder, as cp -r does, and opens the copy.
func copyStore(t *testing.T, s *store.Store) (copied *store.Store, told *[]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".filebus")
	if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
		t.Fatal(err)
	}
	return openTold(t, dir)
}

// openTold opens a store and gathers what it says.
func openTold(t *testing.T, dir string) (*store.Store, *[]string) {
	t.Helper()
	told := &[]string{}
	s, err := store.Open(dir, store.Options{Notify: func(text string) { *told = append(*told, text) }})
	if err != nil {
		t.Fatal(err)
	}
	return s, told
}

// origins returns the id of a store and its earlier ones.
func origins(t *testing.T, s *store.Store) []record.StoreID {
	t.Helper()
	ids, err := s.Origins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func wantOrigins(t *testing.T, what string, s *store.Store, want int) {
	t.Helper()
	if got := origins(t, s); len(got) != want {
		t.Errorf("%s: the store had the origins %v, want %d", what, got, want)
	}
	mustCheck(t, s)
}

// TestCopies copies a store twice: who reads a copy, or puts what is there, changes nothing; the
// first write goes on under an origin of its own, and the others with it. The original stays.
func TestCopies(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/a", "one")
	put(t, s, "note/b", "two")
	first := origins(t, s)[0]
	seen := map[record.StoreID]bool{first: true}
	for range 2 {
		copied, told := copyStore(t, s)
		before := sha256.Sum256(readFile(t, filepath.Join(copied.Dir(), "store.db")))
		wantText(t, copied, "note/a", "one")
		wantOrigins(t, "before a write", copied, 1)
		if sha256.Sum256(readFile(t, filepath.Join(copied.Dir(), "store.db"))) != before {
			t.Error("reading has changed a copy")
		}
		if out := put(t, copied, "note/a", "one"); !out.Unchanged {
			t.Errorf("what the copy has is put as version %s", out.Ref)
		}
		wantOrigins(t, "after a put that changes nothing", copied, 1)
		three := put(t, copied, "note/c", "three")
		if again := put(t, copied, "note/a", "one"); !again.Unchanged {
			t.Error("what was put under the earlier origin is put again")
		}
		update(t, copied, func(tx *store.Tx) error { return tx.Retire(name(t, "note/b"), store.Expect{}) })
		wantOrigins(t, "after two writes", copied, 2)
		id := origins(t, copied)[0]
		if seen[id] || three.Record.Origin != id || origins(t, copied)[1] != first {
			t.Errorf("the copy goes on as %s with a record of %s, after %v", id, three.Record.Origin, seen)
		}
		seen[id] = true
		if len(*told) != 1 || !strings.Contains((*told)[0], "is a copy") || !strings.Contains((*told)[0], string(id)) {
			t.Errorf("the copy says %q", *told)
		}
	}
	put(t, s, "note/d", "four")
	wantOrigins(t, "the original", s, 1)
}

// TestMoved renames the folder of a store: it is the same file.
func TestMoved(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	put(t, s, "note/a", "one")
	dir := s.Dir() + "-moved"
	if err := os.Rename(s.Dir(), dir); err != nil {
		t.Fatal(err)
	}
	moved, told := openTold(t, dir)
	put(t, moved, "note/b", "two")
	if wantOrigins(t, "moved", moved, 1); len(*told) > 0 {
		t.Errorf("the moved store says %q", *told)
	}
}

// TestRolledBack puts an older database back, twice: each time the next write, and only that,
// goes on under another origin. A repair does so too, before it forgets that there was more.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	database := filepath.Join(s.Dir(), "store.db")
	put(t, s, "note/a", "one")
	for want := 2; want < 4; want++ {
		older := readFile(t, database)
		put(t, s, "note/b", strings.Repeat("x", want))
		put(t, s, "note/c", strings.Repeat("y", want))
		writeFile(t, database, older)
		for _, text := range []string{"three", "three", "four", "five"} {
			put(t, s, "note/d", text+strings.Repeat("z", want))
		}
		if got := origins(t, s); len(got) != want {
			t.Errorf("gone back %d times: the origins %v", want-1, got)
		}
	}
	older := readFile(t, database)
	put(t, s, "note/b", "more")
	writeFile(t, database, older)
	if _, err := s.Repair(t.Context(), store.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	wantOrigins(t, "a repair of what has gone back", s, 4)
	put(t, s, "note/b", "again")
	wantOrigins(t, "after the repair", s, 4)
}

// TestRepairedCopy repairs a damaged copy, and one whose damage hides that it is one.
func TestRepairedCopy(t *testing.T) {
	t.Parallel()
	for bucketName, key := range map[string]string{"names": "\x00note\x00a", "meta": "origin", "log": "\x00\x00\x00\x00\x00\x00\x00\x01"} {
		s := unchecked(t)
		put(t, s, "note/a", "one")
		put(t, s, "note/b", "two")
		copied, _ := copyStore(t, s)
		tamper(t, copied, func(tx *bbolt.Tx) error { return bucket(tx, bucketName).Delete([]byte(key)) })
		repair(t, copied, nil)
		wantOrigins(t, bucketName, copied, 2)
		put(t, copied, "note/c", "three")
		wantOrigins(t, bucketName+", after a put", copied, 2)
	}
}

// TestTornCopies makes copies of a database that is written meanwhile: the pages of two commits,
// the size, the time and the sign-off of one. Each is used, with the texts that were written, or
// is damaged, and a repair makes it sound. bbolt takes free pages as a map has them, so no two runs
// tear the same ones; TestMisled has what a repair must find in any of them.
func TestTornCopies(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	random := rand.New(rand.NewPCG(7, 7))
	database, signoff := filepath.Join(s.Dir(), "store.db"), filepath.Join(s.Dir(), "signoff")
	texts := map[string]string{}
	for n := range 60 { // else few pages hold all of it
		put(t, s, fmt.Sprint("note/first", n), randomText(50))
	}
	damaged := 0
	for n := range 25 {
		before, signed := readFile(t, database), readFile(t, signoff)
		for i := range 1 + random.IntN(3) {
			id := fmt.Sprint("note/", n, i)
			texts[id] = randomText(random.IntN(9000))
			put(t, s, id, texts[id])
		}
		torn, info := readFile(t, database), fileInfo(t, database)
		cut := random.IntN(min(len(before), len(torn))/4096+1) * 4096
		copy(torn[cut:], before[min(cut, len(before)):])
		if n%2 == 0 {
			signed = readFile(t, signoff)
		}
		dir := filepath.Join(t.TempDir(), ".filebus")
		if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "store.db"), torn)
		writeFile(t, filepath.Join(dir, "signoff"), signed)
		if err := os.Chtimes(filepath.Join(dir, "store.db"), info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if useTorn(t, dir, origins(t, s)[0], texts) {
			damaged++
		}
	}
	if damaged < 3 || damaged > 22 {
		t.Errorf("%d of 25 copies are damaged: want some, and not all", damaged)
	}
}

// useTorn reads all that a copy has, and writes to it, and repairs it if that says it is damaged.
func useTorn(t *testing.T, dir string, first record.StoreID, texts map[string]string) (damaged bool) {
	t.Helper()
	s, _ := openTold(t, dir)
	for _, repaired := range []bool{false, true} {
		for id, want := range texts {
			got, err := read(t, s, id)
			damaged = damaged || errors.Is(err, store.ErrDamaged)
			gone := errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped)
			if err == nil && got != want || err != nil && !gone && (repaired || !errors.Is(err, store.ErrDamaged)) {
				t.Errorf("repaired %v: read %s = %.40q, %v", repaired, id, got, err)
			}
		}
		if _, err := s.Put(t.Context(), draft(t, s, "note/new", fmt.Sprint(repaired))); err != nil {
			if damaged = true; repaired || !errors.Is(err, store.ErrDamaged) {
				t.Errorf("repaired %v: put: %v", repaired, err)
			}
		}
		repair(t, s, nil)
	}
	wantOrigins(t, "a torn copy", s, len(origins(t, s)))
	if got := origins(t, s); got[len(got)-1] != first || len(got) < 2 {
		t.Errorf("a torn copy of %s goes on as %v", first, got)
	}
	return damaged
}

// TestMisled lets the root of all trees, and each page that leads to others, be another such page,
// as where a copy took the pages of two commits: all that is whole is found, and whose it is.
func TestMisled(t *testing.T) {
	t.Parallel()
	s, texts := unchecked(t), map[string]string{}
	var drafts []store.Draft
	for n := range 300 { // else few buckets have a branch
		id := fmt.Sprint("note/", n)
		texts[id] = fmt.Sprint("text ", n, randomText(50))
		drafts = append(drafts, draft(t, s, id, texts[id]))
	}
	if _, err := s.Put(t.Context(), drafts...); err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(s.Dir(), "store.db")
	sound, first := readFile(t, database), origins(t, s)[0]
	_, root, _, _ := newestMeta(sound)
	page := func(data []byte, n uint64) []byte { return data[n*4096 : (n+1)*4096] }
	leading := []uint64{root}
	for n := uint64(2); n < uint64(len(sound)/4096); n++ {
		if page(sound, n)[8] == 1 { // a branch, maybe of before
			leading = append(leading, n)
		}
	}
	if len(leading) < 5 {
		t.Fatalf("%d pages lead to others", len(leading))
	}
	for i, at := range leading {
		for _, of := range [][]uint64{leading, {leading[(i+1)%len(leading)]}}[min(i, 1)] {
			data := bytes.Clone(sound)
			copy(page(data, at)[8:], page(sound, of)[8:]) // each page has its own number
			writeFile(t, database, data)
			repair(t, s, nil)
			got := origins(t, s)
			if got[len(got)-1] != first {
				t.Errorf("page %d of %d as page %d: the store of %s goes on as %v", at, len(sound)/4096, of, first, got)
			}
			for id, want := range texts {
				if text, err := read(t, s, id); text != want || err != nil {
					t.Errorf("page %d as page %d: %s = %.40q, %v", at, of, id, text, err)
					break
				}
			}
		}
	}
}

func fileInfo(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestRestored deletes a store and puts a backup in its place, whose files may get the same
// numbers again.
func TestRestored(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	put(t, s, "note/a", "one")
	backup, _ := copyStore(t, s)
	put(t, s, "note/b", "two")
	if err := errors.Join(os.RemoveAll(s.Dir()), os.CopyFS(s.Dir(), os.DirFS(backup.Dir()))); err != nil {
		t.Fatal(err)
	}
	put(t, s, "note/b", "other")
	if wantOrigins(t, "restored", s, 2); origins(t, s)[0] == origins(t, backup)[0] {
		t.Error("it goes on as the one that was deleted")
	}
}

// TestOrigin asks copies for the id that their next entry has: they get it at once.
func TestOrigin(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	put(t, s, "note/a", "one")
	copied, told := copyStore(t, s)
	was := origins(t, s)[0]
	if got, err := s.Origin(t.Context()); got != was || err != nil {
		t.Errorf("the origin is %s, %v; want %s", got, err, was)
	}
	first, err := copied.Origin(t.Context())
	again, againErr := copied.Origin(t.Context())
	if err != nil || againErr != nil || first == was || first != again || len(*told) != 1 {
		t.Errorf("the copy's origin is %s, then %s, %v %v; told %q", first, again, err, againErr, *told)
	}
	put(t, copied, "note/b", "two")
	if all := origins(t, copied); len(all) != 2 || all[0] != first || all[1] != was {
		t.Errorf("the copy's origins are %s, want %s and %s", all, first, was)
	}
	mustCheck(t, copied)
}
