package materialize_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// layOut lays a selection out in a new folder and returns its files.
func layOut(t testing.TB, w *materialize.Workspace, pick materialize.Selection) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := w.LayOut(t.Context(), out, pick, nil); err != nil {
		t.Fatalf("LayOut: %v", err)
	}
	return readTree(t, out)
}

func wantPaths(t testing.TB, label string, files map[string]string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files)), cmp.Transformer("sort", func(s []string) []string {
		s = slices.Clone(s)
		slices.Sort(s)
		return append([]string{}, s...)
	})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", label, diff)
	}
}

func TestLayOutFilters(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	writeTree(t, dir, sampleTree())
	capture(t, w, dir, "lib")
	put(t, w, "result/c9/call9", "own\n")

	for label, test := range map[string]struct {
		pick materialize.Selection
		want []string
	}{
		"own tree": {materialize.Selection{Filter: record.Filter{Trees: trees("")}},
			[]string{".claude/agent_tool_results/c9/call9.md"}},
		"kind": {materialize.Selection{Filter: record.Filter{Kinds: []record.Kind{record.KindTurn}}},
			[]string{"lib/.blue/dialogues/x/round-0/muffin.md"}},
		"conversation": {materialize.Selection{Filter: record.Filter{Conversations: []string{"c1", "c9"}}},
			[]string{"lib/.claude/agent_tool_results/c1/call1.md", ".claude/agent_tool_results/c9/call9.md"}},
		"session": {materialize.Selection{Filter: record.Filter{Trees: trees("lib"), Sessions: []string{"s1"}}},
			[]string{".claude/sessions/build/s1/plan.md"}},
		"task": {materialize.Selection{Filter: record.Filter{Trees: trees("lib"), Tasks: []string{"task-001"},
			Kinds: []record.Kind{record.KindHandoff}}}, []string{".claude/journal/task-001.md"}},
		"run": {materialize.Selection{Filter: record.Filter{Runs: []string{"run-2026-03-02-1"}}},
			[]string{"lib/.claude/loop_snapshots/run-2026-03-02-1/loop-1/state.md"}},
		"dialogue": {materialize.Selection{Filter: record.Filter{Dialogues: []string{"x"}}},
			[]string{"lib/.blue/dialogues/x/round-0/muffin.md"}},
		"agent": {materialize.Selection{Filter: record.Filter{Agents: []string{"muffin"}}},
			[]string{"lib/.blue/dialogues/x/round-0/muffin.md"}},
		"nothing": {materialize.Selection{Filter: record.Filter{Tags: []string{"no such tag"}}}, nil},
	} {
		wantPaths(t, label, layOut(t, w, test.pick), test.want...)
	}
}

func TestLayOutPickedEntries(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{".claude/knowledge_graph.md": knowledgeGraph})
	capture(t, w, dir, "lib")
	files := layOut(t, w, materialize.Selection{Filter: record.Filter{Trees: trees("lib"), Tags: []string{"react"}}})
	text := files[".claude/knowledge_graph.md"]
	if !strings.Contains(text, "pattern-001") || strings.Contains(text, "gotcha-001") || !strings.HasPrefix(text, "# Knowledge Graph\n") {
		t.Errorf("the graph with tag react alone = %q", text)
	}
}

func TestLayOutAsOf(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	before := map[string]string{".claude/issue_queue.md": issueQueue, "docs/a.md": "one", "docs/b.md": "b"}
	writeTree(t, dir, before)
	capture(t, w, dir, "lib")
	var last record.Record
	view(t, w, func(tx *store.Tx) {
		e, err := tx.Entry(tx.Position())
		if err != nil {
			t.Fatal(err)
		}
		last.Time = e.Time
	})
	writeTree(t, dir, map[string]string{".claude/issue_queue.md": edited(issueQueue, "pending", "accepted") + "\n### ISSUE-20260302-003\n\nnew\n", "docs/a.md": "two"})
	if err := os.Remove(filepath.Join(dir, "docs", "b.md")); err != nil {
		t.Fatal(err)
	}
	capture(t, w, dir, "lib")
	got := layOut(t, w, materialize.Selection{Filter: record.Filter{Trees: trees("lib")}, AsOf: last.Time})
	if diff := cmp.Diff(before, got); diff != "" {
		t.Errorf("as of the first capture (-want +got):\n%s", diff)
	}
	wantTree(t, w, "lib", readTree(t, dir))
	wantPaths(t, "before everything", layOut(t, w, materialize.Selection{AsOf: last.Time.Add(-48 * 3600 * 1e9)}))
}

