package query

import (
	"context"
	"slices"

	"filebus/index"
	"filebus/materialize/markdown"
)

// window returns which hits to ask the index for. The hits that nearness orders
// are always the same, whatever the page; behind them, the index's pages are ours.
func (f *finder) window(offset, limit int) (from, count int) {
	if len(f.pairs) == 0 || offset >= nearWindow {
		return offset, limit
	}
	return 0, max(nearWindow, offset+limit)
}

// resolve reads the ranked hits from the store, which begin with the hit number
// from, orders the first of them by nearness, and finds the passages of those on
// the page.
func (f *finder) resolve(ctx context.Context, hits []index.Hit, from int) ([]Hit, error) {
	found, err := f.ordered(ctx, hits, from)
	if err != nil {
		return nil, err
	}
	start := min(len(found), f.request.Offset-from)
	page := found[start:min(len(found), start+f.request.Limit)]
	// A name that has lost its head since it was indexed is no hit any more. It
	// keeps its place until here, so that pages fit together.
	page = slices.DeleteFunc(page, func(g finding) bool { return g.gone })
	return f.hits(ctx, page)
}

// ordered reads the heads of ranked hits and orders the first of them by nearness.
func (f *finder) ordered(ctx context.Context, hits []index.Hit, from int) ([]finding, error) {
	found, err := f.findings(ctx, hits)
	if err != nil || from > 0 || len(f.pairs) == 0 {
		return found, err
	}
	near := found[:min(len(found), nearWindow)]
	if err := f.readNear(near); err != nil {
		return nil, err
	}
	orderByNearness(near)
	return found, nil
}

// readNear reads the beginnings of bodies, on all cores, and how near the query's
// words stand in them.
func (f *finder) readNear(found []finding) error {
	return parallel(len(found), func(i int) error {
		if found[i].gone {
			return nil
		}
		return f.readNearOf(&found[i])
	})
}

// readNearOf looks at one body. What was found in one that is short is kept, since
// its passage is found by the same words.
func (f *finder) readNearOf(found *finding) error {
	text, damaged, err := headOf(found.content)
	if err != nil || damaged || markdown.IsBinary(text) {
		return err
	}
	matches := f.matches(text[:min(len(text), nearText)], f.terms)
	found.share = nearness(f.pairs, matches, len(f.terms))
	if len(text) <= nearText {
		found.text, found.matches, found.read = text, matches, true
	}
	return nil
}

// matches finds the words of some terms in a text.
func (f *finder) matches(text []byte, wanted terms) []match {
	analyzer := f.analyzer()
	defer f.analyzers.Put(analyzer)
	return findMatches(analyzer, text, wanted)
}

// analyzer returns an Analyzer to be put back: it remembers the words of one text
// for the next.
func (f *finder) analyzer() *index.Analyzer {
	if a, ok := f.analyzers.Get().(*index.Analyzer); ok {
		return a
	}
	return index.NewAnalyzer()
}
