package query

import (
	"cmp"
	"context"
	"slices"
	"time"

	"filebus/index"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

const (
	scanTime  = 2 * time.Second // a scan goes on
	scanBatch = 4 << 20         // bytes of text that are scanned at a time
)

// addScanned adds what the index does not know behind the ranked hits: heads
// that came after position, and, if the request wants history, versions that are
// current no more.
func (f *finder) addScanned(ctx context.Context, answer *SearchAnswer, c *catchUp) error {
	position, end := c.position, c.end
	if f.request.IndexedOnly || position >= end && !f.request.History {
		return nil
	}
	s := scan{finder: f, next: end, stop: position, seen: make(map[record.Ref]bool)}
	if f.request.History {
		s.stop = 0
	}
	s.indexed, s.filter = position, newPhraseFilter(f.request)
	// A ranked hit that lost its head meanwhile keeps its place on the page.
	skip := max(0, f.request.Offset-int(answer.Total))
	room := max(0, f.request.Limit-max(0, int(answer.Total)-f.request.Offset))
	s.keep = skip + room
	if err := s.run(ctx, cmp.Or(f.scanUntil, c.enough(f.request))); err != nil {
		return err
	}
	answer.Total, answer.TotalAll = answer.Total+uint64(s.matched), answer.TotalAll+uint64(s.all)
	answer.ScanIncomplete = answer.ScanIncomplete || s.next > s.stop
	found := s.best[min(skip, len(s.best)):min(skip+room, len(s.best))]
	versions := markdown.Each(found, func(s scanned) rankedVersion { return s.rankedVersion })
	hits, err := f.hits(ctx, versions)
	for i := range hits {
		hits[i].Scanned, hits[i].Older = true, hits[i].Older || found[i].older
		if hits[i].Older {
			hits[i].FileLines = Span{} // the file has another text by now
		}
	}
	answer.Hits = append(answer.Hits, hits...)
	return err
}

// A scan looks through the log backwards, from next down to behind stop.
type scan struct {
	*finder
	next, stop uint64
	indexed    uint64              // heads up to here were ranked
	seen       map[record.Ref]bool // candidates; a version that was put back is put twice
	filter     *phraseFilter       // what a hit has and has not, besides terms
	keep       int                 // hits worth keeping
	matched    int
	all        int       // of them, with every word of the query
	best       []scanned // at most keep, the best first
}

// A scanned is a version that may match.
type scanned struct {
	rankedVersion
	older bool
	terms int  // distinct terms that it has
	out   bool // it lacks a phrase, or has what no hit has
}

// run scans until all is seen or the time is over.
func (s *scan) run(ctx context.Context, end time.Time) error {
	for s.next > s.stop && time.Now().Before(end) {
		candidates, err := s.gather(ctx)
		if err != nil {
			return err
		}
		if err := s.look(candidates); err != nil {
			return err
		}
	}
	return nil
}

// gather returns the next versions that pass the filters.
func (s *scan) gather(ctx context.Context) (found []scanned, err error) {
	size := int64(0)
	err = s.eachPut(ctx, &s.next, s.stop, func(tx *store.Tx, e store.Entry, v store.Version) (bool, error) {
		c, wanted, err := s.candidate(tx, e, v)
		if wanted && err == nil {
			found = append(found, c)
			size += min(v.Record.Size, indexedText)
		}
		return size > scanBatch, err
	})
	return found, err
}

// candidate returns what an entry put, and whether it can be a hit.
func (s *scan) candidate(tx *store.Tx, e store.Entry, v store.Version) (c scanned, wanted bool, err error) {
	kind, anyKind := v.Record.Name.Kind, len(s.request.Kinds) == 0
	if v.Record.IsConflict() || anyKind && index.IsQuiet(kind) || !s.request.Accepts(v.Record) {
		return c, false, nil
	}
	last, isHead, err := tx.Last(v.Record.Name)
	if err != nil {
		return c, false, err
	}
	older := !isHead || last.Ref != v.Ref
	if older && !s.request.History || !older && e.Position <= s.indexed || s.seen[v.Ref] {
		return c, false, nil
	}
	summary := Summarize(tx, v)
	if anyKind && isPrompt(summary.Description) {
		return c, false, nil
	}
	s.seen[v.Ref] = true
	content, err := contentOf(tx, v)
	return scanned{rankedVersion: rankedVersion{Summary: summary, content: content}, older: older}, true, err
}

// look counts the query's terms in candidates, on all cores, and keeps the best.
func (s *scan) look(candidates []scanned) error {
	err, words := parallel(len(candidates), func(i int) error { return s.count(&candidates[i]) }), len(queryTerms(s.request.Query))
	for _, c := range candidates {
		if !c.out && (c.terms > 0 || len(s.terms) == 0 || s.request.Pattern != nil) {
			if s.matched++; c.terms == words {
				s.all++
			}
			s.best = append(s.best, c)
		}
	}
	slices.SortStableFunc(s.best, func(a, b scanned) int {
		return cmp.Or(cmp.Compare(b.terms, a.terms), cmp.Compare(b.Version.Position, a.Version.Position))
	})
	s.best = s.best[:min(len(s.best), s.keep)]
	return err
}

// count counts the distinct terms in what the index would have of c, and finds out
// whether it can be a hit.
func (s *scan) count(c *scanned) error {
	if len(s.terms) == 0 && s.filter == nil && len(s.request.Without) == 0 {
		return nil
	}
	texts, err := c.texts()
	if err != nil {
		return err
	}
	analyzer := s.analyzer()
	defer s.analyzers.Put(analyzer)
	var matches []match
	for _, text := range texts {
		matches = append(matches, findMatches(analyzer, text, s.terms)...)
	}
	c.terms = distinct(matches, len(s.terms))
	c.out = excludes(analyzer, s.request.Without, texts) || !s.filter.passes(texts)
	return nil
}

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
