package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// populated fills a store with records of several kinds and returns their texts
// by name.
func populated(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for i := range 8 {
		of := fmt.Sprintf("note/folder %d/file.md", i)
		texts[of] = fmt.Sprint(i) + randomText(50+i*1500)
		put(t, s, of, "before "+texts[of], tagged("a", fmt.Sprint("tag ", i)))
		put(t, s, of, texts[of], tagged("a", fmt.Sprint("tag ", i)))
	}
	gone := put(t, s, "note/gone", "gone")
	update(t, s, func(tx *store.Tx) error { return tx.Drop(gone.Ref) })
	return texts
}

// TestFlippedBytes damages every page of a database in many places. Whatever is
// hit: nothing crashes, no wrong text is returned, damage is never taken for
// another program's lock, and Check sees what reading sees.
func TestFlippedBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Now: newClock().Now, Random: rand.NewChaCha8([32]byte{1}),
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := populated(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	sound, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	runs, seen := 0, 0
	for page := 0; page < len(sound); page += 4096 {
		places := []int{0, 8, 10, 12, 16, 20, 28}
		for range 3 {
			places = append(places, random.IntN(4096))
		}
		for _, place := range places {
			data := slices.Clone(sound)
			data[page+place] ^= 1 << random.IntN(8)
			if err := os.WriteFile(database, data, 0o666); err != nil {
				t.Fatal(err)
			}
			runs++
			if damageSeen(t, s, texts, fmt.Sprintf("byte %d of page %d", place, page/4096)) {
				seen++
			}
		}
		if testing.Short() && page > 1<<16 {
			break
		}
	}
	t.Logf("%d flipped bits, %d seen; the others hit free pages and the other meta page", runs, seen)
}

// damageSeen reads and checks a store with one flipped bit, and opens it for
// writing. It writes nothing: what bbolt makes of a damaged page when it writes
// is not defined.
func damageSeen(t *testing.T, s *store.Store, texts map[string]string, where string) bool {
	t.Helper()
	missed := 0
	for of, want := range texts {
		got, err := read(t, s, of)
		if err != nil {
			missed++
		}
		if err == nil && got != want || err != nil && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: reading %s = %.20q, %v", where, of, got, err)
		}
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Errorf("%s: Check = %v, want its findings in the report", where, err)
	}
	if missed > 0 && len(report.Faults) == 0 {
		t.Errorf("%s: %d names cannot be read, Check finds nothing", where, missed)
	}
	stop := errors.New("stop")
	err = s.Update(t.Context(), func(*store.Tx) error { return stop })
	if !errors.Is(err, stop) && !errors.Is(err, store.ErrDamaged) {
		t.Errorf("%s: Update = %v, want it to begin or damaged", where, err)
	}
	return len(report.Faults) > 0
}

// TestCutShort cuts a database at every page. A store that has lost its end is
// damaged, for reading, writing and checking alike.
func TestCutShort(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	populated(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	sound, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	var end int // the database may end before its file does
	db := openBolt(t, s, true)
	if err := db.View(func(tx *bbolt.Tx) error { end = int(tx.Size()); return nil }); err != nil {
		t.Fatal(err)
	}
	closeBolt(t, db)
	for size := 0; size < end; size += 4096 {
		for _, size := range []int{size, size + 1, size + 4095} {
			if err := os.WriteFile(database, sound[:size], 0o666); err != nil {
				t.Fatal(err)
			}
			if err := s.View(t.Context(), func(*store.Tx) error { return nil }); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("View of the first %d of %d bytes = %v, want damaged", size, end, err)
			}
			report, err := s.Check(t.Context(), nil)
			if err != nil || !errors.Is(report.Err(), store.ErrDamaged) {
				t.Errorf("Check of the first %d of %d bytes = %v, %v; want damaged", size, end, report.Err(), err)
			}
			if _, err := s.Put(t.Context(), draft(t, s, "note/new", "new")); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("Put into the first %d of %d bytes = %v, want damaged", size, end, err)
			}
		}
	}
}

// TestPanic shows that a panic in a transaction changes nothing and leaves
// nothing locked.
func TestPanic(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/a", "text")
	for label, run := range map[string]func() error{
		"View": func() error { return s.View(t.Context(), func(*store.Tx) error { panic("broken page") }) },
		"Update": func() error {
			return s.Update(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.Put(draft(t, s, "note/b", "x")); err != nil {
					t.Error(err)
				}
				panic("broken page")
			})
		},
	} {
		if err := run(); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "broken page") {
			t.Errorf("%s with a panic = %v, want damaged", label, err)
		}
		wantText(t, s, "note/a", "text") // nothing is locked
		put(t, s, "note/after "+label, "x")
		if _, err := read(t, s, "note/b"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what the transaction that panicked put: %v, want not found", err)
		}
	}
}

