package query_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// everywhere searches the stores of benches, which must all answer.
func everywhere(t *testing.T, request query.SearchRequest, benches ...*bench) query.SearchAnswer {
	t.Helper()
	var readers []*query.Reader
	for _, b := range benches {
		readers = append(readers, b.Reader)
	}
	answer, err := query.SearchEverywhere(t.Context(), readers, request, time.Minute)
	if err != nil {
		t.Fatalf("SearchEverywhere(%+v): %v", request, err)
	}
	for _, s := range answer.Stores {
		if s.Err != nil {
			t.Errorf("SearchEverywhere(%+v): store %s: %v", request, s.Folder, s.Err)
		}
	}
	return answer
}

// pets are texts about some animals, the rarer the higher their number.
func pets() map[string]string {
	texts := map[string]string{}
	animals := []string{"dog", "cat", "pelican", "axolotl"}
	for i := range 40 {
		var text strings.Builder
		fmt.Fprintf(&text, "# Report %d\n\n", i)
		for n, animal := range animals {
			if i%(1<<n) == 0 {
				text.WriteString(strings.Repeat(animal+" sleeps here. ", 1+i%3))
			}
		}
		text.WriteString(strings.Repeat("filler ", i*5%37))
		texts[fmt.Sprintf("note/n%02d.md", i)] = text.String() + "\n"
	}
	return texts
}

// TestSearchEverywhereAsOne makes sure that several stores give the hits, the
// order, the scores and the pages of one store that has all their records.
func TestSearchEverywhereAsOne(t *testing.T) {
	t.Parallel()
	one := newBench(t)
	parts := []*bench{newBench(t), newBench(t), newBench(t)}
	for of, text := range pets() {
		// Rare words are in the last store alone, where they would seem frequent.
		part := parts[int(of[len(of)-4])%2]
		if strings.Contains(text, "axolotl") {
			part = parts[2]
		}
		same := with(func(r *record.Record) { r.Tags = []string{of[len(of)-4 : len(of)-3]} })
		one.put(of, text, at(of), same)
		part.put(of, text, at(of), same)
	}
	for _, text := range []string{"dog", "axolotl cat", "the sleeping pelican", "nothing of the kind", "report"} {
		request := query.SearchRequest{Request: index.Request{Query: text, Limit: 100, Duplicates: true, Facets: []index.Facet{"tag"}}}
		want := one.search(request)
		got := everywhere(t, request, parts...)
		judged := min(20, len(want.Hits)) // by passages and nearness, in each store
		if diff := cmp.Diff(scores(want.Hits[:judged]), scores(got.Hits[:judged])); diff != "" {
			t.Errorf("everywhere, %q: scores (-one store +three):\n%s", text, diff)
		}
		if got.Total != want.Total {
			t.Errorf("everywhere, %q: total %d, want %d", text, got.Total, want.Total)
		}
		if diff := cmp.Diff(want.Facets, got.Facets); diff != "" {
			t.Errorf("everywhere, %q: facets (-one store +three):\n%s", text, diff)
		}
		var paged []query.Hit
		for offset := 0; offset < len(got.Hits)+4; offset += 4 {
			request.Offset, request.Limit = offset, 4
			paged = append(paged, everywhere(t, request, parts...).Hits...)
		}
		if diff := cmp.Diff(scores(got.Hits), scores(paged)); diff != "" {
			t.Errorf("everywhere, %q: pages (-at once +by four):\n%s", text, diff)
		}
	}
}

// scores returns the scores of hits by name: the order of equal scores depends on
// times, which the stores of a test do not share.
func scores(hits []query.Hit) []string {
	lines := make([]string, len(hits))
	for i, h := range hits {
		lines[i] = fmt.Sprintf("%.9f", h.Score)
	}
	return lines
}

func TestSearchEverywhereNamesStores(t *testing.T) {
	t.Parallel()
	a, b := newBench(t), newBench(t)
	a.put("note/x.md", "The pelican of a sleeps.\n", at("x.md"))
	b.put("note/x.md", "The pelican of b sleeps.\n", at("x.md"))
	answer := everywhere(t, query.SearchRequest{Request: index.Request{Query: "pelican"}}, a, b)
	got := map[string]bool{}
	for _, h := range answer.Hits {
		got[h.Store+" "+h.Name.String()] = true
	}
	want := map[string]bool{a.store.Dir() + " note/x.md": true, b.store.Dir() + " note/x.md": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stores of the hits (-want +got):\n%s", diff)
	}
}

