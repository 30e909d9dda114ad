package main

import (
	"bufio"
	"fmt"
	"io"
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
	topicBlock = regexp.MustCompile(`(?is)<(?:DOC|TOP)>(.*?)</(?:DOC|TOP)>`)
	topicID    = regexp.MustCompile(`(?is)<(?:DOCNO|NUM)>\s*(?:Number:\s*)?([^\s<]+)(?:\s*</(?:DOCNO|NUM)>)?`)
	anyTag     = regexp.MustCompile(`<[^>]*>`)
)

// parseTopics reads topics in the form of TREC: blocks <DOC> with a <DOCNO>, or
// <top> with a <num>; the rest of a block is the question.
func parseTopics(source string) ([]topic, error) {
	var topics []topic
	for _, block := range topicBlock.FindAllStringSubmatch(source, -1) {
		id := topicID.FindStringSubmatch(block[1])
		if id == nil {
			return nil, fmt.Errorf("topic %d has no number", len(topics)+1)
		}
		question := anyTag.ReplaceAllString(strings.Replace(block[1], id[0], "", 1), " ")
		topics = append(topics, topic{id[1], strings.Join(strings.Fields(question), " ")})
	}
	return topics, nil
}

// parseJudgements reads qrels: lines of topic, iteration, document, relevance.
func parseJudgements(source io.Reader) (judgements, error) {
	all := judgements{}
	lines := bufio.NewScanner(source)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %d has %d fields in place of 4", number, len(fields))
		}
		relevance, err := strconv.Atoi(fields[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: relevance %q is no number", number, fields[3])
		}
		if all[fields[0]] == nil {
			all[fields[0]] = map[string]int{}
		}
		all[fields[0]][fields[2]] = relevance
	}
	return all, lines.Err()
}

// A score is how well one topic was answered, as trec_eval defines it.
type score struct{ ap, p10, p30, ndcg10, rr float64 }

// evaluate scores a ranking, best first, against the relevance of documents. A
// document counts once.
func evaluate(ranking []string, relevance map[string]int) score {
	var s score
	var gains []int
	relevant, found := 0, 0
	for _, r := range relevance {
		if r > 0 {
			relevant++
			gains = append(gains, r)
		}
	}
	if relevant == 0 {
		return s
	}
	dcg := 0.0
	for i, document := range ranking {
		gain := relevance[document]
		if gain <= 0 {
			continue
		}
		rank := i + 1
		found++
		s.ap += float64(found) / float64(rank)
		if s.rr == 0 {
			s.rr = 1 / float64(rank)
		}
		if rank <= 10 {
			s.p10 += 0.1
			dcg += discounted(gain, rank)
		}
		if rank <= 30 {
			s.p30 += 1.0 / 30
		}
	}
	s.ap /= float64(relevant)
	s.ndcg10 = dcg / bestDCG(gains)
	return s
}

func discounted(gain, rank int) float64 { return float64(gain) / math.Log2(float64(rank+1)) }

// bestDCG is the discounted gain of the best ranking's first ten.
func bestDCG(gains []int) float64 {
	slices.SortFunc(gains, func(a, b int) int { return b - a })
	best := 0.0
	for i, gain := range gains[:min(len(gains), 10)] {
		best += discounted(gain, i+1)
	}
	return best
}
