package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		in                sample
		median, low, high float64
	}{
		{nil, 0, 0, 0},
		{sample{4}, 4, 4, 4},
		{sample{9, 1, 5}, 5, 1, 9},
		{sample{9, 1, 5, 6}, 5.5, 1, 9},
		{sample{2, 2, 2, 100}, 2, 2, 100},
	} {
		before := append(sample{}, test.in...)
		if got := test.in.median(); got != test.median {
			t.Errorf("median of %v: got %v, want %v", test.in, got, test.median)
		}
		if low, high := test.in.bounds(); low != test.low || high != test.high {
			t.Errorf("bounds of %v: got %v, %v, want %v, %v", test.in, low, high, test.low, test.high)
		}
		if diff := cmp.Diff(before, append(sample{}, test.in...)); diff != "" {
			t.Errorf("median changed its sample: -before +after\n%s", diff)
		}
	}
}

func TestInTurns(t *testing.T) {
	var order []string
	step := func(name string, value float64) side {
		return side{
			name:    name,
			prepare: func(context.Context) error { order = append(order, "prepare "+name); return nil },
			run: func(context.Context) (float64, error) {
				order = append(order, name)
				value++
				return value, nil
			},
		}
	}
	lacking := side{name: "lacking", tool: "no-such-tool-anywhere", run: func(context.Context) (float64, error) {
		return 0, errors.New("ran without its tool")
	}}
	got, err := inTurns(t.Context(), 2, step("a", 0), lacking, step("b", 10))
	if err != nil {
		t.Fatal(err)
	}
	// The first round warms up and does not count.
	if diff := cmp.Diff([]sample{{2, 3}, nil, {12, 13}}, got); diff != "" {
		t.Errorf("samples: -want +got\n%s", diff)
	}
	round := "prepare a,a,prepare b,b"
	if want := strings.Join([]string{round, round, round}, ","); strings.Join(order, ",") != want {
		t.Errorf("order: got %v, want %s", order, want)
	}
}

// TestInTurnsGoesOn makes one side fail in its second run.
func TestInTurnsGoesOn(t *testing.T) {
	broken, runs := errors.New("broken"), 0
	got, err := inTurns(t.Context(), 3,
		side{name: "fails", run: func(context.Context) (float64, error) {
			if runs++; runs == 2 {
				return 0, broken
			}
			return 1, nil
		}},
		side{name: "works", run: func(context.Context) (float64, error) { return 2, nil }})
	if diff := cmp.Diff([]sample{nil, {2, 2, 2}}, got); diff != "" {
		t.Errorf("samples: -want +got\n%s", diff)
	}
	if !errors.Is(err, broken) || runs != 2 {
		t.Errorf("got %v after %d runs of what fails, want %v after 2", err, runs, broken)
	}
}

func TestInTurnsEndsWithAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	_, err := inTurns(ctx, 3, side{name: "x", run: func(context.Context) (float64, error) {
		runs++
		cancel()
		return 0, nil
	}})
	if !errors.Is(err, context.Canceled) || runs != 1 {
		t.Errorf("got %v after %d runs, want %v after 1", err, runs, context.Canceled)
	}
}

func TestInTurnsNamesTheSideThatFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := inTurns(t.Context(), 1, side{name: "cp -r", run: func(context.Context) (float64, error) { return 0, broken }})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "cp -r") {
		t.Errorf("error: got %v, want one of cp -r that is %v", err, broken)
	}
	_, err = inTurns(t.Context(), 1, side{name: "x", prepare: func(context.Context) error { return broken }})
	if !errors.Is(err, broken) {
		t.Errorf("error of prepare: got %v, want %v", err, broken)
	}
}

func TestTimed(t *testing.T) {
	broken := errors.New("broken")
	value, err := timed(func(context.Context) error { return broken })(t.Context())
	if value < 0 || !errors.Is(err, broken) {
		t.Errorf("got %v, %v, want a time and %v", value, err, broken)
	}
}
