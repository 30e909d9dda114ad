package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRuns holds where runs begin: they are few, and those of a log that has grown are the same up to
// where some became one, or the last was full.
func TestRuns(t *testing.T) {
	t.Parallel()
	for end, want := range map[uint64][]uint64{
		0: {0}, 2047: {0}, 2048: {0, 2048}, 5000: {0, 2048, 4096}, 8192: {0, 8192}, 10240: {0, 8192, 10240},
		131072: {0, 131072}, 300_000: {0, 131072, 262144, 294912, 296960, 299008},
	} {
		if got := runsOf(end); !slices.Equal(got, want) {
			t.Errorf("runs of a log of %d entries begin at %d, want %d", end, got, want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		end := random.Uint64N(5_000_000)
		runs := runsOf(end)
		if most := int(end/runMost) + 11; len(runs) > most || !slices.IsSorted(runs) || runs[0] != 0 {
			t.Fatalf("runs of a log of %d entries: %d, want at most %d in order", end, runs, most)
		}
		position := random.Uint64N(end + 10)
		if i := runAt(runs, position); runs[i] > position || i+1 < len(runs) && runs[i+1] <= position {
			t.Fatalf("position %d is said to be in run %d of %d", position, i, runs)
		}
	}
}
