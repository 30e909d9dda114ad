package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

func TestSearchDidYouMean(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "# Refreshing tokens\n\nThe scheduler refreshes tokens with parseHTTPHeader.\n", tagged("auth"))
	b.put("note/b", "Kubernetes deployment of the PostgreSQL database")
	b.put("issue/c", "a webhook of the limiter")
	for _, test := range []struct{ text, want string }{
		{"schedulr", "scheduler"},
		{"Kuberntes", "Kubernetes"},
		{"kuberntes", "kubernetes"},
		{"parsehtpheader", "parseHTTPHeader"},
		{"parsehttp_heder", "parseHTTPHeader"},
		{`"schedulr refreshes"`, `"scheduler refreshes"`},
		{"tag:auth schedulr", "tag:auth scheduler"},
		{"tag:Auth schedulr", "tag:Auth scheduler"}, // tags are in lower case
		{"schedulr -webhook", "scheduler -webhook"},
		{"kind:issue schedulr", ""}, // no issue has it
		{"kind:issue webhok  (!)", "kind:issue webhook  (!)"},
		{"schedulr kuberntes", "scheduler kubernetes"},
		{"zzzzzz", ""},
		{"scheduler", ""},
		{"the", ""},
		{"", ""},
	} {
		answer := b.typed(b.Reader, test.text, 5, 0)
		if test.want != "" || answer.Total == 0 {
			if answer.DidYouMean != test.want {
				t.Errorf("Search(%s): did you mean %q; want %q", test.text, answer.DidYouMean, test.want)
			}
		}
		if answer.DidYouMean != "" {
			if got := b.typed(b.Reader, answer.DidYouMean, 5, 0); got.Total == 0 {
				t.Errorf("Search(%s), as was meant, finds nothing", answer.DidYouMean)
			}
		}
	}
	literal := query.SearchRequest{}
	literal.Literal("-schedulr kind:issue")
	if got, want := b.search(literal).DidYouMean, "-scheduler kind:issue"; got != want {
		t.Errorf("literal text: did you mean %q; want %q", got, want)
	}
	if got := b.search(query.SearchRequest{Request: index.Request{Query: "schedulr"}}); got.DidYouMean != "" {
		t.Errorf("a query that nobody typed: did you mean %q; want none", got.DidYouMean)
	}
}

// A word that nothing has is named where others are found.
func TestSearchUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "# Refreshing tokens\n\nThe scheduler refreshes tokens with parseHTTPHeader.\n", tagged("auth"))
	b.put("issue/b", "a webhook of the limiter")
	b.put("state/c", "egret")
	for _, test := range []struct {
		text    string
		unknown []string
		meant   string
	}{
		{"schedulr token", []string{"schedulr"}, "scheduler token"},
		{"token (Schedulr!) tag:auth -heron", []string{"Schedulr"}, "token (scheduler!) tag:auth -heron"},
		{"zzzzzz token", []string{"zzzzzz"}, ""},
		{"zzzzzz schedulr token zzzzzz", []string{"zzzzzz", "schedulr"}, "zzzzzz scheduler token zzzzzz"},
		{"parsehttp header token", nil, ""},                // the beginning of an identifier
		{"webhok token kind:note", []string{"webhok"}, ""}, // no note has it
		{"webhook token kind:note", nil, ""},               // though an issue does
		{"egret token auth", nil, ""},                      // of what is not found, and of tags
		{"parse_http_haeder token", nil, ""},               // parts are known
		{"-schedulr -\"schedulr x\" token", nil, ""},
		{"the of what token", nil, ""},
		{"4711 1.2.3 token", nil, ""},
		{"4711 1.2.3 schedulr token", []string{"schedulr"}, "4711 1.2.3 scheduler token"},
		{"token qqa qqb qqc qqd qqe qqf", []string{"qqa", "qqb", "qqc", "qqd", "qqe"}, ""},
		{"schedulr", nil, "scheduler"}, // without hits there is nothing else to say
		{"scheduler token", nil, ""},
		{"", nil, ""},
	} {
		answer := b.typed(b.Reader, test.text, 5, 0)
		if diff := cmp.Diff(test.unknown, answer.Unknown); diff != "" || answer.DidYouMean != test.meant {
			t.Errorf("Search(%s): unknown (-want +got)\n%sdid you mean %q; want %q", test.text, diff, answer.DidYouMean, test.meant)
		}
	}
	long := b.typed(b.Reader, strings.Repeat("token ", 10000)+"schedulr", 5, 0)
	if long.Unknown != nil || long.Total == 0 {
		t.Errorf("10,000 words: %d hits, unknown %q; want hits alone", long.Total, long.Unknown)
	}
	if got := b.search(query.SearchRequest{Request: index.Request{Query: "schedulr token"}}); got.Unknown != nil || got.DidYouMean != "" {
		t.Errorf("a query that nobody typed: unknown %q, did you mean %q; want none", got.Unknown, got.DidYouMean)
	}
	for _, request := range []query.SearchRequest{{IndexedOnly: true}, {History: true}} {
		request.Parse("schedulr token")
		if got := b.search(request); got.Unknown != nil || got.DidYouMean != "" || got.Total == 0 {
			t.Errorf("Search(%+v): %d hits, unknown %q, did you mean %q; want hits alone", request, got.Total, got.Unknown, got.DidYouMean)
		}
	}
}

