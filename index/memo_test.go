package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A memo must be a map, whatever the runs are.
func TestMemoIsAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	m, want := newMemo(), make(map[string][]piece)
	for range 50_000 {
		run := make([]byte, 1+random.IntN(maxTerm), 80) // what follows the run in a text must not matter
		for i := range run {
			run[i] = byte(random.IntN(3)) // many have the same first word; some are zeros
		}
		copy(run[len(run):cap(run)], fmt.Sprint(random.Uint64()))
		if random.IntN(2) == 0 {
			run = slices.Clip(run)
		}
		got, place, known := m.find(run)
		pieces, wantKnown := want[string(run)]
		if known != wantKnown || !slices.Equal(got, pieces) {
			t.Fatalf("find(%q): got %v, %v, want %v, %v", run, got, known, pieces, wantKnown)
		}
		if known {
			continue
		}
		switch random.IntN(3) {
		case 0: // a stop word
		case 1:
			pieces = []piece{{term: random.Uint32(), end: uint32(len(run))}}
		case 2:
			pieces = []piece{{term: random.Uint32(), end: 1}, {term: 7, start: 1, end: 2, position: 1}}
		}
		m.add(run, place, pieces)
		want[string(run)] = pieces
	}
	if m.count != len(want) || 3*m.count > 2*len(m.slots) {
		t.Errorf("%d runs in %d slots, want %d in more", m.count, len(m.slots), len(want))
	}
}
