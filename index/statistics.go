package index

import (
	"context"
	"time"
)

// Statistics are what scores are computed from: the numbers of documents, the
// lengths of the fields, and in how many documents the terms of a request are.
// Those of several indexes can be added, so that their scores compare. The zero
// value is that of an empty index.
type Statistics struct {
	totals totals
	having map[string]uint64 // documents that have a term, by term
	newest time.Time         // of the matches; zero without a half-life
}

// Add adds other to s.
func (s *Statistics) Add(other *Statistics) {
	s.totals.Documents += other.totals.Documents
	for i := range s.totals.Having {
		s.totals.Having[i] += other.totals.Having[i]
		s.totals.Lengths[i] += other.totals.Lengths[i]
	}
	if s.having == nil {
		s.having = make(map[string]uint64)
	}
	for term, n := range other.having {
		s.having[term] += n
	}
	if other.newest.After(s.newest) {
		s.newest = other.newest
	}
}

// Statistics returns those of the index for a request. They serve only requests
// of the same Query and More, and with a HalfLife only the same request; what
// they do not know of a term, each index counts by itself.
func (x *Index) Statistics(ctx context.Context, request Request) (*Statistics, error) {
	out := &Statistics{totals: x.totals, having: make(map[string]uint64)}
	return out, x.with(ctx, nil, func(s *search) error {
		terms := requestTerms(&request)
		if err := s.match(&request, terms); err != nil {
			return err
		}
		for _, term := range terms {
			out.having[term.text] = term.having
		}
		if request.HalfLife <= 0 {
			return nil
		}
		var err error
		out.newest, err = s.times(func(int, time.Time) {})
		return err
	})
}
