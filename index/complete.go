package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	leastBegun     = 2    // letters of a word that is completed
	leastBegunStem = 4    // letters of one that may be longer than its stem
	maxWalked      = 4000 // terms of a field that are looked at
)

// suffixes end English words and are not in their stems, or not whole.
var suffixes = strings.Fields(`s es ies ed ing ings er ers or ly y able ably ible ibly ability abilities ibility ibilities ance ances
	ence ences ancy ency encies ion ions ation ations ational ition itions ization izations ize izes ized izing izer ate ates ated ating
	ator ators ication ications icate ic ical ically ment ments ness ity ities ive ives ative ively iveness ous ously ousness ful fully
	fulness less al ally ism ist ists ning ting ping ged`)

// A Beginning is the beginning of a word, as the last of a text has it while it is
// typed.
type Beginning struct {
	Term string // what the word is if it is whole, as a Token has it

	text  string          // folded, without punctuation
	stems map[string]bool // of words that begin so, though their stems do not
}

// BeginningOf returns that of the last word of a query; nil if a space or
// punctuation stands behind it, if it has less than two letters, or if the query is
// longer than what is analysed. Of a path it is that of its last name.
func BeginningOf(query string) *Beginning {
	if len(query) > maxText {
		return nil
	}
	word := lastWord([]byte(query))
	text := begunText([]byte(word[strings.LastIndexByte(word, '/')+1:]))
	if utf8.RuneCountInString(text) < leastBegun || len(text) > maxTerm {
		return nil
	}
	b := &Beginning{Term: stem(text), text: text, stems: make(map[string]bool)}
	if len(text) < leastBegunStem || !isPlain([]byte(text)) {
		return b
	}
	for _, suffix := range suffixes {
		for common := range min(len(suffix), len(text)-1) {
			if !strings.HasSuffix(text, suffix[:common]) {
				continue
			}
			if term := stem(text + suffix[common:]); len(term) < len(text) && len(term) > leastBegun && term != b.Term {
				b.stems[term] = true
			}
		}
	}
	return b
}

// Length returns the number of letters and digits.
func (b *Beginning) Length() int { return utf8.RuneCountInString(b.text) }

// begunText returns a word folded: a version or a name such as .env, whose dots are in
// its term, with them, others without punctuation.
func begunText(word []byte) string {
	for token := range Analyze(word) {
		if strings.Contains(token.Term, ".") {
			return token.Term
		}
		break
	}
	return lettersOf(word)
}

// lastWord returns the run that a text ends with, if it does, and if it is of a
// script with spaces between words.
func lastWord(text []byte) string {
	for i := 0; i < len(text); {
		end, paired := nextRun(text, i)
		switch {
		case end < 0:
			i -= end
		case end < len(text):
			i = end
		case paired:
			return ""
		default:
			last, _ := utf8.DecodeLastRune(text)
			if !unicode.IsLetter(last) && !unicode.IsDigit(last) && !unicode.IsMark(last) {
				return ""
			}
			return string(text[i:])
		}
	}
	return ""
}

// Has reports whether a term, as a Token has it, is of a word that begins so.
func (b *Beginning) Has(term string) bool {
	return strings.HasPrefix(term, b.text) || b.stems[term] || term == b.Term
}

// Completions returns the terms of the index that a Beginning may become, but not
// its own Term: the most frequent, limit at most. Their weights are for
// Request.More. Where documents have the word as it is, all completions together
// count for less, and where isGuess there are none. Only a bounded number of terms is looked at. Errors are those of
// Search.
func (x *Index) Completions(ctx context.Context, b *Beginning, isGuess bool, limit int) ([]WeightedTerm, error) {
	var out []WeightedTerm
	err := x.with(ctx, nil, func(s *search) error {
		known, err := s.weigh(b.Term) // as it is scored by too
		if err != nil || len(known.documents) > 0 && isGuess {
			return err
		}
		whole, err := s.documentsWith(b.Term)
		if err != nil {
			return err
		}
		found, err := s.begun(b)
		if err != nil {
			return err
		}
		delete(found, b.Term)
		out = s.weighted(found, whole, max(limit, 0))
		return nil
	})
	return out, err
}

// begun returns the terms of a Beginning with the number of documents that have
// them, in the field in which most do.
func (s *search) begun(b *Beginning) (map[string]uint64, error) {
	found := make(map[string]uint64)
	for _, f := range scored {
		walked := 0
		err := s.eachTerm(f.name, b.text, func(term string, documents uint64) (bool, error) {
			found[term] = max(found[term], documents)
			walked++
			return walked < maxWalked, s.ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	for term := range b.stems {
		n, err := s.documentsWith(term)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found[term] = n
		}
	}
	return found, nil
}

// eachTerm calls visit with each term of a field that begins with prefix, and in how
// many documents it is, until it returns false.
func (s *search) eachTerm(field, prefix string, visit func(term string, documents uint64) (bool, error)) error {
	dictionary, err := s.state.FieldDictPrefix(field, []byte(prefix))
	if err != nil {
		return err
	}
	defer dictionary.Close()
	for {
		entry, err := dictionary.Next()
		if err != nil || entry == nil {
			return err
		}
		if more, err := visit(entry.Term, entry.Count); !more || err != nil {
			return err
		}
	}
}

// weighted returns the most frequent terms with their weights, given the number of
// documents that have the whole word.
func (s *search) weighted(found map[string]uint64, whole uint64, limit int) []WeightedTerm {
	var out []WeightedTerm
	for term := range found {
		out = append(out, WeightedTerm{Term: term, Weight: completionWeight})
	}
	slices.SortFunc(out, func(a, b WeightedTerm) int {
		return cmp.Or(cmp.Compare(found[b.Term], found[a.Term]), strings.Compare(a.Term, b.Term))
	})
	out = slices.Clip(out[:min(len(out), limit)])
	if whole == 0 {
		return out
	}
	most := s.rarity(&queryTerm{having: whole}) / float64(max(len(out), 1))
	for i := range out {
		rarity := s.rarity(&queryTerm{having: found[out[i].Term]})
		out[i].Weight *= min(1, most/max(rarity, minWeight))
	}
	return out
}

// documentsWith returns in how many documents a term is, in the field in which most
// have it.
func (s *search) documentsWith(term string) (most uint64, err error) {
	for _, f := range scored {
		list, err := s.state.TermFieldReader(s.ctx, []byte(term), f.name, false, false, false)
		if err != nil {
			return 0, err
		}
		most = max(most, list.Count())
		if err := list.Close(); err != nil {
			return 0, err
		}
	}
	return most, s.ctx.Err()
}
