package query

import (
	"context"
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
// as the beginning of a hash. In texts they are the same words: see completed.
func (c *catchUp) complete(ctx context.Context, x *index.Index, request *SearchRequest) (more []index.WeightedTerm, err error) {
	c.completed = map[string]string{}
	for _, other := range request.otherWords() {
		c.completed[other.Term] = other.Term
		more = append(more, other)
	}
	for _, b := range request.beginnings() {
		if b.isGuess {
			if known, err := x.Has(ctx, b.Term); known || err != nil {
				continue
			}
		}
		found, err := x.Completions(ctx, b.Beginning, maxCompletions)
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
	return more, nil
}

// addCompletions makes words of texts matches that a search took for those of the query.
func (f *finder) addCompletions(completed map[string]string) {
	for term, of := range completed {
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
	if b := q.beginning(); b != nil {
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
	wanted := queryTerms(q.Query)
	for _, phrase := range q.Phrases {
		for term := range queryTerms(phrase) {
			if _, known := wanted[term]; !known && len(wanted) < maxQueryTerms {
				wanted[term] = len(wanted)
			}
		}
	}
	var matches []match
	if b := q.beginning(); b != nil {
		matches = findBegun(text, wanted, b)
	} else {
		matches = findMatches(index.NewAnalyzer(), text, wanted)
	}
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

// beginning returns the beginning of the word that is being typed, or nil.
func (q *SearchRequest) beginning() *index.Beginning {
	if !q.Prefix {
		return nil
	}
	return index.BeginningOf(q.Query)
}

// findBegun returns the words of text that are wanted or begin as they should, in
// order of their start.
func findBegun(text []byte, wanted terms, b *index.Beginning) (found []match) {
	for token := range index.Analyze(text) {
		if _, known := wanted[token.Term]; !known && !b.Has(token.Term) {
			continue
		}
		found = append(found, match{start: token.Start, end: token.End})
		if len(found) == maxMatches {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return a.start - b.start })
	return found
}
