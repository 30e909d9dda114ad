package index

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSuggestions = 8 // words of a query that help is given for
	maxSuggested   = 5 // terms of each
	leastSpelled   = 4 // letters of a word that can be misspelled; shorter ones are like too many
)

// A Suggestion is a word of a query that no document has, with terms that some
// have and that are spelled like it, the likeliest first.
type Suggestion struct {
	Word       string   // as the query has it
	Start, End int      // bytes of the query
	Terms      []string // at most five, analysed, as a Token has them
}

// Suggest returns a Suggestion for each word of a query that no document has and
// that others are spelled like: with one slip in words of four to six letters,
// with two in longer ones. A slip is a letter too many, too few, changed, or
// swapped with the next. Words with digits get none, since another number is
// another thing. It helps with the first eight words. Errors are those of Search.
func (x *Index) Suggest(ctx context.Context, query string) ([]Suggestion, error) {
	var out []Suggestion
	err := x.with(ctx, nil, func(s *search) (err error) {
		speller := speller{search: s, frequencies: make(map[string]uint64)}
		out, err = speller.suggest(query)
		return err
	})
	return out, err
}

// A speller finds terms that are spelled like others.
type speller struct {
	*search
	frequencies map[string]uint64 // of the terms that were looked up
}

// A spelled is a word of a query.
type spelled struct {
	start, end int
	text       string  // folded, without punctuation
	terms      []Token // the whole form first, where there is one
	known      bool    // a document has one of the terms
}

// suggest goes through the words of a query from left to right.
func (s *speller) suggest(query string) ([]Suggestion, error) {
	words, err := s.words(query)
	if err != nil {
		return nil, err
	}
	var out []Suggestion
	for _, w := range words {
		if w.known || len(out) >= maxSuggestions {
			continue
		}
		found, err := s.word(query, w)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out[:min(len(out), maxSuggestions)], nil
}

// words returns the words of a query, and which of them are known.
func (s *speller) words(query string) ([]spelled, error) {
	words := queryWords(query)
	for i := range words {
		for _, term := range words[i].terms {
			n, err := s.frequency(term.Term)
			if err != nil {
				return nil, err
			}
			words[i].known = words[i].known || n > 0
		}
	}
	return words, nil
}

// queryWords returns the words of a query that have terms, as many as a query has
// terms at most.
func queryWords(query string) []spelled {
	text := bounded(query)
	var words []spelled
	analyzer := NewAnalyzer()
	analyzer.scan(text, nil, func(start, _ int, pieces []piece) bool {
		if len(pieces) == 0 {
			return true
		}
		w := spelled{start: start, end: start}
		for _, p := range pieces {
			token := Token{Term: analyzer.terms[p.term], Start: start + int(p.start), End: start + int(p.end)}
			w.end = max(w.end, token.End)
			w.terms = append(w.terms, token)
		}
		w.text = lettersOf(text[w.start:w.end])
		words = append(words, w)
		return len(words) < maxQueryTerms
	})
	return words
}

// lettersOf returns a word folded and without the punctuation in it.
func lettersOf(word []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, fold(word))
}

// frequency returns about how many documents have a term; exactly, whether any
// has.
func (s *speller) frequency(term string) (uint64, error) {
	if n, known := s.frequencies[term]; known {
		return n, nil
	}
	n, err := s.documentsWith(term)
	if err == nil {
		s.frequencies[term] = n
	}
	return n, err
}

// word returns the suggestions for a word that no document has: one for the
// whole, else one for each part of it. A path has no whole.
func (s *speller) word(query string, w spelled) ([]Suggestion, error) {
	path := strings.Contains(query[w.start:w.end], "/")
	if !path {
		whole, err := s.part(query, w.start, w.end, w.text)
		if err != nil || whole != nil {
			return whole, err
		}
	}
	var out []Suggestion
	for _, term := range w.terms[:min(len(w.terms), 4*maxSuggestions)] {
		if !path && term.Start == w.start && term.End == w.end {
			continue
		}
		part, err := s.part(query, term.Start, term.End, lettersOf([]byte(query[term.Start:term.End])))
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}

// part returns one suggestion or none for a part of the query, given its
// letters.
func (s *speller) part(query string, start, end int, word string) ([]Suggestion, error) {
	letters := utf8.RuneCountInString(word)
	if letters < leastSpelled || len(word) > maxTerm || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return nil, nil
	}
	terms, err := s.like(word)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	return []Suggestion{{Word: query[start:end], Start: start, End: end, Terms: terms}}, nil
}

