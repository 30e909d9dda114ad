package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/knowledge"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A fixture is a workspace with its knowledge and its context map.
type fixture struct {
	*knowledge.Entries
	work *materialize.Workspace
	read *query.Reader
}

// newFixture returns the knowledge of a new workspace with some files, whose store
// must be sound when the test ends.
func newFixture(t testing.TB, profile layout.Profile, files map[string]string) *fixture {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	now := func() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	w, err := materialize.Create(t.Context(), at, materialize.Settings{Home: t.TempDir(), Profile: profile}, store.Options{Now: now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := w.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store after the test: %v", err)
		}
	})
	if _, err := w.Sync(t.Context(), w.Root, materialize.SyncOptions{Announced: true}); err != nil {
		t.Fatal(err)
	}
	r := query.New(w.Store, query.Options{Now: now, Wait: time.Minute})
	return &fixture{knowledge.New(w, r, now), w, r}
}

func (f *fixture) mustAdd(t testing.TB, d layout.Knowledge) knowledge.Entry {
	t.Helper()
	return f.mustAddTo(t, "", d)
}

func (f *fixture) mustAddTo(t testing.TB, into string, d layout.Knowledge) knowledge.Entry {
	t.Helper()
	e, err := f.Add(t.Context(), d, into, false)
	if err != nil {
		t.Fatalf("adding %+v: %v", d, err)
	}
	return e
}

func (f *fixture) text(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(f.work.FilePath(file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func nameOf(id string) record.Name { return record.Name{Kind: record.KindKnowledge, ID: id} }

func TestAdd(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("orchestrator")} {
		f := newFixture(t, profile, nil)
		f.mustAdd(t, layout.Knowledge{
			Type: "Pattern", Title: "A\ntitle", Tags: []string{"Go ",
				"io"}, Content: "One.\r\n\r\n# Two\x1b[2J\xff", Source: "003", Extra: []layout.Property{{Key: "File", Value: "a.md"}},
		})
		e := f.mustAdd(t, layout.Knowledge{Type: "gotcha", Content: "c", Confidence: "low"})
		want := "# Knowledge Graph\n\n## Patterns\n\n### pattern-001: A title\n- Type: pattern\n- Tags: [go, io]\n- Content:\n  One.\n\n" +
			"  \\# Two[2J\ufffd\n- Source: task-003\n- Confidence: medium\n- Created: 2026-03-02\n- File: a.md\n\n" +
			"## Gotchas\n\n### gotcha-001\n- Type: gotcha\n- Tags: []\n- Content: c\n- Confidence: low\n- Created: 2026-03-02\n"
		if diff := cmp.Diff(want, f.text(t, profile.Root+"/knowledge_graph.md")); diff != "" || e.Name != nameOf("gotcha-001") {
			t.Errorf("%s: the file after adding %v (-want +got):\n%s", profile.Name, e.Name, diff)
		}
	}
}

func TestAddRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), nil)
	for _, c := range []struct {
		draft layout.Knowledge
		want  string
		field string
		into  string
	}{
		{layout.Knowledge{Content: "c"}, "run it again with --{1} {2}", "type", ""},
		{layout.Knowledge{Type: "trick", Content: "c"}, "run it again with --{1} {2}", "type", ""},
		{layout.Knowledge{Type: "pattern", Content: " \n"}, "run it again with --{1} {2}", "content", ""},
		{layout.Knowledge{Type: "pattern", Content: "c", Confidence: "sure"}, "run it again with --{1} {2}", "confidence", ""},
		{layout.Knowledge{Type: "pattern", Content: "c", Tags: []string{"a]"}}, "run it again with --{1} {2}", "tag", ""},
		{layout.Knowledge{Type: "pattern", Content: strings.Repeat("word ", 2000)}, "filebus put FILE", "", ""},
		{layout.Knowledge{Type: "pattern", Content: "c"}, "run it again without --into", "", "docs/notes.md"},
	} {
		_, err := f.Add(t.Context(), c.draft, c.into, false)
		wrong := (*record.Error)(nil)
		if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Hint, c.want) || c.field != "" && wrong.Names[0] != c.field {
			t.Errorf("adding %+v: %v, want %q %s", c.draft, err, c.want, c.field)
		}
	}
}

