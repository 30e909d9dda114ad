package layout

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// checkAggregate parses text and checks what holds for any text: the parts
// joined are the text, no two literal parts meet, ids are valid and unique, and
// entries and errors name their lines.
func checkAggregate(t testing.TB, format Aggregate, path string, text []byte) (File, []*SyntaxError) {
	t.Helper()
	f, errs := format.Parse(path, text)
	if got := f.Append(nil); !bytes.Equal(got, text) {
		t.Fatalf("%T: parts of %q, joined: %q", format, text, got)
	}
	used := make(map[string]bool)
	line := 1
	for i, p := range f.Parts {
		if e := p.Entry; e != nil {
			checkEntry(t, e, line)
			if used[e.ID] {
				t.Errorf("%T: %q: entry id %q is used twice", format, text, e.ID)
			}
			used[e.ID] = true
		} else if len(p.Text) == 0 || i > 0 && f.Parts[i-1].Entry == nil {
			t.Errorf("%T: %q: part %d is empty or follows a literal one", format, text, i)
		}
		line += bytes.Count(File{Parts: []Part{p}}.Append(nil), []byte("\n"))
	}
	checkErrors(t, errs, path, bytes.Count(text, []byte("\n"))+1)
	return f, errs
}

func checkEntry(t testing.TB, e *Entry, line int) {
	t.Helper()
	if err := record.CheckID(e.ID); err != nil {
		t.Errorf("entry %q: %v", e.Text, err)
	}
	if e.Line != line || len(e.Text) == 0 || !e.Kind.IsEntry() {
		t.Errorf("entry %s of kind %q has line %d and %d bytes, want line %d", e.ID, e.Kind, e.Line, len(e.Text), line)
	}
	words := []string{e.Facts.Agent, e.Facts.Loop, e.Facts.Task, e.Facts.Status}
	words = append(words, e.Facts.Tags...)
	for _, word := range words {
		if len(word) > maxFactWord || strings.ContainsAny(word, "\x00\n\r\t") {
			t.Errorf("entry %s: fact %q is no word", e.ID, word)
		}
	}
	if n := len([]rune(e.Facts.Summary)); n > maxFactSummary || strings.Contains(e.Facts.Summary+e.Facts.Title, "\n") {
		t.Errorf("entry %s: summary %q of %d runes", e.ID, e.Facts.Summary, n)
	}
}

func checkErrors(t testing.TB, errs []*SyntaxError, path string, lines int) {
	t.Helper()
	last := 1
	for _, err := range errs {
		if err.File != path || err.Line < last || err.Line > lines {
			t.Errorf("error %q is out of order or place: lines %d to %d", err, last, lines)
		}
		last = err.Line
	}
}

// dumpFile returns the entries and errors of a file as lines of text.
func dumpFile(f File, errs []*SyntaxError) string {
	var out strings.Builder
	for _, err := range errs {
		fmt.Fprintf(&out, "error %v\n", err)
	}
	for _, e := range f.Entries() {
		fmt.Fprintf(&out, "%d: %s %s (%d bytes)\n", e.Line, e.Kind, e.ID, len(e.Text))
		dumpFacts(&out, e.Facts)
	}
	return out.String()
}

func dumpFacts(out *strings.Builder, facts Facts) {
	var names []string
	for name := range facts.Attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	lines := []Property{
		{"title", facts.Title}, {"summary", facts.Summary}, {"status", facts.Status}, {"task", facts.Task},
		{"agent", facts.Agent}, {"loop", facts.Loop}, {"tags", strings.Join(facts.Tags, " | ")},
	}
	for _, name := range names {
		lines = append(lines, Property{"@" + name, facts.Attributes[name]})
	}
	for _, l := range lines {
		if l.Value != "" {
			fmt.Fprintf(out, "\t%s: %s\n", l.Key, l.Value)
		}
	}
}

