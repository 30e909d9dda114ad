package index

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A queryTerm is a term to score by.
type queryTerm struct {
	text   string
	count  float64     // how often the query has it, and what is added to it
	having uint64      // documents of this index that have it; see search.look
	rarity float64     // likewise
	found  occurrences // likewise
	added  int         // see search.sum
}

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
		add(token.Term, weightOf(token.Term))
	}
	for _, more := range request.More {
		if more.Term != "" && more.Weight >= minWeight {
			add(more.Term, min(more.Weight, maxWeight))
		}
	}
	return terms
}

// leaveFrequent makes all but the rarest terms count for nothing.
func (s *search) leaveFrequent(terms []queryTerm) (err error) {
	if len(terms) <= maxScored {
		return nil
	}
	rarest := make([]*queryTerm, len(terms))
	for i := range terms {
		rarest[i] = &terms[i]
		if terms[i].having, err = s.documentsWith(terms[i].text); err != nil {
			return err
		}
	}
	slices.SortStableFunc(rarest, func(a, b *queryTerm) int {
		return cmp.Compare(s.documentsHaving(a)-1, s.documentsHaving(b)-1) // those that no document has come last
	})
	for _, term := range rarest[maxScored:] {
		term.count = 0
	}
	return nil
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

// maxNeeds bounds the words of a request's Phrases that are looked up; the others
// need not be there.
const maxNeeds = 64

// A need is what a text with some word has among its terms: the whole form of an
// identifier, if there is one, or all the parts. A text with fooBar.baz has the
// parts of fooBar alone, one with foobar the whole form alone.
type need struct {
	whole string
	parts []string
}

// needsOf returns what every text has among its terms that has the words of
// phrase one after another.
func needsOf(phrase string) []need {
	var needs []need
	analyzer := NewAnalyzer()
	text := bounded(phrase)
	for run := range wordRuns(text) {
		var n need
		for token := range analyzer.tokens(run, nil) {
			if len(n.parts) == 0 && n.whole == "" && token.Start == 0 && token.End == len(run) {
				n.whole = token.Term
				continue
			}
			n.parts = append(n.parts, token.Term)
		}
		if n.whole != "" && len(n.parts) == 0 && !mayHaveParts(run) {
			n.whole, n.parts = "", []string{n.whole}
		}
		if len(n.parts) > 0 {
			needs = append(needs, n)
		}
	}
	return needs
}

// mayHaveParts reports whether a word can be an identifier of several parts. They
// are not seen in its terms if all of them are stop words, as in doIt.
func mayHaveParts(word []byte) bool {
	mixed := bytes.ContainsFunc(word, unicode.IsLower) && bytes.ContainsFunc(word[1:], unicode.IsUpper)
	return mixed || bytes.IndexByte(word, '_') >= 0
}

// Findable reports whether a search can find documents by the words of text. It
// cannot by stop words and punctuation alone, nor by a lone character of a script
// without spaces, which is part of other terms.
func Findable(text string) bool {
	analyzer := NewAnalyzer()
	for run := range wordRuns(bounded(text)) {
		for range analyzer.tokens(run, nil) {
			return true
		}
	}
	return false
}

// wordRuns returns the words of text, neighbours in a script without spaces as
// one, since their terms are pairs. A single one of these has no term of its own.
func wordRuns(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start, end, characters := 0, 0, 0
		for w := range Words(text) {
			r, _ := utf8.DecodeRune(text[w.Start:])
			paired := isPaired(r)
			if paired && characters > 0 && w.Start == end {
				end = w.End
				characters++
				continue
			}
			if characters > 1 && !yield(text[start:end]) || !paired && !yield(text[w.Start:w.End]) {
				return
			}
			start, end, characters = w.Start, w.End, 0
			if paired {
				characters = 1
			}
		}
		if characters > 1 {
			yield(text[start:end])
		}
	}
}

// distinctNeeds returns the different needs of several texts, as many as are
// looked up.
func distinctNeeds(texts []string) []need {
	var needs []need
	known := make(map[string]bool)
	for _, text := range texts {
		for _, n := range needsOf(text) {
			key := n.whole + "\x00" + strings.Join(n.parts, "\x00")
			if !known[key] && len(needs) < maxNeeds {
				known[key] = true
				needs = append(needs, n)
			}
		}
	}
	return needs
}

// meeting returns the set of the documents that meet a need.
func (s *search) meeting(n need) (set, error) {
	found, err := s.having(n.parts)
	if err != nil || n.whole == "" {
		return found, err
	}
	whole, err := s.having([]string{n.whole})
	if err == nil {
		found.unite(whole)
	}
	return found, err
}

// fewNeeds are looked up as they come: their words are scored too.
const fewNeeds = 8

// meet requires what has the words of all texts. Of many, the rarest come first, which leave nothing to
// look up for the others.
func (s *search) meet(f *filter, texts []string) error {
	needs := distinctNeeds(texts)
	if len(needs) > fewNeeds {
		having := make(map[string]uint64)
		for _, n := range needs {
			var err error
			if having[n.parts[0]], err = s.documentsWith(n.parts[0]); err != nil {
				return err
			}
		}
		slices.SortStableFunc(needs, func(a, b need) int { return cmp.Compare(having[a.parts[0]], having[b.parts[0]]) })
	}
	for _, n := range needs {
		having, err := s.meeting(n)
		if err != nil {
			return err
		}
		if f.require(having); f.required.count() == 0 {
			break
		}
	}
	return nil
}

// addTexts requires and excludes what has every term of the texts of a request.
// A text without terms, as one of stop words, does neither.
func (s *search) addTexts(f *filter, request *Request) error {
	if err := s.meet(f, request.Phrases); err != nil {
		return err
	}
	for _, text := range request.Without {
		if terms := Wholes(text); len(terms) > 0 {
			having, err := s.having(terms)
			if err != nil {
				return err
			}
			f.exclude(having)
		}
	}
	return nil
}

// having returns the set of the documents that have every one of the terms, each
// in any scored field.
func (s *search) having(terms []string) (set, error) {
	var all set
	for _, term := range terms {
		one := s.looked[term]
		if one == nil { // else it was looked up to be scored
			found, err := s.weigh(term)
			if err != nil {
				return nil, err
			}
			one = s.set(found.documents)
		}
		if all == nil {
			all = slices.Clone(one)
		} else {
			all.intersect(one)
		}
		if all.count() == 0 {
			break
		}
	}
	return all, nil
}
