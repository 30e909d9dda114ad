package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"filebus/store"
)

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes a database without a trace in its file's size and time.
func rewrite(t *testing.T, path string, change func(data []byte)) {
	t.Helper()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data := readFile(t, path)
	change(data)
	writeFile(t, path, data)
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// newestMeta returns the meta page that counts: root, free list and transaction.
func newestMeta(data []byte) (at int, root, free, txid uint64) {
	for _, page := range []int{0, 4096} {
		if id := binary.NativeEndian.Uint64(data[page+16+48:]); id >= txid {
			at, txid = page, id
		}
	}
	return at, binary.NativeEndian.Uint64(data[at+16+16:]), binary.NativeEndian.Uint64(data[at+16+32:]), txid
}

// notes opens a store and returns what it has told after each of its names was read.
func notes(t *testing.T, dir string) (told []string) {
	t.Helper()
	s, err := store.Open(dir, store.Options{Now: newClock().Now, Notify: func(text string) { told = append(told, text) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.View(t.Context(), func(*store.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return told
}

// TestGoneBack puts an older copy of the database in place: that is told once by each
// handle, is a fault, hinders nobody, and is not forgotten when the log grows again.
func TestGoneBack(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	database := filepath.Join(s.Dir(), "store.db")
	put(t, s, "note/a", "one")
	older := readFile(t, database)
	put(t, s, "note/b", "two")
	newer := readFile(t, database)
	if told := notes(t, s.Dir()); len(told) > 0 {
		t.Errorf("a store that was left alone says %q", told)
	}
	writeFile(t, database, older)
	for _, want := range []string{
		"has gone back from log position 2, it is at 1 now: ", "another history since log position 2: ",
		"another history since log position 2: ",
	} {
		told := notes(t, s.Dir())
		if len(told) != 1 || !strings.Contains(told[0], want) {
			t.Errorf("the store that has gone back says %q, want once %q", told, want)
		}
		report, err := s.Check(t.Context(), nil)
		if err != nil || len(report.Faults) != 1 || !strings.Contains(report.Faults[0].String(), want) {
			t.Errorf("Check = %q, %v; want one fault", report.Faults, err)
		}
		put(t, s, fmt.Sprint("note/c", len(told[0])), fmt.Sprint(told))
		put(t, s, "note/d", randomText(100))
	}
	writeFile(t, database, newer)
	if told := notes(t, s.Dir()); len(told) != 1 {
		t.Errorf("the newer database is back, without what was put since, and the store says %q", told)
	}
	if _, err := s.Repair(t.Context(), store.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	if told := notes(t, s.Dir()); len(told) > 0 {
		t.Errorf("the repair has accepted that, and the store says %q", told)
	}
	mustCheck(t, s)
}

// TestTornMeta tears the newest meta page. That of a commit that nobody was told of is
// as if it had not been; that of one that was acknowledged is told.
func TestTornMeta(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	database, signoff := filepath.Join(s.Dir(), "store.db"), filepath.Join(s.Dir(), "signoff")
	put(t, s, "note/a", "one")
	signed := readFile(t, signoff)
	put(t, s, "note/b", "two")
	data := readFile(t, database)
	at, _, _, _ := newestMeta(data)
	data[at+30] ^= 1
	writeFile(t, database, data)
	if told := notes(t, s.Dir()); len(told) != 1 {
		t.Errorf("after an acknowledged commit was torn: %q, want that the store has gone back", told)
	}
	writeFile(t, signoff, signed)
	if told := notes(t, s.Dir()); len(told) > 0 {
		t.Errorf("after a commit was torn that was not acknowledged: %q", told)
	}
	put(t, s, "note/b", "two")
	mustCheck(t, s)
}

// TestFalseFreeList lists a page in use as free, which a write would destroy, in a file
// that seems to be untouched.
func TestFalseFreeList(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	populated(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	rewrite(t, database, func(data []byte) {
		_, root, free, _ := newestMeta(data)
		binary.NativeEndian.PutUint64(data[free*4096+16:], root)
	})
	before := readFile(t, database)
	if _, err := s.Put(t.Context(), draft(t, s, "note/new", "x")); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Put = %v, want damaged", err)
	}
	if !slices.Equal(before, readFile(t, database)) {
		t.Error("the write that was refused has written")
	}
	if _, err := read(t, s, "note/folder 1/file.md"); err != nil {
		t.Errorf("reading = %v; the list of free pages is not for readers", err)
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || len(report.Faults) != 1 || !strings.Contains(report.Faults[0].String(), "listed as free") {
		t.Errorf("Check = %q, %v; want the list of free pages", report.Faults, err)
	}
}

// TestBoastfulMeta makes a database whose meta page, with a right checksum, claims 2^40
// pages, and whose list of free pages as many numbers: nobody takes memory for them.
func TestBoastfulMeta(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	populated(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	data := readFile(t, database)
	at, _, free, _ := newestMeta(data)
	binary.NativeEndian.PutUint64(data[at+16+40:], 1<<40)
	sum := fnv.New64a()
	_, _ = sum.Write(data[at+16 : at+16+56])
	binary.NativeEndian.PutUint64(data[at+16+56:], sum.Sum64())
	list := data[free*4096:]
	binary.NativeEndian.PutUint16(list[10:], 0xffff)
	binary.NativeEndian.PutUint32(list[12:], 1<<31)
	binary.NativeEndian.PutUint64(list[16:], 1<<38)
	writeFile(t, database, data)
	if _, err := s.Put(t.Context(), draft(t, s, "note/new", "x")); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Put = %v, want damaged", err)
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || !strings.Contains(fmt.Sprint(report.Faults), "cut short") {
		t.Errorf("Check = %q, %v; want that it was cut short", report.Faults, err)
	}
}

// TestCheckCycle lets the database's pages lead back to their parents, in a file that
// seems to be untouched. Once Check has found that, nobody else meets it.
func TestCheckCycle(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	for i := range 40 {
		put(t, s, fmt.Sprint("note/", i), randomText(3000))
	}
	database := filepath.Join(s.Dir(), "store.db")
	cycles := 0
	rewrite(t, database, func(data []byte) {
		for page := 2 * 4096; page < len(data); page += 4096 {
			if binary.NativeEndian.Uint64(data[page:]) == uint64(page/4096) && data[page+8] == 1 {
				copy(data[page+24:page+32], data[page:page+8])
				cycles++
			}
		}
	})
	if cycles == 0 {
		t.Fatal("the store of the test has no branch page")
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || report.Err() == nil {
		t.Errorf("Check = %q, %v; want faults", report.Faults, err)
	}
	if _, err := read(t, s, "note/1"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("reading = %v, want damaged", err)
	}
}

// TestSignoffLost shows that a store does without its sign-off, and writes through
// nothing that stands in its place.
func TestSignoffLost(t *testing.T) {
	t.Parallel()
	for label, replace := range map[string]func(path, victim string) error{
		"missing": func(string, string) error { return nil },
		"empty":   func(path, _ string) error { return os.WriteFile(path, nil, 0o600) },
		"garbled": func(path, _ string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 900)), 0o600) },
		"folder":  func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"link":    func(path, victim string) error { return os.Symlink(victim, path) },
	} {
		t.Run(label, func(t *testing.T) {
			s := unchecked(t)
			texts := populated(t, s)
			path, victim := filepath.Join(s.Dir(), "signoff"), filepath.Join(t.TempDir(), "victim")
			writeFile(t, victim, []byte("precious"))
			if err := errors.Join(os.Remove(path), replace(path, victim)); err != nil {
				t.Fatal(err)
			}
			for of, want := range texts {
				wantText(t, s, of, want)
				put(t, s, of, want+".")
			}
			mustCheck(t, s)
			if got := readFile(t, victim); string(got) != "precious" {
				t.Errorf("the file that a link leads to holds %q", got)
			}
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 500 {
				t.Errorf("the sign-off has %d bytes", info.Size())
			}
		})
	}
}

// TestDamageMatrix damages page after page in each way, reads, checks and writes. All of
// it ends, no text is wrong, and what cannot be read is reported.
func TestDamageMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	s := unchecked(t)
	texts := populated(t, s)
	database, signoff := filepath.Join(s.Dir(), "store.db"), filepath.Join(s.Dir(), "signoff")
	sound, signed := readFile(t, database), readFile(t, signoff)
	random := rand.New(rand.NewPCG(5, 6))
	for page := 0; page < len(sound); page += 4096 {
		if testing.Short() && page/4096%4 != 0 {
			continue
		}
		other := random.IntN(len(sound)/4096) * 4096
		for label, damage := range map[string]func(data []byte){
			"a byte": func(data []byte) { data[page+random.IntN(4096)] = byte(random.Uint32()) },
			"zeroed": func(data []byte) { clear(data[page : page+4096]) },
			"swapped": func(data []byte) {
				copy(data[page:page+4096], sound[other:])
				copy(data[other:other+4096], sound[page:])
			},
			"another's number": func(data []byte) {
				copy(data[page:page+4096], sound[other:])
				binary.NativeEndian.PutUint64(data[page:], uint64(page/4096))
			},
			"leads to itself": func(data []byte) { copy(data[page+24:page+32], data[page:page+8]) },
		} {
			data := slices.Clone(sound)
			damage(data)
			writeFile(t, database, data)
			writeFile(t, signoff, signed)
			where := fmt.Sprintf("page %d %s", page/4096, label)
			damageSeen(t, s, texts, where)
			if _, err := s.Put(t.Context(), draft(t, s, "note/new", "x")); err != nil && !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%s: Put = %v", where, err)
			}
			damageSeen(t, s, texts, where+" and a put")
		}
	}
}

// TestCheckInTinySlices checks page by page and key by key, alone and beside a writer:
// what is sound at every moment is no fault, and no page is left out.
func TestCheckInTinySlices(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	populated(t, s)
	if report, err := s.CheckIn(t.Context(), 1); err != nil || len(report.Faults)+len(report.Remarks) > 0 {
		t.Errorf("Check in slices = %q, %q, %v", report.Faults, report.Remarks, err)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				put(t, s, fmt.Sprint("note/writer ", i%5), randomText(2000))
			}
		}
	})
	for range 5 {
		if report, err := s.CheckIn(t.Context(), 1); err != nil || len(report.Faults) > 0 {
			t.Errorf("Check in slices beside a writer = %q, %v", report.Faults, err)
		}
	}
	close(done)
	wg.Wait()
	rewrite(t, filepath.Join(s.Dir(), "store.db"), func(data []byte) {
		for page := len(data) - 4096; page > 0; page -= 4096 {
			if binary.NativeEndian.Uint64(data[page:]) == uint64(page/4096) && data[page+8] == 2 {
				data[page+20] ^= 0x10 // where the first key of a leaf begins
			}
		}
	})
	if report, err := s.CheckIn(t.Context(), 1); err != nil || len(report.Faults) < 3 {
		t.Errorf("Check of damaged leaves in slices = %q, %v", report.Faults, err)
	}
}
