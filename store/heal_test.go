package store_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/record"
)

// largeText returns lines that hardly compress, so that a flipped bit mostly gives
// another text and no error of the decompressor.
func largeText(size int) string {
	text := []byte(base64.StdEncoding.EncodeToString([]byte(randomText(size))))[:size]
	for i := 75; i < size; i += 76 {
		text[i] = '\n'
	}
	return string(text)
}

// bodyFile returns the one file of a large body.
func bodyFile(t testing.TB, s *store.Store) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir(), "bodies", "*", "*.zst"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files of large bodies: %v, %v; want one", files, err)
	}
	return files[0]
}

// edit changes a value of the database with the database library alone; nil removes it.
func edit(t testing.TB, s *store.Store, bucket string, key []byte, change func(value []byte) []byte) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(s.Dir(), "store.db"), 0o666, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		key, head := placeOf(tx, bucket, key)
		value := change(bytes.TrimPrefix(bytes.Clone(b.Get(key)), head))
		if value == nil {
			return b.Delete(key)
		}
		return b.Put(key, slices.Concat(head, value))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// placeOf returns where a record, body or description lies, and what stands before it: the whole key of other buckets.
func placeOf(tx *bbolt.Tx, bucket string, digest []byte) (key, head []byte) {
	if len(digest) != 32 || !slices.Contains([]string{"records", "bodies", "descriptions"}, bucket) {
		return digest, nil
	}
	if bucket != "descriptions" {
		head = digest
	}
	c := tx.Bucket([]byte("digests")).Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if bytes.Equal(k[8:16], digest[:8]) {
			return bytes.Clone(k[16:]), head
		}
	}
	return position(99), head
}

// flipIn flips a bit of each byte list, at a place that is given as a part of the whole.
func flipIn(part float64) func([]byte) []byte {
	return func(value []byte) []byte {
		value[int(part*float64(len(value)-1))] ^= 0x10
		return value
	}
}

