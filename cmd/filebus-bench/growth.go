package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
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

// A growthMeasure is measured in stores of each size. Times are those of the processor,
// which are sound beside other work; what passed meanwhile is told beside them.
type growthMeasure struct {
	what, unit string
	turns      int                            // for each run that the options ask for
	next       func(g *growth) func() command // nil: filling the store has shown it
	limit      string                         // a ratio is to the smallest store
	tenth      string                         // of the ratio to a tenth of the records; empty: none
}

func growthMeasures() []growthMeasure {
	const spent, rate, size = "ms of processor", "records/s of processor", "bytes/record"
	return []growthMeasure{
		{"put", spent, 4, func(g *growth) func() command { return always(g.source.put(g.w)) }, "", "≤ 1.1 ×"},
		{"search", spent, 8, func(g *growth) func() command { return eachTurn(g.queries, g.w.search) }, "", "≤ 1.3 ×"},
		{"list", spent, 2, func(g *growth) func() command { return always(g.w.command("list")) }, "", ""},
		{"knowledge by tag", spent, 4, func(g *growth) func() command {
			return eachTurn([][]string{{knowledgeTag(3), knowledgeTag(4)}, {knowledgeTag(8)}}, g.w.knowledge)
		}, "", "≤ 1.1 ×"},
		{"search in a mirrored workspace", spent, 4, func(g *growth) func() command {
			return eachTurn(g.queries, g.mirror.search)
		}, "", ""},
		{"idle sync", spent, 2, func(g *growth) func() command { return always(g.mirror.command("sync")) }, "", ""},
		{"own memory of indexing", "MB", 0, nil, "all ≤ 600 MB", ""},
		{"memory with mapped pages", "MB", 0, nil, "", ""},
		{"capture", rate, 0, nil, "", "≥ 0.8 ×"},
		{"indexing", rate, 0, nil, "", "≥ 0.8 ×"},
		{"texts", size, 0, nil, "", ""},
		{"store on disk", size, 0, nil, "", ""},
		{"index on disk", size, 0, nil, "", ""},
	}
}

// compare compares the stores by the measure, and with those of a tenth of the records.
func (m *growthMeasure) compare(runs int, stores []*growth) comparison {
	all := comparison{turns: m.turns * runs}
	for i, g := range stores {
		s := side{name: g.figure(m.what), unit: m.unit, limit: m.limit}
		if i > 0 {
			s.over = stores[0].figure(m.what)
		} else if strings.Contains(m.limit, "×") {
			s.limit = ""
		}
		passed := s.name + ", as passed"
		if s.run = func(*attempt) figures { return figures{"": g.filled[m.what]} }; m.next != nil {
			next := m.next(g)
			s.prepare = g.source.write
			s.run = func(a *attempt) figures {
				done := a.run(next())
				return figures{"": {milliseconds(done.Processor)}, passed: {milliseconds(done.Elapsed)}}
			}
			all.lines = append(all.lines, line{figure: passed, unit: "ms"})
		}
		all.sides = append(all.sides, s)
		if i > 1 && m.tenth != "" {
			tenth := stores[i-1].figure(m.what)
			all.lines = append(all.lines, line{s.name, m.unit, s.name + ", against a tenth", tenth, m.tenth})
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
	a.addKnowledge(texts.dir, n/knowledgeEvery)
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
		"capture":                  {records / captured.Processor.Seconds()},
		"indexing":                 {records / indexed.Processor.Seconds()},
		"own memory of indexing":   megabytes(indexed.Own),
		"memory with mapped pages": indexed.megabytes(),
		"texts":                    {float64(texts.bytes) / records},
		"store on disk":            {float64(store) / records},
		"index on disk":            {float64(index) / records},
	}
}

const (
	knowledgeEvery = 10  // texts for each entry of knowledge
	graphEntries   = 20  // of knowledge in a file
	knowledgeTags  = 200 // of which an entry has three
)

// addKnowledge writes so many entries, in graphs as the projects of a captured folder have them.
func (a *attempt) addKnowledge(dir string, entries int) {
	g := newGenerator(a.seed + 1)
	for first := 0; first < entries; first += graphEntries {
		graph := "# Knowledge Graph\n\n## Patterns\n"
		for i := first; i < min(first+graphEntries, entries); i++ {
			g.newTopic()
			tag := func() string { return knowledgeTag(g.random.IntN(knowledgeTags)) }
			graph += fmt.Sprintf("\n### pattern-%07d\n- Type: pattern\n- Tags: [%s, %s, %s]\n", i, tag(), tag(), tag()) +
				"- Content: " + g.paragraph(2) + "\n- Confidence: high\n"
		}
		project := fmt.Sprintf("project-%05d", first/graphEntries)
		a.write(filepath.Join(dir, project, ".claude", "knowledge_graph.md"), []byte(graph))
	}
}

func knowledgeTag(i int) string { return fmt.Sprintf("topic-%03d", i) }

// knowledge returns the command that lists what has one of the tags.
func (w *workspace) knowledge(tags []string) command {
	return w.command(append([]string{"knowledge", "list"}, tags...)...)
}

// barsOf draws how the figures of each measure grow: the lowest bar is the least, and each
// step up is half as much again.
func barsOf(rows []row) string {
	values, order := map[string][]float64{}, []string{}
	for _, r := range rows {
		what, size, _ := strings.Cut(r.What, ", ")
		if r.Suite != "growth" || r.Median <= 0 || strings.Contains(size, ",") { // a ratio to a tenth
			continue
		}
		if values[what] == nil {
			order = append(order, what)
		}
		values[what] = append(values[what], r.Median)
	}
	var out strings.Builder
	for _, what := range order {
		fmt.Fprintf(&out, "%-32s", what)
		for _, value := range values[what] {
			step := math.Log(value/slices.Min(values[what])) / math.Log(1.5)
			out.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(7, int(step+0.5))])
		}
		fmt.Fprintf(&out, "  %s to %s\n", figure(values[what][0]), figure(values[what][len(values[what])-1]))
	}
	return out.String()
}
