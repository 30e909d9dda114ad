package index

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A history is a way to bring the same documents into an index.
type history struct {
	name  string
	apply func(t *testing.T, dir string, documents []*Document)
}

// batched applies documents n at a time, in one writer.
func batched(n int) func(*testing.T, string, []*Document) {
	return func(t *testing.T, dir string, documents []*Document) {
		w := openWriter(t, dir)
		position := uint64(0)
		for part := range slices.Chunk(puts(documents...), n) {
			position += uint64(len(part))
			if err := w.Apply(t.Context(), part, position); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// edited applies other texts first, deletes and replaces them, adds documents
// that do not stay, and opens the index anew all the time.
func edited(t *testing.T, dir string, documents []*Document) {
	others := generate(len(documents), 99)
	apply(t, dir, puts(others[:150]...), 1)
	var deleted []Change
	for i := range 60 {
		deleted = append(deleted, Change{Name: others[2*i].Name})
	}
	apply(t, dir, deleted, 2)
	apply(t, dir, append(puts(others[20:40]...), remove("never/there.md")), 3)
	apply(t, dir, puts(generate(260, 5)...), 4)
	apply(t, dir, puts(documents[100:]...), 5)
	deleted = nil
	for _, d := range generate(260, 5)[len(documents):] {
		deleted = append(deleted, Change{Name: d.Name})
	}
	// Twice the same name in one call: the last change counts.
	apply(t, dir, append(deleted, append(puts(others[:100]...), puts(documents[:100]...)...)...), 6)
	apply(t, dir, append(puts(others[7]), Change{Name: others[7].Name}), 7)
	apply(t, dir, puts(documents[7]), 8)
}

var exactQueries = []string{
	"token", "budget", "session queue", "parseHeader", "jwt.go", "検索 cache retry", "token token index",
	"read file error in the parser", "nothing matches this",
}

// Names, order and scores must not depend on how an index came to be.
func TestExactScores(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	documents := generate(200, 1)
	histories := []history{
		{"one batch", batched(1000)}, {"batches of 10", batched(10)}, {"single documents", batched(1)}, {"edited", edited},
	}
	var want map[string]Result
	for _, h := range histories {
		dir := t.TempDir()
		h.apply(t, dir, documents)
		x := open(t, dir)
		got := map[string]Result{}
		for _, query := range exactQueries {
			got[query] = find(t, x, Request{Query: query, Limit: 1000})
		}
		if x.totals.Documents != 200 {
			t.Errorf("%s: %d documents, want 200", h.name, x.totals.Documents)
		}
		if want == nil {
			want = got
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: other hits than %s: -want +got\n%.2000s", h.name, histories[0].name, diff)
		}
	}
	if got := len(want["token"].Hits); got < 100 {
		t.Errorf("only %d hits for the most frequent word: the test is empty", got)
	}
}

// The score is BM25 over the weighted sum of the fields, computed here by hand.
func TestScoreFormula(t *testing.T) {
	t.Parallel()
	titled := note("one", "marker alpha alpha beta")
	titled.Title = "alpha"
	x := build(t, titled, note("two", "alpha gamma"), note("three", "delta epsilon zeta"))
	bodies, titles := (4.0+2+3)/3, 1.0
	weight := func(tf, length, average, boost float64) float64 {
		return boost * tf / (1 - lengthBias + lengthBias*length/average)
	}
	rarity := math.Log(1 + (3-2+0.5)/(2+0.5))
	score := func(w float64) float64 { return rarity * w * (saturation + 1) / (w + saturation) }
	want := map[string]float64{
		"one": score(weight(1, 1, titles, scored[fieldTitle].weight) + weight(2, 4, bodies, 1)),
		"two": score(weight(1, 2, bodies, 1)),
	}
	for _, hit := range find(t, x, Request{Query: "alpha"}).Hits {
		if math.Abs(hit.Score-want[hit.Name.ID]) > 1e-9 {
			t.Errorf("score of %s is %v, want %v", hit.Name.ID, hit.Score, want[hit.Name.ID])
		}
		delete(want, hit.Name.ID)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// A call larger than a chunk is several batches at once, with the same result.
func TestLargeApply(t *testing.T) {
	t.Parallel()
	var documents []*Document
	for i := range chunkDocuments + 900 {
		documents = append(documents, note(fmt.Sprint(i), fmt.Sprintf("word%d common", i%10)))
	}
	dir := t.TempDir()
	apply(t, dir, puts(documents...), 1)
	apply(t, dir, puts(documents[100:]...), 2) // all replaced, in the same way
	x := open(t, dir)
	if x.Position() != 2 || x.totals.Documents != uint64(len(documents)) {
		t.Errorf("position %d with %d documents, want 2 with %d", x.Position(), x.totals.Documents, len(documents))
	}
	result := find(t, x, Request{Query: "word3"})
	if want := uint64(len(documents) / 10); result.Total < want || result.Total > want+1 {
		t.Errorf("%d documents with word3, want about %d", result.Total, want)
	}
}
