package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	api "github.com/blevesearch/bleve_index_api"

	"filebus/store/record"
)

// The constants of BM25: how soon further occurrences stop counting, and how
// much longer texts are held against them.
const (
	saturation = 1.5
	lengthBias = 0.4
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

	Kinds         []record.Kind // empty: all but quiet documents
	Trees         []record.Tree // empty: all; the own tree is record.Tree("")
	Tags          []string      // all of them, as record.NormalizeTags gives them
	Agents        []string
	Conversations []string
	Sessions      []string
	Runs          []string
	Loops         []string
	Tasks         []string
	Statuses      []string
	NotSessions   []string  // none of them
	Since         time.Time // not before it; zero: no bound
	Until         time.Time // before it; zero: no bound

	Limit  int // hits to return; 0: 10
	Offset int // hits to skip
}

// A Result is one page of hits: highest score first, then newest, then by
// name. Pages of one state of the index fit together without gaps.
type Result struct {
	Total uint64 // of all pages
	Hits  []Hit
}

// A Hit is a document that matches.
type Hit struct {
	Name     record.Name
	Position uint64 // the log position that made it head
	Score    float64
}

// Search answers request. A query is never malformed; the error is ErrDamaged,
// one of the machine, or the context's.
func (x *Index) Search(ctx context.Context, request Request) (Result, error) {
	var result Result
	err := guard(func() error {
		reader, err := x.engine.Reader()
		if err != nil {
			return err
		}
		defer reader.Close()
		s := search{ctx: ctx, reader: reader, totals: &x.totals}
		s.scores, s.weights = make([]float64, x.places), make([]float64, x.places)
		if s.facts, err = newFactsReader(reader); err != nil {
			return err
		}
		result, err = s.run(&request)
		return err
	})
	if err != nil && ctx.Err() == nil {
		return Result{}, condemn(x.engine.generation, fmt.Errorf("searching the index: %w", classify(err)))
	}
	return result, err
}

// A search is the state of one request.
type search struct {
	ctx    context.Context
	reader api.IndexReader
	totals *totals
	facts  *factsReader

	scores  []float64 // by document number
	matched []uint64  // the documents that match
	newest  bool      // nothing to score by: scores are times
	weights []float64 // of the term at hand, by document number
	found   []uint64  // the documents whose weight is not zero
}

// A candidate is a document that matches, on its way to become a hit.
type candidate struct {
	number uint64
	score  float64
	facts  facts
	name   string // filled in where it is needed
}

// run looks up the filter, scores what the terms match, drops what the filter
// does not pass, and picks the page. The rarity of a term is that in the whole
// index, whatever the filter.
func (s *search) run(request *Request) (Result, error) {
	filter, err := s.filter(request)
	if err != nil {
		return Result{}, err
	}
	terms := queryTerms(request.Query)
	for _, t := range terms {
		if err := s.score(t); err != nil {
			return Result{}, err
		}
	}
	if s.newest = len(terms) == 0; s.newest {
		if s.matched, err = s.all(filter); err != nil {
			return Result{}, err
		}
	}
	s.matched = slices.DeleteFunc(s.matched, func(n uint64) bool { return !filter.passes(n) })
	if s.newest {
		if err := s.scoreTimes(); err != nil {
			return Result{}, err
		}
	}
	limit := request.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	return s.page(max(request.Offset, 0), limit)
}

// A queryTerm is a term and how often the query has it.
type queryTerm struct {
	text  string
	count float64
}

// queryTerms returns the distinct terms of a query in the order of the text.
func queryTerms(query string) []queryTerm {
	var terms []queryTerm
	place := make(map[string]int)
	for token := range Analyze([]byte(query[:min(len(query), maxText)])) {
		i, known := place[token.Term]
		switch {
		case known:
			terms[i].count++
		case len(terms) < maxQueryTerms:
			place[token.Term] = len(terms)
			terms = append(terms, queryTerm{token.Term, 1})
		}
	}
	return terms
}

// score adds what a term is worth to every document that has it: BM25 over the
// weighted sum of its occurrences in all fields (BM25F), from exact totals.
// Fields and terms are taken in a fixed order, so that a document's score does
// not depend on which segment holds it.
func (s *search) score(term queryTerm) error {
	found := s.found[:0]
	for i, f := range scored {
		perToken := lengthBias / s.totals.average(i)
		err := postings(s.ctx, s.reader, f.name, term.text, true, func(n, frequency uint64, length float64) {
			if s.weights[n] == 0 {
				found = append(found, n)
			}
			s.weights[n] += f.weight * float64(frequency) / (1 - lengthBias + perToken*length)
		})
		if err != nil {
			return err
		}
	}
	having := float64(len(found))
	rarity := math.Log(1 + (float64(s.totals.Documents)-having+0.5)/(having+0.5))
	for _, n := range found {
		if s.scores[n] == 0 {
			s.matched = append(s.matched, n)
		}
		weight := s.weights[n]
		s.scores[n] += term.count * rarity * weight * (saturation + 1) / (weight + saturation)
		s.weights[n] = 0
	}
	s.found = found
	return nil
}