// TestAddBroken holds that nothing is added to a file that cannot be read.
func TestAddBroken(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		".claude/lessons/broken.md":    "<<<<<<< a\n### x\n**Lesson:** y\n=======\n>>>>>>> b\n",
		".claude/knowledge_graph.json": "{broken",
	} {
		f := newFixture(t, layout.Claude(), map[string]string{file: text})
		e, err := f.Add(t.Context(), layout.Knowledge{Type: "pattern", Content: "c"}, file, false)
		if got := f.text(t, file); err == nil || got != text {
			t.Errorf("adding to %q in %s made %v, and %q of it", text, file, e.Name, got)
		}
	}
}

// TestForms adds to, edits and links entries in each form, and reads back what it
// wrote.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, into := range []string{".claude/knowledge_graph.md", ".claude/knowledge_graph.json", ".claude/lessons/go.md"} {
		f := newFixture(t, layout.Claude(), nil)
		long := "A sentence that goes on and on, so that no summary of a hundred characters holds all that it has to say of it."
		first := f.mustAddTo(t, into, layout.Knowledge{Type: "insight", Title: "First", Content: long,
			Tags: []string{"a"}})
		second := f.mustAddTo(t, into, layout.Knowledge{Type: "insight", Content: "Second"})
		edited, err := f.Edit(t.Context(), second.Name, layout.Knowledge{Content: "Two\nlines", Tags: []string{"x", "y"}, Confidence: "high", Source: "7"},
			[]string{"content", "tag", "confidence", "source"})
		if err != nil {
			t.Fatalf("%s: %v", into, err)
		}
		k := edited.Fields
		got := []string{k.Content, strings.Join(k.Tags, " "), k.Confidence, k.Source, edited.Type}
		if diff := cmp.Diff([]string{"Two\nlines", "x y", "high", "task-7", "insight"}, got); diff != "" {
			t.Errorf("%s: edited (-want +got):\n%s\n%s", into, diff, edited.Text)
		}
		if changed, err := f.Supersede(t.Context(), first.Name, second.Name); err != nil || !changed {
			t.Fatalf("%s: supersede: %t, %v", into, changed, err)
		}
		if changed, err := f.Supersede(t.Context(), first.Name, second.Name); err != nil || changed {
			t.Errorf("%s: supersede again: %t, %v", into, changed, err)
		}
		third, err := f.SupersedeWith(t.Context(), second.Name, layout.Knowledge{Content: "Third"})
		if err != nil {
			t.Fatalf("%s: %v", into, err)
		}
		if got := third.Fields; got.Content != "Third" || strings.Join(got.Tags, " ") != "x y" || got.Confidence != "high" || third.Type != "insight" {
			t.Errorf("%s: the third is %+v", into, got)
		}
		by, err := f.read.Superseded(t.Context())
		want := map[record.Name]record.Name{first.Name: second.Name, second.Name: third.Name}
		if diff := cmp.Diff(want, by); diff != "" || err != nil {
			t.Errorf("%s: superseded, %v (-want +got):\n%s", into, err, diff)
		}
		if before, err := f.Get(t.Context(), first.Name); err != nil || before.Fields.Content != long {
			t.Errorf("%s: the first is %+v: %v", into, before.Fields, err)
		}
		if _, err := f.SupersedeWith(t.Context(), first.Name, layout.Knowledge{Content: "Fourth"}); !errors.Is(err,
			record.Conflict) || !strings.Contains(err.Error(), " by "+second.Name.ID) {
			t.Errorf("%s: superseding the first again: %v", into, err)
		}
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), nil)
	for range 3 {
		f.mustAdd(t, layout.Knowledge{Type: "pattern", Content: "c"})
	}
	one, two, three := nameOf("pattern-001"), nameOf("pattern-002"), nameOf("pattern-003")
	before := f.text(t, ".claude/knowledge_graph.md")
	for _, kind := range layout.LinkTypes() {
		for _, want := range []bool{true, false} {
			if changed, err := f.Link(t.Context(), one, kind, two); err != nil || changed != want {
				t.Errorf("linking as %s: %t, %v; want %t", kind, changed, err, want)
			}
		}
	}
	if _, err := f.Link(t.Context(), two, layout.LinkSupersedes, three); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		from record.Name
		kind string
		to   record.Name
	}{
		{three, layout.LinkSupersedes, one}, {one, layout.LinkRelatesTo, one},
		{one, layout.LinkSupersedes, record.Name{Kind: record.KindHandoff, ID: "task-1"}},
	} {
		_, err := f.Link(t.Context(), c.from, c.kind, c.to)
		if err == nil || !strings.Contains(err.Error(), "cannot be linked as") {
			t.Errorf("%v %s %v: %v, want a refusal", c.from, c.kind, c.to, err)
		}
	}
	if _, err := f.Link(t.Context(), nameOf("pattern-009"), layout.LinkRelatesTo, one); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("linking what is not there: %v", err)
	}
	captured := record.Name{Tree: "lib", Kind: record.KindKnowledge, ID: "a"}
	if _, err := f.Link(t.Context(), captured, layout.LinkRelatesTo, one); err == nil {
		t.Error("an entry of a captured tree was linked")
	}
	for _, l := range append(layout.LinkTypes(), "again") {
		from, to := one, two
		if l == "again" {
			l, from, to = layout.LinkSupersedes, two, three
		}
		if changed, err := f.Unlink(t.Context(), from, l, to); err != nil || !changed {
			t.Errorf("unlinking %s: %t, %v", l, changed, err)
		}
	}
	if after := strings.ReplaceAll(f.text(t, ".claude/knowledge_graph.md"), "- Links:\n", ""); after != before {
		t.Errorf("after linking and unlinking (-want +got):\n%s", cmp.Diff(before, after))
	}
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), nil)
	f.mustAdd(t, layout.Knowledge{Type: "pattern", Tags: []string{"redis"}, Content: "Set MaxRetries to -1 on clients of Redis with a deadline"})
	f.mustAdd(t, layout.Knowledge{Type: "pattern", Content: "Rename files after they were synced"})
	draft := layout.Knowledge{Type: "pattern", Tags: []string{"redis"}, Content: "Clients with a deadline set MaxRetries to -1 for Redis"}
	like, err := f.Similar(t.Context(), draft)
	if err != nil || len(like) != 1 || like[0].ID != "pattern-001" || !slices.Equal(like[0].Tags, []string{"redis"}) {
		t.Errorf("Similar(%+v) = %+v, %v", draft, like, err)
	}
	_, err = f.Add(t.Context(), draft, "", true)
	if err == nil || !strings.Contains(err.Error(), "not added: pattern-001 is likely to be the same") {
		t.Errorf("adding it strictly: %v", err)
	}
	draft.Type = "gotcha"
	if like, err := f.Similar(t.Context(), draft); err != nil || len(like) > 0 {
		t.Errorf("Similar of another type = %+v, %v", like, err)
	}
}

