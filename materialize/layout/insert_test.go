package layout

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// newEntry returns the n-th new entry of a format, with its id where it has one.
func newEntry(format Aggregate, n int) Entry {
	switch format {
	case issueQueue:
		id := fmt.Sprintf("ISSUE-20260101-%03d", n)
		return Entry{ID: id,
			Text: issueFields.Append(nil, Issue{ID: id, Status: "pending", Type: "bug", Priority: "low", Summary: "s"})}
	case taskQueue:
		id := fmt.Sprintf("BUILD-%03d", n)
		return Entry{ID: id, Text: fmt.Appendf(nil, "### %s: t\n**Status:** pending\n**Depends On:** []\n", id)}
	case knowledgeGraph:
		kind := knowledgeTypes()[n%4]
		id := fmt.Sprintf("%s-%03d", kind, n)
		return Entry{ID: id, Text: knowledgeFields.Append(nil, Knowledge{ID: id, Type: kind, Content: "c"})}
	case knowledgeJSON{}:
		id := fmt.Sprintf("task-%03d", n)
		return Entry{ID: id, Text: nodeFields.Append(nil, Knowledge{ID: id, Type: "task", Content: "s"})}
	case lessons:
		return Entry{Text: lessonFields.Append(nil, Knowledge{Title: fmt.Sprint("Lesson ", n), Content: "c"})}
	default:
		id := fmt.Sprintf("src/%03d", n)
		return Entry{ID: id, Text: appendComponent(nil, Component{Name: id, Notes: "n"}, components.columns())}
	}
}

// TestInsertMany grows a file of each format from nothing, reading it back after
// each entry: none is lost, all read without errors, and no blank lines pile up.
func TestInsertMany(t *testing.T) {
	t.Parallel()
	const n = 40
	for name, format := range goldenFormats() {
		t.Run(name, func(t *testing.T) {
			f := File{Path: name}
			for i := range n {
				text := format.Insert(f, newEntry(format, i)).Append(nil)
				var errs []*SyntaxError
				f, errs = checkAggregate(t, format, name, text)
				if len(f.Entries()) != i+1 || len(errs) > 0 {
					t.Fatalf("after entry %d: %d entries, errors %v, in\n%s", i, len(f.Entries()), errs, text)
				}
			}
			text := f.Append(nil)
			if bytes.Contains(text, []byte("\n\n\n")) || !bytes.HasSuffix(text, []byte("\n")) || bytes.HasSuffix(text, []byte("\n\n")) {
				t.Errorf("blank lines pile up, or the file has not one final newline:\n%s", text)
			}
		})
	}
}

// TestInsertKeepsGolden puts an entry into each golden file: the entries there
// keep their bytes, and only whole lines are added.
func TestInsertKeepsGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"good-issue_queue.md", "malformed-issue_queue.md", "crlf-issue_queue.md", "good-task_queue.md", "malformed-task_queue.md",
		"good-knowledge_graph.md", "malformed-knowledge_graph.md", "good-lessons.md", "malformed-lessons.md",
		"good-index.md", "malformed-index.md", "good-knowledge_graph.json", "malformed-knowledge_graph.json",
	} {
		_, kind, _ := strings.Cut(name, "-")
		format := goldenFormats()[kind]
		text := readGolden(t, "testdata/aggregates/"+name)
		before, _ := format.Parse(name, text)
		after := format.Insert(before, newEntry(format, 999))
		var kept []string
		for _, e := range after.Entries() {
			if e.Line > 1 && !bytes.Contains(e.Text, []byte("999")) {
				kept = append(kept, string(e.Text))
			}
		}
		var want []string
		for _, e := range before.Entries() {
			if e.Line > 1 {
				want = append(want, string(e.Text))
			}
		}
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("entries of %s after Insert (-want +got):\n%s", name, diff)
		}
		if lost := lostLines(string(text), string(after.Append(nil))); kind != "knowledge_graph.json" && lost != "" {
			t.Errorf("Insert into %s lost the line %q", name, lost)
		}
	}
}

// lostLines returns the first line of text that does not follow, in order, in
// the text after.
func lostLines(text, after string) string {
	rest := strings.SplitAfter(after, "\n")
	for line := range strings.Lines(text) {
		i := 0
		for i < len(rest) && strings.TrimRight(rest[i], "\r\n") != strings.TrimRight(line, "\r\n") {
			i++
		}
		if i == len(rest) {
			return line
		}
		rest = rest[i+1:]
	}
	return ""
}

