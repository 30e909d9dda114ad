package query_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

// hurried returns a reader without the time to make an index, so that it scans.
func (b *bench) hurried() *query.Reader {
	b.Helper()
	b.deleteIndexFolder()
	return b.reader(query.Options{MaxWait: 1})
}

// typed searches for a text as somebody types it.
func (b *bench) typed(r *query.Reader, text string, limit, offset int) query.SearchAnswer {
	b.Helper()
	request := query.SearchRequest{Request: index.Request{Limit: limit, Offset: offset}}
	request.Parse(text)
	answer, err := r.Search(b.Context(), request)
	if err != nil {
		b.Fatalf("Search(%.100q): %v", text, err)
	}
	return answer
}

func TestSearchPhrases(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/row", "the token refresh race is fixed")
	b.put("note/apart", "the refresh of a token, no race")
	b.put("note/case", "# TOKEN\nRefresh\n")
	b.put("note/punctuation", "see token-refresh.go, token/refresh")
	b.put("note/stem", "tokens refreshed")
	b.put("note/café", "Le Café—Noir est fermé")
	b.put("note/code", "parse_http is not parseHTTP, nor my_parse_http_x; v1.2.3 of C++")
	b.put("note/dotted", "fooBar.baz(qux) → done")
	b.put("note/cjk", "全文検索の索引")
	b.put("note/hamlet", "To be, or not to be: that is the question")
	b.put("note/tagged", "nothing", tagged("token refresh"), with(func(r *record.Record) { r.Agent = "web scout" }))
	b.put("note/two/tokens", "token", tagged("refresh"))
	for _, test := range []struct {
		query string
		want  []string // sorted
	}{
		{`"token refresh"`, []string{"note/case", "note/punctuation", "note/row", "note/tagged"}},
		{`“Token  REFRESH”`, []string{"note/case", "note/punctuation", "note/row", "note/tagged"}},
		{`"tokens refreshed"`, []string{"note/stem"}},
		{`"token refresh race"`, []string{"note/row"}},
		{`"token refresh" -race`, []string{"note/case", "note/punctuation", "note/tagged"}},
		{`token -"token refresh" -"tokens refreshed"`, []string{"note/apart", "note/two/tokens"}},
		{`"token refresh" "is fixed"`, []string{"note/row"}},
		{`"web scout" nothing`, []string{"note/tagged"}},
		{`"cafe noir"`, []string{"note/café"}},
		{`"parse_http"`, []string{"note/code"}},
		{`"parsehttp"`, []string{"note/code"}},
		{`"http"`, []string{}},
		{`"1.2.3"`, []string{}},
		{`"v1.2.3 of C++"`, []string{"note/code"}},
		{`"foobar baz"`, []string{}}, // the index has no foobar of fooBar.baz
		{`"fooBar.baz(qux)"`, []string{"note/dotted"}},
		{`"文検索の"`, []string{"note/cjk"}},
		{`"索"`, []string{"note/cjk"}},
		{`"検文"`, []string{}},
		{`"to be or not to be"`, []string{"note/hamlet"}},
		{`that is the`, []string{"note/hamlet"}},
		{`is that`, []string{}},
		{`→`, []string{"note/dotted"}},
		{`"of" token`, []string{"note/apart"}},
		{`-"the" -of tag:refresh`, []string{"note/two/tokens"}},
		{`tag:refresh token`, []string{"note/two/tokens"}},
		{`-note kind:note tag:none`, []string{}},
	} {
		for name, reader := range map[string]*query.Reader{"indexed": b.Reader, "scanned": b.hurried()} {
			got := found(b.typed(reader, test.query, 50, 0))
			slices.Sort(got)
			if name == "scanned" && test.query == `"foobar baz"` {
				continue // a scan needs no index to have it
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: Search(%s) (-want +got):\n%s", name, test.query, diff)
			}
		}
	}
}

// TestSearchPhrasePages wants all pages together to be what reading every body
// finds, whatever their size.
func TestSearchPhrasePages(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	b := newBench(t)
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the a heron crane of stork")
	var want, lacking []string
	for i := range 150 {
		var text strings.Builder
		for range 4 + random.IntN(12) {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		id := fmt.Sprintf("note/%03d", i)
		b.put(id, text.String())
		if strings.Contains(text.String(), "heron of the ") {
			want = append(want, id)
		} else if strings.Contains(text.String(), "heron") {
			lacking = append(lacking, id)
		}
	}
	for _, test := range []struct {
		query string
		want  []string
	}{{`"heron of the"`, want}, {`heron -"heron of the"`, lacking}} {
		for _, limit := range []int{1, 3, 7, 1000} {
			var all []string
			for offset := 0; offset < len(test.want)+2*limit; offset += limit {
				answer := b.typed(b.Reader, test.query, limit, offset)
				for _, h := range answer.Hits {
					all = append(all, h.Name.String())
					for _, like := range h.Like {
						all = append(all, like.String())
					}
				}
				if int(answer.Total) != len(test.want) {
					t.Errorf("%s, limit %d, offset %d: total %d; want %d", test.query, limit, offset, answer.Total, len(test.want))
				}
			}
			slices.Sort(all)
			if diff := cmp.Diff(test.want, all); diff != "" {
				t.Errorf("%s, pages of %d (-want +got):\n%s", test.query, limit, diff)
			}
		}
	}
}

// The best of near-duplicates may be one without the phrase, and far before the one
// that has it.
func TestSearchPhraseOfDuplicate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var same strings.Builder
	for i := range 200 {
		fmt.Fprintf(&same, "word%dx ", i)
	}
	b.put("note/apart", strings.Repeat("egret then heron then ", 5)+same.String())
	for i := range 150 {
		b.put(fmt.Sprintf("note/between%d", i), fmt.Sprintf("egret stork heron number%dx stork", i))
	}
	b.put("note/row", same.String()+"and heron egret")
	b.put("note/again", same.String()+"and heron egret")
	for _, test := range []struct {
		duplicates bool
		want       []string // sorted
		like       int
	}{
		{false, []string{"note/again"}, 1}, // the newer of two that score alike
		{true, []string{"note/again", "note/row"}, 0},
	} {
		request := query.SearchRequest{Request: index.Request{Limit: 5, Duplicates: test.duplicates}}
		request.Parse(`"heron egret"`)
		answer := b.search(request)
		got := found(answer)
		if slices.Sort(got); !slices.Equal(got, test.want) || answer.Total != 2 {
			t.Fatalf("Search with duplicates %v: %v, total %d; want %v of 2", test.duplicates, got, answer.Total, test.want)
		}
		if like := answer.Hits[0].Like; len(like) != test.like {
			t.Errorf("Search with duplicates %v: %v are like the first; want %d", test.duplicates, like, test.like)
		}
	}
}

func TestSearchPhraseHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "the blue heron")
	b.put("note/a", "the heron is blue")
	b.put("note/b", "blue heron, grey")
	b.put("note/c", "heron blue")
	for query_, want := range map[string][]string{
		`"blue heron"`:        {"note/b", "note/a"},
		`"blue heron" -grey`:  {"note/a"},
		`heron -"blue heron"`: {"note/c", "note/a"},
	} {
		request := query.SearchRequest{History: true}
		request.Parse(query_)
		got := found(b.search(request))
		if len(got) != len(want) || !slices.Contains(got, want[0]) || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("Search(%s) with history = %v; want %v", query_, got, want)
		}
	}
}

// TestSearchPhrasePlace wants the section, the lines and the marks of a phrase, and
// not those of a place where its words stand more often.
func TestSearchPhrasePlace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "# Birds\n\nheron blue heron heron blue\n\n## Two\n\nthe  blue\nheron stands\n\n## Blue heron\n\nheron\n")
	b.put("note/long", "one "+strings.Repeat("egret and ", 200)+"two")
	for _, test := range []struct {
		query, section string
		marks          []string
	}{
		{`"the blue heron"`, "Two", []string{"the blue heron"}},
		{`"heron blue"`, "Birds", []string{"heron blue", "heron", "heron blue"}},
		{`"blue heron stands" birds`, "Two", []string{"blue heron stands"}},
	} {
		answer := b.typed(b.Reader, test.query, 5, 0)
		if len(answer.Hits) != 1 {
			t.Errorf("Search(%s) = %v; want one", test.query, found(answer))
			continue
		}
		h := answer.Hits[0]
		if h.Section != test.section {
			t.Errorf("Search(%s): section %q; want %q", test.query, h.Section, test.section)
		}
		if diff := cmp.Diff(test.marks, marked(h.Snippet)); diff != "" {
			t.Errorf("Search(%s): marks of %q (-want +got):\n%s", test.query, h.Snippet.Text, diff)
		}
	}
	long := b.typed(b.Reader, `"`+strings.Repeat("egret and ", 200)+`"`, 5, 0)
	if len(long.Hits) != 1 || len(long.Hits[0].Snippet.Text) > 200 || len(long.Hits[0].Snippet.Marks) == 0 {
		t.Errorf("a long phrase: %+v; want one hit with a short snippet and marks", long.Hits)
	}
}

// TestSearchPhraseOfCurrentText changes a record behind the index: what is verified
// is what is shown.
func TestSearchPhraseOfCurrentText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "grey crane")
	b.search(query.SearchRequest{})
	b.put("note/a", "crane, grey")
	answer := b.typed(b.reader(query.Options{MaxWait: 1}), `"grey crane"`, 5, 0)
	if got := found(answer); len(got) != 0 {
		t.Errorf("found %v; the current text has no such phrase", got)
	}
}

func TestSearchHostileText(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "the quick (brown) fox \"jumps\" -over .* [a-z]+ \x1b[1m 日本語 tag:x")
	b.put("note/empty", "")
	many := strings.Repeat("quick fox word ", 3334)
	for _, text := range []string{
		"", " ", "the of and", "...", `"`, `""`, `"""`, `-`, "--", "->", `-"`, `-""`, ".*", "[a-z]+", `\`, "(", "%s%n", "'; drop",
		"\x00", "a\x00b", "\x1b[1m", "\xff\xfe\"\xff\"", "日本語", "“", "”", "„“", "tag:", "tag:\"", ":", "kind:nothing", "-tag:x",
		many, `"` + many + `"`, "-" + strings.ReplaceAll(many, " ", " -"), strings.Repeat(`"a b" `, 2000), strings.Repeat(`"`, 9999),
		strings.Repeat("a", 100000), `"` + strings.Repeat("a", 100000) + `"`, strings.Repeat("tag:x ", 5000), strings.Repeat("“", 5000),
	} {
		for _, limit := range []int{1, 1 << 40} {
			answer := b.typed(b.Reader, text, limit, 0)
			for _, h := range answer.Hits {
				if h.Lines.From > h.Lines.To || h.Lines.To > 1 {
					t.Errorf("Search(%.50q): lines %v of a text of one line", text, h.Lines)
				}
			}
		}
		b.typed(b.Reader, text, 1<<62, 1<<62)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request := query.SearchRequest{}
	request.Parse(`"quick brown"`)
	if _, err := b.Search(ctx, request); !errors.Is(err, context.Canceled) {
		t.Errorf("Search with a cancelled context: %v", err)
	}
}