// goldenFormats are the formats of the files in testdata/aggregates, by what
// their names end with.
func goldenFormats() map[string]Aggregate {
	return map[string]Aggregate{
		"issue_queue.md":       issueQueue,
		"task_queue.md":        taskQueue,
		"knowledge_graph.md":   knowledgeGraph,
		"knowledge_graph.json": knowledgeJSON{},
		"lessons.md":           lessons,
		"index.md":             contextMap{},
	}
}

// TestAggregateGolden reads every file in testdata/aggregates and compares what
// was found, and what was reported, with the file of the same name and ".golden".
func TestAggregateGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "aggregates", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		seen++
		t.Run(filepath.Base(name), func(t *testing.T) {
			base := filepath.Base(name)
			_, kind, _ := strings.Cut(base, "-")
			format := goldenFormats()[kind]
			if format == nil {
				t.Fatalf("no format for %s", name)
			}
			f, errs := checkAggregate(t, format, base, readGolden(t, name))
			want := string(readGolden(t, name+".golden"))
			if diff := cmp.Diff(want, dumpFile(f, errs)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
	if seen < 2*len(goldenFormats()) {
		t.Errorf("found %d golden files, want one good and one malformed of each format", seen)
	}
}

func readGolden(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// hardTexts are texts that are hard on a cutter of lines.
func hardTexts() []string {
	return []string{
		"", "\n", "\r\n", "\ufeff", "\x00", "no newline", "\ufeff### ISSUE-1\n", "### ISSUE-1", "###", "#",
		"### ISSUE-1\r\n| Status | a |\r\n\r\n### ISSUE-1\r\n", "\xff\xfe### ISSUE-1\n", "### ISSUE-1\n```\n### ISSUE-2\n",
		"```\n### ISSUE-1\n```\n### ISSUE-2\n~~~\n```\n~~~\n", "<!--\n### ISSUE-1\n-->\n### ISSUE-2\n<!--\n",
		"## Context Map\n| Component |\n|---|\n|\n| |\n||\n| a\n| \\| |", "|", "\\|", "{\"nodes\":[{}]}", "{\"nodes\":[1,\"]\",{}]}",
		"{\"nodes\":{}}", "[]", "{", "\ufeff{\"nodes\":[{\"id\":\"a\"}]}\r\n", "{\"nodes\":[{\"id\":\"/\"},{\"id\":\"a\"},{\"id\":\"a\"}]}",
		"### A\n**Lesson:**\n### A\n**Lesson:** x\n### A 2\n**Lesson:**", strings.Repeat("#", 100), "### ISSUE-1\n---\n---\n",
	}
}

// TestAggregateBytes parses texts that are hard on a cutter of lines.
func TestAggregateBytes(t *testing.T) {
	t.Parallel()
	for _, format := range goldenFormats() {
		for _, text := range hardTexts() {
			checkAggregate(t, format, "a/b.md", []byte(text))
		}
	}
}

func TestAggregateEntryBytes(t *testing.T) {
	t.Parallel()
	text := "# Queue\n\nIntro\n\n### ISSUE-1\none\n#### part\n\n### ISSUE-2: b\ntwo\n\n## Notes\nn\n### ISSUE-3\nthree\n# End\n"
	f, _ := checkAggregate(t, issueQueue, "q.md", []byte(text))
	var got []string
	for _, e := range f.Entries() {
		got = append(got, string(e.Text))
	}
	want := []string{"### ISSUE-1\none\n#### part\n\n", "### ISSUE-2: b\ntwo\n\n", "### ISSUE-3\nthree\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries of %q (-want +got):\n%s", text, diff)
	}
}

// TestAggregateLarge reads files of ten thousand entries. It is here for its
// time: anything quadratic takes minutes.
func TestAggregateLarge(t *testing.T) {
	t.Parallel()
	const n = 10_000
	nodes := make([]string, n)
	var issues, tasks, knowledge, learned, rows bytes.Buffer
	rows.WriteString("## Context Map\n\n| Component | Notes |\n|---|---|\n")
	for i := range n {
		fmt.Fprintf(&issues, "### ISSUE-20260101-%d\n\n| Field | Value |\n|---|---|\n| Status | pending |\n\n**Summary:** s\n\n", i)
		fmt.Fprintf(&tasks, "### BUILD-%d: t\n**Status:** pending\n**Description:** d\n\n", i)
		fmt.Fprintf(&knowledge, "### pattern-%d\n- Type: pattern\n- Content: c\n\n", i)
		learned.WriteString("### same title\n**Lesson:** l\n\n")
		fmt.Fprintf(&rows, "| src/%d | n |\n", i)
		nodes[i] = fmt.Sprintf(`{"id": "n-%d", "type": "task", "tags": ["a"], "summary": "s"}`, i)
	}
	files := map[Aggregate]string{
		issueQueue: issues.String(), taskQueue: tasks.String(), knowledgeGraph: knowledge.String(),
		lessons: learned.String(), contextMap{}: rows.String(),
		knowledgeJSON{}: `{"nodes": [` + strings.Join(nodes, ",\n") + `]}`,
	}
	for format, text := range files {
		f, _ := checkAggregate(t, format, "big", []byte(text))
		if got := len(f.Entries()); got != n {
			t.Errorf("%T: %d entries, want %d", format, got, n)
		}
	}
}

// TestAggregateHostile reads files made to be slow to read.
func TestAggregateHostile(t *testing.T) {
	t.Parallel()
	const n = 30_000
	texts := []string{
		strings.Repeat("```x\n", n), strings.Repeat("<!--\n", n), strings.Repeat("### A\n", n),
		strings.Repeat("### ISSUE-1\n", n), "### ISSUE-1\n" + strings.Repeat("| Status | a |\n", n),
		"### ISSUE-1\n" + strings.Repeat("**", n), strings.Repeat("|", n), strings.Repeat("### a\n**Date:**\n", n),
		"## Context Map\n" + strings.Repeat("|a|\n|-|\n", n), `{"nodes":` + strings.Repeat("[", n),
		`{"nodes":[` + strings.Repeat("{},", n) + `{}]}`, "### pattern-1\n- Content: " + strings.Repeat("[", n),
	}
	for _, text := range texts {
		for _, format := range goldenFormats() {
			checkAggregate(t, format, "hostile", []byte(text))
		}
	}
}

func TestTitleSlug(t *testing.T) {
	t.Parallel()
	tests := []struct{ title, want string }{
		{"Clear timeouts in finally blocks", "clear-timeouts-in-finally-blocks"},
		{"`existsSync` follows symlinks — use lstat", "existssync-follows-symlinks-use-lstat"},
		{"Größe 12", "größe-12"},
		{"日本語", "日本語"},
		{"--- !!", "untitled"},
		{"\xff\xfe", "untitled"},
		{strings.Repeat("ab ", 100), strings.TrimSuffix(strings.Repeat("ab-", 27), "-")},
	}
	for _, test := range tests {
		if got := titleSlug(test.title); got != test.want {
			t.Errorf("titleSlug(%q) = %q, want %q", test.title, got, test.want)
		}
	}
}

// insertCase is a file, an entry, and the file with the entry.
type insertCase struct {
	name, text  string
	id, entry   string
	want        string
	wantEntries []string // ids; empty: not checked
}

// runInserts checks that Insert gives the text wanted, that the file reads back,
// that the given file is as it was, and that no entry but the last before the
// new one, which may have gained white space, has other bytes.
func runInserts(t *testing.T, format Aggregate, tests []insertCase) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := format.Parse("file.md", []byte(test.text))
			out := format.Insert(f, Entry{ID: test.id, Text: []byte(test.entry)})
			if got := string(f.Append(nil)); got != test.text {
				t.Errorf("Insert changed its argument to %q", got)
			}
			got := out.Append(nil)
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Fatalf("Insert(%q, %q) (-want +got):\n%s", test.text, test.entry, diff)
			}
			again, errs := checkAggregate(t, format, "file.md", got)
			for _, err := range errs {
				if strings.Contains(err.Error(), "used again") {
					t.Errorf("after Insert: %v", err)
				}
			}
			compareEntries(t, again, out, test.wantEntries)
		})
	}
}

