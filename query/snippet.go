package query

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSnippet is the length of a snippet, in bytes, about.
const maxSnippet = 160

// A Snippet is a piece of a text on one line, with the words that matched.
type Snippet struct {
	Text  string    `json:"snippet,omitempty"`
	Marks []ByteRun `json:"marks,omitempty"` // in the order of the text, apart from each other
}

// A ByteRun is the range [Start, End) of the bytes of a text.
type ByteRun struct{ Start, End int }

// MarshalJSON writes [start, end].
func (r ByteRun) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d]", r.Start, r.End), nil
}

// A window is a run of matches, first and last included.
type window struct{ first, last int }

// bestWindow returns the run of matches, at most a snippet long, that has the
// most distinct terms, and of those the one with the most matches.
func bestWindow(matches []match, termCount int) window {
	var best window
	top, topCount := 0, 0
	seen, terms := make([]int, termCount), 0
	first := 0
	for last, m := range matches {
		if seen[m.term]++; seen[m.term] == 1 {
			terms++
		}
		for ; m.end-matches[first].start > maxSnippet && first < last; first++ {
			if seen[matches[first].term]--; seen[matches[first].term] == 0 {
				terms--
			}
		}
		if count := last - first + 1; terms > top || terms == top && count > topCount {
			best, top, topCount = window{first, last}, terms, count
		}
	}
	return best
}

// cutSnippet returns what surrounds the matches, which lie in text. Without any
// it is the beginning of text.
func cutSnippet(text []byte, matches []match) Snippet {
	from, to := 0, 0
	if len(matches) > 0 {
		from, to = matches[0].start, matches[len(matches)-1].end
	}
	word := from
	from, to = widen(text, from, to)
	if cut := bytes.LastIndex(text[:from], []byte("<!--")); cut >= 0 {
		if rest := bytes.Index(text[cut:word], []byte("-->")); rest >= 0 { // the end of a comment alone tells nothing
			from = max(from, cut+rest+len("-->"))
		}
	}
	w := snippetWriter{text: text, matches: matches}
	w.clip(from, to)
	if to < len(text) && len(w.out) > 0 && bytes.ContainsFunc(text[to:], func(r rune) bool { return r > ' ' }) {
		w.out = append(w.out, "…"...)
	}
	return Snippet{string(w.out), w.marks}
}

// placeIn returns where in a line the first mark of a snippet stands: with the words behind
// it if it can, 0 if it is not there.
func (s Snippet) placeIn(line []byte) int {
	if len(s.Marks) == 0 {
		return 0
	}
	word := s.Marks[0]
	const maxPlace = 30 // how much of a snippet is looked for in its text, in bytes
	at := bytes.Index(line, []byte(s.Text[word.Start:min(len(s.Text), max(word.End, word.Start+maxPlace))]))
	if at < 0 {
		at = bytes.Index(line, []byte(s.Text[word.Start:word.End]))
	}
	return max(at, 0)
}

// maxEdge is how far from where a snippet would be cut the edge of a word is looked
// for, in bytes. Scripts without spaces, and long identifiers, have none so near.
const maxEdge = 40

// widen grows [from, to) to about maxSnippet bytes, a third of what is to spare
// before it, and to the edges of words, or else of runes.
func widen(text []byte, from, to int) (int, int) {
	spare := max(0, maxSnippet-(to-from))
	start := max(0, from-spare/3)
	end := min(len(text), to+spare-(from-start))
	return edges(text, start, from, to, end, maxEdge/2)
}

// edges moves a range around [from, to) to the edges of words, so many bytes further out at most, or else of runes.
func edges(text []byte, start, from, to, end, grow int) (int, int) {
	start = edge(text, start, from, 1, grow, func(i int) bool { return i == 0 || text[i-1] <= ' ' })
	end = edge(text, end, to, -1, grow, func(i int) bool { return i == len(text) || text[i] <= ' ' })
	for start > 0 && start < end && !utf8.RuneStart(text[start]) {
		start++
	}
	for end > start && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return start, end
}

