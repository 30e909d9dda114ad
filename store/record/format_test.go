package record_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// document returns docs/format.md.
func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// between returns the text between two marks, of which the first must be there
// once.
func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	if n := strings.Count(text, begin); n != 1 {
		t.Fatalf("the document holds %q %d times", begin, n)
	}
	_, rest, _ := strings.Cut(text, begin)
	inner, _, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("the document holds no %q after %q", end, begin)
	}
	return inner
}

func TestDocumentedRecord(t *testing.T) {
	doc := document(t)
	example := between(t, doc, "```record\n", "```")
	exit := 0
	want := &record.Record{
		Origin: origin, Name: record.Name{Kind: record.KindResult, ID: "conv-1/call-1"},
		Path: "agent_tool_results/conv-1/call-1.md",
		Body: record.DigestOf([]byte("# Findings\n\nOne writer at a time.\n")), Size: 34,
		MediaType: "text/markdown", Time: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
		Agent: "web_researcher", Conversation: "conv-1", Exit: &exit, Tags: []string{"locking", "sqlite"},
		Links: []record.Link{{Type: "answers", Target: "task/task-003"}}, Source: record.SourcePut,
	}
	got, err := record.Decode([]byte(example))
	if err != nil {
		t.Fatalf("Decode of the example in docs/format.md: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the example in docs/format.md (-want +got):\n%s", diff)
	}
	if ref := between(t, doc, "Its ref is `", "`"); ref != record.RefOf([]byte(example)).String() {
		t.Errorf("docs/format.md gives the ref %s, the example has %s", ref, record.RefOf([]byte(example)))
	}
}

// TestDocumentedWords holds the lists of kinds and sources, and the order of the
// fields, against the code.
func TestDocumentedWords(t *testing.T) {
	doc := document(t)
	var kinds []record.Kind
	for _, word := range strings.Fields(between(t, doc, "- **kind**: `", "`")) {
		kinds = append(kinds, record.Kind(word))
	}
	if diff := cmp.Diff(record.Kinds(), kinds); diff != "" {
		t.Errorf("kinds in docs/format.md (-want +got):\n%s", diff)
	}
	for _, word := range strings.Fields(between(t, doc, "- **source**: `", "`")) {
		if err := sourced(word).Validate(); err != nil {
			t.Errorf("docs/format.md: %v", err)
		}
	}
	var documented []string
	for line := range strings.SplitSeq(between(t, doc, "Keys, in this order:\n\n", "\n\n"), "\n") {
		keys, _, _ := strings.Cut(line, ": ")
		for i, word := range strings.Split(keys, "`") {
			if i%2 == 1 {
				documented = append(documented, word)
			}
		}
	}
	var encoded []string
	for _, line := range strings.Split(fullText, "\n")[1:] {
		key, _, _ := strings.Cut(line, " ")
		if key != "" {
			encoded = append(encoded, key)
		}
	}
	if diff := cmp.Diff(slices.Compact(encoded), documented); diff != "" {
		t.Errorf("fields in docs/format.md (-encoded +documented):\n%s", diff)
	}
}
