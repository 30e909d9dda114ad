package query

import "filebus/index"

// exclusions are words to leave out, for what no index knows.
type exclusions struct {
	terms terms
	words [][]int // the terms of each
}

// newExclusions returns those of a request, or nil if it has none. A word means what
// it means to the index: of an identifier the whole form.
func newExclusions(texts []string) *exclusions {
	if len(texts) == 0 {
		return nil
	}
	e := &exclusions{terms: make(terms)}
	for _, text := range texts {
		var word []int
		for _, term := range index.Wholes(text) {
			if _, known := e.terms[term]; !known {
				e.terms[term] = len(e.terms)
			}
			word = append(word, e.terms[term])
		}
		if len(word) > 0 {
			e.words = append(e.words, word)
		}
	}
	return e
}

// exclude reports whether texts, those of one record, have all of a word.
func (e *exclusions) exclude(analyzer *index.Analyzer, texts ...[]byte) bool {
	if e == nil {
		return false
	}
	has := make([]bool, len(e.terms))
	for _, text := range texts {
		for _, m := range findMatches(analyzer, text, e.terms) {
			has[m.term] = true
		}
	}
	for _, word := range e.words {
		all := true
		for _, term := range word {
			all = all && has[term]
		}
		if all {
			return true
		}
	}
	return false
}