// edge returns where an edge of words is near a place: in steps towards what is wanted if there is one,
// else so far in the other direction, else the place.
func edge(text []byte, place, wanted, step, grow int, isEdge func(i int) bool) int {
	for i := place; step*(i-place) < maxEdge && step*(wanted-i) > 0; i += step {
		if isEdge(i) {
			return i
		}
	}
	for i := place; i >= 0 && i <= len(text) && step*(place-i) < grow; i -= step {
		if isEdge(i) {
			return i
		}
	}
	return place
}

// A snippetWriter copies text with runs of white space as one space and without
// control characters, and notes where the matches come to lie.
type snippetWriter struct {
	text    []byte
	matches []match
	out     []byte
	marks   []ByteRun
}

// clip writes text[from:to], and a mark for each match that lies in it whole.
func (w *snippetWriter) clip(from, to int) {
	next := 0
	for i := from; i < to; {
		for next < len(w.matches) && w.matches[next].start < i {
			next++ // inside a word that is marked
		}
		if next < len(w.matches) && w.matches[next].start == i && w.matches[next].end <= to {
			end := w.matches[next].end
			start := len(w.out)
			w.copy(i, end)
			w.marks = append(w.marks, ByteRun{start, len(w.out)})
			i = end
			continue
		}
		if end := w.commentEnd(i, to); end > 0 && (next == len(w.matches) || w.matches[next].start >= end) {
			i = end // nothing is marked in it
			continue
		}
		_, size := utf8.DecodeRune(w.text[i:to])
		w.copy(i, i+size)
		i += size
	}
	for len(w.out) > 0 && w.out[len(w.out)-1] == ' ' {
		w.out = w.out[:len(w.out)-1]
	}
}

// commentEnd returns where a comment ends that begins at i as a line does, 0 if none does.
func (w *snippetWriter) commentEnd(i, to int) int {
	if !bytes.HasPrefix(w.text[i:to], []byte("<!--")) {
		return 0
	}
	if before := bytes.TrimRight(w.text[:i], " \t"); len(before) > 0 && before[len(before)-1] != '\n' {
		return 0 // code, say
	}
	if end := bytes.Index(w.text[i:to], []byte("-->")); end > 0 {
		return i + end + len("-->")
	}
	return 0
}

// copy appends the runes of text[from:to].
func (w *snippetWriter) copy(from, to int) {
	for i := from; i < to; {
		r, size := utf8.DecodeRune(w.text[i:to])
		i += size
		switch {
		case unicode.IsSpace(r):
			if n := len(w.out); n > 0 && w.out[n-1] != ' ' {
				w.out = append(w.out, ' ')
			}
		case unicode.IsControl(r) || r == '\ufeff':
		default:
			w.out = utf8.AppendRune(w.out, r)
		}
	}
}

// Clip returns a snippet of at most about size bytes, cut between words, around
// the first mark. Marks that no longer lie in it whole are gone.
func (s Snippet) Clip(size int) Snippet {
	if len(s.Text) <= size {
		return s
	}
	if size <= 0 {
		return Snippet{}
	}
	from, to := 0, size
	if len(s.Marks) > 0 && s.Marks[0].End > size-size/4 {
		from = s.Marks[0].Start - max(0, size-(s.Marks[0].End-s.Marks[0].Start))/3
		from = max(0, min(from, len(s.Text)-size))
		to = from + size
	}
	from, to = edges([]byte(s.Text), from, from+size/4, to-size/4, to, 0)
	out := Snippet{}
	head := ""
	if from > 0 {
		head = "…"
	}
	for _, m := range s.Marks {
		if m.Start >= from && m.End <= to {
			out.Marks = append(out.Marks, ByteRun{m.Start - from + len(head), m.End - from + len(head)})
		}
	}
	out.Text = head + s.Text[from:to]
	if to < len(s.Text) && !strings.HasSuffix(out.Text, "…") {
		out.Text += "…"
	}
	return out
}
