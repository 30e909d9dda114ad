package query

import (
	"bytes"
	"context"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"filebus/index"
	"filebus/store/record"
)

// How much is read to find what has a query word by word.
const (
	verbatimBodies = 256      // of the texts that have all its words, best first, at most
	frequentBodies = 128      // where more have several words, most of which say little
	verbatimText   = 32 << 20 // bytes of all of them: a bound in time would answer otherwise on a busy machine
	maxVerbatim    = 64       // texts that are lifted
	// How many words of a query count when others stand between them: fewer are found so by chance.
	leastTogether, mostTogether = 4, 64
)

// How a text has a query: the higher, the more as it is typed.
const (
	together = 1 + iota // its words in order, with few others between them
	inARow              // its words, whatever stands between them but words
	folded              // and its punctuation, in another case
	asTyped
	named // and it is an id that stands in the name, as FINDING-010 does in FINDING-010-parser.md
)

// A quote finds the words of a query in a row.
type quote struct {
	text, before, after string // the query on one line; what stands before and behind what the finder finds
	finder              *phraseFinder
	inside              string   // what the finder finds
	cut                 *quote   // finds all but the first and the last word, of which only parts may have been copied; nil: few
	words               [][]byte // folded
	key                 []byte   // the longest of them that texts have in small letters; nil: none
}

// quoteOf returns nil for a query that is a single plain word, or none.
func quoteOf(query string) *quote {
	text := strings.Join(strings.Fields(query), " ")
	q := &quote{text: text}
	lower, places := asciiLower([]byte(text)), []ByteRun(nil)
	for w := range index.Words([]byte(text)) {
		q.words, places = append(q.words, bytes.Clone(w.Text)), append(places, ByteRun{w.Start, w.End})
		if len(w.Text) > len(q.key) && bytes.Equal(w.Text, lower[w.Start:w.End]) {
			q.key = lower[w.Start:w.End]
		}
	}
	isPlain := !strings.ContainsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '*' })
	if len(q.words) == 0 || len(q.words) == 1 && isPlain {
		return nil
	}
	q.findBetween(places[0].Start, places[len(places)-1].End)
	if n := len(places); n > leastTogether {
		cut := &quote{text: text}
		if cut.findBetween(places[1].Start, places[n-2].End); index.Findable(cut.inside) {
			q.cut = cut
		}
	}
	return q
}

// findBetween makes the quote find the words between two places of its text.
func (q *quote) findBetween(start, end int) {
	q.before, q.inside, q.after = q.text[:start], q.text[start:end], q.text[end:]
	q.finder = newPhraseFinder([]string{q.inside})
}

// asciiLower returns a copy of a text with small letters.
func asciiLower(text []byte) []byte {
	lower := make([]byte, len(text))
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return lower
}

// grade says how a text has the quote; 0: it does not. Only what surrounds the longest
// word of the quote is read word by word.
func (q *quote) grade(text []byte) int {
	if q.key == nil {
		return q.gradeIn(text)
	}
	lower, best, room := asciiLower(text), 0, 2*len(q.text)+64
	for at := 0; at < len(text) && best < asTyped; {
		i := bytes.Index(lower[at:], q.key)
		if i < 0 {
			break
		}
		from, to := max(0, at+i-room), min(len(text), at+i+3*room)
		for from > 0 && from > at+i-2*room && text[from-1] > ' ' {
			from--
		}
		best = max(best, q.gradeIn(text[from:to]))
		at += i + 2*room
	}
	return best
}

// gradeIn reads a piece of a text.
func (q *quote) gradeIn(text []byte) (best int) {
	q.find(text, func(grade, _, _ int) bool {
		best = max(best, grade)
		return best < asTyped
	})
	return best
}

// places returns where a text has the quote best, as matches of a term.
func (q *quote) places(text []byte, term int) (found []match) {
	best := 0
	q.find(text, func(grade, start, end int) bool {
		if grade > best {
			best, found = grade, nil
		}
		if grade == best {
			found = append(found, match{term: term, start: start, end: markEnd(text, start, end)})
		}
		return len(found) < maxMatches
	})
	return found
}

// find calls visit with each place of a text that has the quote, and how, until it returns false.
func (q *quote) find(text []byte, visit func(grade, start, end int) bool) {
	found := false
	q.finder.find(text, func(_, start, end int) bool {
		found = true
		if from, to := start-len(q.before), end+len(q.after); from >= 0 && to <= len(text) {
			switch whole := strings.Join(strings.Fields(string(text[from:to])), " "); {
			case whole == q.text:
				return visit(asTyped, from, to)
			case strings.EqualFold(whole, q.text):
				return visit(folded, from, to)
			}
		}
		return visit(inARow, start, end)
	})
	if q.cut != nil && !found {
		q.cut.find(text, func(grade, start, end int) bool {
			found = found || grade > inARow
			return grade <= inARow || visit(grade, start, end)
		})
	}
	if start, end := q.inOrder(text, found); end > 0 {
		visit(together, start, end)
	}
}

