package query

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"filebus/index"
	"filebus/store"
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
	scanTime  = 2 * time.Second // a scan goes on
	scanBatch = 4 << 20         // bytes of text that are scanned at a time
)

// A candidate is a version that may become a hit. They come from two sources: the index, which ranks them, and
// the log, which has what the index does not know and versions that are current no more.
type candidate struct {
	Summary
	content store.Content
	ranked  index.Hit // zero for what the log has

	gone    bool // its name has no head any more
	scanned bool // the log has it
	older   bool // it is current no more
	terms   int  // distinct terms of the query that it has, of what the log has
	grade   int  // how it has a quote
	judged  bool // its score is final; see judge
	last    bool // it counts no more, and what takes its place is not judged: it comes after all that are
	passage, named,
	nearness, length float64 // what they have added to the score

	read    bool    // the next two are known
	text    []byte  // as headOf gives it
	matches []match // of the query's terms
	shown   []byte  // the lines of the passage that is shown
}

// A feed has candidates, and says which of them pass.
type feed interface {
	next(ctx context.Context) (batch []candidate, more bool, err error)
	passes(c *candidate) (bool, error) // called on all cores
	keep(passed []candidate)
	isEnough() bool
}

// stream takes candidates from a feed, batch after batch, and keeps those that pass, until there are no more, it is
// enough, or the time is over.
func stream(ctx context.Context, s feed, until time.Time) (late bool, err error) {
	for more := true; more && !s.isEnough(); {
		if time.Now().After(until) {
			return true, nil
		}
		var batch []candidate
		if batch, more, err = s.next(ctx); err != nil {
			return false, err
		}
		passes := make([]bool, len(batch))
		err = parallel(len(batch), func(i int) (err error) {
			if ctx.Err() == nil {
				passes[i], err = s.passes(&batch[i])
			}
			return err
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return false, err
		}
		passed := batch[:0]
		for i := range batch {
			if passes[i] {
				passed = append(passed, batch[i])
			}
		}
		s.keep(passed)
	}
	return false, nil
}

// A ranked is what the index ranks, best first.
type ranked struct {
	*catchUp
	hits      []index.Hit // to be read next
	read      int         // how many were
	first     int         // in the first batch
	described bool        // what describes them is read too
}

func (s *ranked) next(ctx context.Context) (batch []candidate, more bool, err error) {
	n := min(len(s.hits), max(s.first, min(s.read, maxSlice)))
	batch, err = s.candidates(ctx, s.hits[:n], s.described)
	s.hits, s.read = s.hits[n:], s.read+n
	return batch, len(s.hits) > 0, err
}

// candidates reads the heads of ranked hits, and unless only the bodies are needed what describes them.
func (r *Reader) candidates(ctx context.Context, hits []index.Hit, described bool) (found []candidate, err error) {
	err = EachOf(ctx, r, hits, func(tx *store.Tx, hit index.Hit) error {
		v, err := tx.Head(hit.Name)
		if errors.Is(err, store.ErrNotFound) {
			found = append(found, candidate{ranked: hit, gone: true})
			return nil
		}
		if err != nil {
			return err
		}
		content, err := contentOf(tx, v)
		summary := Summary{Version: v, Name: hit.Name, Path: v.Record.Path}
		if described {
			summary = Summarize(tx, v)
		}
		found = append(found, candidate{Summary: summary, content: content, ranked: hit})
		return err
	})
	return found, err
}

// isLate reports whether a candidate has changed since it was indexed, which is left to the scan.
func (c *catchUp) isLate(of *candidate) bool {
	return of.Version.Position > c.position && of.Version.Position <= c.end
}

// filtered asks the index and leaves out the hits whose bodies do not have what is
// wanted, which the index does not know: words in a row. While the index is
// behind, it also leaves out what has changed since, which a scan finds. Its pages
// fit together as those of the index do. The total is exact once all candidates were read, else an
// estimate by those that were. After scanTime it returns what it has, and sets
// c.incomplete.
func (c *catchUp) filtered(
	ctx context.Context, x *index.Index, request *SearchRequest, ask index.Request,
) (result index.Result, err error) {
	s := sifted{ranked: ranked{catchUp: c, first: firstRead}, index: x, ask: ask, filter: newPhraseFilter(request)}
	s.stale = c.behind() > 0 && !request.IndexedOnly
	if s.filter == nil && !s.stale {
		return x.Search(ctx, ask)
	}
	s.described = s.filter != nil && len(s.filter.finder.phrases) > 0
	s.pageEnd = ask.Offset + ask.Limit
	s.all = request.All || request.Pattern != nil && len(ask.Facets) > 0 // which the index cannot count
	// Hits that are scanned do not know what they are like, and the best of near-duplicates may not pass.
	s.duplicates, s.ask.Duplicates = ask.Duplicates || s.stale, true
	s.ask.Offset, s.ask.Limit = 0, firstRead+min(s.pageEnd, mostRead)
	if request.isScan() {
		s.ask.Limit += mostRead/4 - firstRead // few may match
	}
	if result, err = x.Search(ctx, s.ask); err != nil {
		return index.Result{}, err
	}
	s.hits, s.isLast = result.Hits, len(result.Hits) < s.ask.Limit
	late, err := stream(ctx, &s, cmp.Or(c.until, c.enough(request)))
	if err != nil {
		return index.Result{}, err
	}
	c.incomplete, c.unread = c.incomplete || late, max(result.Total, uint64(s.read))-uint64(s.read)
	if request.Pattern != nil && len(request.Facets) > 0 {
		result.Facets, err = s.facets(ctx, request.Facets)
	}
	result.Worth = nil // of texts that were read for it no passage is better than another
	hits, isAll := s.collapsed.Hits, !late && !s.isEnough()
	result.Hits = hits[min(ask.Offset, len(hits)):min(s.pageEnd, len(hits))]
	result.Total = s.total(result.Total, len(s.passed), isAll)
	result.TotalAll = s.total(result.TotalAll, s.passedAll, isAll)
	return result, err
}

// A sifted is what the index ranks, with the bodies read.
type sifted struct {
	ranked
	index      *index.Index
	ask        index.Request // with the page of the index that is read
	isLast     bool          // it is the last
	filter     *phraseFilter // nil: all pass
	stale      bool          // a scan finds what was put after c.position
	pageEnd    int           // hits up to the end of the page
	duplicates bool          // are hits of their own
	all        bool          // all hits are read, though the page is full

	passed    []index.Hit
	passedAll int             // of these, with every word
	collapsed index.Collapser // has the hits of them
}

func (s *sifted) next(ctx context.Context) (batch []candidate, more bool, err error) {
	if len(s.hits) == 0 && !s.isLast {
		s.ask.Offset, s.ask.Limit, s.ask.Facets = s.ask.Offset+s.ask.Limit, min(4*s.ask.Limit, mostRead), nil
		result, err := s.index.Search(ctx, s.ask)
		if err != nil {
			return nil, false, err
		}
		s.hits, s.isLast = result.Hits, len(result.Hits) < s.ask.Limit
	}
	batch, more, err = s.ranked.next(ctx)
	return batch, more || !s.isLast, err
}

func (s *sifted) passes(c *candidate) (bool, error) {
	isHit := !c.gone && !(s.stale && s.isLate(c))
	if !isHit || s.filter == nil {
		return isHit, nil
	}
	texts, err := c.texts()
	return err == nil && s.filter.passes(texts), err
}

func (s *sifted) keep(passed []candidate) {
	for _, c := range passed {
		if c.ranked.All {
			s.passedAll++
		}
		if s.passed = append(s.passed, c.ranked); s.duplicates {
			s.collapsed.Hits = s.passed
		} else {
			s.collapsed.Add(c.ranked)
		}
	}
}

// isEnough reports whether the page is full, and the total known well enough.
func (s *sifted) isEnough() bool {
	return !s.all && len(s.collapsed.Hits) >= s.pageEnd && s.read >= leastRead
}

// total returns the number of hits, or about how many there are, by those that have passed.
func (s *sifted) total(candidates uint64, passed int, isAll bool) uint64 {
	if isAll || s.read == 0 || candidates <= uint64(s.read) {
		return uint64(passed)
	}
	rest := float64(candidates-uint64(s.read)) * float64(passed) / float64(s.read)
	return uint64(passed) + uint64(math.Ceil(rest))
}

// facets counts the values of fields in what has passed: nothing else is of a time that is to come.
func (s *sifted) facets(ctx context.Context, fields []index.Facet) (map[index.Facet][]index.FacetCount, error) {
	ask := index.Request{Facets: fields, Lifted: map[record.Name]int{}}
	ask.Since = time.Now().Add(never)
	for _, hit := range s.passed {
		ask.Lifted[hit.Name] = 1
	}
	result, err := s.index.Search(ctx, ask)
	return result.Facets, err
}

// addScanned adds what the index does not know behind the ranked hits: heads
// that came after its position, and, if the request wants history, versions that are
// current no more.
func (f *finder) addScanned(ctx context.Context, answer *SearchAnswer, c *catchUp) error {
	if f.request.IndexedOnly || c.behind() == 0 && !f.request.History {
		return nil
	}
	s := scan{finder: f, from: c.end, stop: c.position, indexed: c.position, seen: map[record.Ref]bool{}}
	s.filter = newPhraseFilter(f.request)
	if f.request.History {
		s.stop = 0
	}
	// A ranked hit that lost its head meanwhile keeps its place on the page.
	skip := max(0, f.request.Offset-int(answer.Total))
	s.most = skip + max(0, f.request.Limit-max(0, int(answer.Total)-f.request.Offset))
	late, err := stream(ctx, &s, cmp.Or(f.scanUntil, c.enough(f.request)))
	if err != nil {
		return err
	}
	answer.Total, answer.TotalAll = answer.Total+uint64(s.matched), answer.TotalAll+uint64(s.all)
	answer.ScanIncomplete = answer.ScanIncomplete || late
	hits, err := f.hits(ctx, s.best[min(skip, len(s.best)):])
	answer.Hits = append(answer.Hits, hits...)
	return err
}

// A scan is what the log has, backwards, from next down to behind stop.
type scan struct {
	*finder
	from, stop uint64
	indexed    uint64              // heads up to here were ranked
	seen       map[record.Ref]bool // candidates; a version that was put back is put twice
	filter     *phraseFilter       // what a hit has and has not, besides terms
	most       int                 // hits worth keeping
	matched    int
	all        int         // of them, with every word of the query
	best       []candidate // the best first
}

// next returns versions that pass the filters.
func (s *scan) next(ctx context.Context) (batch []candidate, more bool, err error) {
	size, anyKind := int64(0), len(s.request.Kinds) == 0
	visit := func(tx *store.Tx, e store.Entry, v store.Version, isHead bool) (bool, error) {
		isKnown := isHead && e.Position <= s.indexed || !isHead && !s.request.History || s.seen[v.Ref]
		if isKnown || v.Record.IsConflict() || anyKind && index.IsQuiet(v.Record.Name.Kind) {
			return false, nil
		}
		c := candidate{Summary: Summarize(tx, v), scanned: true, older: !isHead}
		if anyKind && isPrompt(c.Description) {
			return false, nil
		}
		s.seen[v.Ref] = true
		c.content, err = contentOf(tx, v)
		batch, size = append(batch, c), size+min(v.Record.Size, indexedText)
		return size > scanBatch, err
	}
	err = s.eachPut(ctx, &s.from, s.stop, &s.request.Filter, visit)
	return batch, s.from > s.stop, err
}

// passes counts the distinct terms in what the index would have of c, and finds out
// whether it can be a hit.
func (s *scan) passes(c *candidate) (bool, error) {
	if len(s.terms) == 0 && s.filter == nil && len(s.request.Without) == 0 {
		return true, nil
	}
	texts, err := c.texts()
	if err != nil {
		return false, err
	}
	analyzer := s.analyzer()
	defer s.analyzers.Put(analyzer)
	var matches []match
	for _, text := range texts {
		matches = append(matches, findMatches(analyzer, text, s.terms)...)
	}
	c.terms = distinct(matches, len(s.terms))
	isFound := c.terms > 0 || len(s.terms) == 0 || s.request.Pattern != nil
	return isFound && !excludes(analyzer, s.request.Without, texts) && s.filter.passes(texts), nil
}

// keep keeps the best, as many as are worth it.
func (s *scan) keep(passed []candidate) {
	words := len(queryTerms(s.request.Query))
	for _, c := range passed {
		if s.matched++; c.terms == words {
			s.all++
		}
	}
	s.best = append(s.best, passed...)
	slices.SortStableFunc(s.best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.terms, a.terms), cmp.Compare(b.Version.Position, a.Version.Position))
	})
	s.best = s.best[:min(len(s.best), s.most)]
}

func (s *scan) isEnough() bool { return false }

// distinct counts the terms that have at least one match.
func distinct(matches []match, count int) int {
	seen, n := make([]bool, count), 0
	for _, m := range matches {
		if !seen[m.term] {
			seen[m.term] = true
			n++
		}
	}
	return n
}
