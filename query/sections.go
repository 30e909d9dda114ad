package query

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// linesOf returns some lines of a text, their ends included.
func linesOf(text []byte, lines Span) []byte {
	if lines.From == 0 {
		return nil
	}
	for line := 1; line < lines.From; line++ {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	end := 0
	for line := lines.From; line <= lines.To && end < len(text); line++ {
		n := bytes.IndexByte(text[end:], '\n')
		if n < 0 {
			return text
		}
		end += n + 1
	}
	return text[:end]
}

// A SectionText is what stands in the lines of a hit.
type SectionText struct {
	Text  []byte // whole lines, but for one that alone is too long
	First int    // the first line of the hit
	Last  int    // the last line in Text; 0: none
	Left  int64  // bytes of the lines that had no room
	short int64  // bytes of long lines that Text leaves out and says so
}

// Next returns the line from which the rest goes on: again the last one if that is
// cut itself.
func (s SectionText) Next() int { return s.First + bytes.Count(s.Text, []byte("\n")) }

// Cut returns the section with at most size bytes.
func (s SectionText) Cut(size int) SectionText {
	if size >= len(s.Text) {
		return s
	}
	text := markdown.Head(s.Text, size)
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		text = text[:end+1]
	}
	cut := SectionText{Text: text, First: s.First, Left: s.Left + s.short + int64(len(s.Text))}
	if len(cut.Text) > 0 {
		cut.Left -= int64(len(cut.Text))
		cut.Last = cut.First + bytes.Count(cut.Text[:len(cut.Text)-1], []byte("\n"))
	}
	return cut
}

// From returns the section from one of its lines on.
func (s SectionText) From(line int) SectionText {
	s.Text, s.First = linesOf(s.Text, Span{line - s.First + 1, math.MaxInt}), line
	return s
}

// Section reads the lines of a hit from the version that was found, whatever has
// followed it since: at most size bytes, 0 or less for any number. A hit without
// lines has an empty text. The error is store.ErrDamaged for bytes that are.
func (r *Reader) Section(ctx context.Context, h *Hit, size int) (SectionText, error) {
	if h.Lines.From == 0 {
		return SectionText{}, nil
	}
	content, err := View(ctx, r.store, func(tx *store.Tx) (store.Content, error) {
		v, err := tx.Get(record.Ref(h.Ref))
		if err != nil {
			return store.Content{}, err
		}
		return tx.Content(v.Record)
	})
	var text []byte
	if err == nil {
		text, err = content.Head(indexedText + shownLine)
	}
	if err != nil {
		return SectionText{}, fmt.Errorf("reading %s: %w", h.Name, err)
	}
	if size <= 0 {
		size = math.MaxInt
	}
	whole := linesOf(layout.Readable(h.Path, text), h.Lines)
	text = shortLines(whole, h, content.Size > indexedText+shownLine)
	short := max(0, int64(len(whole)-len(text)))
	return SectionText{Text: text, First: h.Lines.From, Last: h.Lines.To, short: short}.Cut(size), nil
}

// shownLine is how much of a line is shown where nobody has asked for that line, in bytes.
const shownLine = 4 << 10

// shortLines cuts the long lines of a hit around its words, and says what is left out. The
// last one of a text that is only the beginning may be longer than it seems.
func shortLines(text []byte, h *Hit, isBeginning bool) (out []byte) {
	number, store := h.Lines.From, map[bool]string{true: " --store " + record.ShellWord(h.Store)}[h.Store != ""]
	for line := range bytes.Lines(text) {
		if len(line) > shownLine {
			least := map[bool]string{true: "more than "}[isBeginning && line[len(line)-1] != '\n']
			line = bytes.TrimRight(line, "\r\n")
			place := h.Snippet.placeIn(line)
			from := max(0, place-shownLine/4)
			from, to := edges(line, from, place, place, min(len(line), from+shownLine), maxEdge/2)
			line = fmt.Appendf(nil, "… %s … [%s%d bytes of line %d left out: filebus get %s --lines %d --full%s]\n",
				line[from:to], least, len(line)-(to-from), number, h.Ref, number, store)
		}
		out = append(out, line...)
		number++
	}
	return out
}