func flipFile(t testing.TB, path string, part float64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, flipIn(part)(data), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// asOld makes the value of a large body what schema 1 wrote.
func asOld([]byte) []byte { return []byte{2} }

func contentOf(t testing.TB, s *store.Store, of string) store.Content {
	t.Helper()
	var c store.Content
	view(t, s, func(tx *store.Tx) {
		v, err := tx.Head(name(t, of))
		if err == nil {
			c, err = tx.Content(v.Record)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return c
}

// reads are the ways to read a part of a body: each returns what was handed out, and
// where that stands in the text.
func reads(c store.Content) map[string]func() (got []byte, at int, err error) {
	section := func(at, size int) func() ([]byte, int, error) {
		return func() ([]byte, int, error) {
			r, err := c.Open()
			if err != nil {
				return nil, at, err
			}
			if _, err = io.CopyN(io.Discard, r, int64(at)); err != nil {
				return nil, at, errors.Join(err, r.Close())
			}
			got, err := io.ReadAll(io.LimitReader(r, int64(size)))
			return got, at, errors.Join(err, r.Close())
		}
	}
	return map[string]func() ([]byte, int, error){
		"head":    func() ([]byte, int, error) { got, err := c.Head(5000); return got, 0, err },
		"begin":   section(0, 300),
		"middle":  section(1<<20+17, 300),
		"chunk":   section(1<<20, 1<<20),
		"end":     section(2<<20+400_000, 300),
		"over":    section(1<<20-50, 100),
		"all":     section(0, 4<<20),
		"whole":   func() ([]byte, int, error) { got, err := c.Bytes(); return got, 0, err },
		"nothing": section(0, 0),
	}
}

// TestRangesOfDamaged flips bits all over the file and the value of a large body, and
// reads parts of it: right bytes, or none with ErrDamaged.
func TestRangesOfDamaged(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	text := largeText(2<<20 + 500_000)
	digest := record.DigestOf([]byte(text))
	for _, of := range []struct {
		label string
		value func([]byte) []byte
	}{{"new", func(v []byte) []byte { return v }}, {"of schema 1", asOld}} {
		s := unchecked(t)
		put(t, s, "note/large", text)
		edit(t, s, "bodies", digest[:], of.value)
		for label, get := range reads(contentOf(t, s, "note/large")) {
			if got, at, err := get(); err != nil || !strings.HasPrefix(text[at:], string(got)) {
				t.Errorf("%s: %s of a sound body: %d bytes, %v", of.label, label, len(got), err)
			}
		}
		path := bodyFile(t, s)
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		served, refused, random := 0, 0, rand.New(rand.NewPCG(1, 14))
		for step := range 14 {
			data := flipIn((float64(step) + random.Float64()) / 14)(bytes.Clone(sound))
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			for label, get := range reads(contentOf(t, s, "note/large")) {
				got, at, err := get()
				if !strings.HasPrefix(text[at:], string(got)) {
					t.Fatalf("%s, flip %d: %s gives wrong bytes, %v", of.label, step, label, err)
				}
				if err != nil && !errors.Is(err, store.ErrDamaged) {
					t.Errorf("%s, flip %d: %s = %v, want damaged", of.label, step, label, err)
				}
				if err == nil {
					served++
				} else {
					refused++
				}
				if label == "whole" && err == nil && !bytes.Equal(data, sound) && string(got) != text {
					t.Errorf("%s, flip %d: the whole body is cut", of.label, step)
				}
			}
		}
		if refused == 0 || of.label == "new" && served == 0 {
			t.Errorf("%s: %d reads served, %d refused: nothing was tried", of.label, served, refused)
		}
	}
}

// TestDamagedChunkDigests damages the value of a large body, whose file is sound.
func TestDamagedChunkDigests(t *testing.T) {
	t.Parallel()
	text := largeText(2<<20 + 500_000)
	digest := record.DigestOf([]byte(text))
	for label, change := range map[string]func([]byte) []byte{
		"the first digest": flipIn(0.1), "the last digest": flipIn(1), "the codec": func(v []byte) []byte { v[0] = 2; return v },
		"another codec": func(v []byte) []byte { v[0] = 0; return v }, "no digests": func(v []byte) []byte { return v[:1] },
		"one digest too many": func(v []byte) []byte { return append(v, make([]byte, 16)...) }, "nothing": func([]byte) []byte { return []byte{} },
		"one zstd frame": func(v []byte) []byte { v[0] = 1; return v }, "cut": func(v []byte) []byte { return v[:len(v)-1] },
	} {
		s := unchecked(t)
		put(t, s, "note/large", text)
		edit(t, s, "bodies", digest[:], change)
		if _, err := contentOf(t, s, "note/large").Bytes(); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: reading = %v, want damaged", label, err)
		}
		for of, get := range reads(contentOf(t, s, "note/large")) {
			if got, at, err := get(); !strings.HasPrefix(text[at:], string(got)) || err != nil && !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%s: %s gives %d bytes, %v; want right ones or damaged", label, of, len(got), err)
			}
		}
		if out := put(t, s, "note/large", text); !out.Healed || !out.Unchanged {
			t.Errorf("%s: the same put again = %+v, want it healed and unchanged", label, out)
		}
		wantText(t, s, "note/large", text)
		mustCheck(t, s)
	}
}

// TestHeal damages bodies and puts the same text again, in several ways.
func TestHeal(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"raw": "short text", "packed": strings.Repeat("a line that is packed\n", 100), "large": largeText(1<<20 + 5000), "empty": "",
	}
	damages := map[string]func(t *testing.T, s *store.Store, digest record.Digest){
		"a bit": func(t *testing.T, s *store.Store, digest record.Digest) {
			edit(t, s, "bodies", digest[:], flipIn(0.5))
		},
		"the codec": func(t *testing.T, s *store.Store, digest record.Digest) {
			edit(t, s, "bodies", digest[:], flipIn(0))
		},
		"no value": func(t *testing.T, s *store.Store, digest record.Digest) {
			edit(t, s, "bodies", digest[:], func([]byte) []byte { return nil })
		},
		"a bit of the file": func(t *testing.T, s *store.Store, _ record.Digest) { flipFile(t, bodyFile(t, s), 0.5) },
		"no file": func(t *testing.T, s *store.Store, _ record.Digest) {
			if err := os.Remove(bodyFile(t, s)); err != nil {
				t.Fatal(err)
			}
		},
		"an empty file": func(t *testing.T, s *store.Store, _ record.Digest) {
			if err := os.Truncate(bodyFile(t, s), 0); err != nil {
				t.Fatal(err)
			}
		},
	}
	puts := map[string]struct {
		name      string
		edit      func(*store.Draft)
		unchanged bool
	}{
		"the same":         {"note/a", func(*store.Draft) {}, true},
		"with another tag": {"note/a", tagged("new"), false},
		"under a new name": {"note/b", func(*store.Draft) {}, false},
	}
	for body, text := range bodies {
		for damage, harm := range damages {
			for way, p := range puts {
				if strings.Contains(damage, "file") != (body == "large") && damage != "no value" ||
					damage == "no value" && p.name != "note/a" {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, put %s", body, damage, way), func(t *testing.T) {
					s := unchecked(t)
					put(t, s, "note/a", text)
					harm(t, s, record.DigestOf([]byte(text)))
					if _, err := read(t, s, "note/a"); !errors.Is(err, store.ErrDamaged) {
						t.Fatalf("reading the damaged body = %v", err)
					}
					out := put(t, s, p.name, text, p.edit)
					if !out.Healed || out.Unchanged != p.unchanged {
						t.Errorf("Put = healed %v, unchanged %v; want true, %v", out.Healed, out.Unchanged, p.unchanged)
					}
					wantText(t, s, "note/a", text)
					mustCheck(t, s)
					if again := put(t, s, p.name, text, p.edit); again.Healed || !again.Unchanged {
						t.Errorf("the put after that = healed %v, unchanged %v", again.Healed, again.Unchanged)
					}
				})
			}
		}
	}
}

