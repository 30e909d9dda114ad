package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
)

// padded is a text of some words among n others, so that all texts made by it are
// of one length and BM25 sees no difference.
func padded(n int, words ...string) string {
	text := make([]string, n)
	for i := range text {
		text[i] = fmt.Sprintf("filler%d", i)
	}
	for i, word := range words {
		if word != "" {
			text[5+i] = word
		}
	}
	return strings.Join(text, " ")
}

// TestNearness orders texts that have the same words by how they stand.
func TestNearness(t *testing.T) {
	t.Parallel()
	gap := func(words ...string) []string { return words }
	for _, test := range []struct {
		name, query string
		texts       [][]string // best first
	}{
		{"closer", "heron egret", [][]string{
			gap("heron", "egret"), gap("heron", "", "egret"), gap("heron", "", "", "", "egret"), gap("heron", "", "", "", "", "", "", "", "", "egret"),
		}},
		{"in order", "heron egret", [][]string{gap("heron", "egret"), gap("egret", "heron"), gap("egret", "", "", "heron")}},
		{"as far apart as in the query", "heron of the egret", [][]string{gap("heron", "x", "y", "egret"), gap("heron", "egret")}},
		{"more of the neighbours", "heron egret stork", [][]string{
			gap("heron", "egret", "stork"), gap("heron", "egret", "", "", "", "stork"), gap("heron", "", "", "", "", "egret", "", "", "", "", "stork"),
		}},
	} {
		b := newBench(t)
		var want []string
		for i := len(test.texts) - 1; i >= 0; i-- {
			name := fmt.Sprintf("note/%c", 'z'-i) // ties would be broken the other way
			b.put(name, padded(40, test.texts[i]...))
			want = append(want, name)
		}
		slices.Reverse(want)
		answer := b.search(query.SearchRequest{Request: index.Request{Query: test.query, Duplicates: true}})
		if diff := cmp.Diff(want, found(answer)); diff != "" {
			t.Errorf("%s: %q in %q: -want +got\n%s", test.name, test.query, test.texts, diff)
		}
		for i, h := range answer.Hits {
			if h.Nearness <= 0 || h.Nearness > h.Score-h.Nearness {
				t.Errorf("%s: hit %d: nearness %v of score %v; want some, and at most the rest", test.name, i, h.Nearness, h.Score)
			}
		}
	}
}

// TestNearnessOfNothing wants no reward where there are no two words that follow
// each other.
func TestNearnessOfNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	b := newBench(t)
	b.put("note/a", "heron egret heron")
	b.put("note/b", "\x00\x01\x02heron egret")
	for _, q := range []string{"heron", "heron heron", "the heron", "heron ibis", "", "the of", "\"(", strings.Repeat("heron ", 10_000)} {
		for _, h := range b.search(query.SearchRequest{Request: index.Request{Query: q}}).Hits {
			if h.Nearness != 0 {
				t.Errorf("%.40q: nearness of %s is %v; want 0", q, h.Name, h.Nearness)
			}
		}
	}
}

