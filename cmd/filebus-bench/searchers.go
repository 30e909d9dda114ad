package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// searcherTexts is how many texts are searched, at most.
	searcherTexts = 1000
	// searchesAtOnce is how many searches there are in a turn, whoever makes them.
	searchesAtOnce = 100
)

// runSearchers lets processes search at once while one puts without a pause, so
// that nearly every search has something to index first.
func runSearchers(ctx context.Context, b *bench) ([]row, error) {
	return b.searchAtOnce(ctx, 1, 2, 5, 10, 20, 50)
}

// searchAtOnce is runSearchers with any numbers of processes, the first of which
// the others are compared with.
func (b *bench) searchAtOnce(ctx context.Context, crowds ...int) ([]row, error) {
	s, err := b.newSearchRun(ctx)
	if err != nil {
		return nil, err
	}
	var sides []side
	searches, puts := make([]sample, len(crowds)), make([]sample, len(crowds))
	for i, n := range crowds {
		sides = append(sides, side{name: fmt.Sprintf("%d searchers", n), run: func(ctx context.Context) (float64, error) {
			found, put, err := s.once(ctx, n)
			searches[i], puts[i] = append(searches[i], found.each...), append(puts[i], put...)
			return found.rate, err
		}})
	}
	samples, err := inTurns(ctx, b.runs, sides...)
	var rows []row
	for i, n := range crowds {
		rate := measured(fmt.Sprintf("searches by %d processes at once beside a writer", n), "searches/s", samples[i])
		each := measured("one of these searches", "ms", searches[i])
		if i > 0 {
			rate, each = rate.over(samples[0]), each.over(searches[0])
		}
		rows = append(rows, rate.on("searches at once", "search", n),
			each.noneAbove(10_000, "none ≥ 10 s, when it gives up").on("search beside others", "search", n),
			measured("one of the puts meanwhile", "ms", puts[i]).on("search beside others", "put", n))
	}
	return rows, err
}

// A searchRun is the store of the suite.
type searchRun struct {
	b       *bench
	w       *workspace
	queries [][]string
	texts   *generator
	turn    atomic.Int64
}

func (b *bench) newSearchRun(ctx context.Context) (*searchRun, error) {
	texts, err := b.texts(min(b.docs, searcherTexts))
	if err != nil {
		return nil, err
	}
	w, err := b.newWorkspace("searchers")
	if err != nil {
		return nil, err
	}
	queries, err := texts.queries(queriesPerTurn, b.seed)
	if err != nil {
		return nil, err
	}
	return &searchRun{b: b, w: w, queries: queries, texts: newGenerator(b.seed + 2)}, b.fill(ctx, w, texts)
}

// A searched is what the searches of a turn took.
type searched struct {
	rate float64 // searches a second
	each sample  // milliseconds
}

// once lets n processes search at once, again and again, and one put until they are
// done. It returns what the searches took, and each put in milliseconds.
func (s *searchRun) once(ctx context.Context, n int) (searched, sample, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var done atomic.Bool
	var writer sync.WaitGroup
	var puts sample
	var putErr error
	writer.Go(func() {
		for !done.Load() && putErr == nil {
			var ms float64
			ms, putErr = s.put(ctx)
			puts = append(puts, ms)
		}
	})
	found, err := s.crowd(ctx, n)
	done.Store(true)
	writer.Wait()
	if err == nil {
		err = putErr
	}
	return found, puts, err
}

// crowd shares the searches of a turn among n that search at once.
func (s *searchRun) crowd(ctx context.Context, n int) (searched, error) {
	var left atomic.Int64
	left.Store(searchesAtOnce)
	each, errs := make([]sample, n), make([]error, n)
	var crowd sync.WaitGroup
	begin := time.Now()
	for i := range n {
		crowd.Go(func() {
			for left.Add(-1) >= 0 && errs[i] == nil {
				words := s.queries[int(s.turn.Add(1))%len(s.queries)]
				var ms float64
				ms, errs[i] = s.b.process(s.b.filebusIn(s.w, append([]string{"search"}, words...)...))(ctx)
				each[i] = append(each[i], ms)
			}
		})
	}
	crowd.Wait()
	found := searched{rate: searchesAtOnce / time.Since(begin).Seconds()}
	for i := range n {
		if errs[i] != nil {
			return found, errs[i]
		}
		found.each = append(found.each, each[i]...)
	}
	return found, nil
}

// put puts another text and returns what that took.
func (s *searchRun) put(ctx context.Context) (float64, error) {
	source := filepath.Join(s.w.dir, "source.md")
	if err := writeFile(source, s.texts.next().body); err != nil {
		return 0, err
	}
	return s.b.process(s.b.filebusIn(s.w, "put", "--conversation", "writer", source))(ctx)
}
