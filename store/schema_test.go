package store_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"filebus/migrations"
	"filebus/store"
	"filebus/store/record"
)

var freeze = flag.Bool("freeze", false, "write the fixture of the newest schema, if it has none yet")

// fixture is the store of a schema version, written once and never changed.
func fixture(version string) string { return filepath.Join("..", "testdata", "schema", version) }

// fixtureLarge is a large body that takes little room.
var fixtureLarge = strings.Repeat("A line that is there many times.\n", 70_000)

// fixtureDate is when a record of schema 3 was written.
var fixtureDate = time.Date(2025, 2, 19, 0, 0, 0, 0, time.UTC)

// TestFreeze writes the fixture of the newest schema: every kind of change once.
func TestFreeze(t *testing.T) {
	t.Parallel()
	if !*freeze {
		t.Skip("only with -freeze, when a schema is released")
	}
	steps := migrations.Steps()
	dir := fixture(strconv.Itoa(steps[len(steps)-1].Version))
	if _, err := os.Stat(dir); err == nil {
		t.Fatalf("the fixture %s is frozen", dir)
	}
	s, _ := testStore(t)
	first := put(t, s, "knowledge/pattern-001", "- Content: one writer at a time\n", tagged("locking"), described("One writer"))
	put(t, s, "knowledge/pattern-001", "- Content: one writer at a time, one file\n", tagged("locking", "files"), described("One writer, one file"), sure("0.9"))
	put(t, s, "lib:note/docs/a b.md", randomText(1500), described(strings.Repeat("A long title ", 50)))
	put(t, s, "note/dated", "dated text", func(d *store.Draft) { d.Record.Written = fixtureDate })
	put(t, s, "issue/ISSUE-20260302-001", "pending", func(d *store.Draft) {
		d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: first.Ref.String()}}
	})
	update(t, s, (*store.Tx).Renew)
	gone := put(t, s, "marker/task-001", "done", func(d *store.Draft) { d.Record.Task = "task-001" })
	update(t, s, func(tx *store.Tx) error { return tx.Retire(name(t, "marker/task-001"), store.Current(gone.Ref)) })
	dropped := put(t, s, "result/c/1", "dropped text")
	update(t, s, func(tx *store.Tx) error { return tx.Drop(dropped.Ref) })
	put(t, s, "note/large", fixtureLarge)
	update(t, s, func(tx *store.Tx) error { return foreign(t, s, tx) })
	for _, dest := range []string{"store.db", filepath.Join("bodies", filepath.Base(filepath.Dir(bodyFile(t, s))), filepath.Base(bodyFile(t, s)))} {
		data, err := os.ReadFile(filepath.Join(s.Dir(), dest))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, dest)), 0o777)
		}
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, dest), data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// foreign is what another store has made: versions of two names, one in conflict, one that went on
// from it and is destroyed, and what was heard of its log.
func foreign(t *testing.T, s *store.Store, tx *store.Tx) error {
	t.Helper()
	const origin = "ff0102030405060708090a0b0c0d0e0f"
	for _, id := range []string{"note/dated", "note/foreign"} {
		d := draft(t, s, id, "text of another store")
		d.Record.Origin, d.Record.Time, d.Record.Body, d.Record.Size = origin, fixtureDate, d.Body.Digest, d.Body.Size
		if _, err := tx.Adopt(d); err != nil {
			return err
		}
	}
	head, err := tx.Head(name(t, "note/foreign"))
	if err != nil {
		return err
	}
	gone, unseen := record.RefOf([]byte("destroyed there")), record.RefOf([]byte("retired there"))
	trace := store.Trace{Time: fixtureDate.Add(time.Hour), Follows: []record.Ref{head.Ref}}
	told := store.Told{Entry: store.Entry{Position: 1, Time: fixtureDate, Op: store.OpPut, Ref: gone}, Trace: &trace}
	told.Chain = store.NextChain(store.FirstChain(origin), told.Entry)
	if _, err := tx.Tell(gone, trace); err != nil {
		return err
	}
	_, dropErr := tx.DropAs(gone, tx.Now())
	_, retireErr := tx.RetireAs(unseen)
	return errors.Join(dropErr, retireErr, tx.KeepTold(origin, "", []store.Told{told}))
}