// TestNearPages wants pages of any size to be pieces of one order, in which scores
// fall, within the window of nearness, across its end and behind it.
func TestNearPages(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	b := newBench(t)
	random := rand.New(rand.NewPCG(7, 7))
	words := []string{"heron", "egret", "stork", "ibis", "crane"}
	for i := range 70 {
		text := []string{"heron"} // each has one of the words
		for range 5 + random.IntN(40) {
			text = append(text, words[min(random.IntN(12), 4)], fmt.Sprintf("w%d", random.IntN(300)))
		}
		b.put(fmt.Sprintf("note/%02d", i), strings.Join(text, " "))
	}
	for _, q := range []string{"heron egret", "stork egret heron ibis", "heron"} {
		request := query.SearchRequest{Request: index.Request{Query: q, Limit: 100, Duplicates: true}}
		all := b.search(request)
		if len(all.Hits) != 70 {
			t.Fatalf("%q: %d hits; want 70", q, len(all.Hits))
		}
		if !slices.IsSortedFunc(all.Hits, func(a, b query.Hit) int {
			return -compare(float64(1000*a.Lifted)+a.Score, float64(1000*b.Lifted)+b.Score)
		}) {
			t.Errorf("%q: scores do not fall", q)
		}
		for _, size := range []int{1, 7, 10, 29, 30, 31, 64} {
			var got []string
			for request.Offset = 0; request.Offset < 70; request.Offset += size {
				request.Limit = size
				got = append(got, found(b.search(request))...)
			}
			if diff := cmp.Diff(found(all), got); diff != "" {
				t.Errorf("%q in pages of %d: -one page +pages\n%s", q, size, diff)
			}
		}
		again := b.search(query.SearchRequest{Request: index.Request{Query: q, Limit: 100, Duplicates: true}})
		for i := range again.Hits {
			if again.Hits[i].Name != all.Hits[i].Name || again.Hits[i].Score != all.Hits[i].Score {
				t.Fatalf("%q: hit %d is %v (%v) once, then %v (%v)", q, i, all.Hits[i].Name, all.Hits[i].Score, again.Hits[i].Name, again.Hits[i].Score)
			}
		}
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// TestNearInLongTexts wants the reward for what stands at the beginning of a long
// text, and its passage from anywhere in it.
func TestNearInLongTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	filler := strings.Repeat("nothing of interest stands here\n", 5000) // 160 KB
	b.put("note/near", "heron egret\n"+filler+"\n## Last\n\nheron egret heron egret\n")
	b.put("note/far", "heron\n"+filler+"\n## Last\n\nstork heron, then a good while later also egret\n")
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "heron egret"}})
	if diff := cmp.Diff([]string{"note/near", "note/far"}, found(answer)); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	if answer.Hits[0].Nearness <= 0 {
		t.Errorf("nearness of %s = %v; want more than 0", answer.Hits[0].Name, answer.Hits[0].Nearness)
	}
	for _, h := range answer.Hits {
		if h.Section != "Last" {
			t.Errorf("section of %s = %q; want Last", h.Name, h.Section)
		}
	}
}

// TestVerbatimPages wants pages to be pieces of one order where many records have the
// query word by word, and these first, also of two frequent words.
func TestVerbatimPages(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	b := newBench(t)
	random := rand.New(rand.NewPCG(3, 3))
	for i := range 400 {
		text := []string{"egret"}
		for range 5 + random.IntN(40) {
			text = append(text, []string{"heron", "egret", "and"}[random.IntN(3)], fmt.Sprintf("w%d", random.IntN(300)))
		}
		if i%5 > 0 { // two reads find enough, so that no time limit counts
			text = slices.Insert(text, random.IntN(len(text)), "heron waits")
		}
		b.put(fmt.Sprintf("note/%03d", i), strings.Join(text, " ")+" waits")
	}
	var pages []string
	for offset := 0; offset < 40; offset += 10 {
		answer := b.search(query.SearchRequest{Request: index.Request{Query: "heron waits", Limit: 10, Offset: offset, Duplicates: true}})
		pages = append(pages, found(answer)...)
		for i, h := range answer.Hits {
			if h.Lifted == 0 && offset+i < 20 {
				t.Errorf("hit %d, %s, has the query not word by word", offset+i, h.Name)
			}
		}
	}
	all := b.search(query.SearchRequest{Request: index.Request{Query: "heron waits", Limit: 40, Duplicates: true}})
	if diff := cmp.Diff(found(all), pages); diff != "" {
		t.Errorf("-one page +pages\n%s", diff)
	}
}

// TestVerbatimCut finds first what was copied from the middle of one word to that of
// another, as from a line that a terminal has cut.
func TestVerbatimCut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const line = "ERROR upstream prematurely closed connection while reading the response header"
	b.put("note/long", strings.Repeat("connections are closed and responses read upstream\n", 50)+line+"\n")
	for i := range 10 {
		b.put(fmt.Sprintf("note/%d", i), fmt.Sprintf("# Closed connection\n\nprematurely the response of stream %d\n", i))
	}
	for _, cut := range []string{
		"tream prematurely closed connection while reading the resp", "RROR upstream prematurely closed connec",
		"rely closed connection while readi", "stream PREMATURELY closed connection whil",
	} {
		answer := b.search(query.SearchRequest{Request: index.Request{Query: cut}})
		if len(answer.Hits) == 0 || answer.Hits[0].Name.ID != "long" {
			t.Errorf("%q finds %v; want note/long first", cut, found(answer))
		} else if h := answer.Hits[0]; !slices.ContainsFunc(marked(h.Snippet), func(m string) bool { return strings.EqualFold(m, cut) }) {
			t.Errorf("%q marks %v in %q", cut, h.Marks, h.Text)
		}
	}
}
