package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A side is one of the things that are compared.
type side struct {
	name string
	tool string // the program that it needs, if any
	// prepare is called before each run and not measured. It may be nil.
	prepare func(ctx context.Context) error
	// run returns what was measured: milliseconds, where nothing else is said.
	run func(ctx context.Context) (float64, error)
}

// inTurns runs the sides alternately, each so many times, after one run of each
// that does not count. The sample of a side whose tool is missing is empty. So is
// that of a side that fails: the others go on without it, and the error, which
// joins those of all sides that failed, comes with the samples.
func inTurns(ctx context.Context, runs int, sides ...side) ([]sample, error) {
	samples, failed := make([]sample, len(sides)), make([]error, len(sides))
	for turn := -1; turn < runs; turn++ {
		for i, s := range sides {
			if failed[i] != nil || s.tool != "" && !hasTool(s.tool) {
				continue
			}
			value, err := s.once(ctx)
			if ctx.Err() != nil {
				return samples, ctx.Err()
			}
			if err != nil {
				samples[i], failed[i] = nil, fmt.Errorf("%s: %w", s.name, err)
			} else if turn >= 0 {
				samples[i] = append(samples[i], value)
			}
		}
	}
	return samples, errors.Join(failed...)
}

func (s *side) once(ctx context.Context) (float64, error) {
	if s.prepare != nil {
		if err := s.prepare(ctx); err != nil {
			return 0, err
		}
	}
	return s.run(ctx)
}

// timed makes a measurement of what takes time: it returns milliseconds.
func timed(run func(ctx context.Context) error) func(ctx context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		begin := time.Now()
		err := run(ctx)
		return milliseconds(time.Since(begin)), err
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A sample is what several runs of one side gave.
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

// bounds returns the least and the greatest value; 0 for an empty sample.
func (s sample) bounds() (least, greatest float64) {
	if len(s) == 0 {
		return 0, 0
	}
	return slices.Min(s), slices.Max(s)
}