// openBolt opens the database as a foreign program does.
func openBolt(t *testing.T, s *store.Store, readOnly bool) *bbolt.DB {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(s.Dir(), "store.db"), 0o666, &bbolt.Options{ReadOnly: readOnly, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func closeBolt(t *testing.T, db *bbolt.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestForeignProgram(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/a", "text")
	db := openBolt(t, s, false)
	for label, run := range map[string]func() error{
		"View":   func() error { return s.View(t.Context(), func(*store.Tx) error { return nil }) },
		"Update": func() error { return s.Update(t.Context(), func(*store.Tx) error { return nil }) },
	} {
		err := run()
		var busy *turnstile.BusyError
		if !errors.As(err, &busy) || errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "not filebus") ||
			busy.Path != filepath.Join(s.Dir(), "store.db") {
			t.Errorf("%s while a foreign program holds the database = %v, want busy, naming it", label, err)
		}
	}
	closeBolt(t, db)

	db = openBolt(t, s, true) // readers bear with each other
	wantText(t, s, "note/a", "text")
	closeBolt(t, db)
}

// TestForeignDatabase opens databases that are none of ours.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	meta := func(key, value string) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte(key), []byte(value)) }
	}
	for label, change := range map[string]func(tx *bbolt.Tx) error{
		"no meta bucket": func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("meta")) },
		"no log bucket":  func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("log")) },
		"schema zero":    meta("schema", "0"),
		"schema a word":  meta("schema", "one"),
		"no origin":      func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Delete([]byte("origin")) },
		"bad origin":     meta("origin", "somewhere"),
		"bucket in names": func(tx *bbolt.Tx) error {
			_, err := tx.Bucket([]byte("names")).CreateBucket([]byte("\x00note\x00b"))
			return err
		},
	} {
		t.Run(label, func(t *testing.T) {
			s := unchecked(t)
			put(t, s, "note/a", "text")
			tamper(t, s, change)
			report, err := s.Check(t.Context(), nil)
			if err != nil || !errors.Is(report.Err(), store.ErrDamaged) {
				t.Errorf("Check = %v, %v; want damaged", report.Err(), err)
			}
		})
	}
	t.Run("a newer schema", func(t *testing.T) {
		s := unchecked(t)
		tamper(t, s, meta("schema", "1000"))
		var newer *store.SchemaError
		if _, err := s.Check(t.Context(), nil); !errors.As(err, &newer) || newer.Want != 1000 || errors.Is(err, store.ErrDamaged) {
			t.Errorf("Check = %v, want a SchemaError and no damage", err)
		}
		if _, err := s.Put(t.Context(), draft(t, s, "note/a", "x")); !errors.As(err, &newer) {
			t.Errorf("Put = %v, want a SchemaError", err)
		}
	})
}

// tamper changes the database behind the store's back.
func tamper(t *testing.T, s *store.Store, change func(tx *bbolt.Tx) error) {
	t.Helper()
	db := openBolt(t, s, false)
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	closeBolt(t, db)
}

func TestStoreFolderNotWritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "probe"), 0o777); err == nil {
		t.Skip("this user writes where nobody may")
	}
	_, err := store.Create(t.Context(), filepath.Join(dir, ".filebus"), store.Options{})
	if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Create in a folder that cannot be written = %v, want a permission error that names it", err)
	}
}

// TestBodyFolderIsAFile makes the rename of a large body fail: the put must fail
// as a whole.
func TestBodyFolderIsAFile(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	text := randomText(store.InlineLimit + 10)
	folder := filepath.Join(s.Dir(), "bodies", record.DigestOf([]byte(text)).String()[:2])
	if err := os.WriteFile(folder, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	drafts := []store.Draft{draft(t, s, "note/small", "x"), draft(t, s, "note/large", text)}
	if _, err := s.Put(t.Context(), drafts...); err == nil || !strings.Contains(err.Error(), "storing body") {
		t.Errorf("Put of a large body without a place = %v, want an error", err)
	}
	if _, err := read(t, s, "note/small"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the other record of the failed put: %v, want not found", err)
	}
	if left, _ := os.ReadDir(filepath.Join(s.Dir(), "tmp")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	put(t, s, "note/large", text)
	wantText(t, s, "note/large", text)
}

// TestDamagedFreelist flips a bit in the list of free pages, which reading never
// looks at: only the database's own check can tell.
func TestDamagedFreelist(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	texts := populated(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, database, freelistPage(data)*4096+16) // behind the page's header: the first number
	for of, want := range texts {
		wantText(t, s, of, want)
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || len(report.Faults) == 0 || !strings.Contains(report.Faults[0].String(), "database") {
		t.Errorf("Check = %q, %v; want faults of the database", report.Faults, err)
	}
}

// freelistPage reads the number of the page of free pages out of the newer of
// the two meta pages.
func freelistPage(data []byte) int64 {
	const freelist, txid = 16 + 32, 16 + 48 // from the beginning of a meta page
	field := func(page, at int) int64 { return int64(binary.LittleEndian.Uint64(data[page*4096+at:])) }
	if field(0, txid) > field(1, txid) {
		return field(0, freelist)
	}
	return field(1, freelist)
}
