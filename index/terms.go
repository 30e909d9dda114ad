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

// requestTerms returns the distinct terms to score by, of which there is a bounded
// number: those of the query in the order of its text, then the others.
func requestTerms(request *Request) []queryTerm {
	var terms []queryTerm
	place := make(map[string]int)
	add := func(term string, weight float64) {
		if i, known := place[term]; known {
			terms[i].count += weight
		} else if len(terms) < maxQueryTerms {
			place[term] = len(terms)
			terms = append(terms, queryTerm{text: term, count: weight})
		}
	}
	for token := range Analyze(bounded(request.Query)) {
		add(token.Term, 1)
	}
	for _, more := range request.More {
		if more.Term != "" && more.Weight >= minWeight {
			add(more.Term, min(more.Weight, maxWeight))
		}
	}
	return terms
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
