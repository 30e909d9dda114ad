package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in     sample
		median float64
	}{
		{nil, 0},
		{sample{4}, 4},
		{sample{9, 1, 5}, 5},
		{sample{9, 1, 5, 6}, 5.5},
		{sample{2, 2, 2, 100}, 2},
	} {
		before := append(sample{}, test.in...)
		if got := test.in.median(); got != test.median {
			t.Errorf("median of %v: got %v, want %v", test.in, got, test.median)
		}
		if diff := cmp.Diff(before, append(sample{}, test.in...)); diff != "" {
			t.Errorf("median changed its sample: -before +after\n%s", diff)
		}
	}
}

// taken runs sides in turns and returns what they give.
func taken(t *testing.T, turns int, sides ...side) (figures, error) {
	t.Helper()
	found := figures{}
	failures := found.take(testAttempt(t, options{}), comparison{turns: turns, sides: sides})
	return found, errors.Join(failures...)
}

func TestTurns(t *testing.T) {
	t.Parallel()
	var order []string
	step := func(name string, value float64) side {
		return side{
			name:    name,
			prepare: func(*attempt) { order = append(order, "prepare "+name) },
			run: func(*attempt) figures {
				order = append(order, name)
				value++
				return figures{"": {value}, "both": {value, value}}
			},
		}
	}
	lacking := side{name: "lacking", tool: "no-such-tool-anywhere", run: func(*attempt) figures {
		return figures{"": {0}} // without its tool
	}}
	got, err := taken(t, 2, step("a", 0), lacking, step("b", 10))
	if !errors.Is(err, errMissing) {
		t.Errorf("a tool that is missing: got %v, want %v", err, errMissing)
	}
	// The first round warms up and does not count.
	want := figures{"a": {2, 3}, "b": {12, 13}, "both": {2, 2, 3, 3, 12, 12, 13, 13}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures: -want +got\n%s", diff)
	}
	round := "prepare a,a,prepare b,b"
	if want := strings.Join([]string{round, round, round}, ","); strings.Join(order, ",") != want {
		t.Errorf("order: got %v, want %s", order, want)
	}
}

func TestOnceCounts(t *testing.T) {
	t.Parallel()
	got, err := taken(t, 0, side{name: "x", run: func(*attempt) figures { return one(7) }})
	if diff := cmp.Diff(figures{"x": {7}}, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}

// TestTurnsGoOn makes one side fail in its second run, and one in its preparation.
func TestTurnsGoOn(t *testing.T) {
	t.Parallel()
	broken, runs := errors.New("broken"), 0
	got, err := taken(t, 3,
		side{name: "cp -r", run: func(a *attempt) figures {
			if runs++; runs == 2 {
				a.check(broken)
			}
			return one(1)
		}},
		side{name: "unprepared", prepare: func(a *attempt) { a.check(broken) },
			run: func(*attempt) figures { return one(3) }},
		side{name: "works", run: func(*attempt) figures { return one(2) }})
	if diff := cmp.Diff(figures{"works": {2, 2, 2}}, got); diff != "" {
		t.Errorf("figures: -want +got\n%s", diff)
	}
	if !errors.Is(err, broken) || runs != 2 || err.Error() != "cp -r: broken\nunprepared: broken" {
		t.Errorf("got %v after %d runs of what fails, want both failures after 2", err, runs)
	}
}

func TestTurnsEndWithAnInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	figures{}.take(&attempt{ctx: ctx}, comparison{turns: 3, sides: []side{{name: "x", run: func(*attempt) figures {
		runs++
		cancel()
		return nil
	}}}})
	if runs != 1 {
		t.Errorf("got %d runs, want 1", runs)
	}
}

func TestTimed(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	a := &attempt{}
	if got := timed(func(*attempt) error { return broken })(a)[""]; len(got) != 1 || !errors.Is(a.err, broken) {
		t.Errorf("got %v, %v, want a time and %v", got, a.err, broken)
	}
}

func TestAttemptStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	a := testAttempt(t, options{})
	first, steps := errors.New("first"), 0
	a.check(first)
	a.check(errors.New("second"))
	a.step(func() error { steps++; return nil })
	if a.folder("x") != "" || a.run(command{args: []string{"no-such-tool"}}).Elapsed != 0 || steps != 0 ||
		a.err != first {
		t.Errorf("got %v after %d steps, want %v after none", a.err, steps, first)
	}
}

func TestMeans(t *testing.T) {
	t.Parallel()
	got := figures{"a": {1, 2, 6}, "b": {4}}.means()
	if diff := cmp.Diff(figures{"a": {3}, "b": {4}}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