// like returns the terms that are spelled like a word. The fewest slips come first, then what begins
// with the same letter, where slips are rare, then the most frequent.
func (s *speller) like(word string) (terms []string, err error) {
	slips, err := s.near(word)
	if err != nil {
		return nil, err
	}
	for term := range slips {
		n, err := s.frequency(term)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			terms = append(terms, term)
		}
	}
	first, _ := utf8.DecodeRuneInString(word)
	other := func(term string) int {
		if r, _ := utf8.DecodeRuneInString(term); r != first {
			return 1
		}
		return 0
	}
	slices.SortFunc(terms, func(a, b string) int {
		return cmp.Or(cmp.Compare(slips[a], slips[b]), other(a)-other(b), cmp.Compare(s.frequencies[b], s.frequencies[a]), strings.Compare(a, b))
	})
	return terms[:min(len(terms), maxSuggested)], nil
}

const (
	maxEdited = 32   // letters of a word that all slips are tried for
	maxNear   = 2000 // terms that are looked at for a word
)

// near returns the terms of titles and bodies that are spelled like a word, and
// how many slips apart.
//
// The dictionary has stems, which a slip in a suffix hides: authenticaton is not
// like authent, the stem of authentication. So every slip of one letter is tried
// on the word itself; then, with up to two slips, terms that are like its stem.
// Those begin with the same letter: that is where people slip least, and it
// bounds the walk through the dictionary.
func (s *speller) near(word string) (map[string]int, error) {
	found := make(map[string]int)
	for _, field := range []string{scored[fieldBody].name, scored[fieldTitle].name} {
		if err := s.edited(field, word, found); err != nil {
			return nil, err
		}
	}
	root := stem(word)
	slips := min(maxSlips(word), maxSlips(root))
	if slips == 0 {
		return found, nil
	}
	for _, field := range []string{scored[fieldBody].name, scored[fieldTitle].name} {
		if err := s.fuzzy(field, root, slips, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// maxSlips returns how many slips make words alike.
func maxSlips(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < leastSpelled:
		return 0
	case n <= 6:
		return 1
	}
	return 2
}

// edited adds the terms of a field that are those of a word with one slip.
func (s *speller) edited(field, word string, found map[string]int) error {
	if !isPlain([]byte(word)) || len(word) > maxEdited {
		return nil
	}
	dictionary, err := s.state.FieldDictContains(field)
	if err != nil {
		return err
	}
	for other := range edits(word) {
		if len(other) < leastSpelled-1 || stopWords[other] {
			continue
		}
		term := stem(other)
		if _, known := found[term]; known {
			continue
		}
		has, err := dictionary.Contains([]byte(term))
		if err != nil {
			return err
		}
		if has {
			found[term] = 1
		}
	}
	return s.ctx.Err()
}

// edits returns what a word of small letters is with one letter left out,
// swapped with the next, changed, or added.
func edits(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(word) + 1 {
			before, after := word[:i], word[i:]
			if len(after) > 0 && !yield(before+after[1:]) {
				return
			}
			if len(after) > 1 && !yield(before+after[1:2]+after[:1]+after[2:]) {
				return
			}
			for c := 'a'; c <= 'z'; c++ {
				if len(after) > 0 && !yield(before+string(c)+after[1:]) || !yield(before+string(c)+after) {
					return
				}
			}
		}
	}
}

// fuzzy adds the terms of a field that are like another and begin with the same
// letter.
func (s *speller) fuzzy(field, term string, slips int, found map[string]int) error {
	_, size := utf8.DecodeRuneInString(term)
	dictionary, err := s.state.FieldDictFuzzy(field, term, slips, term[:size])
	if err != nil {
		return err
	}
	defer dictionary.Close()
	for range maxNear {
		entry, err := dictionary.Next()
		if err != nil || entry == nil {
			return err
		}
		apart := int(entry.EditDistance)
		if known, ok := found[entry.Term]; !ok || apart < known {
			found[entry.Term] = apart
		}
	}
	return s.ctx.Err()
}
