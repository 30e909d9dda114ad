package query

import (
	"strings"
	"unicode/utf8"
)

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
	from, to = wordEdges(s.Text, from, to)
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

// wordEdges moves both ends of a range inwards, to where a word ends or begins if
// there is such a place in its outer quarters, else to where a rune does.
func wordEdges(text string, from, to int) (int, int) {
	quarter := (to - from) / 4
	if from > 0 {
		if space := strings.IndexByte(text[from-1:from+quarter], ' '); space >= 0 {
			from += space
		}
		for from < to && !utf8.RuneStart(text[from]) {
			from++
		}
	}
	if to < len(text) {
		if space := strings.LastIndexByte(text[to-quarter:to+1], ' '); space >= 0 {
			to += space - quarter
		}
		for to > from && !utf8.RuneStart(text[to]) {
			to--
		}
	}
	return from, to
}
