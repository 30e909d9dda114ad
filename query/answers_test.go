package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"filebus/index"
	"filebus/query"
)

// TestTotals counts hits, and those that have all words, in the index, by a scan of what
// is not indexed, and in several stores.
func TestTotals(t *testing.T) {
	t.Parallel()
	b, other, behind := newBench(t), newBench(t), newBench(t)
	behind.put("note/z", "nothing")
	behind.search(query.SearchRequest{})
	for _, to := range []*bench{b, behind} {
		to.put("note/a", "The lock of the database", tagged("x"))
		to.put("note/b", "A locked file")
		to.put("note/c", "DATABASE alone")
		to.put("note/d", "parse_http in a database")
		to.put("note/e", "We parse the http of a database", tagged("x"))
		to.put("note/f", "commit 9f8e7d6c5b4a database")
		to.put("marker/g", "lock and database")
	}
	other.put("note/a", "database lock")
	for _, test := range []struct {
		text       string
		total, all uint64
	}{
		{"lock database", 6, 1},
		{"of the lock, and a database", 6, 1},
		{"locks locking databases", 6, 1},
		{"lock lock", 2, 2},
		{"database", 5, 5},
		{"parseHTTP database", 5, 2},
		{"parse_http", 2, 2},
		{"loc* database", 6, 1},
		{"9f8e7d database", 5, 1},
		{"lock database nowhere", 6, 0},
		{`"lock of" database`, 1, 1},
		{`"the database" nowhere`, 1, 0},
		{"lock database -file", 5, 1},
		{"lock database tag:x", 2, 1},
		{"lock database kind:marker", 1, 1},
		{"", 6, 6},
	} {
		var request query.SearchRequest
		request.Parse(test.text)
		if got := b.search(request); got.Total != test.total || got.TotalAll != test.all {
			t.Errorf("%s: %d hits, %d with all words; want %d, %d", test.text, got.Total, got.TotalAll, test.total, test.all)
		}
		if got := b.typed(behind.hurried(), test.text, 10, 0); test.text != "" && !strings.ContainsAny(test.text, "*9P_") &&
			(got.Total != test.total || got.TotalAll != test.all) {
			t.Errorf("%s, scanned: %d hits, %d with all words; want %d, %d", test.text, got.Total, got.TotalAll, test.total, test.all)
		}
	}
	request := query.SearchRequest{Request: index.Request{Query: "lock database"}}
	if got := everywhere(t, request, b, other); got.Total != 7 || got.TotalAll != 2 {
		t.Errorf("everywhere: %d hits, %d with all words; want 7, 2", got.Total, got.TotalAll)
	}
}

// TestVerbatimPassage finds the lines and the marks of what stands in a record word by
// word, though other parts of it have its words more often.
func TestVerbatimPassage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	noise := "# Noise\n\n" + strings.Repeat("The heron sees a token, the token sees no heron at dawn.\n", 60)
	for i, test := range []struct{ query, text, marked string }{
		{"heron token dawn", "Now the heron token dawn breaks.", "heron token dawn"},
		{"heron token dawn", "Now the HERON,\ntoken dawn breaks.", "HERON, token dawn"},
		{"heron token dawn", "Now the **heron** `token` dawn breaks.", "heron** `token` dawn"},
		{"--heron=dawn", "Use ---heron=dawn here.", "--heron=dawn"},
		{"heron=dawn", "First Heron:Dawn, heron dawn, then heron=dawn.", "heron=dawn"},
		{"zebra heron token lake", "A zebra saw the heron, a token, lake.", "zebra saw the heron, a token, lake"},
	} {
		of := fmt.Sprintf("note/%d.md", i)
		b.put(of, noise+"\n## Place\n\n"+strings.Repeat("A line before.\n\n", 3)+test.text+"\nA line behind.\n\n"+noise, at(of[5:]))
		var request query.SearchRequest
		request.Parse(test.query)
		answer := b.search(request)
		if got := answer.Hits[0]; got.Name.String() != of || got.Section != "Place" || got.Lines.From != 72 || !slices.Contains(marked(got.Snippet), test.marked) {
			t.Errorf("%s: %s, %q, lines %v, marks %q of %q; want %s, Place, 72-, %q", test.query, got.Name, got.Section, got.Lines,
				marked(got.Snippet), got.Snippet.Text, of, test.marked)
		}
		b.retire(of)
	}
}

