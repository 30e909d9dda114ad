package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"filebus/index"
	"filebus/query"
)

// planRelevance captures the documents of a judged collection, asks its topics as
// they stand, by the default settings, and scores the rankings. It asks as the
// search command does.
func planRelevance(a *attempt) []comparison {
	a.needs(a.ir, "a collection (-ir)")
	var topics []topic
	var relevance judgements
	a.step(func() (err error) { topics, relevance, err = readCollection(a.ir); return err })
	_, reader := a.open(a.filled(a.program, a.documents()))
	limits := map[string]string{"MAP": "≥ 0.3123 (CACM)", "P@30": "≥ 0.1942 (CACM)"}
	all := comparison{sides: []side{{name: "topics", run: ask(reader, topics, relevance)}}}
	for _, name := range []string{"MAP", "P@10", "P@30", "nDCG@10", "MRR"} {
		all.lines = append(all.lines, line{figure: name, limit: limits[name]})
	}
	return []comparison{all}
}

// ask asks the topics that are judged, and measures the means of their scores.
func ask(reader *query.Reader, topics []topic, relevance judgements) measurement {
	return func(a *attempt) figures {
		found := figures{}
		for _, t := range topics {
			if relevance[t.id] == nil {
				continue // not judged
			}
			a.step(func() error {
				answer, err := reader.Search(a.ctx, query.SearchRequest{Request: index.Request{Query: t.text, Limit: rankingDepth}})
				if err != nil {
					return fmt.Errorf("topic %s: %w", t.id, err)
				}
				found.with(evaluate(ranked(answer.Hits, relevance[t.id]), relevance[t.id]), "")
				return nil
			})
		}
		if len(found) == 0 {
			a.check(errors.New("no topic of the collection is judged"))
		}
		return found.means()
	}
}

// documents returns the folder of a collection's documents, each a file: docs, or what
// is in the archive docs.tar.gz.
func (a *attempt) documents() string {
	dir, err := filepath.Abs(a.ir)
	a.check(err)
	docs := filepath.Join(dir, "docs")
	if _, err := os.Stat(docs); err != nil {
		docs = a.folder("documents")
		a.run(command{dir: docs, args: []string{"tar", "-xzf", filepath.Join(dir, "docs.tar.gz")}})
	}
	return docs
}

// ranked returns the numbers of the documents of hits, in the order of trec_eval. A
// number is the name of the file, without its ending unless the judgements have it.
// A document behind its near-duplicate has that one's score: the answer names it there.
func ranked(hits []query.Hit, relevance map[string]int) []string {
	number := func(file string) string {
		file = path.Base(file)
		if _, judged := relevance[file]; judged {
			return file
		}
		return strings.TrimSuffix(file, path.Ext(file))
	}
	var run []retrieved
	for i := range hits {
		run = append(run, retrieved{number(hits[i].Path), hits[i].Score})
		for _, name := range hits[i].Like {
			run = append(run, retrieved{number(name.ID), hits[i].Score})
		}
	}
	return inTrecOrder(run)
}

// readCollection reads the topics and judgements in a folder.
func readCollection(dir string) (topics []topic, relevance judgements, err error) {
	read := func(pattern string) (text []byte) {
		files, _ := filepath.Glob(filepath.Join(dir, pattern)) // none for a bad pattern
		if len(files) != 1 {
			err = cmp.Or(err, missing("one file "+filepath.Join(dir, pattern)))
		} else if err == nil {
			text, err = os.ReadFile(files[0])
		}
		return text
	}
	asked, judged := read("topics*"), read("qrels*")
	if err == nil {
		topics, err = parseTopics(string(asked))
	}
	if err == nil {
		relevance, err = parseJudgements(string(judged))
	}
	return topics, relevance, err
}
