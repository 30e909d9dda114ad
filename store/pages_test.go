package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"filebus/store"
)

// A pair is a key of a bucket with its value.
type pair struct{ bucket, key, value string }

// walked returns what the walker finds in a database, and its faults.
func walked(t testing.TB, data []byte) (pairs []pair, faults []string) {
	t.Helper()
	err := store.WalkPages(bytes.NewReader(data), int64(len(data)), func(bucket string, key, value []byte) error {
		pairs = append(pairs, pair{bucket, string(key), string(value)})
		return nil
	}, func(page uint64, why string) { faults = append(faults, fmt.Sprintf("page %d: %s", page, why)) })
	if err != nil {
		faults = append(faults, err.Error())
	}
	return pairs, faults
}

// databaseWithEverything returns the bytes of a database with branches, overflowing
// pages, small buckets, free pages, and what bbolt says is in it.
func databaseWithEverything(t testing.TB) (data []byte, pairs []pair) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o666, &bbolt.Options{PageSize: 4096, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		err := db.Update(func(tx *bbolt.Tx) error {
			for _, name := range []string{"empty", "small", "records", "bodies"} {
				b, err := tx.CreateBucketIfNotExists([]byte(name))
				for i := 0; err == nil && name == "records" && i < 300; i++ {
					key := bytes.Repeat([]byte{byte(random.IntN(256))}, 1+random.IntN(200))
					if err = b.Put(key, make([]byte, random.IntN(100))); i%5 == 0 {
						k, _ := b.Cursor().Seek(key)
						err = b.Delete(bytes.Clone(k))
					}
				}
				for i := 0; err == nil && name == "bodies" && i < 3; i++ {
					err = b.Put(fmt.Appendf(nil, "body %d", random.IntN(20)), make([]byte, random.IntN(12000)))
				}
				if err == nil && name == "small" {
					err = b.Put(fmt.Appendf(nil, "%d", random.IntN(9)), []byte("x"))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				pairs = append(pairs, pair{string(name), string(k), string(v)})
				return nil
			})
		})
	})
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return data, pairs
}

func TestWalkPages(t *testing.T) {
	t.Parallel()
	data, want := databaseWithEverything(t)
	got, faults := walked(t, data)
	if len(faults) > 0 || !slices.Equal(got, want) {
		t.Errorf("the walk finds %d pairs and the faults %q; bbolt %d pairs", len(got), faults, len(want))
	}
}

// TestWalkDamagedPages damages one page at a time. The walk ends, tells of each damage
// that loses a pair or makes one up (what stands in keys and values has digests of its own), and still finds most of what is on other pages.
func TestWalkDamagedPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	sound, want := databaseWithEverything(t)
	random := rand.New(rand.NewPCG(3, 4))
	runs, told := 0, 0
	for page := 2 * 4096; page < len(sound); page += 4096 {
		other := random.IntN(len(sound)/4096) * 4096
		for label, damage := range map[string]func(page []byte){
			"zeroed":        func(p []byte) { clear(p) },
			"ones":          func(p []byte) { copy(p, bytes.Repeat([]byte{0xff}, len(p))) },
			"another":       func(p []byte) { copy(p, sound[other:]) },
			"leads to self": func(p []byte) { copy(p[24:], p[:8]) },
			"many elements": func(p []byte) { p[10], p[11] = 0xff, 0xff },
			"bit of head":   func(p []byte) { p[random.IntN(16)] ^= 1 << random.IntN(8) },
			"bit of first":  func(p []byte) { p[16+random.IntN(16)] ^= 1 << random.IntN(8) },
		} {
			data := slices.Clone(sound)
			damage(data[page : page+4096])
			got, faults := walked(t, data)
			runs++
			if len(faults) > 0 {
				told++
			}
			if len(faults) == 0 && len(got) != len(want) {
				t.Errorf("page %d %s: the walk finds %d of %d pairs and no fault", page/4096, label, len(got), len(want))
			}
			if len(got) < len(want)/2 {
				t.Errorf("page %d %s: only %d of %d pairs are left: %q", page/4096, label, len(got), len(want), faults)
			}
		}
	}
	t.Logf("%d damages, %d told; the others hit free pages and values", runs, told)
}

// TestWalkCutShort cuts a database at every page: what is left is found.
func TestWalkCutShort(t *testing.T) {
	t.Parallel()
	sound, want := databaseWithEverything(t)
	for size := 0; size < len(sound); size += 4096 {
		if got, faults := walked(t, sound[:size]); len(faults) == 0 && !slices.Equal(got, want) {
			t.Errorf("the first %d of %d bytes: no fault", size, len(sound))
		}
	}
}

// FuzzWalkPages changes up to four bytes anywhere.
func FuzzWalkPages(f *testing.F) {
	sound, _ := databaseWithEverything(f)
	f.Add(uint32(8*4096), []byte{1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, at uint32, bytes []byte) {
		data := slices.Clone(sound)
		copy(data[int(at)%len(data):], bytes[:min(len(bytes), 64)])
		pairs, _ := walked(t, data)
		size := 0
		for _, p := range pairs {
			size += len(p.key) + len(p.value)
		}
		if size > len(data) {
			t.Errorf("%d pairs of %d bytes out of a file of %d", len(pairs), size, len(data))
		}
	})
}

// TestWalkBoastfulPage lets a page claim that it runs on over pages that are sound: those
// are found all the same.
func TestWalkBoastfulPage(t *testing.T) {
	t.Parallel()
	sound, want := databaseWithEverything(t)
	told := 0
	for page := 2 * 4096; page < len(sound)-4*4096; page += 4096 {
		if binary.NativeEndian.Uint64(sound[page:]) != uint64(page/4096) {
			continue // a page's continuation
		}
		data := slices.Clone(sound)
		data[page+12] ^= 4
		got, faults := walked(t, data)
		if data[page+12] > sound[page+12] && data[page+8] <= 2 && !slices.Equal(got, want) {
			t.Errorf("page %d: %d pairs of %d, %q", page/4096, len(got), len(want), faults)
		}
		told += min(len(faults), 1)
	}
	if told == 0 {
		t.Error("no page was told of")
	}
}
