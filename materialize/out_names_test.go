package materialize_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/store/record"
)

func namesOf(t testing.TB, texts ...string) []record.Name {
	t.Helper()
	names := []record.Name{}
	for _, text := range texts {
		names = append(names, nameOf(t, text))
	}
	return names
}

func TestLayOutNames(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{issueFile: issueQueue, "docs/a.md": "one", "docs/b.md": "b"})
	capture(t, w, dir, "lib")
	put(t, w, "note/docs/own.md", "own")
	first := position(t, w)
	writeTree(t, dir, map[string]string{"docs/a.md": "two"})
	capture(t, w, dir, "lib")

	second := issueQueue[strings.Index(issueQueue, "### ISSUE-20260302-002"):]
	for label, test := range map[string]struct {
		pick materialize.Selection
		want map[string]string
	}{
		"none":    {materialize.Selection{Names: []record.Name{}}, map[string]string{}},
		"unknown": {materialize.Selection{Names: namesOf(t, "note/none", "lib:issue/none")}, map[string]string{}},
		"two trees": {materialize.Selection{Names: namesOf(t, "lib:note/docs/a.md", "note/docs/own.md",
			"note/docs/own.md")}, map[string]string{"lib/docs/a.md": "two", "docs/own.md": "own"}},
		"then": {materialize.Selection{At: first, Names: namesOf(t, "lib:note/docs/a.md")},
			map[string]string{"lib/docs/a.md": "one"}},
		"one tree": {materialize.Selection{Filter: record.Filter{Trees: trees("lib")},
			Names: namesOf(t, "lib:note/docs/b.md", "note/docs/own.md")}, map[string]string{"docs/b.md": "b"}},
		"an entry": {materialize.Selection{Filter: record.Filter{Trees: trees("lib")},
			Names: namesOf(t, "lib:issue/ISSUE-20260302-002")}, map[string]string{issueFile: "# Issue Queue\n\n\n" +
			second}},
		"both entries": {materialize.Selection{Filter: record.Filter{Trees: trees("lib")},
			Names: namesOf(t, "lib:issue/ISSUE-20260302-002", "lib:issue/ISSUE-20260302-001")},
			map[string]string{issueFile: issueQueue}},
		"the file": {materialize.Selection{Filter: record.Filter{Trees: trees("lib")},
			Names: namesOf(t, "lib:frame/"+issueFile)}, map[string]string{issueFile: issueQueue}},
		"file and one": {materialize.Selection{Filter: record.Filter{Trees: trees("lib")},
			Names: namesOf(t, "lib:issue/ISSUE-20260302-001", "lib:frame/"+issueFile)},
			map[string]string{issueFile: issueQueue}},
		"other filters": {materialize.Selection{Filter: record.Filter{Kinds: []record.Kind{record.KindIssue}},
			Names: namesOf(t, "note/docs/own.md")}, map[string]string{}},
		"all, then": {materialize.Selection{At: first, Filter: record.Filter{Trees: trees("lib")}},
			map[string]string{issueFile: issueQueue, "docs/a.md": "one", "docs/b.md": "b"}},
	} {
		if diff := cmp.Diff(test.want, layOut(t, w, test.pick)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", label, diff)
		}
	}
}

func TestLayOutIndexed(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	put(t, w, "note/a.md", "a")
	out := filepath.Join(t.TempDir(), "out")
	write := func(title string) (string, error) {
		t.Helper()
		_, name, err := w.LayOutIndexed(t.Context(), out, materialize.Selection{}, title, func(report *materialize.LayOutReport) []byte {
			if _, err := os.Stat(filepath.Join(out, "a.md")); err != nil || report.Files == 0 {
				t.Errorf("the index is made before the files: %+v, %v", report, err)
			}
			return []byte(title + "\n" + strings.Repeat("x", report.Files) + "\n")
		}, nil)
		return name, err
	}
	want := func(label string, files map[string]string) {
		t.Helper()
		if diff := cmp.Diff(files, readTree(t, out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", label, diff)
		}
	}
	if name, err := write("# Mine"); name != "INDEX.md" || err != nil {
		t.Fatalf("the index is %q, %v", name, err)
	}
	want("first", map[string]string{"a.md": "a", "INDEX.md": "# Mine\nx\n"})

	put(t, w, "note/b.md", "b")
	writeTree(t, out, map[string]string{".filebus-index.tmp": "what a killed process left"})
	if _, err := write("# Mine"); err != nil {
		t.Fatal(err)
	}
	want("again, with one more", map[string]string{"a.md": "a", "b.md": "b", "INDEX.md": "# Mine\nxx\n"})

	if _, err := write("# Another"); !errors.Is(err, materialize.ErrForeignFolder) {
		t.Errorf("over an index with another title: %v", err)
	}
	writeTree(t, out, map[string]string{"INDEX.md": ""})
	if _, err := write("# Mine"); !errors.Is(err, materialize.ErrForeignFolder) {
		t.Errorf("over an empty file: %v", err)
	}
	want("refused", map[string]string{"a.md": "a", "b.md": "b", "INDEX.md": ""})
	if err := os.Remove(filepath.Join(out, "INDEX.md")); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(t.TempDir(), "precious")
	writeTree(t, filepath.Dir(precious), map[string]string{"precious": "# Mine\n"})
	if err := os.Symlink(precious, filepath.Join(out, "INDEX.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := write("# Mine"); !errors.Is(err, materialize.ErrForeignFolder) {
		t.Errorf("over a symbolic link: %v", err)
	}
	if text, err := os.ReadFile(precious); string(text) != "# Mine\n" {
		t.Errorf("what the link leads to = %q, %v", text, err)
	}
}

// TestLayOutIndexedNames stores files that take the names of the index, in any case
// and as folders.
func TestLayOutIndexedNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stored []string
		want   string
	}{
		{[]string{"index.MD"}, "INDEX.filebus.md"},
		{[]string{"INDEX.md/a.md"}, "INDEX.filebus.md"},
		{[]string{"docs/INDEX.md"}, "INDEX.md"},
		{[]string{"INDEX.md", "INDEX.filebus.md", "index.filebus-2.md"}, "INDEX.filebus-3.md"},
	} {
		w := newWorkspace(t)
		for _, p := range test.stored {
			put(t, w, "note/"+p, "stored")
		}
		out := filepath.Join(t.TempDir(), "out")
		_, name, err := w.LayOutIndexed(t.Context(), out, materialize.Selection{}, "# Mine", func(*materialize.LayOutReport) []byte { return []byte("# Mine\n") }, nil)
		files := readTree(t, out)
		if err != nil || name != test.want || files[test.want] != "# Mine\n" || files[test.stored[0]] != "stored" {
			t.Errorf("beside %q: the index is %q, want %q; %v, files %q", test.stored, name, test.want, err, files)
		}
	}
}
