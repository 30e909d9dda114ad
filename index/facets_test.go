package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestFacets(t *testing.T) {
	t.Parallel()
	x := build(t, filterDocuments()...)
	all := []Facet{keyKind, keyAgent, keyTag, keySession}
	for _, test := range []struct {
		name    string
		request Request
		want    map[Facet][]FacetCount
	}{
		{"none asked for", Request{}, nil},
		{"all", Request{Facets: all}, map[Facet][]FacetCount{
			keyKind:    {{"note", 2}, {"result", 2}, {"dialogue", 1}, {"handoff", 1}},
			keyAgent:   {{"alice", 2}, {"bob", 1}},
			keyTag:     {{"auth", 2}, {"jwt", 2}},
			keySession: {{"s1", 2}, {"s2", 1}},
		}},
		{"of a query", Request{Query: "shared", Facets: []Facet{keyAgent}}, map[Facet][]FacetCount{
			keyAgent: {{"alice", 2}, {"bob", 1}},
		}},
		{"whatever the page", Request{Query: "shared", Facets: []Facet{keyAgent}, Limit: 1, Offset: 3}, map[Facet][]FacetCount{
			keyAgent: {{"alice", 2}, {"bob", 1}},
		}},
		{"after filters", Request{Filter: record.Filter{Tags: []string{"jwt"}},
			Facets: []Facet{keySession, keyTag}}, map[Facet][]FacetCount{
			keySession: {{"s1", 2}},
			keyTag:     {{"jwt", 2}, {"auth", 1}},
		}},
		{"quiet kinds", Request{Filter: record.Filter{Kinds: []record.Kind{record.KindDialogue, record.KindMarker}},
			Facets: []Facet{keyKind}}, map[Facet][]FacetCount{
			keyKind: {{"dialogue", 2}, {"marker", 1}},
		}},
		{"days", Request{Filter: record.Filter{Tags: []string{"auth"}}, Facets: []Facet{FacetTime}}, map[Facet][]FacetCount{
			FacetTime: {{"2026-03-01", 2}},
		}},
		{"no match", Request{Query: "nowhere", Facets: []Facet{keyKind}}, map[Facet][]FacetCount{keyKind: {}}},
		{"twice", Request{Facets: []Facet{keyAgent, keyAgent}}, map[Facet][]FacetCount{keyAgent: {{"alice", 2}, {"bob", 1}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := find(t, x, test.request).Facets
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Search(%+v): -want +got\n%s", test.request, diff)
			}
		})
	}
	for _, facet := range []Facet{"", "day", "kind\x00result"} {
		if _, err := x.Search(context.Background(), Request{Facets: []Facet{facet}}); err == nil || errors.Is(err, ErrDamaged) {
			t.Errorf("Search with the facet %q: %v, want an error of the caller's", facet, err)
		}
	}
}

// The counts must be those of the documents that are there, whatever the
// segments that hold them.
func TestFacetsOfSegments(t *testing.T) {
	t.Parallel()
	documents := generate(200, 1)
	want := make(map[string]uint64)
	for i, d := range documents {
		d.Session = fmt.Sprint("s", i%37)
		if strings.Contains(string(d.Text), "handoff") {
			want[d.Session]++
		}
	}
	for _, h := range []history{{"one batch", batched(1000)}, {"batches of 7", batched(7)}, {"edited", edited}} {
		dir := t.TempDir()
		h.apply(t, dir, documents)
		x := open(t, dir)
		result := find(t, x, Request{Query: "handoff", Facets: []Facet{keySession, keyKind}})
		got := make(map[string]uint64)
		for _, c := range result.Facets[keySession] {
			got[c.Value] = c.Count
		}
		for _, hit := range find(t, x, Request{Query: "handoff", Limit: 1000, Duplicates: true}).Hits {
			i := slices.IndexFunc(documents, func(d *Document) bool { return d.Name == hit.Name })
			if !strings.Contains(string(documents[i].Text), "handoff") {
				want[documents[i].Session]++ // found by its title or tags
				documents[i].Text = append(documents[i].Text, " handoff"...)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", h.name, diff)
		}
		if kinds := result.Facets[keyKind]; len(kinds) != 1 || kinds[0].Count != result.Total {
			t.Errorf("%s: kinds %+v of %d matches", h.name, kinds, result.Total)
		}
	}
}

func BenchmarkFacets(b *testing.B) {
	dir := b.TempDir()
	w, err := OpenWriter(dir, testStore)
	if err != nil {
		b.Fatal(err)
	}
	for part := range 10 {
		var changes []Change
		for i := range 2000 {
			d := note(fmt.Sprintf("%d/%d", part, i), "shared text")
			d.Session, d.Agent = fmt.Sprintf("0198c0de-7a1b-7000-8000-%012d", part*1000+i/2), fmt.Sprint("agent", i%50)
			d.Time = d.Time.Add(time.Duration(i) * time.Second)
			changes = append(changes, put(d))
		}
		if err := w.Apply(b.Context(), changes, uint64(part+1)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	x, err := Open(dir, testStore)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	for name, facets := range map[string][]Facet{"none": nil, "agents": {keyAgent}, "sessions": {keySession}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Search(b.Context(), Request{Query: "shared", Facets: facets, Duplicates: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestSumCounts(t *testing.T) {
	t.Parallel()
	a := []FacetCount{{"note", 3}, {"issue", 1}}
	b := []FacetCount{{"issue", 4}, {"turn", 1}, {"handoff", 1}}
	want := []FacetCount{{"issue", 5}, {"note", 3}, {"handoff", 1}, {"turn", 1}}
	if diff := cmp.Diff(want, SumCounts(a, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