// A word of several stores is unknown if none has it; the others are not respelled.
func TestSearchEverywhereUnknown(t *testing.T) {
	t.Parallel()
	a, b := newBench(t), newBench(t)
	a.put("note/a", "the token of a heron, and a stork")
	b.put("note/b", "the scheduler of a heron, and storks in the strok")
	for _, test := range []struct {
		text    string
		unknown []string
		meant   string
	}{
		{"token scheduler", nil, ""},
		{"schedulr token", []string{"schedulr"}, "scheduler token"}, // of a store that has no hits
		{"tokne heron", []string{"tokne"}, "token heron"},
		{"herno strok", []string{"herno"}, "heron strok"}, // the second has one
		{"zzzzzz token", []string{"zzzzzz"}, ""},
	} {
		request := query.SearchRequest{}
		request.Parse(test.text)
		answer := everywhere(t, request, a, b)
		if diff := cmp.Diff(test.unknown, answer.Unknown); diff != "" || answer.DidYouMean != test.meant {
			t.Errorf("SearchEverywhere(%s): unknown (-want +got)\n%sdid you mean %q; want %q", test.text, diff, answer.DidYouMean, test.meant)
		}
	}
}

func TestSearchHidden(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "heron and egret", tagged("x"), with(func(r *record.Record) { r.Session, r.Agent = "s1", "scout" }))
	b.put("note/b", "heron alone")
	b.put("issue/c", "the stork")
	year := b.clock.Now().AddDate(1, 0, 0)
	type hidden = query.Hidden
	for _, test := range []struct {
		text    string
		request query.SearchRequest
		want    []hidden
	}{
		{"heron", query.SearchRequest{}, nil},
		{"kite", query.SearchRequest{Request: index.Request{Filter: record.Filter{Tags: []string{"x"}}}}, nil},
		{"heron kind:issue", query.SearchRequest{}, []hidden{{"kind", []string{"issue"}, 2}}},
		{"heron", query.SearchRequest{Request: index.Request{Filter: record.Filter{Kinds: []record.Kind{"issue", "result"}}}},
			[]hidden{{"kind", []string{"issue", "result"}, 2}}},
		{`"egret heron"`, query.SearchRequest{}, []hidden{{"phrase", []string{"egret heron"}, 2}}},
		{`heron -heron`, query.SearchRequest{}, []hidden{{"without", []string{"heron"}, 2}}},
		{`heron -alone -"egret"`, query.SearchRequest{}, []hidden{{"without", []string{"alone", "egret"}, 2}}},
		{"heron", query.SearchRequest{Request: index.Request{Filter: record.Filter{Since: year}}}, []hidden{{"time", nil, 2}}},
		{"heron agent:nobody kind:issue", query.SearchRequest{}, []hidden{{"all", nil, 2}}},
		{"heron agent:nobody tag:x", query.SearchRequest{}, []hidden{{"agent", []string{"nobody"}, 1}}},
		{"heron -session:s1 tag:x", query.SearchRequest{}, []hidden{
			{"tag", []string{"x"}, 1}, {"not-session", []string{"s1"}, 1},
		}},
		{"heron tree:.", query.SearchRequest{Request: index.Request{Filter: record.Filter{Trees: []record.Tree{"lib"},
			Until: time.Unix(1, 0)}}}, []hidden{{"time", nil, 2}}},
		{"the of", query.SearchRequest{}, nil},
	} {
		test.request.Parse(test.text)
		if diff := cmp.Diff(test.want, b.search(test.request).Hidden); diff != "" {
			t.Errorf("Search(%s): hidden (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestCorrectedVerbatim wants first what has a query word by word once it is spelled right, however long it is.
func TestCorrectedVerbatim(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/log", strings.Repeat("GET /items 200\n", 20000)+"upstream prematurely closed connection\n")
	for i := range 5 {
		b.put(fmt.Sprintf("note/%d", i), fmt.Sprintf("# Connection closed\n\nThe upstream is closed, and connection %d too, prematurely.\n", i))
	}
	request := query.SearchRequest{}
	request.Parse("upstream prematuerly closed conection")
	answer := b.search(request)
	if got := found(answer)[0]; got != "note/log" || len(answer.Corrected) != 2 || !slices.Contains(marked(answer.Hits[0].Snippet), "upstream prematurely closed connection") {
		t.Errorf("%s first, corrected %v, marks %q; want note/log, two words, all as one", got, answer.Corrected, marked(answer.Hits[0].Snippet))
	}
}
