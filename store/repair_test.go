package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/record"
)

// contents returns everything that a database holds, by bucket and key.
func contents(t *testing.T, s *store.Store) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	db := openBolt(t, s, true)
	defer closeBolt(t, db)
	err := db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			all[string(name)] = map[string]string{}
			return b.ForEach(func(k, v []byte) error {
				all[string(name)][string(k)] = string(v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all["meta"], "file") // a database that is made again is another one
	return all
}

// unplaced returns contents without the positions of bodies, which lie at that of a record that may be gone.
func unplaced(all map[string]map[string]string) map[string]map[string]string {
	out := maps.Clone(all)
	out["bodies"], out["digests"] = map[string]string{}, maps.Clone(all["digests"])
	for position, value := range all["bodies"] {
		out["bodies"][value[:32]] = value[32:]
		delete(out["digests"], strings.Repeat("\x00", 8)+value[:8]+position)
	}
	return out
}

// TestRebuildSame makes databases with random histories again, of records and log alone:
// every key must be as it was.
func TestRebuildSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s, _ := testStore(t)
			m := newModel(seed)
			for range 60 {
				m.step(t, s)
			}
			before := contents(t, s)
			out, err := s.Rebuild(t.Context())
			if err != nil || len(out.Gone)+out.Derived+out.Unknown > 0 {
				t.Fatalf("rebuilding a sound store: %+v, %v", out, err)
			}
			if diff := cmp.Diff(unplaced(before), unplaced(contents(t, s))); diff != "" {
				t.Errorf("the database differs (-before +after):\n%s", diff)
			}
			m.compare(t, s)
		})
	}
}

func repair(t *testing.T, s *store.Store, source func(*record.Record, func(string, io.Reader) bool)) *store.Repaired {
	t.Helper()
	out, err := s.Repair(t.Context(), store.RepairOptions{Source: source})
	if err != nil {
		t.Fatalf("Repair: %v", err)
	}
	if len(out.Left) > 0 {
		t.Errorf("faults after a repair: %q", out.Left)
	}
	mustCheck(t, s)
	return out
}

func TestRepairSound(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	damageable(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	before, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	out := repair(t, s, nil)
	after, err := os.ReadFile(database)
	if err != nil || !bytes.Equal(before, after) || out.Rebuilt || len(out.Faults) > 0 {
		t.Errorf("the repair of a sound store: %+v, %v", out, err)
	}
}

// TestRepairEveryKey damages one key of the database at a time, in several ways. After the
// repair it holds what it held, but for what nothing else tells of: that is named.
func TestRepairEveryKey(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	s := unchecked(t)
	damageable(t, s)
	tamper(t, s, func(tx *bbolt.Tx) error { return bucket(tx, "meta").Delete([]byte("file")) }) // else each is a copy
	database := filepath.Join(s.Dir(), "store.db")
	sound, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, s)
	random := rand.New(rand.NewPCG(1, 1))
	damages := map[string]func(b *bbolt.Bucket, k, v []byte) error{
		"removed":     func(b *bbolt.Bucket, k, v []byte) error { return b.Delete(k) },
		"last byte":   func(b *bbolt.Bucket, k, v []byte) error { v[len(v)-1] ^= 1; return b.Put(k, v) },
		"middle byte": func(b *bbolt.Bucket, k, v []byte) error { v[len(v)/2] ^= 4; return b.Put(k, v) },
		"first byte":  func(b *bbolt.Bucket, k, v []byte) error { v[0] ^= 2; return b.Put(k, v) },
		"empty":       func(b *bbolt.Bucket, k, v []byte) error { return b.Put(k, nil) },
		"other key": func(b *bbolt.Bucket, k, v []byte) error {
			other := bytes.Clone(k)
			other[len(other)-1] ^= 8
			return errOr(b.Delete(k), b.Put(other, v))
		},
	}
	for bucketName, keys := range before {
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			for label, damage := range damages {
				if random.IntN(3) > 0 || keys[k] == "" && strings.Contains(label, "byte") {
					continue // many are alike
				}
				where := fmt.Sprintf("%s/%.40q/%s", bucketName, k, label)
				if err := os.WriteFile(database, sound, 0o666); err != nil {
					t.Fatal(err)
				}
				if err := os.RemoveAll(filepath.Join(s.Dir(), "signoff")); err != nil { // of the one before
					t.Fatal(err)
				}
				tamper(t, s, func(tx *bbolt.Tx) error {
					return damage(bucket(tx, bucketName), []byte(k), []byte(keys[k]))
				})
				report, err := s.Check(t.Context(), nil)
				if errors.Is(err, record.NewerStore) {
					continue // a digit was changed: nobody can tell
				}
				if err != nil {
					t.Fatalf("%s: Check: %v", where, err)
				}
				if report.Err() == nil {
					continue
				}
				out := repair(t, s, nil)
				after := contents(t, s)
				lossy := bucketName == "records" || bucketName == "bodies"
				if !lossy && len(out.Gone) > 0 || lossy && len(out.Gone) == 0 && !cmp.Equal(before, after) {
					t.Errorf("%s: gone: %+v", where, out.Gone)
				}
				expected := before
				if bucketName == "log" { // the time of an entry may be lost, and the chain and the origin with it
					expected, after = withoutTimes(before), withoutTimes(after)
				}
				switch diff := cmp.Diff(expected, after); {
				case bucketName == "meta", bucketName == "descriptions" && label == "other key": // costs only space
				case !lossy && diff != "":
					t.Errorf("%s: the database differs (-before +after):\n%s", where, diff)
				case lossy:
					survivors(t, where, before, after, out.Gone)
				}
				if t.Failed() {
					t.Fatalf("%s: %+v", where, out)
				}
			}
		}
	}
}

