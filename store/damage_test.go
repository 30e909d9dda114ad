package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

func flip(t *testing.T, path string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], offset); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x40
	if _, err := f.WriteAt(b[:], offset); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// unchecked returns a store that a test will damage.
func unchecked(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{Now: newClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDamagedBytes(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	text := randomText(20000)
	put(t, s, "note/a", text)
	database := filepath.Join(s.Dir(), "store.db")
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), text[10000:10040])
	if at < 0 {
		t.Fatal("the incompressible body does not stand in the database as it is")
	}
	flip(t, database, int64(at))
	if _, err := read(t, s, "note/a"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("reading a body with a flipped bit: %v, want damaged", err)
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || len(report.Faults) != 1 || !strings.Contains(report.Faults[0].String(), "note/a") {
		t.Errorf("Check = %q, %v; want one fault that names note/a", report.Faults, err)
	}
}

func TestDamagedEnvelope(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	put(t, s, "note/some-long-name", "text", func(d *store.Draft) { d.Record.Agent = "uncommon-agent" })
	database := filepath.Join(s.Dir(), "store.db")
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	for at := range data {
		if strings.HasPrefix(string(data[at:min(at+30, len(data))]), "agent 14 uncommon-agent") {
			flip(t, database, int64(at)+12)
		}
	}
	if _, err := read(t, s, "note/some-long-name"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("reading a record with a flipped bit: %v, want damaged", err)
	}
}

func TestDamagedFile(t *testing.T) {
	t.Parallel()
	for label, damage := range map[string]func(path string) error{
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"100 bytes": func(path string) error { return os.Truncate(path, 100) },
		"zeros":     func(path string) error { return os.WriteFile(path, make([]byte, 1<<16), 0o666) },
		"ones": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("\xff", 1<<16)), 0o666)
		},
		"cut in the middle": func(path string) error { return os.Truncate(path, 16384) },
	} {
		t.Run(label, func(t *testing.T) {
			s := unchecked(t)
			for range 3 {
				put(t, s, "note/a", randomText(30000)+label)
			}
			if err := damage(filepath.Join(s.Dir(), "store.db")); err != nil {
				t.Fatal(err)
			}
			if _, err := read(t, s, "note/a"); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("reading = %v, want damaged", err)
			}
			if _, err := s.Put(t.Context(), draft(t, s, "note/b", "x")); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("writing = %v, want damaged", err)
			}
		})
	}
}

func TestNoStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := store.Open(dir, store.Options{}); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("Open of an empty folder = %v, want ErrNoStore", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "store.db"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, store.Options{}); !errors.Is(err, folder.ErrForeign) {
		t.Errorf("Open of a folder with a folder store.db = %v, want ErrForeign", err)
	}
	s := unchecked(t)
	if err := os.Remove(filepath.Join(s.Dir(), "store.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, s, "note/a"); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("reading a store that was removed = %v, want ErrNoStore", err)
	}
}

// TestDamagedSource prepares a body from the stream of one whose file was cut
// short: that is an error, and never the end of a shorter text.
func TestDamagedSource(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	text := randomText(3 << 20)
	put(t, s, "note/large", text)
	files, err := filepath.Glob(filepath.Join(s.Dir(), "bodies", "*", "*.zst"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the body's files: %v, %v", files, err)
	}
	for _, size := range []int64{2 << 20, 500 << 10, 1 << 10, 100, 0} {
		if err := os.Truncate(files[0], size); err != nil {
			t.Fatal(err)
		}
		var content store.Content
		err := s.View(t.Context(), func(tx *store.Tx) error {
			v, err := tx.Head(record.Name{Kind: record.KindNote, ID: "large"})
			if err == nil {
				content, err = tx.Content(v.Record)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := content.Open()
		if err == nil {
			_, err = s.PrepareReader(t.Context(), r)
		}
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("preparing a body cut to %d bytes = %v, want damaged", size, err)
		}
	}
}
