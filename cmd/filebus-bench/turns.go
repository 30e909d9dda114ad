package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A comparison is sides that run in turns.
type comparison struct {
	turns int // how often each side runs, after once that does not count; 0: once, and that counts
	sides []side
	lines []line // of the table, besides those of the sides
}

// pair compares the milliseconds that one side takes with those of another.
func pair(turns int, ours, theirs side, limit string) comparison {
	ours.over, ours.limit = theirs.name, limit
	return comparison{turns, []side{ours, theirs}, nil}
}

// allLines returns the lines of the table, those of the sides first.
func (c *comparison) allLines() []line {
	var lines []line
	for _, s := range c.sides {
		lines = append(lines, line{figure: s.name, unit: cmp.Or(s.unit, "ms"), over: s.over, limit: s.limit})
	}
	return append(lines, c.lines...)
}

// A side is one of the things that are compared.
type side struct {
	name    string           // also that of its figure
	tool    string           // the program that it needs, if any
	prepare func(a *attempt) // called before each run and not measured; nil: nothing is
	run     measurement
	unit    string // milliseconds, if it is empty
	over    string // see line
	limit   string
}

// A measurement does something once and returns what that took.
type measurement func(a *attempt) figures

// figures are values that were measured, by what they are of. In those of one
// measurement, an empty name stands for that of the side.
type figures map[string]sample

// one makes figures of one value.
func one(value float64) figures { return figures{"": {value}} }

// take runs the sides of a comparison alternately and adds what they give. A side
// that fails, or whose tool is missing, gives nothing: the others go on without it,
// and its error is among the failures.
func (f figures) take(a *attempt, c comparison) []error {
	found, failures := make([]figures, len(c.sides)), make([]error, len(c.sides))
	for turn := range c.turns + 1 {
		for i, s := range c.sides {
			if failures[i] != nil || a.ctx.Err() != nil {
				continue
			}
			got, err := s.once(&attempt{bench: a.bench, ctx: a.ctx})
			if err != nil {
				found[i], failures[i] = nil, fmt.Errorf("%s: %w", s.name, err)
			} else if turn > 0 || c.turns == 0 {
				found[i] = found[i].with(got, s.name)
			}
		}
	}
	for _, side := range found {
		f.with(side, "")
	}
	return failures
}

// with returns the figures with those of one more run of a side.
func (f figures) with(more figures, side string) figures {
	if f == nil {
		f = figures{}
	}
	for name, values := range more {
		name = cmp.Or(name, side)
		f[name] = append(f[name], values...)
	}
	return f
}

func (s *side) once(a *attempt) (figures, error) {
	if s.tool != "" && !hasTool(s.tool) {
		return nil, missing(s.tool)
	}
	if s.prepare != nil {
		s.prepare(a)
	}
	return s.run(a), a.err
}

// timed measures the milliseconds that something takes.
func timed(do func(a *attempt) error) measurement {
	return func(a *attempt) figures {
		begin := time.Now()
		a.step(func() error { return do(a) })
		return one(milliseconds(time.Since(begin)))
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A sample is what several runs gave.
type sample []float64

// median returns the middle value, or the mean of the two in the middle; 0 for
// an empty sample.
func (s sample) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// means returns the mean of each figure.
func (f figures) means() figures {
	means := figures{}
	for name, values := range f {
		means[name] = sample{values.mean()}
	}
	return means
}

// mean returns the mean value; 0 for an empty sample.
func (s sample) mean() float64 {
	sum := 0.0
	for _, value := range s {
		sum += value
	}
	return sum / max(1, float64(len(s)))
}