// TestSearchEverywhereDamaged searches beside a store that cannot be read.
func TestSearchEverywhereDamaged(t *testing.T) {
	t.Parallel()
	good := newBench(t)
	good.put("note/x.md", "The pelican sleeps.\n", at("x.md"))
	dir := filepath.Join(t.TempDir(), ".filebus")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "store.db"), []byte(strings.Repeat("no database ", 1000)), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	readers := []*query.Reader{query.New(s, query.Options{}), good.Reader}
	answer, err := query.SearchEverywhere(t.Context(), readers, query.SearchRequest{Request: index.Request{Query: "pelican"}}, time.Minute)
	if err != nil || len(answer.Hits) != 1 {
		t.Fatalf("SearchEverywhere beside a damaged store: %v, %v; want one hit", found(answer), err)
	}
	if got := answer.Stores[0].Err; !errors.Is(got, store.ErrDamaged) {
		t.Errorf("error of the damaged store: %v; want that it is damaged", got)
	}
	if got := answer.Stores[1]; got.Err != nil || got.Total != 1 {
		t.Errorf("answer of the good store: %+v; want one hit", got)
	}
}

// TestSearchEverywhereUnindexed gives no time to catch up: what is not indexed is
// scanned, and comes behind what is.
func TestSearchEverywhereUnindexed(t *testing.T) {
	t.Parallel()
	a, b := newBench(t), newBench(t)
	a.put("note/old.md", "The pelican sleeps.\n", at("old.md"))
	if err := a.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.put("note/new.md", "Another pelican.\n", at("new.md"))
	b.put("note/b1.md", "A pelican pelican.\n", at("b1.md"))
	b.put("note/b2.md", "One more pelican.\n", at("b2.md"))
	readers := []*query.Reader{a.Reader, b.Reader}
	request := query.SearchRequest{Request: index.Request{Query: "pelican"}}
	answer, err := query.SearchEverywhere(t.Context(), readers, request, -time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := found(answer), []string{"note/old.md", "note/b2.md", "note/new.md", "note/b1.md"}; !cmp.Equal(got, want) &&
		!cmp.Equal(got, []string{"note/old.md", "note/new.md", "note/b2.md", "note/b1.md"}) {
		t.Errorf("hits without time = %v; want %v, or the middle two the other way round", got, want)
	}
	if got := []uint64{answer.Stores[0].Unindexed, answer.Stores[1].Unindexed}; !cmp.Equal(got, []uint64{1, 2}) {
		t.Errorf("unindexed = %v; want [1 2]", got)
	}
	answer = everywhere(t, request, a, b)
	if answer.Unindexed != 0 || len(answer.Hits) != 4 {
		t.Errorf("with time: %d unindexed, hits %v; want 0 and four", answer.Unindexed, found(answer))
	}
}

func TestSearchEverywhereInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := newBench(t)
	if _, err := query.SearchEverywhere(ctx, []*query.Reader{b.Reader}, query.SearchRequest{}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("SearchEverywhere with a context that is over: %v", err)
	}
}

func TestSearchIndexedOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/x.md", "The pelican sleeps.\n", at("x.md"))
	request := query.SearchRequest{Request: index.Request{Query: "pelican"}, IndexedOnly: true}
	if got := b.search(request); len(got.Hits) != 0 || got.Unindexed != 1 {
		t.Errorf("before the index is made: hits %v, %d unindexed; want none and 1", found(got), got.Unindexed)
	}
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.search(request); len(got.Hits) != 1 || got.Unindexed != 0 {
		t.Errorf("afterwards: hits %v, %d unindexed; want one and 0", found(got), got.Unindexed)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		request query.SearchRequest
		text    string
		want    []string
	}{
		{query.SearchRequest{Request: index.Request{Query: "rotating keys"}}, "Keys are rotated.", []string{"Keys", "rotated"}},
		{query.SearchRequest{Request: index.Request{Query: "parse request"}}, "call parseHTTPRequest now", []string{"parse", "Request"}},
		{query.SearchRequest{Request: index.Request{Query: "parseHTTPRequest request"}}, "call parseHTTPRequest now", []string{"parseHTTPRequest"}},
		{query.SearchRequest{Request: index.Request{Query: "none"}}, "nothing here", nil},
		{query.SearchRequest{Request: index.Request{Phrases: []string{"sleeping pelican"}}}, "a pelican sleeps", []string{"pelican", "sleeps"}},
		{query.SearchRequest{Request: index.Request{Query: "key"}}, "\x00key", nil},
		{query.SearchRequest{Request: index.Request{Query: "the vulnerab"}, Prefix: true}, "Vulnerability of the vulture, vulnerable", []string{"Vulnerability", "vulnerable"}},
		{query.SearchRequest{Request: index.Request{Query: "keys vu "}, Prefix: true}, "vulture key", []string{"key"}},
		{query.SearchRequest{Request: index.Request{Query: "keys vu"}, Prefix: true}, "vulture key", []string{"vulture", "key"}},
		{query.SearchRequest{Request: index.Request{Query: "keys vu"}}, "vulture key", []string{"key"}},
	}
	for _, test := range tests {
		var got []string
		for _, m := range test.request.Marks([]byte(test.text)) {
			got = append(got, test.text[m.Start:m.End])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("Marks(%+v, %q) (-want +got):\n%s", test.request, test.text, diff)
		}
	}
}
