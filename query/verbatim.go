package query

import (
	"bytes"
	"cmp"
	"context"
	"sync"
	"time"

	"filebus/index"
	"filebus/store/record"
)

// How much is read to find what has a query word by word.
const (
	verbatimBodies = 1024 // of the texts that have all its words, best first
	verbatimTime   = 120 * time.Millisecond
	maxVerbatim    = 64 // texts that are lifted
)

// How a text has a query: the higher, the more as it is typed.
const (
	together = 1 + iota // its words in order, with few others between them
	inARow              // its words, whatever stands between them but words
	folded              // and its punctuation, in another case
	asTyped
)

// A quote finds the words of a query in a row.
type quote struct {
	text, before, after string // the query on one line; what stands before its first and behind its last word
	finder              *phraseFinder
	words               [][]byte
	key                 []byte // the longest of its words, folded
}

// quoteOf returns nil for a query that is a single plain word, or none.
func quoteOf(query string) *quote {
	text := string(bytes.Join(bytes.Fields([]byte(query)), []byte(" ")))
	var key []byte
	var words [][]byte
	first, last := 0, 0
	for w := range index.Words([]byte(text)) {
		if len(words) == 0 {
			first = w.Start
		}
		words, last = append(words, bytes.Clone(w.Text)), w.End
		if len(w.Text) > len(key) {
			key = words[len(words)-1]
		}
	}
	if len(words) == 0 || len(words) == 1 && isPlainWord(text) {
		return nil
	}
	return &quote{text, text[:first], text[last:], newPhraseFinder([]string{text}), words, key}
}

// grade says how a text has the quote; 0: it does not. Only what surrounds the longest
// word of the quote is read word by word.
func (q *quote) grade(text []byte) int {
	lower, best := asciiLower(text), 0
	room := 2*len(q.text) + 64
	for at := 0; best < asTyped; {
		i := bytes.Index(lower[at:], q.key)
		if i < 0 {
			break
		}
		at += i + len(q.key)
		from := max(0, at-room)
		for from > 0 && from > at-2*room && text[from-1] > ' ' {
			from--
		}
		best = max(best, q.gradeIn(text[from:min(len(text), at+room)]))
	}
	return best
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

// gradeIn reads a piece of a text.
func (q *quote) gradeIn(text []byte) int {
	best := 0
	q.finder.find(text, func(_, start, end int) bool {
		from, to := start-len(q.before), end+len(q.after)
		if from < 0 || to > len(text) {
			best = max(best, inARow)
			return true
		}
		found := bytes.Join(bytes.Fields(text[from:to]), []byte(" "))
		switch {
		case string(found) == q.text:
			best = asTyped
		case bytes.EqualFold(found, []byte(q.text)):
			best = max(best, folded)
		default:
			best = max(best, inARow)
		}
		return best < asTyped
	})
	if best == 0 && len(q.words) >= 4 && q.inOrder(text) {
		return together
	}
	return best
}

// inOrder reports whether a piece of a text has the words in their order, with no more
// others between them than there are words.
func (q *quote) inOrder(text []byte) bool {
	var all [][]byte
	for w := range index.Words(text) {
		all = append(all, bytes.Clone(w.Text))
	}
	for i := range all {
		next := 0
		for j := i; j < len(all) && j < i+2*len(q.words) && bytes.Equal(all[i], q.words[0]); j++ {
			if bytes.Equal(all[j], q.words[next]) {
				if next++; next == len(q.words) {
					return true
				}
			}
		}
	}
	return false
}

// verbatim returns the records that have the query of a request word by word, and
// how.
func (c *catchUp) verbatim(ctx context.Context, x *index.Index, request *SearchRequest) (map[record.Name]int, error) {
	q := quoteOf(cmp.Or(request.Text, request.Query))
	if q == nil || len(request.Query) == 0 {
		return nil, nil
	}
	ask := request.forIndex()
	ask.Query, ask.Without = q.text, nil
	ask.Phrases, ask.Facets, ask.Duplicates, ask.Quiet, ask.Explain = []string{q.text}, nil, true, true, false
	ask.Offset, ask.Limit = 0, verbatimBodies
	result, err := x.Search(ctx, ask)
	if err != nil || len(result.Hits) == 0 {
		return nil, err
	}
	s := sifter{catchUp: c, stale: c.behind() > 0}
	lifted := map[record.Name]int{}
	until := time.Now().Add(verbatimTime)
	for hits := result.Hits; len(hits) > 0 && len(lifted) < maxVerbatim && time.Now().Before(until); {
		n := min(len(hits), firstSift)
		grades, err := s.grades(ctx, hits[:n], q)
		if err != nil {
			return nil, err
		}
		for name, grade := range grades {
			lifted[name] = grade
		}
		hits = hits[n:]
	}
	return lifted, nil
}

func (s *sifter) grades(ctx context.Context, hits []index.Hit, q *quote) (map[record.Name]int, error) {
	found, err := s.findings(ctx, hits)
	if err != nil {
		return nil, err
	}
	grades := map[record.Name]int{}
	var mu sync.Mutex
	err = parallel(len(found), func(i int) error {
		if found[i].gone || s.stale && found[i].Version.Position > s.position {
			return nil
		}
		texts, err := found[i].texts()
		if err != nil {
			return err
		}
		grade := 0
		for _, text := range texts {
			grade = max(grade, q.grade(text))
		}
		if grade > 0 {
			mu.Lock()
			grades[found[i].Name] = grade
			mu.Unlock()
		}
		return nil
	})
	return grades, err
}

// isPlainWord reports whether a text is small letters alone.
func isPlainWord(text string) bool {
	for _, r := range text {
		if r < 'a' || r > 'z' {
			return false
		}
	}
	return true
}
