package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A topic is a question of a retrieval collection.
type topic struct{ id, text string }

// judgements say how relevant a document is for a topic: by topic, then by
// document. Documents that are not named are not relevant.
type judgements map[string]map[string]int

var (
	topicBlock = regexp.MustCompile(`(?is)<(DOC|TOP)>(.*?)</(?:DOC|TOP)>`)
	topicID    = regexp.MustCompile(`(?is)<(?:DOCNO|NUM)>\s*(?:Number:\s*)?([^\s<]+)(?:\s*</(?:DOCNO|NUM)>)?`)
	topicTitle = regexp.MustCompile(`(?is)<TITLE>\s*(?:Topic:)?([^<]*)`)
	anyTag     = regexp.MustCompile(`<[^>]*>`)
)

// parseTopics reads topics in the forms of TREC: blocks <top> with a <num>, whose
// <title> is the question, as is usual, or blocks <DOC> with a <DOCNO>, all the rest of
// which is the question.
func parseTopics(source string) ([]topic, error) {
	var topics []topic
	for _, block := range topicBlock.FindAllStringSubmatch(source, -1) {
		id := topicID.FindStringSubmatch(block[2])
		if id == nil {
			return nil, fmt.Errorf("topic %d has no number", len(topics)+1)
		}
		question := strings.Replace(block[2], id[0], "", 1)
		if title := topicTitle.FindStringSubmatch(question); title != nil && strings.EqualFold(block[1], "top") {
			question = title[1]
		}
		question = anyTag.ReplaceAllString(question, " ")
		topics = append(topics, topic{id[1], strings.Join(strings.Fields(question), " ")})
	}
	return topics, nil
}

// rankingDepth is how many hits of a topic are judged, as trec_eval does.
const rankingDepth = 1000

// A retrieved is a document of a ranking, with its score.
type retrieved struct {
	document string
	score    float64
}

// inTrecOrder returns the documents of a ranking in the order in which trec_eval
// looks at them: by score in single precision, and, where that is the same, by
// number, the greatest first, whatever the order in the ranking. A document counts
// once, and a thousand at most.
func inTrecOrder(run []retrieved) []string {
	sorted := slices.Clone(run)
	slices.SortStableFunc(sorted, func(a, b retrieved) int {
		return cmp.Or(cmp.Compare(float32(b.score), float32(a.score)), strings.Compare(b.document, a.document))
	})
	seen := make(map[string]bool)
	var ranking []string
	for _, r := range sorted {
		if !seen[r.document] && len(ranking) < rankingDepth {
			seen[r.document] = true
			ranking = append(ranking, r.document)
		}
	}
	return ranking
}

// parseJudgements reads qrels: lines of topic, iteration, document, relevance.
func parseJudgements(source string) (judgements, error) {
	all := judgements{}
	for i, line := range strings.Split(source, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %d has %d fields in place of 4", i+1, len(fields))
		}
		relevance, err := strconv.Atoi(fields[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: relevance %q is no number", i+1, fields[3])
		}
		if all[fields[0]] == nil {
			all[fields[0]] = map[string]int{}
		}
		all[fields[0]][fields[2]] = relevance
	}
	return all, nil
}

// evaluate scores how well one topic was answered, as trec_eval defines it: a ranking, best
// first, against the relevance of documents; each is in it once.
func evaluate(ranking []string, relevance map[string]int) figures {
	s := figures{"MAP": {0}, "P@10": {0}, "P@30": {0}, "nDCG@10": {0}, "MRR": {0}}
	gains := slices.DeleteFunc(slices.Collect(maps.Values(relevance)), func(gain int) bool { return gain <= 0 })
	slices.SortFunc(gains, func(a, b int) int { return b - a })
	best := 0.0 // the discounted gain of the best ranking's first ten
	for i, gain := range gains[:min(len(gains), 10)] {
		best += discounted(gain, i+1)
	}
	found := 0.0
	for i, document := range ranking {
		gain, rank := relevance[document], i+1
		if gain <= 0 {
			continue
		}
		found++
		s["MAP"][0] += found / float64(rank) / float64(len(gains))
		s["MRR"][0] = max(s["MRR"][0], 1/float64(rank))
		if rank <= 10 {
			s["P@10"][0] += 0.1
			s["nDCG@10"][0] += discounted(gain, rank) / best
		}
		if rank <= 30 {
			s["P@30"][0] += 1.0 / 30
		}
	}
	return s
}

func discounted(gain, rank int) float64 { return float64(gain) / math.Log2(float64(rank+1)) }
