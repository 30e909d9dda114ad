package index

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"filebus/store/record"
)

const (
	// maxQueryTerms bounds the distinct terms of a query that are looked for: each
	// costs a look-up in every field of every segment.
	maxQueryTerms = 256
	// defaultLimit is the number of hits where a request says nothing.
	defaultLimit = 10
)

// A Request says what to search. Its zero value matches every document that is
// not quiet. Of several values of one field any is enough; different fields
// must all match.
type Request struct {
	// Query is any text. Each of its terms adds to the score of a document, one
	// is enough to match. Without any, as in an empty text or one of stop words,
	// every document that passes the filters matches with score 0.
	Query string

	record.Filter // without Kinds: all but quiet documents

	// Phrases are quoted texts: a hit has the words of each of them, in whatever field
	// and order, of an identifier its whole form or its parts. What Words finds in a row
	// in a document is never missed. They add nothing to the score.
	Phrases []string
	// Unscored makes hits of documents that have no term of Query too, behind those that have.
	Unscored bool
	// Few asks for hits alone if there are no more than so many: in no order, and without the rest of a Result.
	Few int
	// Without are texts, such as words to leave out: what has every term of one of
	// them is no hit. Of an identifier only the whole form counts: parseHTTP leaves
	// out parse_http, and not what has parse and HTTP in different places.
	Without []string
	// More are terms to score besides those of Query, in the analysed form. A term
	// that is in both, or twice in one, has the sum of its weights. A weight that is
	// not above 0 counts for nothing.
	More []WeightedTerm
	// Meant says of terms of More which of Query they stand for: who has them has those.
	Meant map[string]string
	// HalfLife makes recent documents score higher: one that is this much older than
	// the newest match counts half as much. 0: age does not matter. It reads the time
	// of every match, which takes about as long as the rest of the search again.
	HalfLife time.Duration
	// Duplicates returns near-duplicates as hits of their own; without it only the
	// best of them is one, and names the others. Near-duplicates are documents whose
	// bodies share nine in ten of their terms or more, and are about as long; short
	// bodies, of fewer than 64 terms, share them all.
	Duplicates bool
	// Quiet returns quiet documents too.
	Quiet bool
	// Lifted are documents that are hits whatever the filters say, before all others: the
	// higher ones first.
	Lifted map[record.Name]int
	// Behind are documents that rank behind others where both match. What others stand behind stands behind none.
	Behind map[record.Name]record.Name
	// Facets are the fields whose values are counted over all matches.
	Facets []Facet
	// Narrow returns values of the hits of a page, for Result.Narrow; nil: there are none.
	Narrow func(hits []Hit) ([]Narrowing, error)
	// Explain fills in Hit.Points.
	Explain bool
	// Statistics replaces those of this index, so that the scores of several indexes
	// compare. Nil: its own.
	Statistics *Statistics

	Limit  int // hits to return; 0: 10
	Offset int // hits to skip
}

// A WeightedTerm is a term in its analysed form, as a Token has it, and how much
// it counts against a term of the query, which counts 1 each time it is there.
type WeightedTerm struct {
	Term   string
	Weight float64
}

// A Facet is a field whose values can be counted.
type Facet string

// A FacetCount says how many matches have a value.
type FacetCount struct {
	Value string `json:"value"`
	Count uint64 `json:"count"`
}

// A Narrowing is a value of a facet that less than half of the matches have, and how many.
type Narrowing struct {
	Field Facet `json:"field"`
	FacetCount
}

// Points says what a term adds to the score of a hit.
type Points struct {
	Term   string         `json:"term"`
	Score  float64        `json:"points"`
	Rarity float64        `json:"rarity"`           // of the term; rare terms are worth more
	Fields map[string]int `json:"counts,omitempty"` // how often each scored field has it
}

// A Result is one page of hits: highest score first, then newest, then by
// name. Pages of one state of the index fit together without gaps.
type Result struct {
	Total    uint64 // of all pages, near-duplicates that are no hits of their own included
	TotalAll uint64 // those of them that have every word of the query: see Hit.All
	Hits     []Hit
	// Facets has the values of each field that was asked for, most frequent first,
	// then by value.
	Facets map[Facet][]FacetCount
	Narrow []Narrowing // most frequent first
	// Unknown are the words of the query that no document has in any field, whatever
	// the filters, as [start, end] in bytes of Query. Statistics of several indexes
	// count too.
	Unknown [][2]int
	// Worth is what one more occurrence of each term that was scored says at most: how
	// rare it is, as often as it counts.
	Worth map[string]float64
}

