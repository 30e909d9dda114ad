package index

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// The words of a query that no document has are named.
func TestUnknown(t *testing.T) {
	t.Parallel()
	titled := note("titled", "filler")
	titled.Title, titled.Tags = "Orchestrator", []string{"auth"}
	x := build(t, titled, note("a", "the token of parseHTTPHeader, 検索"))
	other := build(t, note("b", "a scheduler"))
	both, err := other.Statistics(t.Context(), Request{Query: "token schedule zebra"})
	if err != nil {
		t.Fatal(err)
	}
	both.Add(&Statistics{totals: x.totals})
	for _, test := range []struct {
		request Request
		want    string
	}{
		{Request{}, ""},
		{Request{Query: "the of"}, ""},
		{Request{Query: "how do I find and know the token"}, ""},
		{Request{Query: "tokens orchestrators auth filler"}, ""},
		{Request{Query: "zebra token, (Zebra!) 42"}, "zebra Zebra 42"},
		{Request{Query: "parse_http_zebra zebra-token zebra/yak 検察"}, "zebra/yak 検察"},
		{Request{Query: "token zebra", Filter: record.Filter{Kinds: []record.Kind{record.KindIssue}}}, "zebra"},
		{Request{Query: "token", More: []WeightedTerm{{"zebra", 1}}, Without: []string{"yak"}}, ""},
		{Request{Query: "token zebra", Phrases: []string{"token"}, HalfLife: 1, Explain: true}, "zebra"},
		{Request{Query: "token schedule zebra"}, "schedule zebra"},
		{Request{Query: "token schedule zebra", Statistics: both}, "zebra"},
		{Request{Query: strings.Repeat("x", 200)}, strings.Repeat("x", 200)},
	} {
		var got []string
		for _, at := range find(t, x, test.request).Unknown {
			got = append(got, test.request.Query[at[0]:at[1]])
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("Search(%+v): unknown (-want +got)\n%s", test.request, diff)
		}
	}
}
