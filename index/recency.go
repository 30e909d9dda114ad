package index

import (
	"math"
	"slices"
	"time"
)

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
	for i, n := range s.matched {
		// In seconds: a duration holds no more than 292 years.
		age := float64(newest.Unix()-times[i].Unix()) + float64(newest.Nanosecond()-times[i].Nanosecond())/1e9
		s.scores[n] *= math.Exp2(-age / halfLife.Seconds())
	}
	return nil
}

// times sorts the matches by number, calls visit with the place and the time of
// each, and returns the newest time.
func (s *search) times(visit func(i int, t time.Time)) (newest time.Time, err error) {
	slices.Sort(s.matched) // the order in which facts are read fastest
	for i, n := range s.matched {
		if i%1024 == 0 && s.ctx.Err() != nil {
			return newest, s.ctx.Err()
		}
		facts, err := s.facts.read(n)
		if err != nil {
			return newest, err
		}
		if i == 0 || facts.time.After(newest) {
			newest = facts.time
		}
		visit(i, facts.time)
	}
	return newest, nil
}

// scoreTimes gives every match its time for a score, to find the newest by. A
// float is exact enough: equal ones are compared in full afterwards.
func (s *search) scoreTimes() error {
	_, err := s.times(func(i int, t time.Time) {
		s.scores[s.matched[i]] = float64(t.Unix()) + float64(t.Nanosecond())/1e9
	})
	return err
}
