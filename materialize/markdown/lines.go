package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A Line is one line of a file that is cut by its lines.
type Line struct {
	Text       []byte // without byte order mark and line ending
	At         int    // where text begins in the file
	Start, End int    // of the whole line, its ending included
	Number     int    // counted from 1
	Level      int    // of the ATX heading that the line is, or 0
	Quiet      bool   // in a code fence or an HTML comment: text, whatever it looks like
	Open       bool   // begins a fence or comment that nothing ends, and so counts as text
	Behind     int    // of a quiet line: where text goes on behind the comment's end, or 0
}

// Lines cuts text after each LF, and marks headings, code fences and HTML comments: what stands
// flat in it, in no list and no quotation. So an entry is read as it was written, whatever stands
// above it. A fence that is never closed is no fence: one slip of one writer must not hide all
// entries behind it. The time is linear in the text.
func Lines(text []byte) []Line {
	lines := make([]Line, 0, bytes.Count(text, []byte("\n"))+1)
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		lines = append(lines, newScanLine(text, at, end, len(lines)+1))
		at = end
	}
	b, first, never := blockScanner{flat: true}, 0, map[string]int{}
	for i := range lines {
		l, wasOpen := &lines[i], b.leaf > leafText
		info := b.next(l.Text)
		if !wasOpen {
			first = i
		}
		switch isOpen := b.leaf > leafText; {
		case isOpen && !wasOpen && !b.ends(lines[i+1:], never):
			l.Open, b.leaf = true, leafNone
		case !isOpen && (info.kind == lineFence || info.kind == lineHTML):
			for j := range lines[first : i+1] {
				lines[first+j].Quiet = true
			}
			if info.kind == lineHTML {
				l.Behind = l.At + bytes.Index(l.Text, []byte(commentEnd)) + len(commentEnd)
			}
		case info.kind == lineHeading:
			l.Level = int(info.level)
		}
	}
	return lines
}

// ends reports whether one of the lines ends the fence or comment that is open. By what ends it,
// never has the size of the smallest that none does.
func (b *blockScanner) ends(lines []Line, never map[string]int) bool {
	mark, size := string(b.fence), b.fenceSize
	isEnd := func(l Line) bool { return closesFence(l.Text, b.fence, size) }
	if b.leaf == leafHTML {
		mark, size = b.htmlEnd, 1
		isEnd = func(l Line) bool { return bytes.Contains(l.Text, []byte(mark)) }
	}
	if never[mark] == 0 || size < never[mark] {
		if slices.ContainsFunc(lines, isEnd) {
			return true
		}
		never[mark] = size
	}
	return false
}

// newScanLine returns the line text[start:end]. A byte order mark is no part of
// the first line's text, or a heading behind it would be missed.
func newScanLine(text []byte, start, end, number int) Line {
	at := start
	if start == 0 && bytes.HasPrefix(text, []byte(ByteOrderMark)) {
		at = len(ByteOrderMark)
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(text[at:end], []byte("\n")), []byte("\r"))
	return Line{Text: line, At: at, Start: start, End: end, Number: number}
}

// maxFence is the length from which on fences count as equally long: that many are looked for at most.
const maxFence = 100

// scanFence returns the mark and the length of the code fence that text begins
// with, 0 without one, and whether it can close a fence.
func scanFence(text []byte) (mark byte, size int, closes bool) {
	rest := cutIndent(text)
	if len(rest) < 3 || rest[0] != '`' && rest[0] != '~' {
		return 0, 0, false
	}
	info := bytes.TrimLeft(rest, string(rest[:1]))
	size = min(len(rest)-len(info), maxFence)
	if size < 3 || rest[0] == '`' && bytes.IndexByte(info, '`') >= 0 {
		return 0, 0, false
	}
	return rest[0], size, len(bytes.TrimSpace(info)) == 0
}

// closesFence reports whether text closes a fence that began with size marks.
func closesFence(text []byte, mark byte, size int) bool {
	m, n, closes := scanFence(text)
	return closes && m == mark && n >= size
}

// StartsComment reports whether text begins an HTML comment. Comments inside a
// line are of no concern: they hide no headings.
func StartsComment(text []byte) bool { return bytes.HasPrefix(cutIndent(text), []byte("<!--")) }

// Heading returns the level and the text of an ATX heading, level 0 when
// text is none.
func Heading(text []byte) (level int, title string) {
	rest := cutIndent(text)
	if level = int(headingLevel(rest)); level == 0 {
		return 0, ""
	}
	return level, strings.TrimSpace(string(headingText(rest[level:])))
}

