package query

import (
	"slices"
	"unicode/utf8"

	"filebus/index"
)

// mark adds the places of phrases to matches, as terms numbered from first on, and
// takes out what lies inside them. Of a long one only the beginning is marked.
func (f *phraseFinder) mark(matches []match, text []byte, first int) []match {
	found := 0
	f.find(text, func(phrase, start, end int) bool {
		matches = append(matches, match{term: first + phrase, start: start, end: markEnd(text, start, end)})
		found++
		return found < maxMatches
	})
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
	if end-start <= maxSnippet {
		return end
	}
	last := start
	for w := range index.Words(text[start:end]) {
		if w.End > maxSnippet {
			break
		}
		last = start + w.End
	}
	if last > start {
		return last
	}
	last = start + maxSnippet
	for last < end && !utf8.RuneStart(text[last]) {
		last++
	}
	return last
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

// count returns the number of phrases.
func (f *phraseFinder) count() int {
	if f == nil {
		return 0
	}
	return len(f.phrases)
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
