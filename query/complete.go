package query

import (
	"context"
	"maps"
	"slices"
	"strings"

	"filebus/index"
	"filebus/materialize/markdown"
)

const (
	maxCompletions = 30 // terms that a beginning of a word stands for
	maxBegun       = 8  // words of a query that are taken for beginnings
	leastCut       = 6  // letters and digits of one that is not marked as a beginning, and that no text has
)

// complete returns the terms that words of a request stand for as well: the last of one
// that is being typed, those with * behind them, and long ones that no text has, such
// as the beginning of a hash. In texts they are the same words: see completed. Other
// words for the same follow.
func (c *catchUp) complete(ctx context.Context, x *index.Index, request *SearchRequest) (more []index.WeightedTerm, err error) {
	c.completed = map[string]string{}
	for _, b := range request.beginnings() {
		found, err := x.Completions(ctx, b.Beginning, b.isGuess, maxCompletions)
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			if c.completed[t.Term] == "" {
				c.completed[t.Term] = b.Term
				more = append(more, t)
			}
		}
	}
	for _, other := range request.otherWords() {
		if c.completed[other.Term] == "" {
			c.completed[other.Term] = other.Term
			more = append(more, other)
		}
	}
	return more, nil
}

// addCompletions makes words of texts matches that a search took for those of the query.
func (f *finder) addCompletions(completed map[string]string) {
	for _, term := range slices.Sorted(maps.Keys(completed)) {
		of := completed[term]
		if _, known := f.terms[term]; known {
			continue
		}
		if _, known := f.terms[of]; !known {
			f.terms[of] = len(f.terms)
		}
		f.terms[term] = f.terms[of]
	}
}

// A begun is a word of a query that may be the beginning of others.
type begun struct {
	*index.Beginning
	isGuess bool // unless some text has it
}

// beginnings returns the words of a request that may be beginnings.
func (q *SearchRequest) beginnings() (all []begun) {
	if b := index.BeginningOf(q.Query); q.Prefix && b != nil {
		all = append(all, begun{b, false})
	}
	for _, word := range strings.Fields(q.Query) {
		stem, starred := strings.CutSuffix(word, "*")
		b := index.BeginningOf(stem)
		if b != nil && len(all) < maxBegun && (starred || b.Length() >= leastCut) {
			all = append(all, begun{b, !starred})
		}
	}
	return all
}

// Marks returns where the words that a request looks for are in a text, in order
// and apart from each other. The index sees a word as the request does, so its other
// forms are marked as well.
func (q *SearchRequest) Marks(text []byte) []ByteRun {
	if markdown.IsBinary(text) {
		return nil
	}
	wanted := queryTerms(strings.Join(append([]string{q.Query}, q.Phrases...), "\n"))
	matches := findBegun(text, wanted, q.beginnings())
	for _, at := range q.Pattern.marks(text) {
		matches = append(matches, match{start: at[0], end: at[1]})
	}
	slices.SortStableFunc(matches, func(a, b match) int { return a.start - b.start })
	runs := make([]ByteRun, 0, len(matches))
	for _, m := range matches {
		if last := len(runs) - 1; last >= 0 && m.start < runs[last].End {
			runs[last].End = max(runs[last].End, m.end)
			continue
		}
		runs = append(runs, ByteRun{m.start, m.end})
	}
	return slices.Clip(runs)
}

// findBegun returns the words of text that are wanted or begin as they should, in
// order of their start. A guess counts where the text does not have it as a word.
func findBegun(text []byte, wanted terms, all []begun) (found []match) {
	whole := map[string]bool{}
	for token := range index.Analyze(text) {
		by := 0 // the beginning that it is found by, from 1 on
		if _, known := wanted[token.Term]; known {
			whole[token.Term] = true
		} else if by = 1 + slices.IndexFunc(all, func(b begun) bool { return b.Has(token.Term) }); by == 0 {
			continue
		}
		found = append(found, match{term: by, start: token.Start, end: token.End})
		if len(found) == maxMatches {
			break
		}
	}
	found = slices.DeleteFunc(found, func(m match) bool {
		return m.term > 0 && all[m.term-1].isGuess && whole[all[m.term-1].Term]
	})
	slices.SortStableFunc(found, func(a, b match) int { return a.start - b.start })
	return found
}

// termOf returns the first term of a word, or "".
func termOf(word string) string {
	for token := range index.Analyze([]byte(word)) {
		return token.Term
	}
	return ""
}
