package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"filebus/query"
)

// mirrorMost is the greatest number of mirrored files that growth makes: more
// would take longer than all other suites together.
const mirrorMost = 100_000

// runGrowth measures stores of growing size, in turns: what a put, a search, a
// look-up by tag and an idle sync take, and what memory and disk. A size that
// cannot be filled is an error, and the smaller ones are measured.
func runGrowth(ctx context.Context, b *bench) ([]row, error) {
	stores, failed := b.growingStores(ctx)
	if len(stores) == 0 {
		return nil, failed
	}
	var rows []row
	for _, m := range growthMeasures() {
		samples, err := m.take(ctx, b, stores)
		failed = errors.Join(failed, err)
		for i, g := range stores {
			r := measured(fmt.Sprintf("%s, %d records", m.what, g.records), m.unit, samples[i])
			if i > 0 {
				r = r.over(samples[0])
				if m.limit > 0 {
					r = r.ratioAtMost(m.limit, m.limitText)
				}
			}
			if m.most > 0 {
				r = r.noneAbove(m.most, m.limitText)
			}
			rows = append(rows, r.on(m.chart, m.line, g.records))
		}
		if m.chart == "search" && m.limit > 0 {
			rows = append(rows, searchLimits(stores, samples)...)
		}
	}
	return rows, failed
}

// searchLimits compares searches at 10,000 records, and at ten times as many,
// with what they may take.
func searchLimits(stores []*growth, samples []sample) []row {
	var rows []row
	for i, g := range stores {
		switch g.size {
		case 10_000:
			rows = append(rows, measured("whole-process search at 10000 records", "ms", samples[i]).atMost(30, "≤ 30 ms"))
		case 100_000:
			r := measured("whole-process search at 100000 records, against 10000", "ms", samples[i]).over(samples[i-1])
			rows = append(rows, r.ratioAtMost(2, "≤ 2 × that at 10000"))
		}
	}
	return rows
}

// A growthMeasure is one curve.
type growthMeasure struct {
	what, unit  string
	chart, line string
	limit       float64 // of the ratio to the smallest store; 0: none
	most        float64 // of every value; 0: no limit
	limitText   string
	runs        int                    // times those of the bench
	side        func(g *growth) side   // measured in turns; nil: see given
	given       func(g *growth) sample // what filling the store has shown
	skip        func(g *growth) bool   // nil: none
}

func growthMeasures() []growthMeasure {
	return []growthMeasure{
		{what: "put", unit: "ms", chart: "put", line: "whole process", limit: 1.25, limitText: "flat: ≤ 1.25 × the first", runs: 4,
			side: func(g *growth) side { return side{prepare: g.fresh, run: g.put} }},
		{what: "search", unit: "ms", chart: "search", line: "whole process", limit: 2, limitText: "≤ 2 × the first", runs: 8,
			side: func(g *growth) side { return side{run: g.search} }},
		{what: "search in process", unit: "ms", chart: "search", line: "within a process", runs: 1,
			given: func(g *growth) sample { return g.warm }},
		{what: "search in a mirrored workspace", unit: "ms", chart: "search", line: "mirrored workspace", runs: 4,
			side: func(g *growth) side { return side{run: g.mirroredSearch} }, skip: (*growth).unmirrored},
		{what: "knowledge by tag", unit: "ms", chart: "knowledge by tag", line: "whole process", runs: 4,
			side: func(g *growth) side { return side{run: g.byTag} }},
		{what: "idle sync", unit: "ms", chart: "idle sync", line: "whole process", runs: 2,
			side: func(g *growth) side { return side{run: g.sync} }, skip: (*growth).unmirrored},
		{what: "peak memory of search", unit: "MB", chart: "memory", line: "search", runs: 1,
			side: func(g *growth) side { return side{run: g.searchPeak} }},
		{what: "peak memory of indexing", unit: "MB", chart: "memory", line: "indexing", most: 600, limitText: "≤ 600 MB",
			given: func(g *growth) sample { return g.indexPeak }},
		{what: "capture", unit: "records/s", chart: "filling", line: "capture",
			given: func(g *growth) sample { return g.captured }},
		{what: "indexing", unit: "records/s", chart: "filling", line: "indexing",
			given: func(g *growth) sample { return g.indexed }},
		{what: "texts", unit: "bytes/record", chart: "disk", line: "texts",
			given: func(g *growth) sample { return g.perRecord(g.texts.bytes) }},
		{what: "store on disk", unit: "bytes/record", chart: "disk", line: "store",
			given: func(g *growth) sample { return g.perRecord(g.storeSize) }},
		{what: "index on disk", unit: "bytes/record", chart: "disk", line: "index",
			given: func(g *growth) sample { return g.perRecord(g.indexSize) }},
	}
}

