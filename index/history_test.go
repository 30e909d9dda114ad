package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"filebus/store/record"
)

// A random history of puts, deletions and reopenings must always leave what a
// map would hold, with the statistics of just these documents.
func TestRandomHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	generator := rand.New(rand.NewPCG(11, 12))
	dir := t.TempDir()
	texts := map[string]string{} // id to its one word
	for position := uint64(1); position <= 40; position++ {
		changes := randomChanges(generator, texts)
		w := openWriter(t, dir)
		if err := w.Apply(t.Context(), changes, position); err != nil {
			t.Fatalf("step %d, %d changes: %v", position, len(changes), err)
		}
		if got := w.totals.Documents; got != uint64(len(texts)) {
			t.Fatalf("step %d: %d documents, want %d", position, got, len(texts))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if position%8 == 0 {
			compare(t, dir, texts)
		}
	}
}

// randomChanges makes a few changes and makes them in texts too.
func randomChanges(generator *rand.Rand, texts map[string]string) []Change {
	var changes []Change
	for range generator.IntN(30) {
		id := fmt.Sprint("n", generator.IntN(60))
		if generator.IntN(3) == 0 {
			changes = append(changes, remove(id))
			delete(texts, id)
			continue
		}
		texts[id] = fmt.Sprint("word", generator.IntN(5))
		changes = append(changes, put(note(id, texts[id])))
	}
	return changes
}

// compare searches every word.
func compare(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	x, err := Open(dir, testStore)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(x.Close(), Verify(dir, testStore)); err != nil {
			t.Error(err)
		}
	}()
	for i := range 5 {
		word := fmt.Sprint("word", i)
		var want, got []string
		for id, text := range texts {
			if text == word {
				want = append(want, id)
			}
		}
		for _, hit := range find(t, x, Request{Query: word, Limit: 1000}).Hits {
			got = append(got, hit.Name.ID)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("hits for %s are %q, want %q", word, got, want)
		}
	}
	all := find(t, x, Request{Limit: 1000})
	if got, want := int(all.Total), len(slices.Collect(maps.Keys(texts))); got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
}

// Writers and readers that take turns, as the caller's lock makes them, must see
// each state whole: as many documents as its position says.
func TestReadersAndWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apply(t, dir, puts(note("0", "alpha")), 1)
	var lock sync.RWMutex
	var workers sync.WaitGroup
	workers.Go(func() {
		for position := uint64(2); position <= 15; position++ {
			lock.Lock()
			err := addOne(t.Context(), dir, position)
			lock.Unlock()
			if err != nil {
				t.Errorf("adding document %d: %v", position, err)
				return
			}
		}
	})
	for range 4 {
		workers.Go(func() {
			for range 15 {
				lock.RLock()
				err := countMatches(t, dir)
				lock.RUnlock()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	if x := open(t, dir); x.Position() != 15 {
		t.Errorf("position %d, want 15", x.Position())
	}
}

func addOne(ctx context.Context, dir string, position uint64) error {
	w, err := OpenWriter(dir, testStore)
	if err != nil {
		return err
	}
	return errors.Join(w.Apply(ctx, puts(note(fmt.Sprint(position), "alpha")), position), w.Close())
}

func countMatches(t *testing.T, dir string) error {
	x, err := Open(dir, testStore)
	if err != nil {
		return err
	}
	result, err := x.Search(t.Context(), Request{Query: "alpha"})
	if err == nil && result.Total != x.Position() {
		err = fmt.Errorf("%d documents at position %d", result.Total, x.Position())
	}
	return errors.Join(err, x.Close())
}

func TestSet(t *testing.T) {
	t.Parallel()
	const places = 130
	generator := rand.New(rand.NewPCG(5, 5))
	s := newSet(places)
	want := map[uint64]bool{}
	for range 40 {
		n := generator.Uint64N(places)
		s.add(n)
		want[n] = true
	}
	if got, want := slices.Collect(s.members()), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	for n := range uint64(places) {
		if s.has(n) != want[n] {
			t.Errorf("has(%d) = %v, want %v", n, s.has(n), want[n])
		}
	}
	f := new(filter)
	f.require(s)
	f.exclude(newSet(places))
	f.exclude(s)
	for n := range uint64(places) {
		if f.passes(n) {
			t.Errorf("%d passes a filter that requires and excludes it", n)
		}
	}
}

// Filters compare values, whatever they hold.
func TestFilterValues(t *testing.T) {
	t.Parallel()
	values := []string{"plain", "with space", "a\x00b", "ÄÖ", "\xff\xfe", "A", "a", "x/y:z"}
	var documents []*Document
	for i, value := range values {
		d := note(fmt.Sprint(i), "alpha")
		d.Session, d.Tags = value, []string{value}
		documents = append(documents, d)
	}
	x := build(t, documents...)
	for i, value := range values {
		for _, request := range []Request{{Filter: record.Filter{Sessions: []string{value}}},
			{Filter: record.Filter{Tags: []string{value}}}} {
			if got := names(find(t, x, request)); got != fmt.Sprint(i) {
				t.Errorf("Search(%+v) finds %q, want %d", request, got, i)
			}
		}
	}
	if got := find(t, x, Request{Filter: record.Filter{Sessions: values}}).Total; got != uint64(len(values)) {
		t.Errorf("any of all values finds %d, want %d", got, len(values))
	}
	if got := find(t, x, Request{Filter: record.Filter{Kinds: record.Kinds()}}).Total; got != uint64(len(values)) {
		t.Errorf("all kinds find %d, want %d", got, len(values))
	}
}
