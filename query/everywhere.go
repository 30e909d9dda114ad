package query

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"filebus/index"
)

// otherWait is how long a store that is not the first may catch up in a search of
// several. What is left then is scanned, or waits for a search of its own.
const otherWait = time.Second

// deadline returns until when a search may catch up. Stores that are searched
// together have caught up before.
func (r *Reader) deadline(request *SearchRequest) time.Time {
	if request.Statistics != nil || request.IndexedOnly {
		return time.Time{}
	}
	return time.Now().Add(r.opts.MaxWait)
}

// A StoreAnswer says how the search of one of several stores went.
type StoreAnswer struct {
	Folder string // of the store
	Err    error  // why the store did not answer; the others have
	SearchAnswer
}

// SearchEverywhere searches several stores as if they were one: scores are computed
// from the sum of their statistics, so that they compare. The first store may take
// wait to catch up, the others little of it. Near-duplicates in different stores
// stay hits of their own. A store that cannot answer is named in the answer; only
// the end of ctx is an error.
func SearchEverywhere(ctx context.Context, readers []*Reader, request SearchRequest, wait time.Duration) (SearchAnswer, error) {
	e := everywhere{readers: readers, request: request, stores: make([]StoreAnswer, len(readers))}
	e.request.tidy()
	for i, r := range readers {
		e.stores[i].Folder = r.store.Dir()
	}
	e.sum(ctx, time.Now().Add(wait))
	e.search(ctx)
	if err := ctx.Err(); err != nil {
		return SearchAnswer{}, err
	}
	if slices.ContainsFunc(e.stores, func(s StoreAnswer) bool { return s.Literal }) { // so it is meant in all
		answer, err := SearchEverywhere(ctx, readers, request.asTyped(), wait)
		answer.Literal = true
		return answer, err
	}
	return e.merge(), nil
}

// An everywhere is a search of several stores.
type everywhere struct {
	readers []*Reader
	request SearchRequest
	stores  []StoreAnswer // by reader
}

// sum lets the stores catch up one after the other, so that the memory of one is
// enough, and adds up their statistics.
func (e *everywhere) sum(ctx context.Context, deadline time.Time) {
	sum := new(index.Statistics)
	for i, r := range e.readers {
		until := deadline
		if other := time.Now().Add(otherWait); i > 0 && other.Before(deadline) {
			until = other
		}
		if e.request.IndexedOnly {
			until = time.Time{}
		}
		statistics, err := r.statistics(ctx, until, &e.request)
		if e.stores[i].Err = err; err == nil && statistics != nil {
			sum.Add(statistics)
		}
	}
	e.request.Statistics = sum
}

// statistics returns those of the store's index once it has caught up, or the
// deadline has passed; nil if there is no index by then.
func (r *Reader) statistics(ctx context.Context, deadline time.Time, request *SearchRequest) (statistics *index.Statistics, err error) {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return nil, err
	}
	err = c.ask(ctx, deadline, func(x *index.Index) (err error) {
		if statistics = nil; x != nil {
			statistics, err = x.Statistics(ctx, request.forIndex())
		}
		return err
	})
	return statistics, err
}

// search asks every store that has statistics for its first hits, as any of them
// may be on the page.
func (e *everywhere) search(ctx context.Context) {
	scanUntil := time.Now().Add(scanTime)
	request := e.request
	request.Limit, request.Offset = e.request.Offset+e.request.Limit, 0
	_ = parallel(len(e.readers), func(i int) error { // each store says what is wrong with it
		s := &e.stores[i]
		if s.Err != nil || ctx.Err() != nil {
			return nil
		}
		r := *e.readers[i]
		r.scanUntil = scanUntil
		s.SearchAnswer, s.Err = r.Search(ctx, request)
		return nil
	})
}

// A placedHit is a hit with its place among those of its store.
type placedHit struct {
	Hit
	place int
}

// merge puts the answers together: ranked hits by score, as within one store, then
// scanned ones, of which the best of each store come first.
func (e *everywhere) merge() SearchAnswer {
	out := SearchAnswer{Stores: e.stores}
	var all []placedHit
	for i := range e.stores {
		for place, hit := range e.stores[i].Hits {
			hit.Store = e.stores[i].Folder
			all = append(all, placedHit{hit, place})
		}
		out.add(&e.stores[i].SearchAnswer)
	}
	slices.SortStableFunc(all, compareHits)
	for _, hit := range all[min(e.request.Offset, len(all)):min(e.request.Offset+e.request.Limit, len(all))] {
		out.Hits = append(out.Hits, hit.Hit)
	}
	if len(all) > 0 {
		out.Hidden = nil
	}
	if out.Unindexed > 0 {
		out.Unknown = nil
	}
	if len(all) > 0 && len(out.Unknown) == 0 {
		out.DidYouMean = ""
	}
	return out
}

// compareHits puts the hit to read first in front.
func compareHits(a, b placedHit) int {
	switch {
	case a.Scanned != b.Scanned:
		return compareBool(a.Scanned, b.Scanned)
	case a.Scanned && a.place != b.place:
		return a.place - b.place
	}
	return cmp.Or(compareBool(b.judged, a.judged), compareBool(a.last, b.last), cmp.Compare(b.Lifted, a.Lifted), cmp.Compare(b.Score, a.Score), b.Date().Compare(a.Date()), strings.Compare(a.Name.String(), b.Name.String()))
}

// add adds what other says besides its hits.
func (a *SearchAnswer) add(other *SearchAnswer) {
	a.Total, a.TotalAll = a.Total+other.Total, a.TotalAll+other.TotalAll
	a.Unindexed += other.Unindexed
	a.Unread += other.Unread
	a.ScanIncomplete = a.ScanIncomplete || other.ScanIncomplete
	a.DidYouMean = cmp.Or(a.DidYouMean, other.DidYouMean)
	a.AsPhrase = cmp.Or(a.AsPhrase, other.AsPhrase)
	if a.Unknown == nil || other.Corrected != nil {
		a.Unknown, a.Corrected = other.Unknown, other.Corrected // all stores know what any of them has
	}
	for facet, counts := range other.Facets {
		if a.Facets == nil {
			a.Facets = make(map[index.Facet][]index.FacetCount)
		}
		a.Facets[facet] = index.SumCounts(a.Facets[facet], counts)
	}
	for _, hidden := range other.Hidden {
		i := slices.IndexFunc(a.Hidden, func(h Hidden) bool {
			return h.Condition == hidden.Condition && slices.Equal(h.Values, hidden.Values)
		})
		if i < 0 {
			a.Hidden = append(a.Hidden, hidden)
		} else {
			a.Hidden[i].Total += hidden.Total
		}
	}
}