// withoutTimes leaves the operation and the ref of each log entry.
func withoutTimes(all map[string]map[string]string) map[string]map[string]string {
	out := maps.Clone(all)
	out["log"] = map[string]string{}
	delete(out, "meta")
	for position, value := range all["log"] {
		out["log"][position] = strings.Join(strings.Fields(value[32:])[2:], " ")
	}
	return out
}

// survivors holds every record and body that is not gone against what it was.
func survivors(t *testing.T, where string, before, after map[string]map[string]string, gone []store.Piece) {
	t.Helper()
	lost := map[string]bool{}
	for _, p := range gone {
		lost[string(p.Ref[:])] = true
	}
	left := byRef(after["records"])
	for ref, value := range byRef(before["records"]) {
		if !lost[ref] && left[ref] != value {
			t.Errorf("%s: record %x is another or missing", where, ref[:4])
		}
	}
	for position, value := range before["log"] {
		if after["log"][position] != value {
			t.Errorf("%s: log entry %x is another", where, position)
		}
	}
	for ref := range lost {
		if after["dropped"][ref] == "" {
			t.Errorf("%s: %x is gone and not dropped", where, ref[:4])
		}
	}
}

// byRef returns records by their refs: the position, then the encoding.
func byRef(records map[string]string) map[string]string {
	all := map[string]string{}
	for position, value := range records {
		all[value[:32]] = position + value[32:]
	}
	return all
}

func errOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestRepairPages damages pages of a database with a long history. Each version that is left
// has its bytes and its position, each that is not is dropped and named, and the store is sound.
func TestRepairPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	s := unchecked(t)
	m := newModel(3)
	for range 60 {
		m.step(t, s)
	}
	populated(t, s)
	put(t, s, "note/large", randomText(store.InlineLimit+1))
	database := filepath.Join(s.Dir(), "store.db")
	sound, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	signoff, err := os.ReadFile(filepath.Join(s.Dir(), "signoff"))
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, s)
	page := func(data []byte, n int) []byte { return data[n*4096 : (n+1)*4096] }
	damages := map[string]func(data []byte, n, m int) []byte{
		"zeroed": func(data []byte, n, _ int) []byte { clear(page(data, n)); return data },
		"a bit":  func(data []byte, n, m int) []byte { page(data, n)[m*37%4096] ^= 1 << (m % 8); return data },
		"swapped": func(data []byte, n, m int) []byte {
			one := bytes.Clone(page(data, n))
			copy(page(data, n), page(data, m))
			copy(page(data, m), one)
			return data
		},
		"cut": func(data []byte, n, _ int) []byte { return data[:n*4096] },
	}
	random := rand.New(rand.NewPCG(5, 6))
	pages, gone := len(sound)/4096, 0
	for n := range pages {
		for label, damage := range damages {
			if random.IntN(4) > 0 {
				continue
			}
			where := fmt.Sprintf("page %d of %d %s", n, pages, label)
			if err := os.WriteFile(database, damage(bytes.Clone(sound), n, random.IntN(pages)), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.Dir(), "signoff"), signoff, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := s.Repair(t.Context(), store.RepairOptions{})
			if err != nil || len(out.Left) > 0 {
				t.Fatalf("%s: %+v, %v", where, out, err)
			}
			if out.Anew && label == "cut" {
				continue // nothing is left
			}
			gone += len(out.Gone)
			remaining(t, where, before, contents(t, s), out)
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	t.Logf("%d pages, %d versions gone in all", pages, gone)
}

// remaining holds what is left after a repair against what was.
func remaining(t *testing.T, where string, before, after map[string]map[string]string, out *store.Repaired) {
	t.Helper()
	lost := map[string]bool{}
	for _, p := range out.Gone {
		lost[string(p.Ref[:])] = true
	}
	// Without the newer meta page it is the database of the transaction before.
	isTold := out.Unknown > 0 || out.GoneBack
	was, is := byRef(before["records"]), byRef(after["records"])
	for ref, value := range was {
		digest := record.RefOf([]byte(value[8:]))
		switch left, found := is[ref]; {
		case found && (left != value || record.Ref([]byte(ref)) != digest):
			t.Errorf("%s: record %x is another", where, ref[:4])
		case !found && !lost[ref] && !isTold:
			t.Errorf("%s: record %x is gone and not named", where, ref[:4])
		case !found && lost[ref] && after["dropped"][ref] == "":
			t.Errorf("%s: record %x is gone and not dropped", where, ref[:4])
		}
	}
	for ref := range is {
		if was[ref] == "" {
			t.Errorf("%s: record %x came back", where, ref[:4])
		}
	}
}

// TestRepairKilled kills repairs at any moment. Whatever was done by then: another one makes the
// store sound, and it has every version that the first damage has left.
func TestRepairKilled(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	texts := populated(t, s)
	database := filepath.Join(s.Dir(), "store.db")
	sound, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, s)
	at := bytes.Index(sound, []byte("filebus record 1"))
	random := rand.New(rand.NewPCG(7, 8))
	for range 10 {
		data := bytes.Clone(sound)
		data[at] ^= 1 // one record is lost
		if err := os.WriteFile(database, data, 0o666); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=0 repair "+s.Dir())
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()         // killed
		}
		repair(t, s, nil)
		after := contents(t, s)
		missing := 0
		for ref, value := range before["records"] {
			if after["records"][ref] != value { // by positions
				missing++
			}
		}
		if missing > 1 {
			t.Fatalf("%d records of %d are missing or others", missing, len(texts))
		}
	}
}
