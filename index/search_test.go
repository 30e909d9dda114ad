package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// filterDocuments differ in what can be filtered by. All have the word shared.
func filterDocuments() []*Document {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	make := func(name string, r record.Record) *Document {
		parsed, err := record.ParseName(name)
		if err != nil {
			panic(err) // a mistake in this file
		}
		r.Name = parsed
		return &Document{Record: r, Text: []byte("shared text")}
	}
	quiet := make("dialogue/g", record.Record{Time: day.AddDate(0, 0, 5)})
	quiet.Quiet = true
	return []*Document{
		make("result/c1/a", record.Record{Time: day, Agent: "alice", Conversation: "c1", Session: "s1",
			Tags: []string{"auth", "jwt"}}),
		make("result/c1/b", record.Record{
			Time: day.Add(time.Hour), Agent: "bob", Conversation: "c1", Session: "s2", Tags: []string{"auth"},
		}),
		make("handoff/c", record.Record{
			Time: day.AddDate(0, 0, 1), Agent: "alice", Task: "003", Status: "failed", Run: "r1", Loop: "l1",
		}),
		make("other:note/d", record.Record{Time: day.AddDate(0, 0, 2), Session: "s1", Tags: []string{"jwt"}}),
		make("note/e", record.Record{Time: day.AddDate(0, 0, 3)}),
		make("marker/f", record.Record{Time: day.AddDate(0, 0, 4), Task: "003"}),
		quiet,
		make("dialogue/h", record.Record{Time: day.AddDate(0, 0, 6)}),
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	x := build(t, filterDocuments()...)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name    string
		request Request
		want    string // newest first
	}{
		{"none", Request{}, "h e d c c1/b c1/a"},
		{"kind", Request{Filter: record.Filter{Kinds: []record.Kind{record.KindResult}}}, "c1/b c1/a"},
		{"kinds", Request{Filter: record.Filter{Kinds: []record.Kind{record.KindNote, record.KindHandoff}}}, "e d c"},
		{"quiet kind", Request{Filter: record.Filter{Kinds: []record.Kind{record.KindMarker}}}, "f"},
		{"kind with quiet documents", Request{Filter: record.Filter{Kinds: []record.Kind{record.KindDialogue}}}, "h g"},
		{"own tree", Request{Filter: record.Filter{Trees: []record.Tree{""}}}, "h e c c1/b c1/a"},
		{"captured tree", Request{Filter: record.Filter{Trees: []record.Tree{"other"}}}, "d"},
		{"both trees", Request{Filter: record.Filter{Trees: []record.Tree{"other", ""}}}, "h e d c c1/b c1/a"},
		{"unknown tree", Request{Filter: record.Filter{Trees: []record.Tree{"unknown"}}}, ""},
		{"tag", Request{Filter: record.Filter{Tags: []string{"jwt"}}}, "d c1/a"},
		{"all of the tags", Request{Filter: record.Filter{Tags: []string{"jwt", "auth"}}}, "c1/a"},
		{"a tag is not a prefix", Request{Filter: record.Filter{Tags: []string{"aut"}}}, ""},
		{"agent", Request{Filter: record.Filter{Agents: []string{"alice"}}}, "c c1/a"},
		{"agents", Request{Filter: record.Filter{Agents: []string{"alice", "bob"}}}, "c c1/b c1/a"},
		{"an agent is no task", Request{Filter: record.Filter{Agents: []string{"003"}}}, ""},
		{"conversation", Request{Filter: record.Filter{Conversations: []string{"c1"}}}, "c1/b c1/a"},
		{"session", Request{Filter: record.Filter{Sessions: []string{"s1"}}}, "d c1/a"},
		{"not the session", Request{Filter: record.Filter{NotSessions: []string{"s1"}}}, "h e c c1/b"},
		{"not the sessions", Request{Filter: record.Filter{NotSessions: []string{"s1", "s2"}}}, "h e c"},
		{"task", Request{Filter: record.Filter{Tasks: []string{"003"}}}, "c"},
		{"task with its marker", Request{Filter: record.Filter{Tasks: []string{"003"},
			Kinds: []record.Kind{record.KindMarker, record.KindHandoff}}}, "f c"},
		{"status, run and loop", Request{Filter: record.Filter{Statuses: []string{"failed"}, Runs: []string{"r1"},
			Loops: []string{"l1"}}}, "c"},
		{"other run", Request{Filter: record.Filter{Statuses: []string{"failed"}, Runs: []string{"r2"}}}, ""},
		{"since", Request{Filter: record.Filter{Since: noon.AddDate(0, 0, 3)}}, "h e"},
		{"since the second", Request{Filter: record.Filter{Since: noon.AddDate(0, 0, 3).Add(time.Second)}}, "h"},
		{"until", Request{Filter: record.Filter{Until: noon.Add(time.Hour)}}, "c1/a"},
		{"until a moment later", Request{Filter: record.Filter{Until: noon.Add(time.Hour + 1)}}, "c1/b c1/a"},
		{"within a day", Request{Filter: record.Filter{Since: noon.Add(time.Minute), Until: noon.Add(2 * time.Hour)}},
			"c1/b"},
		{"in another zone", Request{Filter: record.Filter{Until: noon.Add(time.Hour +
			1).In(time.FixedZone("", 14*3600))}}, "c1/b c1/a"},
		{"since after until", Request{Filter: record.Filter{Since: noon.AddDate(0, 0, 3), Until: noon}}, ""},
		{"everything", Request{Filter: record.Filter{Kinds: []record.Kind{record.KindResult}, Trees: []record.Tree{""},
			Agents: []string{"alice", "bob"}, Tags: []string{"auth"}, Sessions: []string{"s1", "s2"}, Since: noon,
			NotSessions: []string{"s2"}}}, "c1/a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := find(t, x, test.request)
			if names(got) != test.want || got.Total != uint64(len(got.Hits)) {
				t.Errorf("Search(%+v)\n got %q of %d\nwant %q", test.request, names(got), got.Total, test.want)
			}
			// The same filters hold for a query.
			test.request.Query = "shared"
			ranked := strings.Fields(names(find(t, x, test.request)))
			want := strings.Fields(test.want)
			slices.Sort(ranked)
			slices.Sort(want)
			if !slices.Equal(ranked, want) {
				t.Errorf("Search(%+v)\n got %q\nwant %q", test.request, ranked, want)
			}
		})
	}
}

