package query

import (
	"bytes"
	"slices"

	"filebus/index"
	"filebus/materialize/markdown"
)

// A phrase is a text to be found as it is written: its words one after another,
// with any white space and punctuation between, in any case, with or without
// accents. A text without words is looked for byte by byte.
type phrase struct {
	words   []int  // their numbers in the finder
	literal []byte // of a phrase without words
}

// A phraseFinder finds several phrases in one pass over a text.
type phraseFinder struct {
	phrases []phrase
	numbers map[string]int // of the words of all phrases, from 1
	ending  map[int][]int  // the phrases that end with a word
	longest int            // words
}

// newPhraseFinder returns a finder of texts.
func newPhraseFinder(texts []string) *phraseFinder {
	f := &phraseFinder{numbers: make(map[string]int), ending: make(map[int][]int)}
	for i, text := range texts {
		var p phrase
		for w := range index.Words([]byte(text)) {
			if f.numbers[string(w.Text)] == 0 {
				f.numbers[string(w.Text)] = len(f.numbers) + 1
			}
			p.words = append(p.words, f.numbers[string(w.Text)])
		}
		if n := len(p.words); n > 0 {
			f.ending[p.words[n-1]] = append(f.ending[p.words[n-1]], i)
			f.longest = max(f.longest, n)
		} else {
			p.literal = bytes.TrimSpace([]byte(text))
		}
		f.phrases = append(f.phrases, p)
	}
	return f
}

// find calls visit with each occurrence of a phrase in text, those of one phrase
// apart from each other, until it returns false.
func (f *phraseFinder) find(text []byte, visit func(phrase, start, end int) bool) {
	for i, p := range f.phrases {
		for at := 0; len(p.literal) > 0; {
			n := bytes.Index(text[at:], p.literal)
			if n < 0 {
				break
			}
			if at += n + len(p.literal); !visit(i, at-len(p.literal), at) {
				return
			}
		}
	}
	if f.longest == 0 {
		return
	}
	type word struct{ number, start int }
	last := make([]word, f.longest) // words of the text, in turn
	free := make([]int, len(f.phrases))
	count := 0
	for w := range index.Words(text) {
		number := f.numbers[string(w.Text)]
		last[count%f.longest] = word{number, w.Start}
		count++
		for _, i := range f.ending[number] {
			words := f.phrases[i].words
			first, agree := count-len(words), 0
			for first >= free[i] && agree < len(words) && last[(first+agree)%f.longest].number == words[agree] {
				agree++
			}
			if agree < len(words) {
				continue
			}
			free[i] = count
			if !visit(i, last[first%f.longest].start, w.End) {
				return
			}
		}
	}
}

// A phraseFilter decides which texts have the phrases that a request wants, and
// none that it does not want.
type phraseFilter struct {
	finder *phraseFinder
	wanted int // the first phrases are wanted, the others are not
}

// newPhraseFilter returns the filter for a request, or nil if it has no phrases.
func newPhraseFilter(q *SearchRequest) *phraseFilter {
	if len(q.Phrases)+len(q.WithoutPhrases) == 0 {
		return nil
	}
	return &phraseFilter{newPhraseFinder(slices.Concat(q.Phrases, q.WithoutPhrases)), len(q.Phrases)}
}

// passes reports whether each phrase that is wanted stands in one of the texts of a
// record, and none that is not.
func (f *phraseFilter) passes(texts [][]byte) bool {
	if f == nil {
		return true
	}
	finder := f.finder
	seen, missing, passes := make([]bool, f.wanted), f.wanted, true
	for _, text := range texts {
		finder.find(text, func(phrase, _, _ int) bool {
			switch {
			case phrase >= f.wanted:
				passes = false
			case !seen[phrase]:
				seen[phrase] = true
				missing--
			}
			return passes && (missing > 0 || len(finder.phrases) > f.wanted)
		})
		if !passes || missing == 0 && len(finder.phrases) == f.wanted {
			break
		}
	}
	return passes && missing == 0
}

// texts returns what a phrase may stand in, each of them as a whole: what the index
// knows of a record.
func (f *finding) texts() ([][]byte, error) {
	body, _, err := headOf(f.content)
	r, d := f.version.Record, f.description
	texts := [][]byte{[]byte(d.Title), []byte(d.Preview), []byte(r.Name.ID), []byte(r.Agent), []byte(r.Task)}
	for _, tag := range r.Tags {
		texts = append(texts, []byte(tag))
	}
	if !markdown.IsBinary(body) {
		texts = append(texts, body)
	}
	return texts, err
}
