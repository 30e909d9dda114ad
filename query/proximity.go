package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"filebus/index"
	"filebus/materialize/markdown"
)

// A neighbour is two terms that follow each other in a query.
type neighbour struct {
	first, second int // numbers of terms
	gap           int // words from one to the other; 1 if nothing stands between
}

// neighboursOf returns each two different terms that follow each other in a
// query, in its order. Stop words are no terms, but count as words between.
func neighboursOf(query string, wanted terms) []neighbour {
	var found []neighbour
	seen := make(map[[2]int]bool)
	var before, at []index.Token // the tokens of the last two positions
	for token := range index.Analyze([]byte(query)) {
		if len(at) > 0 && token.Position > at[0].Position {
			before, at = at, before[:0]
		}
		at = append(at, token)
		for _, b := range before {
			first, known := wanted[b.Term]
			second, knownToo := wanted[token.Term]
			if known && knownToo && first != second && !seen[[2]int{first, second}] {
				seen[[2]int{first, second}] = true
				found = append(found, neighbour{first, second, token.Position - b.Position})
			}
		}
		if len(found) > 2*maxQueryTerms {
			break
		}
	}
	return found
}

// nearness says how much a text has the query's neighbours as neighbours, from 0
// for nowhere to nearly 1 for all of them in many places. A place where a pair
// stands as in the query counts 1; where it stands d words further apart, or in the
// other order, 1/(1+d)², as in Büttcher, Clarke and Lushman: Term Proximity
// Scoring for Ad-Hoc Retrieval on Very Large Text Collections (2006). Places
// saturate as BM25's occurrences do, and pairs count alike.
func nearness(pairs []neighbour, matches []match, termCount int) float64 {
	if len(pairs) == 0 || len(matches) < 2 {
		return 0
	}
	places := placesOf(matches, termCount)
	sum := 0.0
	for _, p := range pairs {
		near := p.places(places[p.first], places[p.second])
		sum += near / (near + nearHalf)
	}
	return sum / float64(len(pairs))
}

// placesOf returns the positions of each term, in order.
func placesOf(matches []match, termCount int) [][]int {
	places := make([][]int, termCount)
	for _, m := range matches {
		places[m.term] = append(places[m.term], m.position)
	}
	for _, p := range places {
		if !slices.IsSorted(p) {
			slices.Sort(p)
		}
	}
	return places
}

// places adds up the places in which the two are near: for each of the second,
// the nearest of the first.
func (n neighbour) places(first, second []int) float64 {
	sum, next := 0.0, 0
	for _, at := range second {
		for next < len(first) && first[next] < at {
			next++
		}
		distance := math.MaxInt32
		if next > 0 {
			distance = abs(at - first[next-1] - n.gap)
		}
		if next < len(first) && first[next] > at {
			distance = min(distance, first[next]-at)
		}
		closeness := 1 / float64(1+distance)
		sum += closeness * closeness
	}
	return sum
}

func abs(n int) int { return max(n, -n) }

// window returns which hits to ask the index for. The hits that nearness orders
// are always the same, whatever the page; behind them, the index's pages are ours.
func (f *finder) window(offset, limit int) (from, count int) {
	if len(f.terms) == 0 && !f.request.Narrow || offset >= judgedHits {
		return offset, limit
	}
	return 0, max(judgedHits, offset+limit)
}

// resolve reads the ranked hits from the store, which begin with the hit number
// from, judges the first of them, and finds the passages of those on the page.
func (f *finder) resolve(ctx context.Context, hits []index.Hit, from int) ([]Hit, error) {
	found, err := f.candidates(ctx, hits, true)
	if best := found[:min(len(found), judgedHits)]; err == nil && from == 0 && len(f.terms) > 0 {
		err = parallel(len(best), func(i int) error { return f.judge(&best[i]) })
		f.putBehind(best)
		slices.SortStableFunc(best, func(a, b candidate) int {
			return cmp.Or(compareBool(a.last, b.last), cmp.Compare(b.ranked.Lifted, a.ranked.Lifted), cmp.Compare(b.ranked.Score, a.ranked.Score))
		})
	}
	if err != nil {
		return nil, err
	}
	start := min(len(found), f.request.Offset-from)
	page := found[start:min(len(found), start+f.request.Limit)]
	// A name that has lost its head since it was indexed is no hit any more. It
	// keeps its place until here, so that pages fit together.
	page = slices.DeleteFunc(page, func(c candidate) bool { return c.gone })
	return f.hits(ctx, page)
}

