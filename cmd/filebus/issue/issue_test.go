package issue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	m.Run()
}

// A fixture is a queue in a workspace of its own, with a clock that tests set.
type fixture struct {
	*Queue
	work *materialize.Workspace
	now  time.Time
}

func (f *fixture) Edit(ctx context.Context, id string, draft layout.Issue, flags []string) (Issue, error) {
	return f.made(f.Collection.Edit(ctx, id, draft, flags))
}

func (f *fixture) Add(ctx context.Context, draft layout.Issue, strict bool, known ...noun.Likeness) (Issue, error) {
	return f.made(f.Collection.Add(ctx, "", draft, strict, known...))
}

// start is the time at which the clock of tests begins.
func start() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }

// tries reports whether an error says what helps, in words that begin so.
func tries(err error, hint string) bool {
	e := (*record.Error)(nil)
	return errors.As(err, &e) && strings.HasPrefix(e.Hint, hint)
}

func newQueue(t testing.TB) *fixture { return queueOf(t, layout.Claude()) }

func queueOf(t testing.TB, profile layout.Profile) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{now: start()}
	clock := func() time.Time { return f.now }
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Profile: profile, Home: t.TempDir()}, store.Options{Now: clock, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	f.work = w
	f.Queue = New(w, query.New(w.Store, query.Options{}), clock)
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	return f
}

// file returns the queue's file.
func (f *fixture) file(t testing.TB) string {
	t.Helper()
	file, err := f.work.PathOf(record.Name{Kind: record.KindIssue, ID: "any"})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func (f *fixture) text(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(f.file(t))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// write replaces the queue's file, as an agent does by hand.
func (f *fixture) write(t testing.TB, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.file(t)), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.file(t), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// sync imports what was written by hand.
func (f *fixture) sync(t testing.TB) {
	t.Helper()
	if _, err := f.work.Sync(t.Context(), f.work.Root, materialize.SyncOptions{Announced: true}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) mustAdd(t testing.TB, d layout.Issue) Issue {
	t.Helper()
	added, err := f.Add(t.Context(), d, false)
	if err != nil {
		t.Fatalf("adding %+v: %v", d, err)
	}
	return added
}

func (f *fixture) mustDo(t testing.TB, a string, id string, c noun.Act) Issue {
	t.Helper()
	i, err := f.Do(t.Context(), a, id, c)
	if err != nil {
		t.Fatalf("%s %s: %v", a, id, err)
	}
	return i
}

// entry returns an issue as an agent writes it by hand.
func entry(id string, rows ...string) string {
	text := "### " + id + "\n\n| Field | Value |\n|-------|-------|\n"
	for _, row := range rows {
		name, value, _ := strings.Cut(row, "=")
		text += "| " + name + " | " + value + " |\n"
	}
	return text + "\n**Summary:** about " + id + "\n\n---\n\n"
}
