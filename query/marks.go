package query

import (
	"slices"

	"filebus/index"
	"filebus/materialize/markdown"
)

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
