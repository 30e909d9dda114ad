package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/markdown"
)

func TestKnowledgeRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []Knowledge{
		{ID: "pattern-001", Type: "pattern", Tags: []string{"go", "two words", "a, b"}, Content: "One line: with colon",
			Source: "task-003", Confidence: "high"},
		{ID: "gotcha-001", Title: "A title", Type: "gotcha", Content: "a\n\n- Type: no\n**Tags:** no\n# no\n---\n  indented\n```\n- Tags: code\n```\n```",
			Created: "2026-01-01", Extra: []Property{{"Supersedes", "gotcha-000"}, {"Note", "a\nb"}}},
		{ID: "insight-1", Type: "insight"},
		{Title: "No id", Type: "decision", Content: "c"},
	}
	for _, want := range tests {
		text := knowledgeFields.Append(nil, want)
		got, errs := parseEntry(knowledgeFields, text)
		isWhole := want.Content != "" // else it is reported
		if diff := cmp.Diff(want, got); diff != "" || isWhole != (len(errs) == 0) {
			t.Errorf("parseEntry(knowledgeFields, %s) (-want +got):\n%s\nerrors %v", text, diff, errs)
		}
		f, _ := checkAggregate(t, knowledgeGraph, "g.md", text)
		if entries := f.Entries(); len(entries) != 1 || string(entries[0].Text) != string(text) {
			t.Errorf("%s\nhas %d entries", text, len(entries))
		}
	}
}

// TestTagsDivided reads tags as files divide them.
func TestTagsDivided(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"[a, b c]": {"a", "b c"}, "#ä #b-c": {"ä", "b-c"}, "[#a, #b]": {"a", "b"}, "a; b;c": {"a", "b", "c"}, "a / b": {"a", "b"},
		"甲，乙、丙": {"甲", "乙", "丙"}, `"a; b", c`: {"a; b", "c"}, "c#, issue #12": {"c#", "issue #12"}, "a/b": {"a/b"},
	} {
		if diff := cmp.Diff(want, markdown.ParseTags(text)); diff != "" {
			t.Errorf("parseTags(%q) (-want +got):\n%s", text, diff)
		}
	}
}

// TestAppendKnowledge holds the writer to the form that the file-based
// communication document shows.
func TestAppendKnowledge(t *testing.T) {
	t.Parallel()
	want := `### pattern-001
- Type: pattern
- Tags: [react, state, hooks]
- Content: Use useReducer for complex state with multiple sub-values
- Source: task-003
- Confidence: high
`
	k, errs := parseEntry(knowledgeFields, []byte(want))
	got := string(knowledgeFields.Append(nil, k))
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("knowledgeFields.Append(ParseKnowledge) (-want +got):\n%s\nerrors %v", diff, errs)
	}
	if _, errs := parseEntry(knowledgeFields, nil); len(errs) != 1 {
		t.Errorf("parseEntry(knowledgeFields, nil) has errors %v, want one", errs)
	}
}

func TestCutKnowledgeID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		heading, id, title string
		ok                 bool
	}{
		{"pattern-001", "pattern-001", "", true},
		{"gotcha-auth-3: Tokens", "gotcha-auth-3", "Tokens", true},
		{"pattern-1 (old)", "pattern-1", "(old)", true},
		{"KG-7 – Title", "KG-7", "Title", true},
		{"[pattern-1]", "pattern-1", "", true},
		{"UTF-8 in names", "UTF-8", "in names", false},
		{"Version 2", "Version", "2", false},
		{"2026-01-01", "2026-01-01", "", false},
		{"-1", "-1", "", false},
		{"pattern-", "pattern", "-", false},
	}
	for _, test := range tests {
		id, title, ok := cutKnowledgeID(test.heading)
		if ok != test.ok || ok && (id != test.id || title != test.title) {
			t.Errorf("cutKnowledgeID(%q) = %q, %q, %t, want %q, %q, %t", test.heading, id, title, ok, test.id, test.title, test.ok)
		}
	}
}

