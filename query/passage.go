package query

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"

	"filebus/index"
	"filebus/materialize/markdown"
)

const (
	maxPassageLines = 40  // of a hit: what is worth reading at once
	linesBefore     = 5   // at most, of a section that is not shown whole
	maxQueryTerms   = 64  // distinct terms that a passage is chosen by
	maxMatches      = 1e5 // matched words of one text that are looked at
)

// terms are the distinct terms of a query, each with a number.
type terms map[string]int

// queryTerms returns what the index looks for: both sides use one analyser.
func queryTerms(query string) terms {
	t := make(terms)
	for token := range index.Analyze([]byte(query)) {
		if _, known := t[token.Term]; !known && len(t) < maxQueryTerms {
			t[token.Term] = len(t)
		}
	}
	return t
}

// A Span is a range of lines, counted from 1, with both ends in it.
type Span struct{ From, To int }

// MarshalJSON writes [from, to].
func (s Span) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", s.From, s.To), nil }

func (s Span) String() string { return fmt.Sprintf("%d-%d", s.From, s.To) }

// A passage is the part of a text that answers a query best.
type passage struct {
	section string // the heading it stands under, if any
	lines   Span
	words   Span // those of the best matches; zero without any
	snippet Snippet
	files   []string // see Hit.Files
}

// A match is a word of the text that the query has.
type match struct {
	term       int
	start, end int // bytes of the text
	position   int // of the word, counted from 0
}

// passageOf returns the part of text to read for a query, given where its words
// are. It takes time in proportion to the text. A place with a phrase is better
// than any without. With quoted, the places of what was looked for as a whole, the lines
// begin there.
func passageOf(text []byte, parts []part, matches []match, wanted terms, phrases *phraseFinder, quoted []match) passage {
	var p passage
	if len(parts) == 0 {
		return p
	}
	all, words, places, count := parts, matches, quoted, len(wanted)+1
	if phrases != nil && len(quoted) == 0 {
		places, count = phrases.places(text, len(wanted)), count+len(phrases.phrases)
	}
	if len(places) > 0 {
		matches = withPlaces(matches, places, len(wanted))
		parts = withPhrases(parts, matches, len(wanted))
	}
	best := bestPart(parts, words, wanted)
	part := withNext(all, &parts[best])
	within := part.of(matches)
	window, found := phraseWindow(within, len(wanted), part.body)
	if !found {
		window = bestWindow(within, count)
	}
	p.section = part.title
	if len(within) == 0 {
		p.lines = part.clip(text, part.start)
		return p
	}
	first, last := within[window.first].start, within[window.last].start
	p.lines, p.words = part.clip(text, first), Span{part.lineAt(text, first), part.lineAt(text, last)}
	if line := p.words.From; len(quoted) > 0 && line-part.line > linesBefore {
		p.lines, part.body = Span{line, min(part.last, line+maxPassageLines-1)}, bytes.LastIndexByte(text[:first], '\n')+1
	}
	end := part.end
	for _, m := range within[window.first : window.last+1] { // a phrase may end behind the part
		p.lines.To, end = max(p.lines.To, part.lineAt(text, m.end)), max(end, m.end)
	}
	p.snippet = cutSnippet(text[part.body:end], shift(within[window.first:window.last+1], part.body))
	return p
}

// findMatches returns the words of text that are wanted, in order of their start.
func findMatches(analyzer *index.Analyzer, text []byte, wanted terms) []match {
	if len(wanted) == 0 {
		return nil
	}
	var found []match
	for token := range analyzer.Find(text, wanted) {
		found = append(found, match{wanted[token.Term], token.Start, token.End, token.Position})
		if len(found) == maxMatches {
			break
		}
	}
	// Parts of an identifier follow the whole of it, which begins no later.
	slices.SortStableFunc(found, func(a, b match) int { return a.start - b.start })
	return found
}

// A part is the text between one heading and the next of any level, or what
// stands before the first.
type part struct {
	title      string
	start, end int // bytes; from the heading on
	body       int // where the text begins, behind the heading's line
	line, last int
	level      int  // of the heading; 0 without one
	bare       bool // nothing stands under the heading
}

