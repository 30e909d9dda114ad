package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"filebus/query"
)

// runGrowth measures put and search on stores of growing size, in turns.
func runGrowth(ctx context.Context, b *bench) ([]row, error) {
	stores, queries, err := b.growingStores(ctx)
	if err != nil {
		return nil, err
	}
	var sides []side
	for _, g := range stores {
		sides = append(sides, side{name: fmt.Sprintf("put at %d", g.records), prepare: g.fresh, run: g.put})
	}
	puts, err := inTurns(ctx, 4*b.runs, sides...)
	if err != nil {
		return nil, err
	}
	sides = nil
	for _, g := range stores { // the first search, which indexes what was put, does not count
		g.queries = queries
		sides = append(sides, side{name: fmt.Sprintf("search at %d", g.records), run: g.search})
	}
	found, err := inTurns(ctx, 8*b.runs, sides...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, g := range stores {
		put := measured(fmt.Sprintf("put, %d records", g.records), "ms", puts[i])
		search := measured(fmt.Sprintf("search, %d records", g.records), "ms", found[i])
		if i > 0 {
			put = put.over(puts[0]).ratioAtMost(1.25, "flat: ≤ 1.25 × the first")
			search = search.over(found[0]).ratioAtMost(2, "≤ 2 × the first")
		}
		warm := measured(fmt.Sprintf("search in process, %d records", g.records), "ms", g.warm)
		rows = append(rows, put, search, warm.over(stores[0].warm))
	}
	return rows, nil
}

// A growth is a store of one size.
type growth struct {
	b       *bench
	w       *workspace
	records int
	texts   *generator
	source  string
	queries [][]string
	turn    int
	warm    sample // milliseconds of searches within one process
}

// growingStores fills a store for each size up to the greatest that is asked
// for, and returns queries for all of them.
func (b *bench) growingStores(ctx context.Context) (stores []*growth, queries [][]string, err error) {
	for _, n := range growthSizes(b.growthMax) {
		texts, err := b.texts(n)
		if err != nil {
			return nil, nil, err
		}
		w, err := b.newWorkspace("growth")
		if err != nil {
			return nil, nil, err
		}
		if err := b.fill(ctx, w, texts); err != nil {
			return nil, nil, err
		}
		if queries == nil {
			if queries, err = texts.queries(queriesPerTurn, b.seed); err != nil {
				return nil, nil, err
			}
		}
		g := &growth{b: b, w: w, records: len(texts.files), texts: newGenerator(b.seed + uint64(n)), source: filepath.Join(w.dir, "source.md")}
		if err := g.warmSearches(ctx, queries); err != nil {
			return nil, nil, err
		}
		stores = append(stores, g)
	}
	return stores, queries, nil
}

// growthSizes returns 1000, 10000, ... up to most, at least the first.
func growthSizes(most int) []int {
	sizes := []int{1000}
	for n := 10000; n <= most; n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}

// warmSearches times searches within this process.
func (g *growth) warmSearches(ctx context.Context, queries [][]string) error {
	x, reader, err := g.w.open(ctx)
	if err != nil {
		return err
	}
	if err := x.Close(); err != nil {
		return err
	}
	for turn := -1; turn < g.b.runs; turn++ {
		for _, words := range queries {
			begin := time.Now()
			if _, err := reader.Search(ctx, query.SearchRequest{Query: joined(words)}); err != nil {
				return err
			}
			if turn >= 0 {
				g.warm = append(g.warm, milliseconds(time.Since(begin)))
			}
		}
	}
	return nil
}

func (g *growth) fresh(context.Context) error {
	return os.WriteFile(g.source, g.texts.sized(putSize).body, 0o666)
}

func (g *growth) put(ctx context.Context) (float64, error) {
	return g.b.process(g.b.filebusIn(g.w, "put", "--conversation", "bench", g.source))(ctx)
}

func (g *growth) search(ctx context.Context) (float64, error) {
	words := g.queries[g.turn%len(g.queries)]
	g.turn++
	return g.b.process(g.b.filebusIn(g.w, append([]string{"search"}, words...)...))(ctx)
}
