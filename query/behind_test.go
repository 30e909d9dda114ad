package query_test

import (
	"testing"

	"filebus/index"
	"filebus/query"
)

// TestBehind puts, searches and puts: the index lacks what came after the search.
func TestBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := func(when string, n uint64) {
		t.Helper()
		if got, err := b.Behind(t.Context()); err != nil || got != n {
			t.Errorf("%s the index is %d behind, %v; want %d", when, got, err, n)
		}
	}
	want("of an empty store", 0)
	b.put("note/a.md", "alpha")
	b.put("note/b.md", "beta")
	want("before the first search", 2)
	b.search(query.SearchRequest{Request: index.Request{Query: "alpha"}})
	want("after a search", 0)
	b.put("note/a.md", "gamma")
	want("after another put", 1)
}