// partsOf cuts a text at every heading, so that a match counts for the heading it
// stands right under and not for all those above.
func partsOf(text []byte) []part {
	sections := markdown.Outline(text)
	parts := make([]part, 0, len(sections)+1)
	head := text
	if len(sections) > 0 {
		head = text[:sections[0].Start]
	}
	if len(bytes.TrimSpace(head)) > 0 {
		parts = append(parts, part{end: len(head), line: 1, last: lineCount(head)})
	}
	for i, s := range sections {
		p := part{title: s.Title, start: s.Start, end: s.End, line: s.Line, last: s.EndLine, level: s.Level, bare: true}
		if i+1 < len(sections) && sections[i+1].Start < p.end {
			p.end, p.last = sections[i+1].Start, sections[i+1].Line-1
		}
		p.body = p.start
		if rest := bytes.IndexByte(text[p.start:p.end], '\n'); rest >= 0 && len(bytes.TrimSpace(text[p.start+rest:p.end])) > 0 {
			p.body, p.bare = p.body+rest+1, false
		}
		parts = append(parts, p)
	}
	return parts
}

// linePartsOf makes every line of a text a part.
func linePartsOf(text []byte) (parts []part) {
	at := 0
	for line := range bytes.Lines(text) {
		n := len(parts) + 1
		parts = append(parts, part{start: at, end: at + len(line), body: at, line: n, last: n})
		at += len(line)
	}
	return parts
}

// withNext returns one of the parts, and if that is a bare heading also those below
// it, up to the first with a text.
func withNext(parts []part, chosen *part) part {
	p, level := *chosen, chosen.level
	first := sort.Search(len(parts), func(i int) bool { return parts[i].start > p.start })
	for _, next := range parts[first:] {
		if !p.bare || next.level <= level {
			break
		}
		p.body = parts[first].start
		p.end, p.last, p.bare, level = next.end, next.last, next.bare, next.level
	}
	return p
}

// lineCount returns the number of lines, an unfinished one included.
func lineCount(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// of returns the matches that lie in p.
func (p *part) of(matches []match) []match {
	first := sort.Search(len(matches), func(i int) bool { return matches[i].start >= p.start })
	last := sort.Search(len(matches), func(i int) bool { return matches[i].start >= p.end })
	return matches[first:last]
}

// clip returns the lines of p, or of a long one those around a place.
func (p *part) clip(text []byte, place int) Span {
	if p.last-p.line < maxPassageLines {
		return Span{p.line, max(p.line, p.last)}
	}
	at := p.lineAt(text, place)
	from := max(p.line, min(at-linesBefore, p.last-maxPassageLines+1))
	return Span{from, min(p.last, from+maxPassageLines-1)}
}

// lineAt returns the line of a place in p.
func (p *part) lineAt(text []byte, place int) int {
	return p.line + bytes.Count(text[p.start:max(p.start, place)], []byte("\n"))
}

// bestPart returns the part that scores best by BM25, with the parts of the text
// as its documents; a term in the heading counts three times. Without matches it
// is the first part.
func bestPart(parts []part, matches []match, wanted terms) int {
	counts := make([]map[int]float64, len(parts))
	frequency := make([]float64, len(wanted))
	for i := range parts {
		counts[i] = parts[i].counts(matches)
		for term := range counts[i] {
			frequency[term]++
		}
	}
	average := float64(parts[len(parts)-1].end-parts[0].start) / float64(len(parts))
	best, top := 0, 0.0
	for i := range parts {
		score, length := 0.0, float64(parts[i].end-parts[i].start)/max(average, 1)
		for term := range len(wanted) {
			if n := counts[i][term]; n > 0 {
				rarity := math.Log(1 + (float64(len(parts))-frequency[term]+0.5)/(frequency[term]+0.5))
				score += rarity * n * (sectionHalf + 1) / (n + sectionHalf*(1-sectionBias+sectionBias*length))
			}
		}
		if score > top {
			best, top = i, score
		}
	}
	return best
}

// counts returns how often p has each term; in the heading three times as much.
func (p *part) counts(matches []match) map[int]float64 {
	var counts map[int]float64
	for _, m := range p.of(matches) {
		if counts == nil {
			counts = make(map[int]float64)
		}
		counts[m.term]++
		if m.start < p.body {
			counts[m.term] += 2
		}
	}
	return counts
}

// shift returns the matches that lie behind an offset, counted from there.
func shift(matches []match, offset int) []match {
	var out []match
	for _, m := range matches {
		if m.start >= offset {
			out = append(out, match{m.term, m.start - offset, m.end - offset, m.position})
		}
	}
	return out
}