func TestRanking(t *testing.T) {
	t.Parallel()
	long := note("long", "parser "+strings.Repeat("unrelated filler ", 60))
	often := note("often", "parser parser parser lexer")
	once := note("once", "the parser reads tokens")
	titled := note("titled", "it reads tokens quickly and well")
	titled.Title = "Parser"
	tagged := note("tagged", "something else that is about as long")
	tagged.Tags = []string{"grammar"}
	headed := note("headed", "# Grammar\n\nwords")
	inBody := note("body", "words on grammar\n\nwords")
	place := note("compiler/backend.go", "nothing")
	exact := note("exact", "calls parseHTTPHeader here")
	parts := note("parts", "calls parse for the http header here")
	x := build(t, long, often, once, titled, tagged, headed, inBody, place, exact, parts)
	for _, test := range []struct{ query, want string }{
		{"grammar", "headed tagged body"},
		{"backend.go", "compiler/backend.go"},
		{"parse_http_header", "exact parts"},
		{"lexer parser", "often"},
		{"ÜBER Tokens", "once titled"},
	} {
		got := names(find(t, x, Request{Query: test.query}))
		if !strings.HasPrefix(got+" ", test.want+" ") {
			t.Errorf("hits for %q are %q, want %q first", test.query, got, test.want)
		}
	}
	if got := names(find(t, x, Request{Query: "parser"})); !strings.HasSuffix(got, "long") && !strings.Contains(got, "long") {
		t.Errorf("hits for parser are %q, want the long text among the last", got)
	}
}