// scoreTimes gives every match its time for a score, to find the newest by. A
// float is exact enough: equal ones are compared in full afterwards.
func (s *search) scoreTimes() error {
	slices.Sort(s.matched) // the order in which facts are read fastest
	for i, n := range s.matched {
		if i%1024 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		facts, err := s.facts.read(n)
		if err != nil {
			return err
		}
		s.scores[n] = float64(facts.time.Unix()) + float64(facts.time.Nanosecond())/1e9
	}
	return nil
}

// fieldLength returns the number of tokens that the engine keeps as
// 1/sqrt(length).
func fieldLength(norm float64) float64 { return float64(uint64(1/(norm*norm) + 0.5)) }

// page returns the hits from offset on.
func (s *search) page(offset, limit int) (Result, error) {
	result := Result{Total: uint64(len(s.matched))}
	if offset >= len(s.matched) {
		return result, nil
	}
	end := offset + min(limit, len(s.matched)-offset)
	candidates, err := s.best(end)
	if err != nil {
		return Result{}, err
	}
	if err := s.order(candidates, offset, end); err != nil {
		return Result{}, err
	}
	for _, c := range candidates[offset:end] {
		name, err := record.ParseName(c.name)
		if err != nil {
			return Result{}, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		result.Hits = append(result.Hits, Hit{name, c.facts.position, c.score})
	}
	return result, nil
}

// best returns the matches that can be among the first count: those that score
// at least as high as the one in that place.
func (s *search) best(count int) ([]candidate, error) {
	scores := make([]float64, len(s.matched))
	for i, n := range s.matched {
		scores[i] = s.scores[n]
	}
	least := nthHighest(scores, count)
	documents := slices.DeleteFunc(s.matched, func(n uint64) bool { return s.scores[n] < least })
	slices.Sort(documents) // the order in which facts are read fastest
	out := make([]candidate, len(documents))
	for i, n := range documents {
		if i%1024 == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		facts, err := s.facts.read(n)
		if err != nil {
			return nil, err
		}
		out[i] = candidate{number: n, facts: facts}
		if !s.newest {
			out[i].score = s.scores[n]
		}
	}
	return out, nil
}

// nthHighest returns the n-th highest of scores, counted from 1, which it
// reorders.
func nthHighest(scores []float64, n int) float64 {
	heap := scores[:n] // its lowest first
	for i := n/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for _, score := range scores[n:] {
		if score > heap[0] {
			heap[0] = score
			sink(heap, 0)
		}
	}
	return heap[0]
}

// sink moves the element at i down to where no child is lower.
func sink(heap []float64, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if heap[i] <= heap[child] {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// order sorts candidates by score, time and name, and fills in the names of
// those from offset to end. Names are read only where they are needed: of the
// page, and of what ties with a part of it.
func (s *search) order(candidates []candidate, offset, end int) error {
	byScore := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.facts.time.Compare(a.facts.time))
	}
	slices.SortFunc(candidates, byScore)
	for start := 0; start < end; {
		stop := start + 1
		for stop < len(candidates) && byScore(candidates[start], candidates[stop]) == 0 {
			stop++
		}
		if stop > offset {
			tied := candidates[start:stop]
			if err := s.fillNames(tied); err != nil {
				return err
			}
			slices.SortFunc(tied, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
		}
		start = stop
	}
	return nil
}

// fillNames reads the names of candidates, which are stored compressed.
func (s *search) fillNames(candidates []candidate) error {
	for i := range candidates {
		name, err := s.reader.ExternalID(api.NewIndexInternalID(nil, candidates[i].number))
		if err != nil {
			return err
		}
		candidates[i].name = name
	}
	return nil
}

// all returns every document that passes the filter.
func (s *search) all(filter *filter) ([]uint64, error) {
	if len(filter.required) > 0 {
		return filter.required[0].members(), nil
	}
	documents, err := s.reader.DocIDReaderAll()
	if err != nil {
		return nil, err
	}
	defer documents.Close()
	var out []uint64
	for {
		id, err := documents.Next()
		if err != nil {
			return nil, err
		}
		if id == nil {
			return out, nil
		}
		out = append(out, id.Value())
	}
}
