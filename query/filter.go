package query

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"filebus/index"
	"filebus/store/record"
)

// How many of the index's hits have their bodies read at once: more with every
// round, since the index ranks all for each.
const (
	firstRead = 64
	mostRead  = 1 << 15
	maxSlice  = 1024 // in one transaction
	// leastRead are read even when the page is full, so that most totals are exact.
	leastRead = 512
)

// filtered asks the index and leaves out the hits whose bodies do not have what is
// wanted, which the index does not know: words in a row. While the index is
// behind, it also leaves out what has changed since, which a scan finds. Its pages
// fit together as those of the index do. The total is exact once all candidates were read, else an
// estimate by those that were. After scanTime it returns what it has, and sets
// c.incomplete.
func (c *catchUp) filtered(
	ctx context.Context, x *index.Index, request *SearchRequest, ask index.Request,
) (index.Result, error) {
	filter, stale := newPhraseFilter(request), c.behind() > 0 && !request.IndexedOnly
	if filter == nil && !stale {
		return x.Search(ctx, ask)
	}
	s := filterStage{catchUp: c, filter: filter, stale: stale, pageEnd: ask.Offset + ask.Limit}
	s.all = request.All || request.Pattern != nil && len(ask.Facets) > 0 // which the index cannot count
	// Hits that are scanned do not know what they are like.
	s.duplicates = ask.Duplicates || stale
	skip, until := ask.Offset, time.Time{}
	// The best of near-duplicates may be one that does not pass.
	ask.Duplicates = true
	first := firstRead
	if request.isScan() {
		first = mostRead / 4 // few may match
	}
	for ask.Offset, ask.Limit = 0, first+min(s.pageEnd, mostRead); ; ask.Limit = min(4*ask.Limit, mostRead) {
		found, err := x.Search(ctx, ask)
		if err != nil {
			return index.Result{}, err
		}
		if ask.Offset == 0 {
			s.result.Facets, s.result.Unknown, s.candidates, s.withAll = found.Facets, found.Unknown, found.Total, found.TotalAll
			until = cmp.Or(c.until, c.enough(request)) // before it not even the first was read
		}
		if err := s.take(ctx, found.Hits, until); err != nil {
			return index.Result{}, err
		}
		exhausted := len(found.Hits) < ask.Limit && !s.enough() && !c.incomplete
		if exhausted || s.enough() || c.incomplete {
			hits := s.hits()
			c.unread = max(s.candidates, s.read) - s.read
			if request.Pattern != nil && len(request.Facets) > 0 {
				s.result.Facets, err = s.facets(ctx, x, request.Facets)
			}
			s.result.Hits = hits[min(skip, len(hits)):min(s.pageEnd, len(hits))]
			s.result.Total = s.total(s.candidates, uint64(len(s.passed)), exhausted)
			s.result.TotalAll = s.total(s.withAll, s.passedAll, exhausted)
			return s.result, err
		}
		ask.Offset += len(found.Hits)
		ask.Facets = nil
	}
}

// A filterStage reads the bodies of hits in their order.
type filterStage struct {
	*catchUp
	filter     *phraseFilter // nil: all pass
	stale      bool          // a scan finds what was put after c.position
	pageEnd    int           // hits up to the end of the page
	duplicates bool          // are hits of their own
	all        bool          // all hits are read, though the page is full

	result     index.Result
	candidates uint64          // what the index has found
	withAll    uint64          // of them, with every word
	read       uint64          // of the candidates
	passed     []index.Hit     // of those
	passedAll  uint64          // of these, with every word
	collapsed  index.Collapser // has them too, unless duplicates are hits
}

// hits returns those so far.
func (s *filterStage) hits() []index.Hit {
	if s.duplicates {
		return s.passed
	}
	return s.collapsed.Hits
}

// enough reports whether the page is full, and the total known well enough.
func (s *filterStage) enough() bool {
	return !s.all && len(s.hits()) >= s.pageEnd && s.read >= leastRead
}

// total returns the number of hits, or about how many there are, by those that have passed.
func (s *filterStage) total(candidates, passed uint64, exhausted bool) uint64 {
	if exhausted || s.read == 0 || candidates <= s.read {
		return passed
	}
	rest := float64(candidates-s.read) * float64(passed) / float64(s.read)
	return passed + uint64(math.Ceil(rest))
}

// take reads the bodies of hits, in slices, until the time is over.
func (s *filterStage) take(ctx context.Context, hits []index.Hit, until time.Time) error {
	for len(hits) > 0 && !s.enough() {
		if time.Now().After(until) {
			s.incomplete = true
			return nil
		}
		n := min(len(hits), max(firstRead, int(min(s.read, maxSlice))))
		if err := s.add(ctx, hits[:n]); err != nil {
			return err
		}
		hits = hits[n:]
	}
	return nil
}

// add takes in the hits that pass.
func (s *filterStage) add(ctx context.Context, hits []index.Hit) error {
	passes, err := s.passing(ctx, hits)
	if err != nil {
		return err
	}
	s.read += uint64(len(hits))
	for _, hit := range hits {
		if passes[hit.Name] {
			if hit.All {
				s.passedAll++
			}
			s.passed = append(s.passed, hit)
			if !s.duplicates {
				s.collapsed.Add(hit)
			}
		}
	}
	return nil
}

// passing returns the names of hits whose current versions pass. It reads on all
// cores.
func (s *filterStage) passing(ctx context.Context, hits []index.Hit) (map[record.Name]bool, error) {
	found, err := s.rankedVersions(ctx, hits, s.filter != nil && len(s.filter.finder.phrases) > 0)
	if err != nil {
		return nil, err
	}
	passes := make(map[record.Name]bool)
	var mu sync.Mutex
	err = parallel(len(found), func(i int) error {
		// What has changed since it was indexed is left to the scan.
		position := found[i].Version.Position
		if found[i].gone || s.stale && position > s.position && position <= s.end || ctx.Err() != nil {
			return nil
		}
		if s.filter != nil {
			if texts, err := found[i].texts(); err != nil || !s.filter.passes(texts) {
				return err
			}
		}
		mu.Lock()
		passes[found[i].Name] = true
		mu.Unlock()
		return nil
	})
	return passes, errors.Join(err, ctx.Err())
}

// facets counts the values of fields in what has passed: nothing else is of a time that is to come.
func (s *filterStage) facets(
	ctx context.Context, x *index.Index, fields []index.Facet,
) (map[index.Facet][]index.FacetCount, error) {
	ask := index.Request{Facets: fields, Lifted: map[record.Name]int{}, Filter: record.Filter{Since: time.Now().Add(never)}}
	for _, hit := range s.passed {
		ask.Lifted[hit.Name] = 1
	}
	result, err := x.Search(ctx, ask)
	return result.Facets, err
}
