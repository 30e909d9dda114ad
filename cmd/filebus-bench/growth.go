package main

import (
	"fmt"
	"strings"
)

// planGrowth measures stores of growing size, in turns: what a put, a search and an
// idle sync take, and what memory and disk. A size that
// cannot be filled is a row that says so, and the smaller ones are measured.
func planGrowth(a *attempt) []comparison {
	stores, err := a.growingStores()
	var all []comparison
	for _, m := range growthMeasures() {
		all = append(all, m.compare(a.runs, stores))
	}
	filled := func(a *attempt) figures { a.check(err); return nil }
	return append(all, comparison{sides: []side{{name: "growth", run: filled}}})
}

// A growthMeasure is measured in stores of each size.
type growthMeasure struct {
	what, unit string
	turns      int                         // for each run that the options ask for
	run        func(g *growth) measurement // nil: filling the store has shown it
	limit      string                      // a ratio is to the smallest store
}

func growthMeasures() []growthMeasure {
	return []growthMeasure{
		{"put", "ms", 4, (*growth).put, "≤ 1.25 × the first: flat"},
		{"search", "ms", 8, func(g *growth) measurement {
			return whole(eachTurn(g.queries, g.w.search))
		}, "≤ 2 × the first"},
		{"search in a mirrored workspace", "ms", 4, func(g *growth) measurement {
			return whole(eachTurn(g.queries, g.mirror.search))
		}, ""},
		{"idle sync", "ms", 2, func(g *growth) measurement { return whole(always(g.mirror.command("sync"))) }, ""},
		{"peak memory of indexing", "MB", 0, nil, "all ≤ 600 MB"},
		{"capture", "records/s", 0, nil, ""},
		{"indexing", "records/s", 0, nil, ""},
		{"texts", "bytes/record", 0, nil, ""},
		{"store on disk", "bytes/record", 0, nil, ""},
		{"index on disk", "bytes/record", 0, nil, ""},
	}
}

// compare compares the stores by the measure. Searches are also compared with those
// in a tenth of the records.
func (m *growthMeasure) compare(runs int, stores []*growth) comparison {
	all := comparison{turns: m.turns * runs}
	for i, g := range stores {
		s := side{name: g.figure(m.what), unit: m.unit, limit: m.limit}
		if i > 0 {
			s.over = stores[0].figure(m.what)
		} else if strings.Contains(m.limit, "×") {
			s.limit = ""
		}
		if m.run == nil {
			s.run = func(*attempt) figures { return figures{"": g.filled[m.what]} }
		} else {
			s.run = m.run(g)
		}
		all.sides = append(all.sides, s)
		if i > 1 && m.what == "search" {
			tenth := stores[i-1].figure(m.what)
			all.lines = append(all.lines, line{s.name, m.unit, s.name + ", against a tenth", tenth, m.limit})
		}
	}
	return all
}

// growthSizes returns 1000, 10000, ... up to most, at least the first.
func growthSizes(most int) []int {
	sizes := []int{1000}
	for n := 10000; n <= most; n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}

// A growth is a store of one size.
type growth struct {
	w       *workspace
	mirror  *workspace // whose files are the mirror of its store
	records int
	source  *freshFile
	queries [][]string
	filled  figures // what filling it took
}

// figure returns the name of one of its figures.
func (g *growth) figure(what string) string { return fmt.Sprintf("%s, %d records", what, g.records) }

// growingStores fills a store for each size up to the greatest that is asked
// for. Beside an error it returns those that are full.
func (a *attempt) growingStores() (stores []*growth, err error) {
	for _, n := range growthSizes(a.growthMax) {
		fmt.Fprintf(a.progress, "  filling a store with %d records\n", n)
		part := &attempt{bench: a.bench, ctx: a.ctx}
		g := part.grow(n, stores)
		if part.err != nil {
			return stores, fmt.Errorf("%d records: %w", n, part.err)
		}
		stores = append(stores, g)
	}
	return stores, nil
}

// grow makes the stores of one size. All sizes are asked for the same words.
func (a *attempt) grow(n int, smaller []*growth) *growth {
	next := newGenerator(a.seed).next
	if a.small {
		next = newGenerator(a.seed).small
	}
	texts, w := a.corpusOf(next, upTo(n)), a.workspace(a.program)
	g := &growth{w: w, records: n, source: w.freshFile(results(a.seed + uint64(n)))}
	if len(smaller) == 0 {
		g.queries = a.queries(texts, queriesPerTurn)
	} else {
		g.queries = smaller[0].queries
	}
	a.fill(g, texts)
	// What counts here is the number of files.
	g.mirror = a.mirrored(newGenerator(a.seed).small, min(n, mirrorMost))
	a.run(g.mirror.command(firstSearch()...))
	return g
}

// mirrorMost is the greatest number of mirrored files that growth makes: more
// would take longer than all other suites together.
const mirrorMost = 100_000

// fill captures the texts and lets a search index them, and keeps what that took.
func (a *attempt) fill(g *growth, texts *corpus) {
	captured := a.run(g.w.command("capture", "--tree", "made", texts.dir))
	indexed := a.runForPeak(g.w.command(firstSearch()...))
	store, index := a.sizes(g.w)
	records := float64(g.records)
	g.filled = figures{
		"capture":                 {records / captured.Elapsed.Seconds()},
		"indexing":                {records / indexed.Elapsed.Seconds()},
		"peak memory of indexing": indexed.megabytes(),
		"texts":                   {float64(texts.bytes) / records},
		"store on disk":           {float64(store) / records},
		"index on disk":           {float64(index) / records},
	}
}

func (g *growth) put() measurement {
	return func(a *attempt) figures {
		g.source.write(a)
		return whole(always(g.source.put(g.w)))(a)
	}
}