// TestAddAtOnce adds from many goroutines to a file that an agent has begun by
// hand; an id that was removed is not given again.
func TestAddAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), map[string]string{".claude/knowledge_graph.md": "# K\n\n## Patterns\n\n### pattern-007\n- Type: pattern\n- Content: by hand\n"})
	var group sync.WaitGroup
	ids := make([]string, 10)
	for i := range ids {
		group.Go(func() {
			e, err := f.Add(t.Context(), layout.Knowledge{Type: "pattern", Content: fmt.Sprint("content ", i)}, "",
				false)
			if err != nil {
				t.Errorf("adding %d: %v", i, err)
			}
			ids[i] = e.Name.ID
		})
	}
	group.Wait()
	slices.Sort(ids)
	for i, id := range ids {
		if want := fmt.Sprintf("pattern-%03d", i+8); id != want {
			t.Errorf("id %d is %s, want %s", i, id, want)
		}
	}
	if err := f.work.Remove(t.Context(), nameOf("pattern-017")); err != nil {
		t.Fatal(err)
	}
	if e := f.mustAdd(t, layout.Knowledge{Type: "pattern", Content: "later"}); e.Name.ID != "pattern-018" {
		t.Errorf("after removing pattern-017 a new entry is %s", e.Name.ID)
	}
}

// TestProblems reads what is wrong with a file: nothing is with one that is not
// there, or holds no entries.
func TestProblems(t *testing.T) {
	t.Parallel()
	const entry = "### pattern-001\n- Type: pattern\n- Content: c\n"
	f := newFixture(t, layout.Claude(), map[string]string{".claude/knowledge_graph.md": entry + "\n" + entry, "a.md": entry})
	problems := f.Problems(t.Context(), ".claude/knowledge_graph.md")
	if len(problems) != 1 || problems[0].Line != 5 || !errors.Is(problems[0], layout.ErrRepeatedID) {
		t.Errorf("problems of a graph with an id that is used twice: %v", problems)
	}
	for _, path := range []string{"a.md", ".claude/lessons/none.md"} {
		if problems := f.Problems(t.Context(), path); problems != nil {
			t.Errorf("problems of %s: %v", path, problems)
		}
	}
}

// profileOf returns the predefined profile of a name.
func profileOf(name string) layout.Profile {
	p, err := layout.ParseProfile(name)
	if err != nil {
		panic(err)
	}
	return p
}