func described(title string) func(*store.Draft) {
	return func(d *store.Draft) { d.Description = record.Description{Version: 2, Title: title, Words: 3} }
}

func sure(word string) func(*store.Draft) {
	return func(d *store.Draft) { d.Description.Attributes = map[string]string{record.AttributeConfidence: word} }
}

// openFixture copies the fixture of a schema into a new folder.
func openFixture(t *testing.T, version string, opts store.Options) *store.Store {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fixture(version))); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemas holds the frozen stores against what this program reads, before
// they are migrated and after: the format is a promise.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]store.Report{
		"1": {Position: 9, Records: 5, Dropped: 1}, "2": {Position: 10, Records: 6, Dropped: 1},
		"3": {Position: 11, Records: 7, Dropped: 1}, "4": {Position: 11, Records: 7, Dropped: 1},
		"5": {Position: 14, Records: 9, Dropped: 1}, "6": {Position: 14, Records: 9, Dropped: 1},
		"7": {Position: 14, Records: 9, Dropped: 1},
	} {
		var told []string
		s := openFixture(t, version, store.Options{Notify: func(text string) { told = append(told, text) }})
		for _, migrated := range []bool{false, true} {
			if report := mustCheck(t, s); report.Position != want.Position || report.Records != want.Records || report.Dropped != want.Dropped {
				t.Errorf("schema %s: Check counts position %d, %d records, %d dropped; want %d, %d, %d",
					version, report.Position, report.Records, report.Dropped, want.Position, want.Records, want.Dropped)
			}
			wantText(t, s, "knowledge/pattern-001", "- Content: one writer at a time, one file\n")
			wantText(t, s, "lib:note/docs/a b.md", randomText(1500))
			if version != "1" {
				wantText(t, s, "note/large", fixtureLarge)
				wantTitle(t, s, "knowledge/pattern-001", "One writer, one file")
				wantTitle(t, s, "lib:note/docs/a b.md", strings.Repeat("A long title ", 50))
			}
			if version >= "3" {
				view(t, s, func(tx *store.Tx) {
					v, err := tx.Head(name(t, "note/dated"))
					if err != nil || !v.Record.Written.Equal(fixtureDate) || !v.Record.Date().Equal(fixtureDate) {
						t.Errorf("note/dated: written %v, %v; want %v", v.Record, err, fixtureDate)
					}
					for at, err := range tx.Lookup(store.FieldKind, "note") {
						rank, rankErr := tx.Rank(at)
						if err = errors.Join(err, rankErr); err != nil || at.Ref == v.Ref && (!rank.Date.Equal(fixtureDate) || rank.Kind != record.KindNote) {
							t.Errorf("schema %s: rank %v, %v; want the note of %v", version, rank, err, fixtureDate)
						}
					}
					for at := range tx.Lookup(store.FieldTag, "files") {
						if rank, err := tx.Rank(at); err != nil || (rank.Confidence == record.Confidence("high")) != (version >= "7") {
							t.Errorf("schema %s: rank %v, %v of an entry", version, rank, err)
						}
					}
				})
			}
			if _, err := read(t, s, "marker/task-001"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the retired marker: %v", err)
			}
			if !migrated {
				put(t, s, "note/new", "text")
				isTold := strings.Contains(strings.Join(told, "\n"), "brought to schema 7; "+filepath.Join(s.Dir(), "store.db.schema"+version))
				if isTold != (version < "7") {
					t.Errorf("schema %s: the migration was told as %q", version, told)
				}
				want.Position, want.Records = want.Position+1, want.Records+1
			}
		}
	}
}

func wantTitle(t *testing.T, s *store.Store, of, want string) {
	t.Helper()
	view(t, s, func(tx *store.Tx) {
		v, err := tx.Head(name(t, of))
		if got := tx.Description(v.Ref).Title; err != nil || got != want {
			t.Errorf("title of %s = %q, %v; want %q", of, got, err, want)
		}
	})
}