// A Hit is a document that matches.
type Hit struct {
	Name     record.Name
	Position uint64 // the log position that made it head
	Score    float64
	// Like are the near-duplicates that stand behind this hit, best first: those that
	// rank before the end of the page, and some that rank after it.
	Like        []record.Name
	Fingerprint [16]byte // of the terms of the body, as it is stored; zero: too few
	Length      uint64   // tokens of the body
	Lifted      int      // see Request.Lifted
	All         bool     // it has every word of the query, or a term of More that stands for it
	Points      []Points // of each term that the hit has, most first; see Request.Explain
}

// Search answers request. A query is never malformed; the error is ErrDamaged,
// one of the machine, the context's, or names a facet that there is not.
func (x *Index) Search(ctx context.Context, request Request) (result Result, err error) {
	if err := checkFacets(request.Facets); err != nil {
		return Result{}, err
	}
	err = x.with(ctx, request.Statistics, func(s *search) (err error) {
		result, err = s.run(&request)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// with calls f with a search of the index. Nil statistics are those of the index.
func (x *Index) with(ctx context.Context, statistics *Statistics, f func(*search) error) error {
	err := guard(func() error {
		return x.engine.read(func(state *scorch.IndexSnapshot) (err error) {
			s := search{ctx: ctx, index: x, state: state, totals: &x.totals, facts: factsReader{segments: state.Segments()}}
			if statistics != nil {
				s.totals, s.statistics = &statistics.totals, statistics
			}
			s.weighed = weighed{totals: s.totals, terms: make(map[string]occurrences)}
			if before := x.before.Load(); before != nil && before.totals == s.totals && before.size <= maxWeighed/2 {
				s.weighed.terms, s.weighed.size = maps.Clone(before.terms), before.size
			}
			if err = f(&s); err == nil {
				x.before.Store(&s.weighed)
			}
			return err
		})
	})
	if ctx.Err() != nil {
		return err
	}
	return x.engine.blame("searching the index", err)
}

// A search is the state of one request.
type search struct {
	ctx   context.Context
	index *Index
	state *scorch.IndexSnapshot
	facts factsReader

	totals     *totals
	statistics *Statistics // those of several indexes; nil: our own

	matched []uint64       // the documents that match, rising
	scores  []float64      // of each of them
	every   filter         // passes those with every word of the query
	looked  map[string]set // the documents with a term that was scored, or with one that stands for it
	newest  bool           // nothing to score by: scores are times
	weighed weighed
	weights []float64 // of the term at hand, by document number in the segment at hand; zeros between
	held    set       // the documents with a weight; empty between
}

// run finds the matches, and picks and explains the page.
func (s *search) run(request *Request) (Result, error) {
	terms := requestTerms(request)
	if err := s.match(request, terms); err != nil {
		return Result{}, err
	}
	if request.HalfLife > 0 && !s.newest {
		if err := s.fade(request.HalfLife); err != nil {
			return Result{}, err
		}
	}
	if err := s.lift(request.Lifted); err != nil {
		return Result{}, err
	}
	if err := s.putBehind(request.Behind); err != nil {
		return Result{}, err
	}
	facets, err := s.countFacets(request.Facets)
	if err != nil {
		return Result{}, err
	}
	page, err := s.page(request)
	if err != nil {
		return Result{}, err
	}
	result := Result{Total: uint64(len(s.matched)), Facets: facets, Unknown: s.unknown(request.Query, terms), Worth: make(map[string]float64)}
	for _, n := range s.matched {
		if s.every.passes(n) {
			result.TotalAll++
		}
	}
	for _, term := range terms {
		if s.documentsHaving(&term) > 0 {
			result.Worth[term.text] = term.count * term.rarity
		}
	}
	if result.Hits, err = s.hits(page); err != nil {
		return Result{}, err
	}
	if request.Narrow != nil {
		result.Narrow, err = s.narrow(request.Narrow(result.Hits))
	}
	if request.Explain && err == nil {
		err = s.explain(result.Hits, page, terms)
	}
	return result, err
}

// lift makes documents hits that rank before all others, unless the newest are to be first.
func (s *search) lift(lifted map[record.Name]int) error {
	for name, height := range lifted {
		n, found, err := s.number(name)
		if err != nil || !found {
			return err
		}
		i, known := slices.BinarySearch(s.matched, n)
		if !known {
			s.matched, s.scores = slices.Insert(s.matched, i, n), slices.Insert(s.scores, i, 0)
		}
		if !s.newest {
			s.scores[i] += float64(height * liftBy)
		}
	}
	return nil
}

// number returns the number of the document that a name has, if it has one.
func (s *search) number(name record.Name) (n uint64, found bool, err error) {
	id, err := s.state.InternalID(name.String())
	if err != nil || id == nil {
		return 0, false, err
	}
	return id.Value(), true, nil
}

// putBehind makes documents rank right behind others at best, where both match. Those that are lifted lift the others.
func (s *search) putBehind(behind map[record.Name]record.Name) error {
	pairs := map[int]int{}
	for name, of := range behind {
		n, found, err := s.number(name)
		before, isThere, errOf := s.number(of)
		if err = cmp.Or(err, errOf); err != nil {
			return err
		}
		i, matches := slices.BinarySearch(s.matched, n)
		j, bothMatch := slices.BinarySearch(s.matched, before)
		if found && isThere && matches && bothMatch {
			if pairs[i] = j; s.scores[i] >= liftBy && !s.newest {
				s.scores[j] = max(s.scores[j], s.scores[i])
			}
		}
	}
	for i, j := range pairs {
		s.scores[i] = min(s.scores[i], math.Nextafter(s.scores[j], -1))
	}
	return nil
}

// match looks up the filter, scores what the terms match, and drops what the
// filter does not pass. The rarity of a term is that in the whole index,
// whatever the filter.
func (s *search) match(request *Request, terms []queryTerm) error {
	filter, err := s.filter(request)
	if err != nil {
		return err
	}
	if request.Few > 0 && filter.required != nil && filter.required.count() <= request.Few {
		s.sum(nil, filter.of(filter.required))
		return nil
	}
	if err := s.leaveFrequent(terms); err != nil {
		return err
	}
	s.looked = make(map[string]set, len(terms))
	matched := newSet(s.index.places)
	for i := range terms {
		if terms[i].count == 0 {
			continue
		}
		if err := s.look(&terms[i]); err != nil {
			return err
		}
		matched.unite(s.looked[terms[i].text])
	}
	for term, of := range request.Meant {
		s.looked[of].unite(s.looked[term])
	}
	if err := s.meet(&s.every, []string{request.Query}); err != nil {
		return err
	}
	if s.newest = len(terms) == 0; s.newest || request.Unscored {
		if matched, err = s.all(filter); err != nil {
			return err
		}
	}
	if s.sum(terms, filter.of(matched)); s.newest {
		return s.scoreTimes()
	}
	return nil
}

// look finds out where a term is, and what it says of a document that has it.
func (s *search) look(term *queryTerm) (err error) {
	term.found, err = s.weigh(term.text)
	term.having = uint64(len(term.found.documents))
	term.rarity = s.rarity(term)
	s.looked[term.text] = s.set(term.found.documents)
	return err
}

// sum gives each document of a set, which becomes s.matched, what its terms are worth: BM25 over the
// weighted sum of their occurrences in all fields (BM25F), from exact totals.
// Fields and terms are taken in a fixed order, so that a document's score does
// not depend on which segment holds it.
func (s *search) sum(terms []queryTerm, matched set) {
	count := matched.count()
	s.matched, s.scores = make([]uint64, 0, count), make([]float64, 0, count)
	for i, passed := range matched {
		var points [64]float64
		for j := range terms {
			t := &terms[j]
			for ; t.added < len(t.found.documents) && t.found.documents[t.added] < uint64(64*i+64); t.added++ {
				points[t.found.documents[t.added]%64] += t.points(t.found.weights[t.added])
			}
		}
		for ; passed != 0; passed &= passed - 1 {
			at := bits.TrailingZeros64(passed)
			s.matched, s.scores = append(s.matched, uint64(64*i+at)), append(s.scores, points[at])
		}
	}
}

// maxWeighed bounds the occurrences that a search leaves to the next, which often looks for
// the same terms.
const maxWeighed = 1 << 20

// What a search has weighed, by some totals.
type weighed struct {
	totals *totals
	terms  map[string]occurrences
	size   int // places for documents in all of them, and some for each that keep their number low
}

// occurrences are the documents that have a term, and what it sums up to in all fields of each. They do not change.
type occurrences struct {
	documents []uint64 // rising
	weights   []float64
}

// weigh returns the occurrences of a term.
func (s *search) weigh(term string) (found occurrences, err error) {
	found, isKnown := s.weighed.terms[term]
	if before := s.index.before.Load(); !isKnown && before != nil && before.totals == s.totals {
		found, isKnown = before.terms[term]
	}
	if !isKnown {
		found, err = s.read(term)
	}
	if s.weighed.size += cap(found.documents) + maxWeighed/1024; err == nil && s.weighed.size <= maxWeighed {
		s.weighed.terms[term] = found
	}
	return found, err
}

// read does what weigh does, from the index: one segment after the other, so that the weights at hand stay near.
func (s *search) read(term string) (found occurrences, err error) {
	err = s.eachSegment(func(of *scorch.SegmentSnapshot, first uint64) error {
		places := int(of.FullSize())
		s.weights, s.held = slices.Grow(s.weights[:0], places)[:places], slices.Grow(s.held[:0], places/64+1)[:places/64+1]
		for i, f := range scored {
			perToken := lengthBias / s.totals.average(i)
			err := eachPosting(of, f.name, term, func(n uint32, count, length uint64) {
				s.held.add(uint64(n))
				s.weights[n] += f.weight * float64(count) / (1 - lengthBias + perToken*float64(length))
			})
			if err != nil {
				return err
			}
		}
		if n := len(found.documents) + s.held.count(); n > cap(found.documents) {
			end := int(first) + places
			n = min(4*n, int(float64(n)*float64(s.index.places)/float64(end))) // as many in the segments that follow
			found.documents = slices.Grow(found.documents, n-len(found.documents))
			found.weights = slices.Grow(found.weights, n-len(found.weights))
		}
		for n := range s.held.members() {
			found.documents, found.weights = append(found.documents, first+n), append(found.weights, s.weights[n])
			s.weights[n] = 0
		}
		clear(s.held)
		return nil
	})
	return found, err
}

// rarity returns how much a term says of a document that has it.
func (s *search) rarity(term *queryTerm) float64 {
	having := s.documentsHaving(term)
	// Statistics of another moment may know of fewer documents than there are.
	documents := float64(max(s.totals.Documents, having))
	return math.Log(1 + (documents-float64(having)+0.5)/(float64(having)+0.5))
}

// documentsHaving returns in how many documents a term is that was looked up.
func (s *search) documentsHaving(term *queryTerm) uint64 {
	if s.statistics == nil {
		return term.having
	}
	return max(term.having, s.statistics.having[term.text])
}

// points returns what a term adds to the score of a document.
func (t *queryTerm) points(weight float64) float64 {
	return t.count * t.rarity * weight * (saturation + 1) / (weight + saturation)
}

// all returns a set with every document that a filter passes.
func (s *search) all(filter *filter) (set, error) {
	if filter.required != nil {
		return filter.required, nil
	}
	all := newSet(s.index.places)
	return all, s.eachSegment(func(of *scorch.SegmentSnapshot, first uint64) error {
		for n := range uint32(of.FullSize()) {
			if of.Deleted() == nil || !of.Deleted().Contains(n) {
				all.add(first + uint64(n))
			}
		}
		return nil
	})
}

// fade makes the scores of the matches smaller with age: by half for each half
// life that one is older than the newest.
func (s *search) fade(halfLife time.Duration) error {
	times := make([]time.Time, len(s.matched))
	newest, err := s.times(func(i int, t time.Time) { times[i] = t })
	if err != nil {
		return err
	}
	if s.statistics != nil && s.statistics.newest.After(newest) {
		newest = s.statistics.newest
	}
	for i := range s.matched {
		// In seconds: a duration holds no more than 292 years.
		age := float64(newest.Unix()-times[i].Unix()) + float64(newest.Nanosecond()-times[i].Nanosecond())/1e9
		s.scores[i] *= math.Exp2(-age / halfLife.Seconds())
	}
	return nil
}

// times calls visit with the place and the time of each match, and returns the newest time.
func (s *search) times(visit func(i int, t time.Time)) (newest time.Time, err error) {
	for i, n := range s.matched {
		if i%1024 == 0 && s.ctx.Err() != nil {
			return newest, s.ctx.Err()
		}
		t, err := s.facts.time(n)
		if err != nil {
			return newest, err
		}
		if i == 0 || t.After(newest) {
			newest = t
		}
		visit(i, t)
	}
	return newest, nil
}

// scoreTimes gives every match its time for a score, to find the newest by. A
// float is exact enough: equal ones are compared in full afterwards.
func (s *search) scoreTimes() error {
	_, err := s.times(func(i int, t time.Time) {
		s.scores[i] = float64(t.Unix()) + float64(t.Nanosecond())/1e9
	})
	return err
}

// unknown returns the words of a query none of whose terms a document has, but for those that
// questions are made of, as start and end in bytes of the query. The terms have been looked up.
func (s *search) unknown(query string, terms []queryTerm) [][2]int {
	missing := make(map[string]bool)
	for i := range terms {
		if s.documentsHaving(&terms[i]) == 0 {
			missing[terms[i].text] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var out [][2]int
	for _, w := range queryWords(query) {
		known := false
		for _, term := range w.terms {
			// One that is beyond the bound on terms was not looked up.
			known = known || !missing[term.Term] || lightWords[term.Term]
		}
		if !known {
			out = append(out, [2]int{w.start, w.end})
		}
	}
	return out
}
