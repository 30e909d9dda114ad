package finder

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"filebus/query"
	"filebus/store/record"
)

// clean makes text safe for a line of a terminal: what that would obey, or not show,
// becomes spaces, and nothing at the beginning of a text.
func clean(text string) string {
	var before rune
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\ufeff':
			return -1
		case record.IsHidden(r) && !record.Joins(before, r):
			r = ' '
		}
		before = r
		return r
	}, text)
}

// A page is a text in lines.
type page struct {
	Text
	lines []query.ByteRun // of Body, without line ends
}

func newPage(text Text) page {
	p := page{Text: text}
	for start := 0; start < len(text.Body); {
		end := bytes.IndexByte(text.Body[start:], '\n')
		next := start + end + 1
		if end < 0 {
			end, next = len(text.Body)-start, len(text.Body)
		}
		p.lines = append(p.lines, query.ByteRun{Start: start, End: start + len(bytes.TrimSuffix(text.Body[start:start+end], []byte("\r")))})
		start = next
	}
	return p
}

// A cell is a character as people see it.
type cell struct {
	text   string
	width  int
	marked bool
}

const (
	tabStop = 4
	// longLine is the length in bytes from which a line is cut before its first mark,
	// so that this is seen, and lead is what stays before it.
	longLine = 2000
	lead     = 200
)

// cells returns the characters of a line, at most as many as fill room.
func (p *page) cells(line, room int) []cell {
	run := p.lines[line]
	marks := p.marksOf(run)
	var out []cell
	at := run.Start
	if run.End-run.Start > longLine && len(marks) > 0 && marks[0].Start-run.Start > longLine/2 {
		at = marks[0].Start - lead
		for at < marks[0].Start && !utf8.RuneStart(p.Body[at]) {
			at++
		}
		out = append(out, cell{text: "…", width: 1})
	}
	width := 0
	for at < run.End && width < room {
		end, marked := run.End, false
		for len(marks) > 0 && marks[0].End <= at {
			marks = marks[1:]
		}
		if len(marks) > 0 {
			if marked = marks[0].Start <= at; marked {
				end = min(marks[0].End, run.End)
			} else {
				end = min(marks[0].Start, run.End)
			}
		}
		end = min(end, cut(p.Body, at, at+8*room))
		for _, c := range split(string(p.Body[at:end]), width, marked) {
			out = append(out, c)
			width += c.width
		}
		at = end
	}
	return out
}

// cut returns end, or the place close behind it where a rune begins.
func cut(text []byte, start, end int) int {
	for end > start && end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return min(end, len(text))
}

// marksOf returns the marks that reach into a run.
func (p *page) marksOf(run query.ByteRun) []query.ByteRun {
	first, _ := slices.BinarySearchFunc(p.Marks, run.Start, func(m query.ByteRun, at int) int {
		if m.End <= at {
			return -1
		}
		return 1
	})
	return p.Marks[first:]
}

// split cuts text into characters. Tabs reach to the next stop, counted from a
// column.
func split(text string, column int, marked bool) []cell {
	var out []cell
	for i, part := range strings.Split(text, "\t") {
		if i > 0 {
			n := tabStop - column%tabStop
			column += n
			for range n {
				out = append(out, cell{" ", 1, marked})
			}
		}
		for g := displaywidth.StringGraphemes(clean(strings.ToValidUTF8(part, "\ufffd"))); g.Next(); {
			out = append(out, cell{g.Value(), g.Width(), marked})
			column += g.Width()
		}
	}
	return out
}

// wrap breaks cells into rows, between words where there are some.
func wrap(cells []cell, width int) [][]cell {
	var rows [][]cell
	for len(cells) > 0 {
		used, end, space := 0, 0, 0
		for end < len(cells) && used+cells[end].width <= width {
			used += cells[end].width
			if end++; cells[end-1].text == " " {
				space = end
			}
		}
		if end < len(cells) && space > 0 {
			end = space
		}
		end = max(end, 1)
		rows = append(rows, cells[:end])
		cells = cells[end:]
	}
	if len(rows) == 0 {
		rows = append(rows, nil)
	}
	return rows
}