// putBehind gives what is superseded no higher scores than what supersedes it, and finds out what comes last.
func (f *finder) putBehind(best []candidate) {
	for i := range best {
		old := &best[i].ranked
		at := slices.IndexFunc(best, func(c candidate) bool { return c.ranked.Name == f.request.Behind[old.Name] })
		if at < 0 {
			best[i].last = best[i].Doubt != "" || f.stands.Of(old.Name).IsOld()
		} else if old.Lifted >= best[at].ranked.Lifted {
			old.Lifted, old.Score = best[at].ranked.Lifted, min(old.Score, best[at].ranked.Score)
		}
	}
}

// judge gives a candidate its final score. With D of the index, N the nearness of its words (0 to 1), P and
// I what the best passage and the name's id have of the worth of all terms, it is
//
//	D · (1+N)² · e^P · e^(nameShare·I) · max(1, tokens/longText)^-lengthPower
//
// See docs/decisions/0044-judged-by-factors.md. What was found in a short text is kept, since its passage
// is found by the same words.
func (f *finder) judge(c *candidate) error {
	text, damaged, err := headOf(c.content, c.Path)
	if err != nil {
		return err
	}
	near, passage, named := 0.0, 0.0, 0.0
	if !c.gone && !damaged && !markdown.IsBinary(text) {
		matches := f.matches(text[:min(len(text), passageText)], f.terms)
		if c.read = len(text) <= passageText; c.read {
			c.text, c.matches = text, matches
		}
		passage, named = f.shares(c, text, matches)
		first := sort.Search(len(matches), func(i int) bool { return matches[i].start >= nearText })
		near = nearness(f.pairs, matches[:first], len(f.terms))
	}
	of := func(factor float64) (added float64) {
		added = c.ranked.Score * (factor - 1)
		c.ranked.Score += added
		return added
	}
	c.nearness = of((1 + near) * (1 + near))
	c.passage = of(math.Exp(passage))
	c.named = of(math.Exp(nameShare * named))
	c.length = of(math.Pow(max(1, float64(c.Tokens)/longText), -lengthPower))
	c.judged = true
	return nil
}

// weigh notes what the terms are worth.
func (f *finder) weigh(worth map[string]float64) {
	f.worth = make([]float64, len(f.terms))
	for term, n := range f.terms {
		f.worth[n] = max(f.worth[n], worth[term])
	}
}

// shares returns what the best run of some words of a text, and the id of its name, have of the
// worth of all terms: the run by BM25 with what terms are worth in all texts. Words of the title
// and the path count in each run, those of a heading in what stands under it.
func (f *finder) shares(found *candidate, text []byte, matches []match) (passage, named float64) {
	all := 0.0
	for _, worth := range f.worth {
		all += worth
	}
	if all == 0 {
		return 0, 0
	}
	base := make([]float64, len(f.terms))
	for _, m := range f.matches([]byte(found.Name.ID), f.terms) {
		if base[m.term] == 0 {
			named += f.worth[m.term]
		}
		base[m.term] = 1
	}
	for _, m := range f.matches([]byte(found.Title), f.terms) {
		base[m.term] = 1
	}
	for _, part := range partsOf(text) {
		if within := part.of(matches); len(within) > 0 {
			passage = max(passage, f.bestRun(within, part.body, base))
		}
	}
	return passage / all, named / all
}

// bestRun returns the score of the best run of some words of a part, whose heading ends
// at body.
func (f *finder) bestRun(matches []match, body int, base []float64) (best float64) {
	counts, sum, last := slices.Clone(base), 0.0, 0
	points := func(term int) float64 {
		return f.worth[term] * counts[term] * (passageHalf + 1) / (counts[term] + passageHalf)
	}
	count := func(m match, n float64) {
		sum -= points(m.term)
		counts[m.term] += n
		sum += points(m.term)
	}
	for term := range counts {
		sum += points(term)
	}
	for len(matches) > 0 && matches[0].start < body {
		count(matches[0], 1)
		matches = matches[1:]
	}
	best = sum
	for _, first := range matches {
		for last < len(matches) && matches[last].position < first.position+passageWords {
			count(matches[last], 1)
			last++
		}
		best = max(best, sum)
		count(first, -1)
	}
	return best
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
