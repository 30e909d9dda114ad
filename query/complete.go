package query

import (
	"context"
	"slices"

	"filebus/index"
	"filebus/materialize/markdown"
)

// addCompletions changes a request so that its last word also stands for what it may
// become. In texts these are the same word.
func (f *finder) addCompletions(ctx context.Context, asked *SearchRequest) error {
	b := f.request.beginning()
	if b == nil {
		return nil
	}
	c, err := f.newCatchUp(ctx)
	if err != nil {
		return err
	}
	var found []index.WeightedTerm
	const maxCompletions = 30 // bounds the terms that a word being typed is completed to
	err = c.ask(ctx, f.deadline(f.request), func(x *index.Index) (err error) {
		if found = nil; x != nil {
			found, err = x.Completions(ctx, b, maxCompletions)
		}
		return err
	})
	if err != nil {
		return err
	}
	number, known := f.terms[b.Term]
	if !known {
		number = len(f.terms)
	}
	asked.More = slices.Clip(asked.More)
	for _, t := range found {
		if _, known := f.terms[t.Term]; !known {
			f.terms[t.Term] = number
			asked.More = append(asked.More, t)
		}
	}
	return nil
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