// inOrder returns where a piece of a text has the words in their order, with no more
// others between them than there are words; 0, 0 if that is not so, or known already.
func (q *quote) inOrder(text []byte, known bool) (start, end int) {
	if known || len(q.words) < leastTogether || len(q.words) > mostTogether {
		return 0, 0
	}
	var all [][]byte
	var at []ByteRun
	for w := range index.Words(text) {
		all, at = append(all, bytes.Clone(w.Text)), append(at, ByteRun{w.Start, w.End})
	}
	for i, first := range all {
		next := 0
		if !bytes.Equal(first, q.words[0]) {
			continue
		}
		for j := i; j < min(len(all), i+2*len(q.words)); j++ {
			if bytes.Equal(all[j], q.words[next]) {
				if next++; next == len(q.words) {
					return at[i].Start, at[j].End
				}
			}
		}
	}
	return 0, 0
}

// asTyped returns the request for its text as it is.
func (q SearchRequest) asTyped() SearchRequest {
	q.Query, q.Without, q.WithoutPhrases = q.Text, nil, nil
	return q
}

// verbatim returns the records that have the words of a request as it has them, and how. A
// text that some record has as it is typed, what is to be left out included, is no
// request to leave something out: literal says so.
func (c *catchUp) verbatim(ctx context.Context, x *index.Index, request *SearchRequest) (lifted map[record.Name]int, literal bool, err error) {
	if len(request.Without)+len(request.WithoutPhrases) > 0 && request.Text != "" {
		plain := request.asTyped()
		lifted, err = c.quoted(ctx, x, &plain, request.Text, folded)
		if err != nil || len(lifted) > 0 {
			return lifted, true, err
		}
	}
	least := together
	switch {
	case len(request.WithoutPhrases) > 0:
		return nil, false, nil
	case len(request.Phrases) > 0:
		least = inARow
	}
	lifted, err = c.quoted(ctx, x, request, request.Query, least)
	return lifted, false, err
}

// quoted returns the records that have a text, at least so well. Those that are quiet
// come behind the others.
func (c *catchUp) quoted(ctx context.Context, x *index.Index, request *SearchRequest, text string, least int) (map[record.Name]int, error) {
	q := quoteOf(text)
	if q == nil {
		return nil, nil
	}
	ask := request.forIndex()
	ask.Query, ask.Phrases, ask.Facets, ask.Duplicates, ask.Quiet, ask.Explain = q.text, []string{q.text}, nil, true, true, false
	ask.Offset, ask.Limit, ask.Few, ask.Behind = 0, verbatimBodies, firstRead/4, nil
	room := int64(verbatimText)
	lifted, err := c.lifted(ctx, x, ask, q, least, &room)
	if err == nil && len(lifted) == 0 && q.cut != nil {
		ask.Phrases = []string{q.cut.inside}
		return c.lifted(ctx, x, ask, q, folded, &room)
	}
	return lifted, err
}

// lifted reads what an index has for a request, best first, as far as there is room, and returns what has a
// quote so well.
func (c *catchUp) lifted(
	ctx context.Context, x *index.Index, ask index.Request, q *quote, least int, room *int64,
) (map[record.Name]int, error) {
	result, err := x.Search(ctx, ask)
	if err != nil {
		return nil, err
	}
	if result.Total > verbatimBodies && strings.Contains(q.text, " ") {
		result.Hits = result.Hits[:frequentBodies]
	}
	s := graded{quote: q, least: least, room: room, lifted: map[record.Name]int{}}
	s.ranked = ranked{catchUp: c, hits: result.Hits, first: firstRead / 4}
	_, err = stream(ctx, &s, time.Now().Add(never))
	return s.lifted, err
}

// A graded is what the index ranks and has a quote.
type graded struct {
	ranked
	quote  *quote
	least  int    // grade
	room   *int64 // bytes that may still be read
	lifted map[record.Name]int
	exact  int // of those, as typed
}

func (s *graded) next(ctx context.Context) (batch []candidate, more bool, err error) {
	batch, more, err = s.ranked.next(ctx)
	for _, c := range batch {
		*s.room -= min(c.content.Size, indexedText)
	}
	return batch, more, err
}

// passes grades the body and the name of a candidate.
func (s *graded) passes(c *candidate) (bool, error) {
	if c.gone || s.isLate(c) || c.content.Size == 0 {
		return false, nil
	}
	if s.quote.isIDOf(path.Base(c.Name.ID)) {
		c.grade = named
		return true, nil
	}
	body, _, err := headOf(c.content, c.Path)
	c.grade = max(s.quote.grade(body), s.quote.grade([]byte(c.Name.ID)))
	return c.grade >= s.least, err
}

// isIDOf reports whether the quote is one word with letters and digits that a name has, between other characters.
func (q *quote) isIDOf(name string) bool {
	id, name := strings.ToLower(q.text), strings.ToLower(name)
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.Contains(id, " ") || !strings.ContainsFunc(id, unicode.IsLetter) || !strings.ContainsFunc(id, unicode.IsDigit) {
		return false
	}
	before, after, found := strings.Cut(name, id)
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return found && !isWord(last) && !isWord(first)
}

func (s *graded) keep(passed []candidate) {
	for _, c := range passed {
		if s.lifted[c.Name] = c.grade; c.grade >= asTyped {
			s.exact++
		}
	}
}

func (s *graded) isEnough() bool {
	return len(s.lifted) >= maxVerbatim || s.exact >= judgedHits || *s.room <= 0
}
