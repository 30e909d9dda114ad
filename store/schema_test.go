package store_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"filebus/migrations"
	"filebus/store"
	"filebus/store/record"
)

var freeze = flag.Bool("freeze", false, "write the fixture of the newest schema, if it has none yet")

// fixture is the database of a schema version, written once and never changed.
func fixture(version string) string {
	return filepath.Join("..", "testdata", "schema", version, "store.db")
}

// TestFreeze writes the fixture of schema 1: every kind of change once.
func TestFreeze(t *testing.T) {
	if !*freeze {
		t.Skip("only with -freeze, when a schema is released")
	}
	if _, err := os.Stat(fixture("1")); err == nil {
		t.Fatal("the fixture of schema 1 is frozen")
	}
	s, _ := testStore(t)
	first := put(t, s, "knowledge/pattern-001", "- Content: one writer at a time\n", tagged("locking"))
	put(t, s, "knowledge/pattern-001", "- Content: one writer at a time, one file\n", tagged("locking", "files"))
	put(t, s, "lib:note/docs/a b.md", randomText(1500))
	put(t, s, "issue/ISSUE-20260302-001", "pending", func(d *store.Draft) {
		d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: first.Ref.String()}}
	})
	gone := put(t, s, "marker/task-001", "done", func(d *store.Draft) { d.Record.Task = "task-001" })
	update(t, s, func(tx *store.Tx) error { return tx.Retire(name(t, "marker/task-001"), store.Current(gone.Ref)) })
	dropped := put(t, s, "result/c/1", "dropped text")
	update(t, s, func(tx *store.Tx) error { return tx.Drop(dropped.Ref) })
	data, err := os.ReadFile(filepath.Join(s.Dir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(fixture("1")), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fixture("1"), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// openFixture copies the fixture of a schema into a new folder.
func openFixture(t *testing.T, version string, opts store.Options) *store.Store {
	t.Helper()
	data, err := os.ReadFile(fixture(version))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, sub := range []string{"bodies", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "store.db"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchema1 holds the frozen database against what this program reads: the
// format is a promise.
func TestSchema1(t *testing.T) {
	s := openFixture(t, "1", store.Options{})
	report := mustCheck(t, s)
	if report.Position != 9 || report.Records != 5 || report.Dropped != 1 {
		t.Errorf("Check counts position %d, %d records, %d dropped; want 9, 5, 1", report.Position, report.Records, report.Dropped)
	}
	wantText(t, s, "knowledge/pattern-001", "- Content: one writer at a time, one file\n")
	wantText(t, s, "lib:note/docs/a b.md", randomText(1500))
	if _, err := read(t, s, "marker/task-001"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the retired marker: %v", err)
	}
	put(t, s, "note/new", "text")
	mustCheck(t, s)
}

func TestMigration(t *testing.T) {
	mark := []byte("migrated")
	steps := append(migrations.Steps(), migrations.Step{Version: 2, Apply: func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put(mark, mark)
	}})
	newer := store.WithSteps(store.Options{}, steps)
	s := openFixture(t, "1", newer)
	wantText(t, s, "knowledge/pattern-001", "- Content: one writer at a time, one file\n")

	copied, err := store.Open(s.Dir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tooNew *store.SchemaError
	if _, err := read(t, copied, "knowledge/pattern-001"); !errors.As(err, &tooNew) || tooNew.Have != 1 || tooNew.Want != 2 {
		t.Errorf("reading a newer store = %v, want a SchemaError 1, 2", err)
	}
	if _, err := copied.Put(t.Context(), draft(t, copied, "note/a", "x")); !errors.As(err, &tooNew) {
		t.Errorf("writing a newer store = %v, want a SchemaError", err)
	}
	// The copy that the migration made is the old store, whole.
	if err := os.Rename(filepath.Join(s.Dir(), "store.db.schema1"), filepath.Join(s.Dir(), "store.db")); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, copied)
}

func TestMigrationFails(t *testing.T) {
	stop := errors.New("stop")
	steps := append(migrations.Steps(), migrations.Step{Version: 2, Apply: func(*bbolt.Tx) error { return stop }})
	s := openFixture(t, "1", store.WithSteps(store.Options{}, steps))
	if _, err := read(t, s, "knowledge/pattern-001"); !errors.Is(err, stop) {
		t.Errorf("a migration that fails = %v, want its error", err)
	}
	old, err := store.Open(s.Dir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustCheck(t, old)
}