// No text is a syntax error, and operators of query languages mean nothing.
func TestAnyQuery(t *testing.T) {
	t.Parallel()
	x := build(t, note("a", "alpha beta"), note("b", "beta"))
	for _, query := range []string{
		`"alpha`, `+alpha -beta`, `alpha AND (`, `body:alpha`, `alpha~2^9`, `/alpha/`, `alpha*`, "alpha\x00", "\xffalpha", `{"alpha":1}`,
		strings.Repeat("alpha ", 1<<16), "alpha" + strings.Repeat(" w", 3),
	} {
		if got := find(t, x, Request{Query: query}); len(got.Hits) == 0 || got.Hits[0].Name.ID != "a" {
			t.Errorf("hits for %.60q are %q, want a first", query, names(got))
		}
	}
	var many strings.Builder
	for i := range 10 * maxQueryTerms {
		fmt.Fprintf(&many, "w%d ", i)
	}
	if got := len(requestTerms(&Request{Query: many.String()})); got != maxQueryTerms {
		t.Errorf("%d terms are looked for, want %d", got, maxQueryTerms)
	}
}

// Of a long query the rarest words are looked for, and what has all of them is said to.
func TestLongQuery(t *testing.T) {
	t.Parallel()
	var frequent, rare, other strings.Builder
	for i := range 3 * maxScored {
		fmt.Fprintf(&frequent, "common%d ", i)
		fmt.Fprintf(&other, "other%d ", i)
	}
	for i := range maxScored / 2 {
		fmt.Fprintf(&rare, "rare%d ", i)
	}
	x := build(t, note("a", frequent.String()), note("b", frequent.String()+rare.String()), note("c", frequent.String()), note("d", other.String()))
	got := find(t, x, Request{Query: "nowhere " + rare.String() + frequent.String(), Duplicates: true})
	if names(got)[:1] != "b" || got.TotalAll != 0 || len(got.Unknown) != 1 {
		t.Errorf("hits are %q, all words %d, unknown %v; want b first, none with nowhere, and that named", names(got), got.TotalAll, got.Unknown)
	}
	whole := rare.String() + frequent.String()
	if got := find(t, x, Request{Query: whole}); got.TotalAll != 1 || !got.Hits[0].All {
		t.Errorf("%d hits have all words of b, the first of them %t; want one, true", got.TotalAll, got.Hits[0].All)
	}
	few := find(t, x, Request{Query: whole, Phrases: []string{whole}, Few: 1})
	if names(few) != "b" {
		t.Errorf("few hits are %q; want b", names(few))
	}
}

func TestEmptyQuery(t *testing.T) {
	t.Parallel()
	x := build(t, filterDocuments()...)
	for _, query := range []string{"", " ", "the of and", "...", "\xff"} {
		got := find(t, x, Request{Query: query, Filter: record.Filter{Kinds: []record.Kind{record.KindResult}}})
		if names(got) != "c1/b c1/a" || got.Hits[0].Score != 0 {
			t.Errorf("hits for %q are %q with score %v, want the newest first with 0", query, names(got), got.Hits[0].Score)
		}
	}
	if got := find(t, x, Request{Query: "nowhere"}); got.Total != 0 || len(got.Hits) != 0 {
		t.Errorf("hits for a word that is nowhere: %+v", got)
	}
}

func TestHitFields(t *testing.T) {
	t.Parallel()
	d := note("dir/Some file é\xff.md", "alpha")
	d.Name.Tree, d.Position = "tree", 42
	got := find(t, build(t, d), Request{Query: "alpha"})
	if len(got.Hits) != 1 || got.Hits[0].Name != d.Name || got.Hits[0].Position != 42 || got.Hits[0].Score <= 0 {
		t.Errorf("got %+v, want the name %q at 42 with a score", got, d.Name)
	}
}