func TestSetKnowledgeField(t *testing.T) {
	t.Parallel()
	text := "### pattern-1\n- Type: pattern\n- Content: a\n  b\n\n  c\n- Confidence: low\n"
	runSets(t, setOf(knowledgeFields), []setCase{
		{"word", text, "Confidence", "high", "### pattern-1\n- Type: pattern\n- Content: a\n  b\n\n  c\n- Confidence: high\n"},
		{"block by a line", text, "Content", "x", "### pattern-1\n- Type: pattern\n- Content: x\n- Confidence: low\n"},
		{"block by a block", text, "Content", "x\n\n# y", "### pattern-1\n- Type: pattern\n- Content:\n  x\n\n  \\# y\n- Confidence: low\n"},
		{"new", text, "Source", "task-1", text + "- Source: task-1\n"},
		{"new and bold", "### p-1\r\n- **Type:** a", "Source", "b", "### p-1\r\n- **Type:** a\r\n- **Source:** b"},
		{"no fields, text below", "### p-1\ntext\n", "Type", "a", "### p-1\n- Type: a\n\ntext\n"},
		{"no fields", "### p-1\n\ntext\n", "Type", "a", "### p-1\n- Type: a\n\ntext\n"},
	})
}

func TestKnowledgeGraphInsert(t *testing.T) {
	t.Parallel()
	text := "# Knowledge Graph\n\n## Patterns\n\n### pattern-001\n- Type: pattern\n\n## Gotchas\n\n### gotcha-001\n- Type: gotcha\n"
	pattern, gotcha := "### pattern-002\n- Type: pattern\n", "### gotcha-002\n- Type: Gotcha\n"
	runInserts(t, knowledgeGraph, []insertCase{
		{"empty file", "", "pattern-002", pattern, "# Knowledge Graph\n\n## Patterns\n\n" + pattern, []string{"pattern-002"}},
		{"first section", text, "pattern-002", pattern,
			"# Knowledge Graph\n\n## Patterns\n\n### pattern-001\n- Type: pattern\n\n" + pattern + "\n## Gotchas\n\n### gotcha-001\n- Type: gotcha\n",
			[]string{"pattern-001", "pattern-002", "gotcha-001"}},
		{"last section", text, "gotcha-002", gotcha, text + "\n" + gotcha, nil},
		{"new section", text, "decision-001", "### decision-001\n- Type: decision\n",
			text + "\n## Decisions\n\n### decision-001\n- Type: decision\n", nil},
		{"type of its id", text, "insight-001", "### insight-001\n", text + "\n## Insights\n\n### insight-001\n", nil},
		{"no type", text, "x-1", "### x-1\n", text + "\n## Notes\n\n### x-1\n", nil},
		{"empty section", "## Patterns\n\n## Gotchas\n", "pattern-002", pattern, "## Patterns\n\n" + pattern + "\n## Gotchas\n", nil},
		{"section with text", "## gotchas\nIntro", "gotcha-002", gotcha, "## gotchas\nIntro\n\n" + gotcha, nil},
		{"section in the singular", "# K\n\n## 🧩 Pattern\n", "pattern-002", pattern, "# K\n\n## 🧩 Pattern\n\n" + pattern, nil},
		{"CRLF", "## Patterns\r\n", "gotcha-002", gotcha, "## Patterns\r\n\r\n## Gotchas\r\n\r\n### gotcha-002\r\n- Type: Gotcha\r\n", nil},
	})
}

func TestKnowledgeGraphDocument(t *testing.T) {
	t.Parallel()
	f, errs := checkAggregate(t, knowledgeGraph, "knowledge_graph.md", docExample(t, "knowledge-graph", "knowledge_graph.md"))
	var got []string
	for _, e := range f.Entries() {
		got = append(got, e.ID+" "+e.Facts.Attributes["type"]+" "+e.Facts.Task)
	}
	want := []string{"pattern-001 pattern task-003", "gotcha-001 gotcha task-007", "decision-001 decision task-002"}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("entries of the document (-want +got):\n%s\nerrors %v", diff, errs)
	}
}

func FuzzKnowledgeGraph(f *testing.F) { fuzzAggregate(f, knowledgeGraph, "*-knowledge_graph.md") }
