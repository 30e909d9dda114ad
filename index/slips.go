package index

import (
	"errors"
	"iter"
	"unicode/utf8"

	api "github.com/blevesearch/bleve_index_api"
)

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
	reader, ok := s.reader.(api.IndexReaderContains)
	if !ok {
		return errors.New("the engine cannot look up terms")
	}
	dictionary, err := reader.FieldDictContains(field)
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
	reader, ok := s.reader.(api.IndexReaderFuzzy)
	if !ok {
		return errors.New("the engine cannot look up terms that are alike")
	}
	_, size := utf8.DecodeRuneInString(term)
	dictionary, err := reader.FieldDictFuzzy(field, term, slips, term[:size])
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