// TestHealConflict heals the body of an open conflict version.
func TestHealConflict(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	head := put(t, s, "note/a", "mine")
	conflict := func(d *store.Draft) {
		d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: head.Ref.String()}}
	}
	put(t, s, "note/a", "theirs", conflict)
	digest := record.DigestOf([]byte("theirs"))
	edit(t, s, "bodies", digest[:], flipIn(0.5))
	if out := put(t, s, "note/a", "theirs", conflict); !out.Healed || !out.Unchanged {
		t.Errorf("Put = %+v, want healed and unchanged", out)
	}
	mustCheck(t, s)
}

// TestNotHealed puts what is sound: nothing is said to be healed.
func TestNotHealed(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	for _, text := range []string{"", "short", strings.Repeat("packed ", 1000), largeText(1<<20 + 5000)} {
		body, err := s.Prepare(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		drafts := []store.Draft{{Body: body, Record: record.Record{Name: name(t, "note/a"), Source: record.SourcePut}}}
		drafts = append(drafts, drafts[0], drafts[0])
		drafts[2].Record.Name = name(t, "note/b")
		outs, err := s.Put(t.Context(), drafts...)
		if err != nil {
			t.Fatal(err)
		}
		for i, out := range append(outs, put(t, s, "note/a", text), put(t, s, "note/c", text)) {
			if out.Healed {
				t.Errorf("%d bytes: put %d says that it healed a body", len(text), i)
			}
		}
	}
}

// TestOldBodyRenewed puts the text of a body that schema 1 wrote: it gets chunk digests.
func TestOldBodyRenewed(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	text := largeText(1<<20 + 5000)
	digest := record.DigestOf([]byte(text))
	put(t, s, "note/a", text)
	edit(t, s, "bodies", digest[:], asOld)
	mustCheck(t, s)
	if out := put(t, s, "note/a", text); out.Healed || !out.Unchanged {
		t.Errorf("Put = %+v, want it unchanged, not healed", out)
	}
	edit(t, s, "bodies", digest[:], func(v []byte) []byte {
		if len(v) != 17 || v[0] != 3 {
			t.Errorf("the value has %d bytes and codec %d, want 17 and 3", len(v), v[0])
		}
		return v
	})
	wantText(t, s, "note/a", text)
}
