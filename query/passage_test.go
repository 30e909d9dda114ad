package query

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"filebus/index"
	"filebus/materialize/markdown"
)

// bracketed shows the marks of a snippet.
func bracketed(s Snippet) string {
	text := s.Text
	for i := len(s.Marks) - 1; i >= 0; i-- {
		m := s.Marks[i]
		text = text[:m.Start] + "[" + text[m.Start:m.End] + "]" + text[m.End:]
	}
	return text
}

// findPassage returns the passage of a text that was not looked at yet.
func findPassage(analyzer *index.Analyzer, text []byte, wanted terms, phrases *phraseFinder) passage {
	if markdown.IsBinary(text) {
		return passage{}
	}
	return passageOf(text, partsOf(text), findMatches(analyzer, text, wanted), wanted, phrases, nil)
}

func TestFindPassage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("filler words go here\n", 100)
	for _, c := range []struct {
		name, text, query string
		section           string
		lines             Span
		snippet           string
	}{
		{"no heading", "The heron stands.\n", "heron", "", Span{1, 1}, "The [heron] stands."},
		{"empty", "", "heron", "", Span{}, ""},
		{"only space", "\n\n", "heron", "", Span{}, ""},
		{"no match", "# A\n\ntext\n", "heron", "A", Span{1, 3}, ""},
		{"before the first heading", "heron\n\n# A\n\ntext\n", "heron", "", Span{1, 2}, "[heron]"},
		{"rarer term wins", "# A\n\nbird bird bird\n\n# B\n\nbird heron\n\n# C\n\nbird\n", "bird heron", "B", Span{5, 8}, "[bird] [heron]"},
		{"heading counts", "# Intro\n\nheron in passing here\n\n# Heron\n\ntext of the section\n", "heron", "Heron", Span{5, 7}, "text of the section"},
		{"heading alone", "# Heron", "heron", "Heron", Span{1, 1}, "# [Heron]"},
		{"heading above others", "# Heron\n\n## Egret\n\n### Nest\n\ntwigs\n\n# Crane\n\ntext\n", "heron", "Heron", Span{1, 8}, "## Egret ### Nest twigs"},
		{"heading above none", "# Heron\n\n# Egret\n\ntext\n", "heron", "Heron", Span{1, 2}, "# [Heron]"},
		{"cut at a word", "# Heron\n\n" + strings.Repeat("wordwise ", 30), "heron", "Heron", Span{1, 3}, strings.TrimSpace(strings.Repeat("wordwise ", 17)) + "…"},
		{"long section", "# A\n\n" + long + "the heron\n" + long, "heron", "A", Span{98, 137}, ""},
		{"space and controls", "a\x1b[1m  b\r\n\theron\u00a0\u0007c", "heron", "", Span{1, 2}, "a[1m b [heron] c"},
		{"end of a comment", "<!-- " + strings.Repeat("aside ", 20) + "--> " + strings.Repeat("word ", 4) + "heron --> nest", "heron", "", Span{1, 1}, "word word word word [heron] --> nest"},
		{"beside comments", "<!-- A:BEGIN -->\nThe heron `<!-- sic -->` stands.\n  <!-- A:END -->\n", "heron", "", Span{1, 3}, "The [heron] `<!-- sic -->` stands."},
		{"in a comment", "<!-- " + strings.Repeat("aside ", 3) + "heron --> nest", "heron", "", Span{1, 1}, "<!-- aside aside aside [heron] --> nest"},
		{"identifier", "call parseHTTPHeader now", "http header", "", Span{1, 1}, "call parse[HTTP][Header] now"},
	} {
		p := findPassage(index.NewAnalyzer(), []byte(c.text), queryTerms(c.query), nil)
		if p.section != c.section || p.lines != c.lines {
			t.Errorf("%s: section %q, lines %v; want %q, %v", c.name, p.section, p.lines, c.section, c.lines)
		}
		if got := bracketed(p.snippet); c.snippet != "" && got != c.snippet {
			t.Errorf("%s: snippet %q; want %q", c.name, got, c.snippet)
		}
	}
}

func TestSnippetLength(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("some ordinary words ", 200)
	for _, text := range []string{
		words + "heron and egret " + words, "heron " + words, words + "heron", strings.Repeat("é", 500) + " heron " + strings.Repeat("日本", 300),
	} {
		p := findPassage(index.NewAnalyzer(), []byte(text), queryTerms("heron egret"), nil)
		if len(p.snippet.Marks) == 0 || len(p.snippet.Text) > maxSnippet+len("…") {
			t.Errorf("snippet of %d bytes with marks %v: %q", len(p.snippet.Text), p.snippet.Marks, p.snippet.Text)
		}
		if want := "heron"; p.snippet.Text[p.snippet.Marks[0].Start:p.snippet.Marks[0].End] != want {
			t.Errorf("first mark of %q is not %q", bracketed(p.snippet), want)
		}
	}
}

