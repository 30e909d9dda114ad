package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"filebus/query"
	"filebus/store"
)

// rankingDepth is how many hits of a topic are judged.
const rankingDepth = 1000

// runRelevance captures the documents of a judged collection, asks its topics as
// they stand, by the default settings, and scores the rankings. A document's file
// without its ending is its number.
func runRelevance(ctx context.Context, b *bench) ([]row, error) {
	if b.ir == "" {
		return nil, &missingError{"a collection (-ir)"}
	}
	topics, relevance, err := readCollection(b.ir)
	if err != nil {
		return nil, err
	}
	w, err := b.newWorkspace("relevance")
	if err != nil {
		return nil, err
	}
	if err := b.fill(ctx, w, &corpus{dir: filepath.Join(b.ir, "docs")}); err != nil {
		return nil, err
	}
	s, err := store.Open(w.storeDir(), store.Options{})
	if err != nil {
		return nil, err
	}
	reader := query.New(s, query.Options{})
	var ap, p10, p30, ndcg10, rr sample
	for _, t := range topics {
		if relevance[t.id] == nil {
			continue // not judged
		}
		ranking, err := rank(ctx, reader, t.text)
		if err != nil {
			return nil, err
		}
		e := evaluate(ranking, relevance[t.id])
		ap, p10, p30 = append(ap, e.ap), append(p10, e.p10), append(p30, e.p30)
		ndcg10, rr = append(ndcg10, e.ndcg10), append(rr, e.rr)
	}
	return []row{
		mean("MAP", ap).atLeast(0.3123, "≥ 0.3123"),
		mean("P@10", p10),
		mean("P@30", p30).atLeast(0.1942, "≥ 0.1942"),
		mean("nDCG@10", ndcg10),
		mean("MRR", rr),
	}, nil
}

// mean makes a row of the mean over the topics, as these measures are defined.
func mean(what string, s sample) row {
	sum := 0.0
	for _, value := range s {
		sum += value
	}
	return measured(what, "", sample{sum / float64(max(len(s), 1))})
}

// rank returns the documents that a search finds, best first.
func rank(ctx context.Context, reader *query.Reader, question string) ([]string, error) {
	answer, err := reader.Search(ctx, query.SearchRequest{Query: question, Limit: rankingDepth})
	if err != nil {
		return nil, err
	}
	var ranking []string
	for i := range answer.Hits {
		file := filepath.Base(answer.Hits[i].Path)
		ranking = append(ranking, strings.TrimSuffix(file, filepath.Ext(file)))
	}
	return ranking, nil
}

// readCollection reads the topics and judgements in a folder.
func readCollection(dir string) ([]topic, judgements, error) {
	source, err := readOne(dir, "topics*")
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

// readOne reads the one file that a pattern matches.
func readOne(dir, pattern string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, &missingError{"one file " + filepath.Join(dir, pattern)}
	}
	return os.ReadFile(files[0])
}
