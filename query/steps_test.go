package query_test

import (
	"testing"
	"time"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

// TestSearchAfterStepBack indexes records that a clock far ahead has made, and goes on
// with the right one: a search for what is new does not find them for ever.
func TestSearchAfterStepBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	right := b.clock.now
	b.put("note/old", "an ortolan of before")
	b.clock.now = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	b.put("note/ahead", "an ortolan from ahead")
	find := func(since time.Time) (names []string) {
		t.Helper()
		request := query.SearchRequest{Request: index.Request{Query: "ortolan", Duplicates: true, Filter: record.Filter{Since: since}}}
		for _, hit := range b.search(request).Hits {
			names = append(names, hit.Name.ID)
		}
		return names
	}
	if got := find(time.Time{}); len(got) != 2 {
		t.Fatalf("before: %q", got)
	}
	b.clock.now = right.Add(24 * time.Hour)
	b.put("note/then", "an ortolan of then")
	if got := find(right.Add(12 * time.Hour)); len(got) != 2 {
		t.Errorf("since the step back: %q; want then and ahead", got)
	}
	b.clock.now = right.Add(72 * time.Hour)
	b.put("note/now", "an ortolan of now")
	if got := find(right.Add(48 * time.Hour)); len(got) != 1 || got[0] != "now" {
		t.Errorf("since the day before yesterday: %q; want now", got)
	}
	if got := find(time.Time{}); len(got) != 4 {
		t.Errorf("of all times: %q", got)
	}
}
