package query

import (
	_ "embed"
	"strings"
	"sync"

	"filebus/index"
)

const (
	leastAsked = 3 // words of a query that is a question, whose words may not be the writer's
	maxJoined  = 8 // neighbours of a query that may be one word
)

var (
	//go:embed synonyms.txt
	synonymList string
)

// synonyms returns the words that mean the same as a term, in the analysed form.
var synonyms = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	first, word := "", 0 // of the line, and where the last word begins
	for token := range index.Analyze([]byte(synonymList)) {
		switch isWord := token.Start >= word; {
		case !isWord: // a part of it
			continue
		case strings.HasPrefix(synonymList[token.End:], ":"):
			first = token.Term
		default:
			all[first], all[token.Term] = append(all[first], token.Term), append(all[token.Term], first)
		}
		word = token.End
	}
	return all
})

// otherWords returns terms that a writer may have used for the words of a request: two
// that follow one another as one (log file, logfile), and, for a question, words that
// mean the same. What is quoted stands as it is.
func (q *SearchRequest) otherWords() (more []index.WeightedTerm) {
	if len(q.Phrases) > 0 {
		return nil
	}
	asked, before := queryTerms(q.Query), index.Token{}
	add := func(term string, weight float64) {
		if _, known := asked[term]; term != "" && !known {
			asked[term] = len(asked)
			more = append(more, index.WeightedTerm{Term: term, Weight: weight})
		}
	}
	joined, isQuestion := 0, len(asked) >= leastAsked
	for token := range index.Analyze([]byte(q.Query)) {
		if isQuestion {
			for _, other := range synonyms()[token.Term] {
				add(other, synonymWeight)
			}
		}
		if token.Start == before.End+1 && joined < maxJoined {
			joined++
			add(termOf(q.Query[before.Start:before.End]+q.Query[token.Start:token.End]), 1)
		}
		before = token
	}
	return more
}
