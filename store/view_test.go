package store_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"filebus/store"
)

// TestViewAll looks at all that several transactions list, and ends with what goes wrong.
func TestViewAll(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	stop := errors.New("stop")
	for _, test := range []struct{ most, bad int }{{0, -1}, {1, -1}, {2000, -1}, {2001, -1}, {6000, -1}, {6000, 0}, {6000, 2000}, {6000, 5999}} {
		views := map[*store.Tx]bool{}
		list := func(tx *store.Tx, from int) iter.Seq2[int, error] {
			views[tx] = true
			return func(yield func(int, error) bool) {
				for n := from; n < test.most && yield(n, nil); n++ {
				}
			}
		}
		seen := 0
		err := store.ViewAll(t.Context(), s, list, func(_ *store.Tx, n int) error {
			if n == test.bad {
				return stop
			}
			if n != seen {
				t.Fatalf("of %d: %d comes after %d", test.most, n, seen-1)
			}
			seen++
			return nil
		})
		want := test.most
		if test.bad >= 0 {
			want = test.bad
		}
		if seen != want || errors.Is(err, stop) != (test.bad >= 0) || test.bad < 0 && err != nil || len(views) != max(1, (min(want+1, test.most)+1999)/2000) {
			t.Errorf("of %d up to %d: looked at %d in %d transactions, %v", test.most, test.bad, seen, len(views), err)
		}
	}
}

// TestViewEach looks at more things than one transaction takes, and ends with what goes
// wrong at one of them.
func TestViewEach(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	numbers := make([]int, 5000)
	for i := range numbers {
		numbers[i] = i
	}
	stop := errors.New("stop")
	for _, last := range []int{0, 1999, 2000, 4999, 5000} {
		var seen []int
		views := map[*store.Tx]int{}
		err := store.ViewEach(t.Context(), s, numbers, func(tx *store.Tx, n int) error {
			seen = append(seen, n)
			views[tx]++
			if n == last {
				return stop
			}
			return nil
		})
		want := numbers[:min(last+1, len(numbers))]
		if !slices.Equal(seen, want) || errors.Is(err, stop) != (last < len(numbers)) {
			t.Errorf("up to %d: looked at %d of them, %v, want %d", last, len(seen), err, len(want))
		}
		if last == len(numbers) && len(views) < 2 {
			t.Errorf("all were looked at in %d transactions", len(views))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.ViewEach(ended, s, numbers, func(*store.Tx, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
}
