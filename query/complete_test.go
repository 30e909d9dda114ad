package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
)

// TestPrefix types words letter by letter.
func TestPrefix(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/one", "# Report\n\nText.\n\n## Findings\n\nA vulnerability of the parser.\n")
	b.put("note/two", "The vulture sleeps.", tagged("birds"))
	b.put("note/three", "Parsers read tokens.")
	for _, test := range []struct {
		text   string
		plain  []string
		prefix []string
		marks  []string // of the first hit with a prefix
	}{
		{"v", nil, nil, nil},
		{"vul", nil, []string{"note/one", "note/two"}, nil},
		{"vult", nil, []string{"note/two"}, []string{"vulture"}},
		{"vulnerab", []string{"note/one"}, []string{"note/one"}, []string{"vulnerability"}},
		{"vulnerability", []string{"note/one"}, []string{"note/one"}, []string{"vulnerability"}},
		{"vul ", nil, nil, nil},
		{`"vul"`, nil, nil, nil},
		{"vul tag:birds", nil, nil, nil},
		{"tag:birds vul", nil, []string{"note/two"}, []string{"vulture"}},
		{"tokens -vul", []string{"note/three"}, []string{"note/three"}, []string{"tokens"}},
		{"parser vuln", []string{"note/one", "note/three"}, []string{"note/one", "note/three"}, []string{"vulnerability", "parser"}},
		{"zzz", nil, nil, nil},
		{"", []string{"note/one", "note/three", "note/two"}, []string{"note/one", "note/three", "note/two"}, nil},
	} {
		var request query.SearchRequest
		request.Parse(test.text)
		plain := b.search(request)
		request.Prefix = true
		answer := b.search(request)
		if got := sorted(found(plain)); cmp.Diff(test.plain, got) != "" {
			t.Errorf("%q without Prefix: %q, want %q", test.text, got, test.plain)
		}
		if got := sorted(found(answer)); cmp.Diff(test.prefix, got) != "" || answer.Total != uint64(len(got)) {
			t.Errorf("%q with Prefix: %q of %d, want %q", test.text, got, answer.Total, test.prefix)
			continue
		}
		if test.marks == nil {
			continue
		}
		if got := marked(answer.Hits[0].Snippet); cmp.Diff(test.marks, got) != "" {
			t.Errorf("%q: marks of %s = %q, want %q", test.text, answer.Hits[0].Name, got, test.marks)
		}
	}
	request := query.SearchRequest{Request: index.Request{Query: "vulnerab"}, Prefix: true}
	if h := b.search(request).Hits[0]; h.Section != "Findings" {
		t.Errorf("vulnerab: section %q, want Findings", h.Section)
	}
}

// TestPrefixOrder wants what has the word as it was typed first, however rare the
// longer words are, and other words of the query to count as ever.
func TestPrefixOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 12 {
		b.put(fmt.Sprintf("note/whole%02d", i), fmt.Sprintf("The cat number%d sleeps in the garden.", i))
		b.put(fmt.Sprintf("note/other%02d", i), fmt.Sprintf("Of category%d and catalogue%[1]d there is a list.", i))
	}
	b.put("note/both", "The category of the cat is in the catalogue.")
	request := query.SearchRequest{Request: index.Request{Query: "cat", Limit: 50, Duplicates: true}}
	plain := b.search(request)
	request.Prefix = true
	answer := b.search(request)
	if len(plain.Hits) != 13 || len(answer.Hits) != 25 {
		t.Fatalf("%d hits, with Prefix %d; want 13 and 25", len(plain.Hits), len(answer.Hits))
	}
	for i, name := range found(answer) {
		if other := strings.HasPrefix(name, "note/other"); other != (i >= 13) {
			t.Errorf("hit %d of 25 is %s; the first 13 have the word", i, name)
		}
	}
	var pages []string
	for request.Limit = 7; request.Offset < 25; request.Offset += 7 {
		pages = append(pages, found(b.search(request))...)
	}
	if diff := cmp.Diff(found(answer), pages); diff != "" {
		t.Errorf("-one page +pages\n%s", diff)
	}
}

// TestPrefixWithOthers wants Prefix beside More, several stores, what is not
// indexed, and any text.
func TestPrefixWithOthers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	b := newBench(t)
	if answer := b.search(query.SearchRequest{Request: index.Request{Query: "her"}, Prefix: true, IndexedOnly: true}); len(answer.Hits) != 0 {
		t.Errorf("hits of no index: %q", found(answer))
	}
	putBirds(b)
	more := []index.WeightedTerm{{Term: "invoic", Weight: 1}}
	request := query.SearchRequest{Request: index.Request{Query: "hero", More: more}, Prefix: true}
	if got := sorted(found(b.search(request))); cmp.Diff([]string{"note/four", "note/one", "note/two"}, got) != "" {
		t.Errorf("with More: %q", got)
	}
	other := newBench(t)
	other.put("note/five", "Heroes of the marsh.")
	answer := everywhere(t, query.SearchRequest{Request: index.Request{Query: "hero"}, Prefix: true}, b, other)
	if got := sorted(found(answer)); cmp.Diff([]string{"note/five", "note/one", "note/two"}, got) != "" {
		t.Errorf("of two stores: %q", got)
	}
	for _, text := range []string{
		strings.Repeat("stork egret ", 5000) + "her", strings.Repeat("e", 1<<20), "\x00her", "her\xff", `"her`, "*her[", "in", "the", "日本", "--her", "h'er",
	} {
		var request query.SearchRequest
		request.Parse(text)
		request.Prefix = true
		b.search(request)
	}
}

// putBirds fills a store with records about two things, each in words of its own,
// among others.
func putBirds(b *bench) {
	b.put("note/one", "The heron stands in the marsh and looks for frogs.")
	b.put("note/two", "A heron was seen in the marsh. Frogs were heard.")
	b.put("note/three", "In the marsh there are many frogs this spring.")
	b.put("note/four", "Invoices are rounded to whole cents.")
	for i := range 40 {
		b.put(fmt.Sprintf("note/other%02d", i), fmt.Sprintf("Report %d of the usual kind, with figure%d in it, seen by nobody.", i, i))
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
