package index

import (
	"cmp"
	"slices"
)

// explain fills in the points of hits, of whose candidates page consists. Only
// the terms of the page's documents are kept; to have them for all would make
// every search slower.
func (s *search) explain(hits []Hit, page []standing, terms []queryTerm) error {
	place := make(map[uint64]int, len(page))
	for i, c := range page {
		place[c.number] = i
	}
	for i := range terms {
		if err := s.explainTerm(hits, place, &terms[i]); err != nil {
			return err
		}
	}
	for i := range hits {
		slices.SortStableFunc(hits[i].Points, func(a, b Points) int { return cmp.Compare(b.Score, a.Score) })
	}
	return nil
}

// explainTerm adds the points of one term. place has the hits by document
// number.
func (s *search) explainTerm(hits []Hit, place map[uint64]int, term *queryTerm) error {
	fields := make(map[uint64]map[string]int)
	for _, f := range scored {
		err := postings(s.ctx, s.reader, f.name, term.text, true, func(n, frequency uint64, _ float64) {
			if _, wanted := place[n]; !wanted {
				return
			}
			if fields[n] == nil {
				fields[n] = make(map[string]int)
			}
			fields[n][f.name] = int(frequency)
		})
		if err != nil {
			return err
		}
	}
	if err := s.weigh(term.text); err != nil {
		return err
	}
	for _, n := range s.found {
		if i, wanted := place[n]; wanted {
			points := Points{Term: term.text, Score: term.points(s.weights[n]), Rarity: term.rarity, Fields: fields[n]}
			hits[i].Points = append(hits[i].Points, points)
		}
		s.weights[n] = 0
	}
	return nil
}