func compareEntries(t *testing.T, again, out File, want []string) {
	t.Helper()
	var ids []string
	for i, e := range again.Entries() {
		ids = append(ids, e.ID)
		inserted := out.Entries()[i]
		if e.Line != inserted.Line || e.Kind != inserted.Kind || inserted.ID != "" && e.ID != inserted.ID ||
			string(bytes.TrimSpace(e.Text)) != string(bytes.TrimSpace(inserted.Text)) {
			t.Errorf("entry %d reads back as %s at line %d %q, was %s at line %d %q",
				i, e.ID, e.Line, e.Text, inserted.ID, inserted.Line, inserted.Text)
		}
	}
	if diff := cmp.Diff(want, ids); want != nil && diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

// setCase is an entry, a field with its new value, and the entry after.
type setCase struct{ name, text, field, value, want string }

func runSets(t *testing.T, set func(text []byte, field, value string) []byte, tests []setCase) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := []byte(test.text)
			got := string(set(before, test.field, test.value))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("set %s = %q in %q (-want +got):\n%s", test.field, test.value, test.text, diff)
			}
			if string(before) != test.text {
				t.Errorf("set changed its argument to %q", before)
			}
			if again := string(set([]byte(got), test.field, test.value)); again != got {
				t.Errorf("set %s = %q twice: %q, then %q", test.field, test.value, got, again)
			}
		})
	}
}