// TestSettersChangeOneLine sets a field in every entry of the golden files: one
// line differs or is added; in JSON a comma may change one more.
func TestSettersChangeOneLine(t *testing.T) {
	t.Parallel()
	setters := map[string]func(text []byte, field, value string) []byte{
		"good-issue_queue.md": setOf(issueFields), "crlf-issue_queue.md": setOf(issueFields),
		"good-knowledge_graph.md": setOf(knowledgeFields), "good-lessons.md": setOf(lessonFields),
		"good-knowledge_graph.json": setNode,
	}
	for name, set := range setters {
		_, kind, _ := strings.Cut(name, "-")
		f, _ := goldenFormats()[kind].Parse(name, readGolden(t, "testdata/aggregates/"+name))
		for _, e := range f.Entries() {
			for _, field := range []string{"Status", "Priority", "Confidence", "Assignee", "type"} {
				after := set(e.Text, field, "new-value")
				if n := changedLines(e.Text, after); n > 2 || n > 1 && !strings.HasSuffix(name, ".json") {
					t.Errorf("%s: setting %s of %s changed %d lines:\n%s", name, field, e.ID, n, after)
				}
				if !bytes.Contains(after, []byte("new-value")) {
					t.Errorf("%s: setting %s of %s did nothing:\n%s", name, field, e.ID, after)
				}
			}
		}
	}
}

// changedLines counts the lines between the common beginning and the common end
// of two texts, in the one where they are more.
func changedLines(before, after []byte) int {
	a, b := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b))
}

func TestSpliceEntry(t *testing.T) {
	t.Parallel()
	entry := func(text string) Part {
		return Part{Entry: &Entry{Kind: record.KindIssue, ID: text, Text: []byte(text)}}
	}
	literal := func(text string) Part { return Part{Text: []byte(text)} }
	f := File{Path: "p", Parts: []Part{literal("ab\n"), entry("c\n"), entry("d\n"), literal("ef")}}
	tests := []struct {
		at    int
		want  string
		parts int
		line  int
	}{
		{0, "<N>ab\nc\nd\nef", 6, 1},
		{1, "a<N>b\nc\nd\nef", 6, 1},
		{3, "ab\n<N>c\nd\nef", 6, 2},
		{5, "ab\nc\n<N>d\nef", 7, 3},
		{7, "ab\nc\nd\n<N>ef", 6, 4},
		{9, "ab\nc\nd\nef<N>", 6, 4},
	}
	for _, test := range tests {
		out := splice(f, test.at, "<", []Entry{{ID: "N", Text: []byte("N")}}, "", ">")
		if got := string(out.Append(nil)); got != test.want || len(out.Parts) != test.parts {
			t.Errorf("splice at %d = %q in %d parts, want %q in %d", test.at, got, len(out.Parts), test.want, test.parts)
		}
		for _, e := range out.Entries() {
			if e.ID == "N" && e.Line != test.line {
				t.Errorf("splice at %d: line %d, want %d", test.at, e.Line, test.line)
			}
		}
		if f.Parts[1].Entry.Line != 0 {
			t.Fatalf("splice at %d changed its argument", test.at)
		}
	}
}

func TestIsSectionTitle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		heading string
		want    bool
	}{
		{"Patterns", true}, {"patterns", true}, {"Pattern", true}, {"🧩 Patterns", true}, {"Patterns (12)", true},
		{"Anti-Patterns", false}, {"Gotchas", false}, {"", false},
	}
	for _, test := range tests {
		if got := isSectionTitle(test.heading, "Patterns"); got != test.want {
			t.Errorf("isSectionTitle(%q, Patterns) = %t, want %t", test.heading, got, test.want)
		}
	}
}

// BenchmarkAggregateParse reads a file of a thousand entries of each format.
func BenchmarkAggregateParse(b *testing.B) {
	for name, format := range goldenFormats() {
		text := manyEntries(format, 1000)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				format.Parse(name, text)
			}
		})
	}
}

// manyEntries returns a file of n entries.
func manyEntries(format Aggregate, n int) []byte {
	first := format.Insert(File{}, newEntry(format, 0)).Append(nil)
	between, end := "\n", ""
	switch format {
	case knowledgeJSON{}:
		between, end = ",\n", "\n]}\n"
		first = append([]byte("{\"nodes\": [\n"), newEntry(format, 0).Text...)
	case contextMap{}:
		between = ""
	}
	for i := 1; i < n; i++ {
		first = append(append(first, between...), newEntry(format, i).Text...)
	}
	return append(first, end...)
}
