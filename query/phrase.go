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
	words   []int       // their numbers in the finder
	literal []byte      // of a phrase without words
	pattern *Expression // in place of a text
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
		for _, at := range p.pattern.marks(text) {
			if !visit(i, at[0], at[1]) {
				return
			}
		}
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
	finder  *phraseFinder
	wanted  int // the first phrases are wanted, the others are not
	pattern *Expression
}

// newPhraseFilter returns the filter for a request, or nil if it has no phrases and no pattern.
func newPhraseFilter(q *SearchRequest) *phraseFilter {
	if len(q.Phrases)+len(q.WithoutPhrases) == 0 && q.Pattern == nil {
		return nil
	}
	return &phraseFilter{newPhraseFinder(slices.Concat(q.Phrases, q.WithoutPhrases)), len(q.Phrases), q.Pattern}
}

// passes reports whether each phrase that is wanted stands in one of the texts of a
// record, and none that is not, and the pattern in the body, the first of them.
func (f *phraseFilter) passes(texts [][]byte) bool {
	if f == nil {
		return true
	}
	if f.pattern != nil && !f.pattern.matcher.Match(texts[0]) {
		return false
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
// knows of a record, its body first.
func (f *candidate) texts() ([][]byte, error) {
	body, _, err := headOf(f.content, f.Path)
	if markdown.IsBinary(body) {
		body = nil
	}
	texts := [][]byte{body, []byte(f.Title), []byte(f.Description.Preview), []byte(f.Name.ID), []byte(f.Agent), []byte(f.Task)}
	for _, tag := range f.Tags {
		texts = append(texts, []byte(tag))
	}
	return texts, err
}

// places returns the places of phrases as matches of terms numbered from first on. Of a
// long one only the beginning is marked.
func (f *phraseFinder) places(text []byte, first int) (found []match) {
	f.find(text, func(phrase, start, end int) bool {
		found = append(found, match{term: first + phrase, start: start, end: markEnd(text, start, end)})
		return len(found) < maxMatches
	})
	return found
}

// withPlaces adds the places of phrases to matches and takes out what lies inside them.
func withPlaces(matches, phrases []match, first int) []match {
	matches = slices.Concat(matches, phrases)
	slices.SortStableFunc(matches, func(a, b match) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return min(b.term, first) - min(a.term, first) // phrases before words
	})
	covered := 0 // up to where the last phrase reaches
	return slices.DeleteFunc(matches, func(m match) bool {
		if m.end <= covered {
			return true
		}
		if m.term >= first {
			covered = m.end
		}
		return false
	})
}

// markEnd returns where the mark of a phrase ends that is not much longer than a
// snippet.
func markEnd(text []byte, start, end int) int {
	if end-start > maxSnippet {
		_, end = edges(text, start, start, start, start+maxSnippet, 0)
	}
	return end
}

// withPhrases returns the parts that have the most phrases, which are the matches of
// terms from first on: all parts, if none has any.
func withPhrases(parts []part, matches []match, first int) []part {
	var best []part
	most := 0
	for i := range parts {
		seen := make(map[int]bool)
		for _, m := range parts[i].of(matches) {
			if m.term >= first {
				seen[m.term] = true
			}
		}
		if len(seen) > most {
			best, most = nil, len(seen)
		}
		if len(seen) == most {
			best = append(best, parts[i])
		}
	}
	return best
}

// phraseWindow returns the run of matches around the first phrase behind the
// heading, in the body, that a snippet has room for. Phrases are the terms from
// first on.
func phraseWindow(matches []match, first, body int) (w window, found bool) {
	at := slices.IndexFunc(matches, func(m match) bool { return m.term >= first && m.start >= body })
	if at < 0 {
		return w, false
	}
	w = window{at, at}
	for w.last+1 < len(matches) && matches[w.last+1].end-matches[at].start <= maxSnippet {
		w.last++
	}
	for w.first > 0 && matches[w.last].end-matches[w.first-1].start <= maxSnippet {
		w.first--
	}
	return w, true
}

// excludes reports whether texts, those of one record, have all terms of one of some words. A word means
// what it means to the index: of an identifier the whole form.
func excludes(analyzer *index.Analyzer, words []string, texts [][]byte) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		wanted := make(terms)
		for _, term := range index.Wholes(word) {
			wanted[term] = len(wanted)
		}
		var matches []match
		for _, text := range texts {
			matches = append(matches, findMatches(analyzer, text, wanted)...)
		}
		return len(wanted) > 0 && distinct(matches, len(wanted)) == len(wanted)
	})
}