// fuzzAggregate checks for any text what checkAggregate checks, and that a new
// entry can be put in without loss of bytes.
func fuzzAggregate(f *testing.F, format Aggregate, pattern string) {
	files, err := filepath.Glob(filepath.Join("testdata", "aggregates", pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no files %s: %v", pattern, err)
	}
	for _, name := range files {
		f.Add(readGolden(f, name))
	}
	for _, text := range hardTexts() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, _ := checkAggregate(t, format, "dir/file.md", text)
		out := format.Insert(file, Entry{ID: "new-1", Text: []byte("### new-1\n- Content: x\n")})
		if got, want := len(out.Entries()), len(file.Entries())+1; got != want {
			t.Errorf("%q has %d entries after Insert, want %d", text, got, want)
		}
		rest := out.Append(nil)
		for _, b := range text {
			i := bytes.IndexByte(rest, b)
			if i < 0 {
				t.Fatalf("Insert into %q lost bytes: %q", text, out.Append(nil))
			}
			rest = rest[i+1:]
		}
	})
}

// FuzzEntryText checks that any running text comes back from an entry, and that
// it never ends the entry or begins another.
func FuzzEntryText(f *testing.F) {
	for _, text := range hardTexts() {
		f.Add(text)
	}
	f.Add("**Files:** a\n---\n\\# b\n```\n# c\n```\n~~~\n<!--\n | a | b |\n- Tags: x\n\n  d\n\te")
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
		issue := issueFields.Append(nil, Issue{ID: "ISSUE-1", Details: text, Rationale: text})
		i, _ := parseEntry(issueFields, issue)
		knowledge := knowledgeFields.Append(nil, Knowledge{ID: "a-1", Content: text})
		k, _ := parseEntry(knowledgeFields, knowledge)
		lesson := lessonFields.Append(nil, Knowledge{Title: "a", Context: text, Content: text})
		l, _ := parseEntry(lessonFields, lesson)
		for name, got := range map[string]string{
			"details": i.Details, "rationale": i.Rationale,
			"content": k.Content, "context": l.Context, "lesson": l.Content,
		} {
			if got != want {
				t.Errorf("%s of %q reads back as %q", name, text, got)
			}
		}
		for format, entry := range map[Aggregate][]byte{
			issueQueue: issue, knowledgeGraph: knowledge, lessons: lesson,
		} {
			file, _ := checkAggregate(t, format, "f.md", entry)
			if n := len(file.Entries()); n != 1 || len(file.Parts) != 1 {
				t.Errorf("%T: %q, written from %q, has %d entries", format, entry, text, n)
			}
		}
	})
}