// Pages must fit together whatever ties: every document once, in one order.
func TestPaging(t *testing.T) {
	t.Parallel()
	var documents []*Document
	generator := rand.New(rand.NewPCG(3, 4))
	for i := range 97 {
		d := note(fmt.Sprintf("n%02d", i), "common words"+strings.Repeat(" common", i%2))
		d.Time = d.Time.Add(time.Duration(i%5) * time.Nanosecond)
		documents = append(documents, d)
	}
	generator.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
	x := build(t, documents...)
	slices.SortFunc(documents, func(a, b *Document) int {
		if c := len(b.Text) - len(a.Text); c != 0 {
			return c
		}
		return cmpOr(b.Time.Compare(a.Time), strings.Compare(a.Name.ID, b.Name.ID))
	})
	var want []string
	for _, d := range documents {
		want = append(want, d.Name.ID)
	}
	for _, size := range []int{1, 7, 50, 97, 200} {
		var got []string
		for offset := 0; offset < 97; offset += size {
			page := find(t, x, Request{Query: "common", Limit: size, Offset: offset})
			if page.Total != 97 {
				t.Fatalf("total %d at offset %d, want 97", page.Total, offset)
			}
			got = append(got, strings.Fields(names(page))...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d: -want +got\n%s", size, diff)
		}
	}
	for _, request := range []Request{{Offset: 97}, {Offset: math.MaxInt}, {Offset: 90, Limit: math.MaxInt}, {Offset: -5, Limit: -5}} {
		if got := find(t, x, request); len(got.Hits) > 10 || got.Total != 97 {
			t.Errorf("Search(%+v) gives %d hits of %d", request, len(got.Hits), got.Total)
		}
	}
}

func cmpOr(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

func TestUnusualTexts(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("filler words ", maxText/13+1)
	binary := note("binary", "alpha\x00beta")
	binary.Title, binary.Preview = "Title", "gamma"
	empty := note("empty/delta", "")
	empty.Preview = "epsilon"
	x := build(t, binary, empty, note("invalid", "zeta\xff\xfe eta"), note("big", big+" beyond"), note("crlf", "# Theta\r\n\r\niota\r\n"),
		note("blob", strings.Repeat("QUJDRA/x+", 1<<17)))
	for _, test := range []struct{ query, want string }{
		{"alpha", ""}, {"beta", ""}, {"gamma title", "binary"}, {"delta", "empty/delta"}, {"epsilon", "empty/delta"},
		{"zeta", "invalid"}, {"eta", "invalid"}, {"filler", "big"}, {"beyond", ""}, {"theta iota", "crlf"},
	} {
		if got := names(find(t, x, Request{Query: test.query})); got != test.want {
			t.Errorf("hits for %q are %q, want %q", test.query, got, test.want)
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, nil, 9)
	x := open(t, dir)
	for _, request := range []Request{{}, {Query: "word"},
		{Filter: record.Filter{Since: time.Unix(1, 0), Tags: []string{"x"}}}} {
		if got := find(t, x, request); got.Total != 0 || len(got.Hits) != 0 {
			t.Errorf("Search(%+v) in an empty index gives %+v", request, got)
		}
	}
	if x.Position() != 9 {
		t.Errorf("position %d, want 9", x.Position())
	}
}

func TestCancelledSearch(t *testing.T) {
	t.Parallel()
	x := build(t, note("a", "alpha"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, request := range []Request{{Query: "alpha"}, {}, {Filter: record.Filter{Tags: []string{"x"}}}} {
		if result, err := x.Search(ctx, request); !errors.Is(err, context.Canceled) {
			t.Errorf("Search(%+v) with a cancelled context = %+v, %v, want %v", request, result, err, context.Canceled)
		}
	}
}

func TestConcurrentSearches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, puts(generate(120, 1)...), 1)
	indexes := []*Index{open(t, dir), open(t, dir)} // read-only openers share
	want := find(t, indexes[0], Request{Query: "session token", Limit: 50})
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for range 20 {
				got, err := indexes[i%2].Search(context.Background(), Request{Query: "session token", Limit: 50})
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("reader %d: error %v; -want +got\n%s", i, err, diff)
					return
				}
			}
		})
	}
	readers.Wait()
}