// take returns the sample of each store.
func (m *growthMeasure) take(ctx context.Context, b *bench, stores []*growth) ([]sample, error) {
	samples := make([]sample, len(stores))
	if m.given != nil {
		for i, g := range stores {
			samples[i] = m.given(g)
		}
		return samples, nil
	}
	var sides []side
	var places []int
	for i, g := range stores {
		if m.skip != nil && m.skip(g) {
			continue
		}
		g.turn = 0
		s := m.side(g)
		s.name = fmt.Sprintf("%s at %d", m.what, g.records)
		sides, places = append(sides, s), append(places, i)
	}
	taken, err := inTurns(ctx, m.runs*b.runs, sides...)
	for i, s := range taken {
		samples[places[i]] = s
	}
	return samples, err
}

// A growth is a store of one size.
type growth struct {
	b       *bench
	w       *workspace
	mirror  *workspace // whose files are the mirror of its store; nil: none of this size
	size    int        // as asked for
	records int        // texts; a tenth as many entries of knowledge come on top
	texts   *corpus
	more    *generator
	source  string
	queries [][]string
	turn    int

	warm                 sample // milliseconds of searches within one process
	captured, indexed    sample // records a second
	indexPeak            sample // megabytes
	storeSize, indexSize int64  // bytes
}

func (g *growth) unmirrored() bool { return g.mirror == nil }

func (g *growth) perRecord(bytes int64) sample { return sample{float64(bytes) / float64(g.records)} }

// warmSearches times searches within this process.
func (g *growth) warmSearches(ctx context.Context) error {
	x, reader, err := g.w.open(ctx)
	if err != nil {
		return err
	}
	if err := x.Close(); err != nil {
		return err
	}
	for turn := -1; turn < g.b.runs; turn++ {
		for _, words := range g.queries {
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
	return os.WriteFile(g.source, g.more.sized(putSize).body, 0o666)
}

func (g *growth) put(ctx context.Context) (float64, error) {
	return g.b.process(g.b.filebusIn(g.w, "put", "--conversation", "bench", g.source))(ctx)
}

// searchIn returns the next search; each turn another.
func (g *growth) searchIn(w *workspace) command {
	words := g.queries[g.turn%len(g.queries)]
	g.turn++
	return g.b.filebusIn(w, append([]string{"search"}, words...)...)
}

func (g *growth) search(ctx context.Context) (float64, error) {
	return g.b.process(g.searchIn(g.w))(ctx)
}

func (g *growth) mirroredSearch(ctx context.Context) (float64, error) {
	return g.b.process(g.searchIn(g.mirror))(ctx)
}

func (g *growth) searchPeak(ctx context.Context) (float64, error) {
	done, err := g.b.executeSmall(ctx, g.searchIn(g.w))
	return float64(done.peak) / 1e6, err
}

func (g *growth) byTag(ctx context.Context) (float64, error) {
	tag := knowledgeTag(g.turn)
	g.turn++
	return g.b.process(g.b.filebusIn(g.w, "knowledge", "list", "--tag", tag, "--tag", knowledgeTag(g.turn)))(ctx)
}

func (g *growth) sync(ctx context.Context) (float64, error) {
	return g.b.process(g.b.filebusIn(g.mirror, "sync"))(ctx)
}

// fill captures the texts and lets a search index them, and keeps what that took.
func (g *growth) fill(ctx context.Context) error {
	done, err := g.b.execute(ctx, g.b.filebusIn(g.w, "capture", "--tree", "made", g.texts.dir))
	if err != nil {
		return err
	}
	g.captured = sample{float64(g.records) / done.elapsed.Seconds()}
	done, err = g.b.executeSmall(ctx, g.b.filebusIn(g.w, firstSearch()...))
	if err != nil {
		return err
	}
	g.indexed, g.indexPeak = sample{float64(g.records) / done.elapsed.Seconds()}, memoryOf(done)
	all, err := folderSize(g.w.storeDir())
	if err != nil {
		return err
	}
	g.indexSize, err = folderSize(filepath.Join(g.w.storeDir(), "index"))
	g.storeSize = all - g.indexSize
	return err
}