// TestSnippetCutsAtWords begins and ends a snippet at the edges of words.
func TestSnippetCutsAtWords(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("abcdefghijk ", 40) + "heron " + strings.Repeat("lmnopqrstuv ", 40)
	p := findPassage(index.NewAnalyzer(), []byte(text), queryTerms("heron"), nil)
	for _, word := range strings.Fields(strings.TrimSuffix(p.snippet.Text, "…")) {
		if word != "abcdefghijk" && word != "heron" && word != "lmnopqrstuv" {
			t.Errorf("snippet %q holds a part of a word: %q", p.snippet.Text, word)
		}
	}
}

func TestPassageWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, query string
		want        Span
	}{
		{"# A\n\nheron\n\nand egret\n", "heron egret", Span{3, 5}},
		{"# A\n\ntext\n\n# B\n\nof the heron\n", "heron", Span{7, 7}},
		{"# Heron\n\ntext\n", "heron", Span{1, 1}},
		{"# A\n\ntext\n", "heron", Span{}},
		{strings.Repeat("row\n", 100) + "heron\n", "heron", Span{101, 101}},
	} {
		if p := findPassage(index.NewAnalyzer(), []byte(c.text), queryTerms(c.query), nil); p.words != c.want {
			t.Errorf("words %q in %q stand in %v; want %v", c.query, c.text, p.words, c.want)
		}
	}
}

// TestSnippetWithoutSpaces has what is around a match also where no space is near.
func TestSnippetWithoutSpaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, query string }{
		{strings.Repeat("昨日の夜", 40) + "寿司屋" + strings.Repeat("へ行きました", 40), "寿司屋"},
		{"é " + strings.Repeat("x/", 300) + "heron" + strings.Repeat("/yé", 300), "heron"},
		{"# 寿司屋\n\n" + strings.Repeat("へ行きました", 40), "寿司屋"},
	} {
		p := findPassage(index.NewAnalyzer(), []byte(c.text), queryTerms(c.query), nil)
		if n := len(p.snippet.Text); n < maxSnippet-maxEdge || n > maxSnippet+len("…") || !utf8.ValidString(p.snippet.Text) {
			t.Errorf("snippet for %q: %d bytes, %q; want about %d of valid text", c.query, n, p.snippet.Text, maxSnippet)
		}
	}
}

func TestBestWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		matches []match
		want    window
	}{
		{[]match{{term: 0, start: 0, end: 5}}, window{0, 0}},
		{[]match{{term: 0, start: 0, end: 5}, {term: 0, start: 10, end: 15}, {term: 1, start: 500, end: 505}, {term: 0, start: 510, end: 515}}, window{2, 3}},
		{[]match{{term: 0, start: 0, end: 5}, {term: 0, start: 300, end: 305}, {term: 0, start: 310, end: 315}, {term: 0, start: 320, end: 325}}, window{1, 3}},
		{[]match{{term: 0, start: 0, end: 400}, {term: 1, start: 0, end: 5}}, window{0, 1}},
	} {
		if got := bestWindow(c.matches, 2); got != c.want {
			t.Errorf("bestWindow(%v) = %v; want %v", c.matches, got, c.want)
		}
	}
}

func FuzzFindPassage(f *testing.F) {
	f.Add("# A\n\nthe heron\n", "heron")
	f.Add("\xff\xfe日本語のテキスト\r\n\r\n## 日本", "日本語")
	f.Add("Setext\n===\nparseHTTPHeader", "parse http")
	f.Fuzz(func(t *testing.T, text, query string) {
		p := findPassage(index.NewAnalyzer(), []byte(text), queryTerms(query), nil)
		if p.lines.From > p.lines.To || p.lines.To > strings.Count(text, "\n")+1 {
			t.Errorf("lines %v of %q", p.lines, text)
		}
		if p.words != (Span{}) && (p.words.From < p.lines.From || p.words.To < p.words.From || p.words.From > p.lines.To) {
			t.Errorf("words in %v of lines %v of %q", p.words, p.lines, text)
		}
		s := p.snippet
		if !utf8.ValidString(s.Text) || strings.ContainsAny(s.Text, "\n\r\x00") {
			t.Errorf("snippet %q of %q", s.Text, text)
		}
		last := 0
		for _, m := range s.Marks {
			if m.Start < last || m.End <= m.Start || m.End > len(s.Text) {
				t.Fatalf("marks %v of %q", s.Marks, s.Text)
			}
			last = m.End
		}
	})
}

func BenchmarkFindPassage(b *testing.B) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "## Section %d\n\nThe heron number %d stands by the water and waits.\n\n", i, i)
	}
	wanted := queryTerms("heron water")
	analyzer := index.NewAnalyzer()
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		findPassage(analyzer, []byte(text.String()), wanted, nil)
	}
}
