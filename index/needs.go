package index

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNeeds bounds the words of a request's Must that are looked up; the others
// need not be there.
const maxNeeds = maxQueryTerms

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
		for token := range analyzer.tokens(run) {
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
		for range analyzer.tokens(run) {
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
