package index

import "slices"

// A queryTerm is a term to score by.
type queryTerm struct {
	text   string
	count  float64 // how often the query has it, and what is added to it
	having uint64  // documents of this index that have it; see search.score
	rarity float64 // likewise
}

// The bounds of a WeightedTerm: a score stays a number above 0.
const (
	minWeight = 1e-9
	maxWeight = 1e9
)

// requestTerms returns the distinct terms to score by: those of the query in the
// order of its text, then the others.
func requestTerms(request *Request) []queryTerm {
	var terms termList
	for token := range Analyze(bounded(request.Query)) {
		terms.add(token.Term, 1)
	}
	for _, more := range request.More {
		if more.Term != "" && more.Weight >= minWeight {
			terms.add(more.Term, min(more.Weight, maxWeight))
		}
	}
	return terms.terms
}

// A termList is a list of distinct terms.
type termList struct {
	terms []queryTerm
	place map[string]int
}

// add adds a term, or counts it again. There is a bound on how many there are.
func (l *termList) add(term string, weight float64) {
	if i, known := l.place[term]; known {
		l.terms[i].count += weight
		return
	}
	if len(l.terms) == maxQueryTerms {
		return
	}
	if l.place == nil {
		l.place = make(map[string]int)
	}
	l.place[term] = len(l.terms)
	l.terms = append(l.terms, queryTerm{text: term, count: weight})
}

// bounded returns the part of a text that is analysed.
func bounded(text string) []byte { return []byte(text[:min(len(text), maxText)]) }

// Wholes returns the distinct terms of a text, a bounded number of them, without the
// parts of an identifier whose whole form is a term: a text has those too when it has
// them apart. See Request.Without.
func Wholes(text string) []string {
	var terms []string
	covered := 0 // up to where a whole form reaches
	for token := range Analyze(bounded(text)) {
		if token.End <= covered {
			continue
		}
		covered = token.End
		if len(terms) < maxQueryTerms && !slices.Contains(terms, token.Term) {
			terms = append(terms, token.Term)
		}
	}
	return terms
}
