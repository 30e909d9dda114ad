package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// growthSizes returns 1000, 10000, ... up to most, at least the first.
func growthSizes(most int) []int {
	sizes := []int{1000}
	for n := 10000; n <= most; n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}

// growingStores fills a store for each size up to the greatest that is asked
// for. Beside an error it returns those that are full.
func (b *bench) growingStores(ctx context.Context) (stores []*growth, err error) {
	var queries [][]string
	for _, n := range growthSizes(b.growthMax) {
		g, err := b.growTo(ctx, n)
		if err != nil {
			return stores, fmt.Errorf("filling a store with %d records: %w", n, err)
		}
		if len(stores) > 0 && g.records == stores[len(stores)-1].records {
			return stores, &missingError{fmt.Sprintf("a corpus of %d files", n)}
		}
		if queries == nil {
			if queries, err = g.texts.queries(queriesPerTurn, b.seed); err != nil {
				return nil, err
			}
		}
		g.queries = queries
		if err := g.warmSearches(ctx); err != nil {
			return stores, err
		}
		stores = append(stores, g)
	}
	return stores, nil
}

// growTo makes the stores of one size.
func (b *bench) growTo(ctx context.Context, n int) (*growth, error) {
	fmt.Fprintf(b.progress, "  filling a store with %d records\n", n)
	texts, err := b.growthTexts(n)
	if err != nil {
		return nil, err
	}
	w, err := b.newWorkspace("growth")
	if err != nil {
		return nil, err
	}
	g := &growth{b: b, w: w, size: n, records: len(texts.files), texts: texts, more: newGenerator(b.seed + uint64(n))}
	g.source = filepath.Join(w.dir, "source.md")
	if err := b.addKnowledge(texts.dir, g.records); err != nil {
		return nil, err
	}
	if err := g.fill(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(b.progress, "  captured %s and indexed %s records/s, in %s MB; store %s and index %s bytes/record\n",
		figure(g.captured.median()), figure(g.indexed.median()), figure(g.indexPeak.median()),
		figure(g.perRecord(g.storeSize).median()), figure(g.perRecord(g.indexSize).median()))
	if n > mirrorMost {
		return g, nil
	}
	// What counts here is the number of files.
	small := newGenerator(b.seed)
	g.mirror, err = b.mirrored(ctx, g.records, func() ([]byte, error) { return small.small().body, nil })
	if err != nil {
		return nil, err
	}
	_, err = b.execute(ctx, b.filebusIn(g.mirror, firstSearch()...))
	return g, err
}

// firstSearch returns the arguments of a search that indexes all there is.
func firstSearch() []string { return []string{"search", "--max-wait", "10h", "the", "first"} }

// growthTexts returns a corpus of n texts of its own, small ones if the options
// say so.
func (b *bench) growthTexts(n int) (*corpus, error) {
	dir, err := b.folder("growth-texts")
	if err != nil {
		return nil, err
	}
	c := &corpus{dir: dir}
	g := newGenerator(b.seed)
	switch {
	case b.corpus != "":
		err = c.copyFrom(b.corpus, n)
	case b.small:
		err = c.make(g.small, n)
	default:
		err = c.make(g.next, n)
	}
	return c, err
}

const (
	knowledgeEvery = 10  // texts there are for each entry of knowledge
	graphEntries   = 20  // entries in each knowledge graph
	knowledgeTags  = 200 // tags there are; an entry has three
)

// knowledgeTag returns one of the tags.
func knowledgeTag(i int) string { return fmt.Sprintf("topic-%03d", i%knowledgeTags) }

// addKnowledge writes knowledge graphs beside so many texts, each in a folder of
// its own, as the projects of a captured folder have them.
func (b *bench) addKnowledge(dir string, texts int) error {
	g := newGenerator(b.seed + 1)
	entries := texts / knowledgeEvery
	for first := 0; first < entries; first += graphEntries {
		body := g.knowledge(first, min(first+graphEntries, entries))
		file := filepath.Join(dir, fmt.Sprintf("project-%05d", first/graphEntries), ".claude", "knowledge_graph.md")
		if err := writeFile(file, body); err != nil {
			return err
		}
	}
	return nil
}

// knowledge returns a knowledge graph with the entries of the given numbers.
func (g *generator) knowledge(first, end int) []byte {
	var out strings.Builder
	out.WriteString("# Knowledge Graph\n\n## Patterns\n")
	for i := first; i < end; i++ {
		g.newTopic()
		tags := []string{knowledgeTag(g.random.IntN(knowledgeTags)), knowledgeTag(g.random.IntN(knowledgeTags)), knowledgeTag(g.random.IntN(knowledgeTags))}
		fmt.Fprintf(&out, "\n### pattern-%07d\n- Type: pattern\n- Tags: [%s]\n- Content: %s\n- Confidence: high\n",
			i, strings.Join(tags, ", "), g.paragraph(2))
	}
	return []byte(out.String())
}

// small returns a text of about 300 bytes: a title and a few sentences.
func (g *generator) small() text {
	g.count++
	g.newTopic()
	title := g.title()
	body := fmt.Sprintf("# %s\n\n%s\n", title, g.paragraph(3))
	return text{g.path(title), []byte(body)}
}
