package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/query"
)

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

func TestExpandFindsMore(t *testing.T) {
	b := newBench(t)
	putBirds(b)
	plain := b.search(query.SearchRequest{Query: "heron"})
	if diff := cmp.Diff([]string{"note/one", "note/two"}, sorted(found(plain))); diff != "" || plain.Expansion != nil {
		t.Errorf("plain, added %v: -want +got\n%s", plain.Expansion, diff)
	}
	answer := b.search(query.SearchRequest{Query: "heron", Expand: true})
	names := found(answer)
	if i := slices.Index(names, "note/three"); i != 2 || slices.Contains(names, "note/four") {
		t.Errorf("expanded: got %q; want note/three behind the two that have the word, and no note/four", names)
	}
	if got, want := len(answer.ExpansionWords), len(answer.Expansion); got != want || !slices.Contains(answer.ExpansionWords, "frogs") {
		t.Errorf("words %q of %d terms; want frogs among them", answer.ExpansionWords, want)
	}
	for _, term := range answer.Expansion {
		if term.Term == "heron" || term.Weight <= 0 || term.Weight > 1 {
			t.Errorf("added %+v; want a new term that counts for less than one of the query", term)
		}
	}
	// A hit without the query's words shows where the added ones are.
	if h := answer.Hits[2]; len(marked(h.Snippet)) == 0 {
		t.Errorf("snippet of %s = %q, without marks", h.Name, h.Snippet.Text)
	}
	if again := b.search(query.SearchRequest{Query: "heron", Expand: true}); cmp.Diff(answer.Expansion, again.Expansion) != "" {
		t.Errorf("added once %v, then %v", answer.Expansion, again.Expansion)
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// TestExpandPages wants the pages of an expanded search to be pieces of one order.
func TestExpandPages(t *testing.T) {
	b := newBench(t)
	putBirds(b)
	request := query.SearchRequest{Query: "heron report", Expand: true, Limit: 50, Duplicates: true}
	all := b.search(request)
	var got []string
	request.Limit = 8
	for ; request.Offset < len(all.Hits); request.Offset += request.Limit {
		got = append(got, found(b.search(request))...)
	}
	if diff := cmp.Diff(found(all), got); diff != "" || len(got) < 40 {
		t.Errorf("-one page +pages\n%s", diff)
	}
}

// TestExpandNothing wants an answer where there is nothing to expand by.
func TestExpandNothing(t *testing.T) {
	b := newBench(t)
	for _, q := range []string{"heron", "", "the of", "ibis", "\"", strings.Repeat("stork egret ", 5000), "日本語"} {
		answer := b.search(query.SearchRequest{Query: q, Expand: true})
		if len(answer.Expansion) != 0 {
			t.Errorf("%.40q in an empty store: added %v", q, answer.ExpansionWords)
		}
	}
	b.put("note/binary", "\x00\x01 heron \x02")
	b.put("note/numbers", "heron 12 13 14 15 a b c")
	answer := b.search(query.SearchRequest{Query: "heron", Expand: true})
	if len(answer.Expansion) != 0 {
		t.Errorf("added %v; want neither numbers nor single letters, nor words of one record", answer.ExpansionWords)
	}
}

// TestExpandBySections wants no words of sections that are about other things.
func TestExpandBySections(t *testing.T) {
	b := newBench(t)
	putBirds(b)
	money := "\n## Money\n\nInvoices and cents, cents and invoices, and then again cents.\n"
	b.put("note/five", "# Notes of May\n\n## Birds\n\nThe heron eats frogs.\n"+money)
	b.put("note/six", "# Notes of June\n"+money+"\n## Birds\n\nAnother heron, with frogs.\n")
	answer := b.search(query.SearchRequest{Query: "heron", Expand: true})
	if !slices.Contains(answer.ExpansionWords, "frogs") || slices.Contains(answer.ExpansionWords, "cents") {
		t.Errorf("added %q; want frogs and no cents", answer.ExpansionWords)
	}
}