func TestLayOutForeignFolder(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir, out := t.TempDir(), t.TempDir()
	writeTree(t, dir, map[string]string{"a.md": "a", "b.md": "b"})
	capture(t, w, dir, "lib")
	pick := materialize.Selection{Filter: record.Filter{Trees: trees("lib")}}
	writeTree(t, out, map[string]string{"mine.txt": "precious"})
	if _, err := w.LayOut(t.Context(), out, pick, nil); !errors.Is(err, materialize.ErrForeignFolder) {
		t.Errorf("laying out over a foreign file: %v", err)
	}
	wantPaths(t, "the foreign folder", readTree(t, out), "mine.txt")

	again := t.TempDir()
	for range 2 {
		report, err := w.LayOut(t.Context(), again, pick, nil)
		if err != nil || report.Files != 2 {
			t.Errorf("laying out = %+v, %v", report, err)
		}
	}
	writeTree(t, again, map[string]string{"a.md": "changed"})
	if _, err := w.LayOut(t.Context(), again, pick, nil); !errors.Is(err, materialize.ErrForeignFolder) {
		t.Errorf("laying out over a changed file: %v", err)
	}
	if got := readTree(t, again)["a.md"]; got != "changed" {
		t.Errorf("the changed file = %q", got)
	}
}

func TestLayOutSymlinkEscape(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir, out, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	writeTree(t, dir, map[string]string{"sub/a.md": "a"})
	capture(t, w, dir, "lib")
	if err := os.Symlink(elsewhere, filepath.Join(out, "sub")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	if _, err := w.LayOut(t.Context(), out, materialize.Selection{Filter: record.Filter{Trees: trees("lib")}},
		nil); err == nil {
		t.Error("laid out through a planted symbolic link")
	}
	if files := readTree(t, elsewhere); len(files) != 0 {
		t.Errorf("written outside: %v", files)
	}
}

func TestTwoForOnePath(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	for _, id := range []string{"one", "two"} {
		body, err := w.Store.Prepare(t.Context(), []byte(id))
		if err != nil {
			t.Fatal(err)
		}
		r := record.Record{Name: record.Name{Kind: record.KindNote, ID: id}, Path: "same.md", Source: "import"}
		if _, err := w.Store.Put(t.Context(), store.Draft{Record: r, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	report, err := w.LayOut(t.Context(), out, materialize.Selection{}, nil)
	if err != nil || !slices.Equal(report.Protected, []string{"note/two"}) || readTree(t, out)["same.md"] != "one" {
		t.Errorf("two records for one path: %+v, %v, and the files %v", report, err, readTree(t, out))
	}
}

func TestOneIDInManyPlaces(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprintf("p%d/.claude/issue_queue.md", i)] = issueQueue
	}
	writeTree(t, dir, files)
	capture(t, w, dir, "lib")
	wantTree(t, w, "lib", files)
	if report := capture(t, w, dir, "lib"); report.Records != 0 {
		t.Errorf("a second capture stored %d records", report.Records)
	}
	for i := range 5 {
		id := "lib:issue/ISSUE-20260302-001"
		if i > 0 {
			id += fmt.Sprintf("~%d", i+1)
		}
		if got := textOf(t, w, id); !strings.Contains(got, "pending") {
			t.Errorf("%s = %q", id, got)
		}
	}
}

func TestLargeFiles(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	words := strings.Repeat("alpha beta\n", 200_000)
	writeTree(t, dir, map[string]string{"words.md": "# Title\n\nThe first paragraph.\n\n" + words})
	capture(t, w, dir, "lib")
	view(t, w, func(tx *store.Tx) {
		v, err := tx.Head(record.Name{Tree: "lib", Kind: record.KindNote, ID: "words.md"})
		if err != nil {
			t.Fatal(err)
		}
		d := tx.Description(v.Ref)
		if d.Words != 400_005 || d.Title != "Title" || d.Preview != "The first paragraph." {
			t.Errorf("words %d, title %q, preview %q; want 400005, Title, The first paragraph.", d.Words, d.Title, d.Preview)
		}
	})
	if report := capture(t, w, dir, "lib"); report.Records != 0 {
		t.Errorf("a second capture stored %d records", report.Records)
	}
	if left, err := os.ReadDir(filepath.Join(w.Location.Store, "tmp")); err != nil || len(left) != 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
}

// A killed process leaves files that end early; the same command finishes them.
func TestLayOutCutShort(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir, out := t.TempDir(), t.TempDir()
	files := map[string]string{"a.md": strings.Repeat("line of text\n", 20000), "b.md": "b", "c.md": "whole"}
	writeTree(t, dir, files)
	capture(t, w, dir, "lib")
	for cut := range 4 {
		writeTree(t, out, map[string]string{"a.md": files["a.md"][:[]int{0, 5, 65536, 100000}[cut]], "b.md": "", "c.md": "whole"})
		if _, err := w.LayOut(t.Context(), out, materialize.Selection{Filter: record.Filter{Trees: trees("lib")}},
			nil); err != nil {
			t.Fatalf("cut %d: %v", cut, err)
		}
		if diff := cmp.Diff(files, readTree(t, out)); diff != "" {
			t.Fatalf("cut %d: the files differ", cut)
		}
	}
}
