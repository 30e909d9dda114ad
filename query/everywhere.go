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

// A shared is what the searches of several stores for one request have in common.
// Nil is that of a search of one store.
type shared struct {
	statistics *index.Statistics
	scanUntil  time.Time
}

// sum returns the statistics of all stores, or nil for those of the one.
func (s *shared) sum() *index.Statistics {
	if s == nil {
		return nil
	}
	return s.statistics
}

// scanEnd returns when a scan must end.
func (s *shared) scanEnd() time.Time {
	if s == nil {
		return time.Now().Add(scanTime)
	}
	return s.scanUntil
}

// deadline returns until when a search may catch up. Stores that are searched
// together have caught up before.
func (r *Reader) deadline(request *SearchRequest) time.Time {
	if r.shared != nil || request.IndexedOnly {
		return time.Time{}
	}
	return time.Now().Add(r.opts.MaxWait)
}

// An EverywhereAnswer is one page of hits from several stores.
type EverywhereAnswer struct {
	SearchAnswer
	Stores []StoreAnswer // in the order of the readers
}

// A StoreAnswer says how the search of one of several stores went.
type StoreAnswer struct {
	Folder string // of the store
	// Err says why the store did not answer; the others have. Else:
	Err            error
	Total          uint64
	Unindexed      uint64 // as in SearchAnswer
	ScanIncomplete bool
}

// SearchEverywhere searches several stores as if they were one: scores are computed
// from the sum of their statistics, so that they compare. The first store may take
// wait to catch up, the others little of it. Near-duplicates in different stores
// stay hits of their own. A store that cannot answer is named in the answer; only
// the end of ctx is an error.
func SearchEverywhere(ctx context.Context, readers []*Reader, request SearchRequest, wait time.Duration) (EverywhereAnswer, error) {
	e := everywhere{
		readers: readers, request: request, shared: shared{statistics: new(index.Statistics)},
		answers: make([]SearchAnswer, len(readers)), stores: make([]StoreAnswer, len(readers)),
	}
	e.request.tidy()
	for i, r := range readers {
		e.stores[i].Folder = r.store.Dir()
	}
	e.sum(ctx, time.Now().Add(wait))
	e.search(ctx)
	if err := ctx.Err(); err != nil {
		return EverywhereAnswer{}, err
	}
	return EverywhereAnswer{e.merge(), e.stores}, nil
}

// An everywhere is a search of several stores.
type everywhere struct {
	readers []*Reader
	request SearchRequest
	shared  shared
	answers []SearchAnswer // by reader
	stores  []StoreAnswer
}

// sum lets the stores catch up one after the other, so that the memory of one is
// enough, and adds up their statistics.
func (e *everywhere) sum(ctx context.Context, deadline time.Time) {
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
			e.shared.statistics.Add(statistics)
		}
	}
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
	e.shared.scanUntil = time.Now().Add(scanTime)
	request := e.request
	request.Limit, request.Offset = e.request.Offset+e.request.Limit, 0
	_ = parallel(len(e.readers), func(i int) error { // each store says what is wrong with it
		s := &e.stores[i]
		if s.Err != nil || ctx.Err() != nil {
			return nil
		}
		r := *e.readers[i]
		r.shared = &e.shared
		answer, err := r.Search(ctx, request)
		if s.Err = err; err == nil {
			e.answers[i] = answer
			s.Total, s.Unindexed, s.ScanIncomplete = answer.Total, answer.Unindexed, answer.ScanIncomplete
		}
		return nil
	})
}

// merge puts the answers together: ranked hits by score, as within one store, then
// scanned ones, of which the best of each store come first.
func (e *everywhere) merge() SearchAnswer {
	var out SearchAnswer
	queues := make([][]Hit, len(e.answers))
	for i := range e.answers {
		queues[i] = e.answers[i].Hits
		for j := range queues[i] {
			queues[i][j].Store = e.stores[i].Folder
		}
		out.add(&e.answers[i])
	}
	end := e.request.Offset + e.request.Limit
	var hits []Hit
	for taken := make([]int, len(queues)); len(hits) < end; {
		best := -1
		for i := range queues {
			if taken[i] == len(queues[i]) {
				continue
			}
			if best < 0 || before(&queues[i][taken[i]], &queues[best][taken[best]], taken[i]-taken[best]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		hits = append(hits, queues[best][taken[best]])
		taken[best]++
	}
	out.Hits = hits[min(e.request.Offset, len(hits)):]
	if len(hits) > 0 {
		out.Hidden = nil
	}
	if out.Unindexed > 0 {
		out.Unknown = nil
	}
	if len(hits) > 0 && len(out.Unknown) == 0 {
		out.DidYouMean = ""
	}
	return out
}

// before reports whether a comes before b, of another store, whose lists have been
// taken further for a by lead.
func before(a, b *Hit, lead int) bool {
	if a.Scanned != b.Scanned {
		return b.Scanned
	}
	if a.Scanned && lead != 0 {
		return lead < 0
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), b.Time.Compare(a.Time), strings.Compare(a.Name.String(), b.Name.String())) < 0
}

// add adds what other says besides its hits.
func (a *SearchAnswer) add(other *SearchAnswer) {
	a.Total += other.Total
	a.Unindexed += other.Unindexed
	a.ScanIncomplete = a.ScanIncomplete || other.ScanIncomplete
	a.DidYouMean = cmp.Or(a.DidYouMean, other.DidYouMean)
	a.AsPhrase = cmp.Or(a.AsPhrase, other.AsPhrase)
	if a.Unknown == nil {
		a.Unknown = other.Unknown // all stores know what any of them has
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
