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
	words   []string
	literal []byte // of a phrase without words
	// back says, for each number of words that agreed, how many of their last ones
	// agree with the phrase's first, so that no word is read twice.
	back []int
}

// newPhrase returns the phrase of a text.
func newPhrase(text string) phrase {
	var p phrase
	for w := range index.Words([]byte(text)) {
		p.words = append(p.words, string(w.Text))
	}
	if len(p.words) == 0 {
		p.literal = bytes.TrimSpace([]byte(text))
		return p
	}
	p.back = make([]int, len(p.words)+1)
	agree := 0
	for i := 1; i < len(p.words); i++ {
		for agree > 0 && p.words[i] != p.words[agree] {
			agree = p.back[agree]
		}
		if p.words[i] == p.words[agree] {
			agree++
		}
		p.back[i+1] = agree
	}
	return p
}

// A phraseFinder finds several phrases in one pass over a text. It is not safe for
// concurrent use; copies are.
type phraseFinder struct {
	phrases []phrase
	first   map[string][]int // the phrases that begin with a word
	longest int              // words

	agree  []int // by phrase: the words of it that the last ones of the text are
	active []int // the phrases of which that is not 0
	starts []int // of the last words, in turn
}

// newPhraseFinder returns a finder of texts.
func newPhraseFinder(texts []string) *phraseFinder {
	f := &phraseFinder{first: make(map[string][]int)}
	for i, text := range texts {
		p := newPhrase(text)
		f.phrases = append(f.phrases, p)
		f.longest = max(f.longest, len(p.words))
		if len(p.words) > 0 {
			f.first[p.words[0]] = append(f.first[p.words[0]], i)
		}
	}
	return f
}

// clone returns a finder that can be used at the same time.
func (f *phraseFinder) clone() *phraseFinder {
	return &phraseFinder{phrases: f.phrases, first: f.first, longest: f.longest}
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
	f.agree, f.active, f.starts = make([]int, len(f.phrases)), f.active[:0], make([]int, f.longest)
	count := 0
	for w := range index.Words(text) {
		f.starts[count%f.longest] = w.Start
		count++
		for _, i := range f.next(w.Text) {
			if !visit(i, f.starts[(count-len(f.phrases[i].words))%f.longest], w.End) {
				return
			}
		}
	}
}

// next takes in the next word of a text and returns the phrases that end with it.
func (f *phraseFinder) next(word []byte) (ended []int) {
	before := len(f.active)
	begins := f.first[string(word)]
	for _, i := range begins {
		if f.agree[i] == 0 {
			f.active = append(f.active, i)
		}
	}
	if before == 0 && len(begins) == 0 {
		return nil
	}
	kept := f.active[:0]
	for _, i := range f.active {
		p := &f.phrases[i]
		n := f.agree[i]
		for n > 0 && p.words[n] != string(word) {
			n = p.back[n]
		}
		if p.words[n] == string(word) {
			n++
		}
		if n == len(p.words) {
			ended = append(ended, i)
			n = 0
		}
		if f.agree[i] = n; n > 0 {
			kept = append(kept, i)
		}
	}
	f.active = kept
	return ended
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
	finder := f.finder.clone()
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