// cutIndent returns text without the at most three spaces that may stand
// before Markdown's block marks; nothing of a text that is indented deeper.
func cutIndent(text []byte) []byte {
	rest := bytes.TrimLeft(text, " ")
	if len(text)-len(rest) > 3 {
		return nil
	}
	return rest
}

// IsRule reports whether text is a thematic break, such as "---".
func IsRule(text []byte) bool { return isRule(cutIndent(text)) }

// A Cell is one cell of a table row.
type Cell struct {
	Text       string // trimmed, with "\|" as it is written
	Start, End int    // of the trimmed text in the line; in an empty cell after its first space
}

// Row cuts a table row, which begins with "|", at each "|" that no
// backslash precedes.
func Row(line []byte) (cells []Cell, ok bool) {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) < 2 || trimmed[0] != '|' {
		return nil, false
	}
	start := bytes.IndexByte(line, '|') + 1
	for i := start; i <= len(line); i++ {
		isLast := i == len(line) && len(bytes.TrimSpace(line[start:])) > 0
		if isLast || i < len(line) && line[i] == '|' && line[i-1] != '\\' {
			cells = append(cells, newScanCell(line[start:i], start))
			start = i + 1
		}
	}
	return cells, true
}

// newScanCell returns the cell with a text that begins at an offset of its line.
func newScanCell(text []byte, start int) Cell {
	inside := bytes.TrimSpace(text)
	at := start + min(1, len(text))
	if len(inside) > 0 {
		at = start + bytes.Index(text, inside)
	}
	return Cell{Text: string(inside), Start: at, End: at + len(inside)}
}

// IsDelimiter reports whether cells are the row below a table's header.
func IsDelimiter(cells []Cell) bool {
	isText := func(c Cell) bool { return strings.Trim(c.Text, ":-") != "" || !strings.Contains(c.Text, "-") }
	return len(cells) > 0 && !slices.ContainsFunc(cells, isText)
}

// EscapeCell returns a value as the text of a cell: one line, its "|" written as "\|";
// nothing else is escaped.
func EscapeCell(value string) string { return strings.ReplaceAll(SingleSpaced(value), "|", `\|`) }

// UnescapeCell returns the value that EscapeCell was given.
func UnescapeCell(text string) string { return strings.ReplaceAll(text, `\|`, "|") }

// LineEnding returns the ending of text's first line, LF when it has none.
func LineEnding(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// A SyntaxError locates a place where a file departs from its layout.
type SyntaxError struct {
	File string // slash-separated, below the tree's root
	Line int    // counted from 1
	Err  error
}

// Error returns "file:line: what is wrong".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong, without the place.
func (e *SyntaxError) Unwrap() error { return e.Err }

// CodeSpans finds the code spans of a line: from a run of backticks to the next
// of the same length. A run that has no partner in its line is text.
type CodeSpans struct {
	Line []byte
	ends map[int][]int // by length, where runs of it end; nil until the first is met
}

// Skip returns the offset behind the code span, or the lone run, that begins at
// an offset of the line. Offsets must rise from call to call.
func (c *CodeSpans) Skip(at int) int {
	if c.ends == nil {
		c.ends = make(map[int][]int)
		for i := 0; i < len(c.Line); i++ {
			if n := runOf(c.Line[i:], '`'); n > 0 {
				c.ends[n] = append(c.ends[n], i+n)
				i += n
			}
		}
	}
	n := runOf(c.Line[at:], '`')
	ends := c.ends[n]
	for len(ends) > 0 && ends[0] <= at+n {
		ends = ends[1:]
	}
	c.ends[n] = ends
	if len(ends) == 0 {
		return at + n
	}
	return ends[0]
}

// MarkNested marks the lines of the code fences that stand in list items and
// quotations, which Lines takes for text. Such a fence ends with the list or
// the quotation; one that is not closed there is none.
func MarkNested(lines []Line) {
	var b blockScanner
	first := -1 // the line that opened the fence
	for i, l := range lines {
		info := b.next(l.Text)
		if l.Open && info.outer == 0 { // it is text
			b.leaf = leafNone
		}
		switch isOpen := b.leaf == leafFence; {
		case info.outer == 0 || info.kind != lineFence && !isOpen:
			first = -1
		case info.kind == lineFence && isOpen:
			first = i
		case info.kind == lineFence && first >= 0:
			for j := range lines[first : i+1] {
				lines[first+j].Quiet = true
			}
		}
	}
}
