package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"filebus/store/record"
)

// A candidate is a document that matches, on its way to become a hit.
type candidate struct {
	number uint64
	score  float64
	facts  facts
	name   string // filled in where it is needed
}

// page returns the candidates that become the hits of a page, each with the
// near-duplicates that stand behind it.
func (s *search) page(request *Request) ([]standing, error) {
	offset, limit := max(request.Offset, 0), request.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	if offset >= len(s.matched) {
		return nil, nil
	}
	end := offset + min(limit, len(s.matched)-offset)
	if request.Duplicates {
		candidates, err := s.best(end, offset)
		var page []standing
		for _, c := range candidates[min(offset, len(candidates)):] {
			page = append(page, standing{candidate: c})
		}
		return page, err
	}
	hits, err := s.collapsed(end)
	return hits[min(offset, len(hits)):min(end, len(hits))], err
}

// collapsed returns at least the first count hits, if there are so many. It
// takes more and more of the best matches, so that it reads the facts of few
// where few are alike.
func (s *search) collapsed(count int) ([]standing, error) {
	const slack = 10 // how many matches beyond those of the page are looked at for near-duplicates at first
	for taken := count + slack; ; taken *= 4 {
		taken = min(taken, len(s.matched))
		candidates, err := s.best(taken, 0)
		if err != nil {
			return nil, err
		}
		hits, err := collapse(candidates)
		if err != nil || len(hits) >= count || taken == len(s.matched) {
			return hits, err
		}
	}
}

// hits makes hits of a page, with the names of what stands behind them.
func (s *search) hits(page []standing) ([]Hit, error) {
	var hits []Hit
	for i := range page {
		c := &page[i]
		hit := Hit{Position: c.facts.position, Length: c.facts.lengths[fieldBody], All: s.every.passes(c.number)}
		if !s.newest {
			hit.Lifted = int(c.score / liftBy)
			hit.Score = max(c.score-float64(hit.Lifted*liftBy), 0)
		}
		var err error
		if hit.Fingerprint, err = c.facts.fingerprint(); err != nil {
			return nil, err
		}
		if hit.Name, err = s.name(&c.candidate); err != nil {
			return nil, err
		}
		for j := range c.behind {
			name, err := s.name(&c.behind[j])
			if err != nil {
				return nil, err
			}
			hit.Like = append(hit.Like, name)
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

// name returns the name of a candidate.
func (s *search) name(c *candidate) (record.Name, error) {
	if err := s.fillName(c); err != nil {
		return record.Name{}, err
	}
	name, err := record.ParseName(c.name)
	if err != nil {
		return name, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return name, nil
}

// best returns the first count matches, those from offset on in their order.
func (s *search) best(count, offset int) ([]candidate, error) {
	least := s.least(count)
	out := make([]candidate, 0, count)
	for i, score := range s.scores {
		if score < least {
			continue
		}
		facts, err := s.facts.read(s.matched[i])
		if err = cmp.Or(err, s.ctx.Err()); err != nil {
			return nil, err
		}
		out = append(out, candidate{number: s.matched[i], score: score, facts: facts})
	}
	if err := s.order(out, offset, count); err != nil {
		return nil, err
	}
	return out[:count], nil
}

// least returns the lowest of the count highest scores of matches.
func (s *search) least(count int) float64 {
	highest, least := make([]float64, 0, 2*count), math.Inf(-1)
	for _, score := range slices.Backward(s.scores) { // the newest are often last
		if score > least {
			highest = append(highest, score)
		}
		if len(highest) == 2*count {
			slices.Sort(highest)
			highest = highest[:copy(highest, highest[count:])]
			least = highest[0]
		}
	}
	slices.Sort(highest)
	return highest[len(highest)-count]
}

// order sorts candidates by score, time and name. Names are read only where they
// are needed: for what ties with a part of what is between offset and end.
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
		if tied := candidates[start:stop]; stop > offset && len(tied) > 1 {
			for i := range tied {
				if err := s.fillName(&tied[i]); err != nil {
					return err
				}
			}
			slices.SortFunc(tied, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
		}
		start = stop
	}
	return nil
}

// fillName reads the name of a candidate, unless it is known.
func (s *search) fillName(c *candidate) (err error) {
	if c.name == "" {
		c.name, err = s.facts.name(c.number)
	}
	return err
}

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
		err := postings(s.ctx, s.state, f.name, term.text, true, func(n, frequency uint64, _ float64) {
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
	found, err := s.weigh(term.text)
	for at, n := range found.documents {
		if i, wanted := place[n]; wanted {
			points := Points{Term: term.text, Score: term.points(found.weights[at]), Rarity: term.rarity, Fields: fields[n]}
			hits[i].Points = append(hits[i].Points, points)
		}
	}
	return err
}
