package query_test

import (
	"slices"
	"strings"
	"testing"

	"filebus/index"
	"filebus/query"
)

// order returns the names of the hits of a query over texts, best first.
func (b *bench) order(asked string) []string {
	b.Helper()
	return found(b.search(query.SearchRequest{Request: index.Request{Query: asked, Duplicates: true}}))
}

// TestPassages wants a short text that answers before a long one that has every word of
// a question somewhere, and the part of a long one under the heading that is meant.
func TestPassages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	far := strings.Repeat("Something else is told in this line, at length. ", 40)
	b.put("note/dump", "# Comments\n\nThe budget, the budget.\n\n"+far+"A replica lags, a replica is new.\n\n"+far+
		"The failover of the failover.\n\n"+far+"Nightly, nightly, and the budget for it.\n")
	b.put("note/report", "# Quarterly report\n\n"+far+"\n\n## Failover\n\nA replica takes over within the nightly budget.\n\n## Other\n\n"+far)
	b.put("note/other", "# Failover\n\n"+far+"\n\n## Lunch\n\nThe budget is small.\n")
	for _, asked := range []string{"failover replica nightly budget", "What is the nightly budget of a replica for failover?"} {
		if got := b.order(asked); len(got) < 3 || got[0] != "note/report" {
			t.Errorf("%q finds %q; want note/report first", asked, got)
		}
	}
	for _, h := range b.search(query.SearchRequest{Request: index.Request{Query: "failover replica"}}).Hits {
		if h.Passage <= 0 || h.Passage >= h.Score {
			t.Errorf("the passage of %s adds %v of %v; want a part", h.Name, h.Passage, h.Score)
		}
	}
}

// TestQuestionWords wants no text first for the words that only ask.
func TestQuestionWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/asks", "Look and find, look and find, keep it, keep it: leases are many and more than many.")
	b.put("note/answers", "The heron retires leases after nine minutes, and nothing else is said of it here.")
	for i := range 8 {
		b.put("note/"+string(rune('a'+i)), "A lease is a lease; the heron waits for it.")
	}
	if got := b.order("Where do I look to find out how one keeps leases for nine minutes?"); len(got) == 0 || got[0] != "note/answers" {
		t.Errorf("found %q; want note/answers first", got)
	}
}

// TestOtherWords finds texts by two words as one.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/2", "The logfile of the gateway.")
	b.put("note/3", "A log of the file system.")
	for _, test := range []struct {
		asked, want string
		isFound     bool
	}{
		{"log file", "note/2", true},
		{"log-file", "note/2", true},
		{"log, file", "note/2", false}, // not next to each other
		{`"log file"`, "note/2", false},
	} {
		if got := found(b.typed(b.Reader, test.asked, 5, 0)); slices.Contains(got, test.want) != test.isFound {
			t.Errorf("%q finds %q; %s among them: want %t", test.asked, got, test.want, test.isFound)
		}
	}
	// The words as typed count more than both as one.
	if got := b.order("log file"); got[0] != "note/3" {
		t.Errorf("found %q; want note/3 first", got)
	}
}
