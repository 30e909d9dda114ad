package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filebus/query"
	"filebus/store"
)

// rankingDepth is how many hits of a topic are judged, as trec_eval does.
const rankingDepth = 1000

// runRelevance captures the documents of a judged collection, asks its topics as
// they stand, and scores the rankings. It asks as the search command does.
func runRelevance(ctx context.Context, b *bench) ([]row, error) {
	if b.ir == "" {
		return nil, &missingError{"a collection (-ir)"}
	}
	topics, relevance, err := readCollection(b.ir)
	if err != nil {
		return nil, err
	}
	docs, err := b.readDocuments(b.ir, relevance)
	if err != nil {
		return nil, err
	}
	reader, err := b.readerOf(ctx, "relevance", docs.dir)
	if err != nil {
		return nil, err
	}
	found, err := retrieve(ctx, reader, docs, topics, relevance)
	if err != nil {
		return nil, err
	}
	rows := found.rows("")
	rows[0] = rows[0].atLeast(0.3123, "≥ 0.3123 (CACM)")
	rows[2] = rows[2].atLeast(0.1942, "≥ 0.1942 (CACM)")
	return rows, nil
}

// readerOf captures the files of a folder, indexes them, and returns a reader of
// their store.
func (b *bench) readerOf(ctx context.Context, name, dir string) (*query.Reader, error) {
	w, err := b.newWorkspace(name)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, w, &corpus{dir: dir}); err != nil {
		return nil, err
	}
	s, err := store.Open(w.storeDir(), store.Options{})
	if err != nil {
		return nil, err
	}
	return query.New(s, query.Options{}), nil
}

// measures are the scores of the topics.
type measures struct{ ap, p10, p30, ndcg10, rr sample }

// rows are the means over the topics, as these measures are defined.
func (m *measures) rows(prefix string) []row {
	return []row{
		mean(prefix+"MAP", m.ap), mean(prefix+"P@10", m.p10), mean(prefix+"P@30", m.p30),
		mean(prefix+"nDCG@10", m.ndcg10), mean(prefix+"MRR", m.rr),
	}
}

// mean makes a row of the mean of a sample.
func mean(what string, s sample) row {
	sum := 0.0
	for _, value := range s {
		sum += value
	}
	return measured(what, "", sample{sum / float64(max(len(s), 1))})
}

// writeMeasures prints each figure of retrieval in a line of its own, as programs
// that evaluate rankings do.
func writeMeasures(w io.Writer, rows []row) error {
	for _, r := range rows {
		if (r.Suite == "relevance" || r.Suite == "known") && r.Runs > 0 {
			if _, err := fmt.Fprintf(w, "%s %.4f\n", r.What, r.Median); err != nil {
				return err
			}
		}
	}
	return nil
}

// retrieve asks the topics that are judged, and scores what is found.
func retrieve(ctx context.Context, reader *query.Reader, docs *documents, topics []topic, relevance judgements) (*measures, error) {
	var m measures
	for _, t := range topics {
		if relevance[t.id] == nil {
			continue // not judged
		}
		run, err := docs.rank(ctx, reader, t.text)
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", t.id, err)
		}
		e := evaluate(inTrecOrder(run), relevance[t.id])
		m.ap, m.p10, m.p30 = append(m.ap, e.ap), append(m.p10, e.p10), append(m.p30, e.p30)
		m.ndcg10, m.rr = append(m.ndcg10, e.ndcg10), append(m.rr, e.rr)
	}
	if len(m.ap) == 0 {
		return nil, errors.New("no topic of the collection is judged")
	}
	return &m, nil
}

// rank returns the documents that a search finds. One that stands behind its
// near-duplicate has that one's score: the answer names it there.
func (d *documents) rank(ctx context.Context, reader *query.Reader, question string) ([]retrieved, error) {
	answer, err := reader.Search(ctx, query.SearchRequest{Query: question, Limit: rankingDepth})
	if err != nil {
		return nil, err
	}
	var run []retrieved
	for i := range answer.Hits {
		hit := &answer.Hits[i]
		run = append(run, retrieved{d.number(hit.Path), hit.Score})
		for _, name := range hit.Like {
			run = append(run, retrieved{d.number(name.ID), hit.Score})
		}
	}
	return run, nil
}

// readCollection reads the topics and judgements in a folder.
func readCollection(dir string) ([]topic, judgements, error) {
	source, err := readOne(dir, "topics*", "queries*")
	if err != nil {
		return nil, nil, err
	}
	topics, err := parseTopics(string(source))
	if err != nil {
		return nil, nil, err
	}
	if source, err = readOne(dir, "qrels*"); err != nil {
		return nil, nil, err
	}
	relevance, err := parseJudgements(strings.NewReader(string(source)))
	if err == nil && (len(topics) == 0 || len(relevance) == 0) {
		err = errors.New("the collection has no topics or no judgements")
	}
	return topics, relevance, err
}

// readOne reads the one file that one of several patterns matches.
func readOne(dir string, patterns ...string) ([]byte, error) {
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) != 1 {
		return nil, &missingError{"one file " + filepath.Join(dir, strings.Join(patterns, " or "))}
	}
	return os.ReadFile(files[0])
}