// TestFoldPassages puts hits with the lines of others behind them.
func TestFoldPassages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	log := "## Log\n\nERROR heron: the lake is dry, and nothing lives in it any more today.\n\n"
	filler := func(word string) string {
		return "# " + word + "\n\n" + strings.Repeat(word+" and other matters.\n", 30)
	}
	b.put("note/a.md", filler("apple")+log, at("a.md"))
	b.put("note/b.md", filler("pear")+strings.ToUpper(log)+filler("plum"), at("b.md"))
	b.put("note/c.md", filler("quince")+"## Log\n\nheron: brief\n", at("c.md"))
	b.put("note/d.md", filler("cherry")+"## Log\n\nheron: brief\n", at("d.md"))
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "heron"}})
	hits, behind := query.FoldPassages(answer.Hits)
	if behind != 1 || len(answer.Hits) != 4 || len(hits) != 3 {
		t.Fatalf("%d hits, folded %d; want 4, 3", len(answer.Hits), len(hits))
	}
	for _, h := range hits {
		if long := h.Name.ID < "c"; (len(h.Like) == 1) != long {
			t.Errorf("%s: like %v; want the other log alone", h.Name, h.Like)
		}
	}
}

// TestNarrow offers what splits the best hits, of fields without a filter, once.
func TestNarrow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 18 {
		tags := []string{"all"}
		if i < 6 {
			tags = append(tags, "some things", "twin")
		}
		if i == 0 {
			tags = append(tags, "one", "a,b")
		}
		kind := []string{"note", "issue"}[i/13]
		b.put(fmt.Sprintf("%s/%d", kind, i), fmt.Sprintf("heron number%d", i), tagged(tags...))
	}
	for _, test := range []struct{ text, want string }{
		{"heron", "[{tag {some things 6}} {tag {twin 6}} {kind {issue 5}}]"},
		{"heron kind:issue", "[]"},
		{"heron tag:twin", "[]"},
		{"nowhere", "[]"},
	} {
		request := query.SearchRequest{Narrow: true}
		request.Parse(test.text)
		if got := fmt.Sprint(b.search(request).Narrow); got != test.want {
			t.Errorf("%s: %s; want %s", test.text, got, test.want)
		}
	}
}

// TestMarksOfBeginnings marks the words that a beginning has found.
func TestMarksOfBeginnings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, text, want string }{
		{"loc*", "lock, unlock, Locker and log", "[lock Locker]"},
		{"9f8e7d see", "I see 9f8e7d6c5b4a there", "[see 9f8e7d6c5b4a]"},
		{"network", "network of networkish", "[network]"},
	} {
		var request query.SearchRequest
		request.Parse(test.query)
		var got []string
		for _, run := range request.Marks([]byte(test.text)) {
			got = append(got, test.text[run.Start:run.End])
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s in %q: %q; want %s", test.query, test.text, got, test.want)
		}
	}
}

// TestSectionOfLongLines cuts lines around the words, and says what of them is left out
// also where the section is cut.
func TestSectionOfLongLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for of, line := range map[string]string{
		"note/spaces": strings.Repeat("über alpha ", 3000) + "heron " + strings.Repeat("beta ", 3000),
		"note/dense":  strings.Repeat("鳥", 9000) + " heron " + strings.Repeat("é,", 9000),
		"note/five":   strings.Repeat("gamma ", 100000) + "heron " + strings.Repeat("delta ", 800000),
	} {
		b.put(of, "# Lines\n\n"+line+"\n")
	}
	for _, h := range b.search(query.SearchRequest{Request: index.Request{Query: "heron"}}).Hits {
		section, err := b.Section(t.Context(), &h, 0)
		text := string(section.Text)
		size := h.Tokens * 4
		var left int
		_, rest, found := strings.Cut(text, "… [")
		_, _ = fmt.Sscanf(strings.TrimPrefix(rest, "more than "), "%d bytes of line 3 left out", &left)
		cut, _ := b.Section(t.Context(), &h, 1000)
		if err != nil || !found || len(text) > 4500 || !strings.Contains(text, " heron ") || strings.Contains(text, "\ufffd") ||
			left < min(size, 1<<20)-5000 || cut.Left < int64(left) {
			t.Errorf("%s: %v, %d of %d bytes are left out, %d of the cut one: %q", h.Name, err, left, size, cut.Left, text)
		}
	}
}