// noted returns the steps to a schema that is still to come.
func noted(apply func(tx *bbolt.Tx) error) []migrations.Step {
	steps := migrations.Steps()
	return append(steps, migrations.Step{Version: len(steps) + 1, Apply: apply})
}

func TestMigration(t *testing.T) {
	t.Parallel()
	mark := []byte("migrated")
	newer := store.WithSteps(store.Options{}, noted(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put(mark, mark) }))
	s := openFixture(t, "1", newer)
	put(t, s, "note/new", "text")
	wantText(t, s, "knowledge/pattern-001", "- Content: one writer at a time, one file\n")

	copied, err := store.Open(s.Dir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tooNew *store.SchemaError
	if _, err := read(t, copied, "knowledge/pattern-001"); !errors.As(err, &tooNew) || tooNew.Have != 7 || tooNew.Want != 8 {
		t.Errorf("reading a newer store = %v, want a SchemaError 7, 8", err)
	}
	if _, err := copied.Put(t.Context(), draft(t, copied, "note/a", "x")); !errors.As(err, &tooNew) {
		t.Errorf("writing a newer store = %v, want a SchemaError", err)
	}
	wantCopy(t, s)
	// The copy that the migration made is the old store, whole.
	if err := os.Rename(filepath.Join(s.Dir(), "store.db.schema1"), filepath.Join(s.Dir(), "store.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Dir(), "signoff")); err != nil { // of the newer one
		t.Fatal(err)
	}
	mustCheck(t, copied)
}

// wantCopy holds the copy that a migration made against the fixture: the same keys
// and values in the same buckets.
func wantCopy(t *testing.T, s *store.Store) {
	t.Helper()
	dump := func(path string) map[string]string {
		all := map[string]string{}
		db, err := bbolt.Open(path, 0o666, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		err = db.View(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(bucket []byte, b *bbolt.Bucket) error {
				return b.ForEach(func(k, v []byte) error { all[string(bucket)+"/"+string(k)] = string(v); return nil })
			})
		})
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if diff := cmp.Diff(dump(filepath.Join(fixture("1"), "store.db")), dump(filepath.Join(s.Dir(), "store.db.schema1"))); diff != "" {
		t.Errorf("the copy of schema 1 (-was +copied):\n%s", diff)
	}
}

// TestMigrationFails lets a later step fail: nothing has happened, and the store is
// read and then migrated by a program whose steps work.
func TestMigrationFails(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for label, fail := range map[string]func(*bbolt.Tx) error{
		"an error": func(*bbolt.Tx) error { return stop },
		"a panic":  func(*bbolt.Tx) error { panic(stop) },
		"a commit that is too large": func(tx *bbolt.Tx) error {
			tx.DB().MaxSize = int(tx.Size())
			return tx.Bucket([]byte("meta")).Put([]byte("large"), make([]byte, 1<<20))
		},
	} {
		s := openFixture(t, "1", store.WithSteps(store.Options{}, noted(fail)))
		_, err := s.Put(t.Context(), draft(t, s, "note/new", "text"))
		if err == nil || label == "an error" && !errors.Is(err, stop) {
			t.Errorf("%s: a migration that fails = %v, want its error", label, err)
		}
		wantText(t, s, "knowledge/pattern-001", "- Content: one writer at a time, one file\n")
		old, err := store.Open(s.Dir(), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mustCheck(t, old)
		put(t, old, "note/new", "text")
		mustCheck(t, old)
		wantCopy(t, s)
	}
}

// TestMigrationKilled kills a process in its migration: before the step, after it,
// and while the copy is written, of which a part is left.
func TestMigrationKilled(t *testing.T) {
	t.Parallel()
	for label, kill := range map[string]func(s *store.Store) error{
		"in a step":             func(s *store.Store) error { return runChild(t, "0 step "+s.Dir()) },
		"after the first bytes": func(s *store.Store) error { return os.WriteFile(s.Dir()+"/tmp/body-123", make([]byte, 5000), 0o600) },
	} {
		s := openFixture(t, "1", store.Options{})
		if err := os.Mkdir(filepath.Join(s.Dir(), "tmp"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := kill(s); err != nil {
			t.Fatal(err)
		}
		mustCheck(t, s)
		if _, err := os.Stat(filepath.Join(s.Dir(), "store.db.schema1")); err == nil {
			t.Errorf("%s: there is a copy already", label)
		}
		put(t, s, "note/new", "text")
		mustCheck(t, s)
		wantCopy(t, s)
	}
}

// TestMigrationCopyName has something else where the copy goes. A file gives way to
// it; all else is refused, and the way out leads to a copy.
func TestMigrationCopyName(t *testing.T) {
	t.Parallel()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for label, plant := range map[string]func(path string) error{
		"a file":        func(path string) error { return os.WriteFile(path, []byte("x"), 0o444) },
		"a hard link":   func(path string) error { return os.Link(victim, path) },
		"a link":        func(path string) error { return os.Symlink(victim, path) },
		"a broken link": func(path string) error { return os.Symlink(path+".none", path) },
		"a pipe":        func(path string) error { return exec.Command("mkfifo", path).Run() },
		"a folder":      func(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o777) },
	} {
		s := openFixture(t, "1", store.Options{})
		if err := plant(filepath.Join(s.Dir(), "store.db.schema1")); err != nil {
			t.Logf("%s: %v", label, err)
			continue
		}
		_, err := s.Put(t.Context(), draft(t, s, "note/new", "text"))
		if remedy := (*record.Error)(nil); errors.As(err, &remedy) && strings.HasPrefix(remedy.Hint, "mv {1} {2}") {
			mustCheck(t, s)
			err = os.Rename(remedy.Names[0], remedy.Names[1])
			put(t, s, "note/new", "text")
		}
		if err != nil {
			t.Errorf("%s: %v", label, err)
		}
		wantCopy(t, s)
		if got, err := os.ReadFile(victim); string(got) != "precious" {
			t.Errorf("%s: the victim holds %q, %v", label, got, err)
		}
		if left, err := os.ReadDir(filepath.Join(s.Dir(), "tmp")); err != nil || len(left) > 0 {
			t.Errorf("%s: left in tmp: %v, %v", label, left, err)
		}
		mustCheck(t, s)
	}
}

// TestDamagedDescription damages descriptions: they count as absent, Check says so,
// and a put of the same text makes them again.
func TestDamagedDescription(t *testing.T) {
	t.Parallel()
	for label, change := range map[string]func([]byte) []byte{
		"the sum": flipIn(0), "the text": flipIn(0.6), "the end": flipIn(1), "empty": func([]byte) []byte { return []byte{} },
		"cut":  func(v []byte) []byte { return v[:len(v)-1] },
		"gone": func([]byte) []byte { return nil }, "as in schema 1": func(v []byte) []byte { return v[8:] },
	} {
		s := unchecked(t)
		other := put(t, s, "note/b", "other", described("Another title"))
		v := put(t, s, "note/a", "text", described("The title"))
		edit(t, s, "descriptions", v.Ref[:], change)
		wantTitle(t, s, "note/a", "")
		report, err := s.Check(t.Context(), nil)
		if err != nil || len(report.Faults) != 1 || !strings.Contains(report.Faults[0].String(), "note/a: the description") {
			t.Errorf("%s: Check = %q, %v; want one fault that names note/a", label, report.Faults, err)
		}
		if out := put(t, s, "note/a", "text", described("The title")); !out.Unchanged || out.Healed {
			t.Errorf("%s: the same put again = %+v", label, out)
		}
		wantTitle(t, s, "note/a", "The title")
		wantTitle(t, s, "note/b", "Another title")
		mustCheck(t, s)
		// The description of one record says nothing of another.
		var swapped []byte
		edit(t, s, "descriptions", other.Ref[:], func(v []byte) []byte { swapped = v; return v })
		edit(t, s, "descriptions", v.Ref[:], func([]byte) []byte { return swapped })
		wantTitle(t, s, "note/a", "")
	}
}
