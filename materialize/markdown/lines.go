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

// Lines cuts text after each LF, and marks headings, code fences and HTML
// comments. A fence that is never closed is no fence: one slip of one writer
// must not hide all entries behind it. The time is linear in the text.
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
	closers := scanClosers(lines)
	for i := 0; i < len(lines); {
		i = scanBlock(lines, closers, i)
	}
	return lines
}

// newScanLine returns the line text[start:end]. A byte order mark is no part of
// the first line's text, or a heading behind it would be missed.
func newScanLine(text []byte, start, end, number int) Line {
	at := start
	if start == 0 && bytes.HasPrefix(text, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(text[at:end], []byte("\n")), []byte("\r"))
	return Line{Text: line, At: at, Start: start, End: end, Number: number}
}

// A scanCloser says what can still be closed at a line or below it.
type scanCloser struct {
	ticks, tildes int  // the longest fence
	comment       bool // whether there is a "-->"
}

// scanClosers returns, for each line, what is closed at it or below. With it, one
// look tells whether a fence has an end; searching for each would take quadratic
// time in a file of fences.
func scanClosers(lines []Line) []scanCloser {
	closers := make([]scanCloser, len(lines)+1)
	for i := len(lines) - 1; i >= 0; i-- {
		c := closers[i+1]
		mark, size, closes := scanFence(lines[i].Text)
		switch {
		case closes && mark == '`':
			c.ticks = max(c.ticks, size)
		case closes && mark == '~':
			c.tildes = max(c.tildes, size)
		}
		c.comment = c.comment || bytes.Contains(lines[i].Text, []byte("-->"))
		closers[i] = c
	}
	return closers
}

// scanBlock marks the line at index i, and the lines of the fence or comment
// that it begins. It returns the index of the line after them.
func scanBlock(lines []Line, closers []scanCloser, i int) int {
	l := &lines[i]
	mark, size, _ := scanFence(l.Text)
	switch {
	case mark == '`' && closers[i+1].ticks >= size, mark == '~' && closers[i+1].tildes >= size:
		return scanQuiet(lines, i, i+1, func(text []byte) bool { return closesFence(text, mark, size) })
	case StartsComment(l.Text) && closers[i].comment:
		next := scanQuiet(lines, i, i, func(text []byte) bool { return bytes.Contains(text, []byte("-->")) })
		last := &lines[next-1]
		last.Behind = last.At + bytes.Index(last.Text, []byte("-->")) + len("-->")
		return next
	case mark != 0 || StartsComment(l.Text):
		l.Open = true
	default:
		l.Level, _ = Heading(l.Text)
	}
	return i + 1
}

// scanQuiet marks the lines from index first up to the first one, from index
// next on, that ends the block. There is one.
func scanQuiet(lines []Line, first, next int, ends func([]byte) bool) int {
	for !ends(lines[next].Text) {
		next++
	}
	for i := first; i <= next; i++ {
		lines[i].Quiet = true
	}
	return next + 1
}

// scanFence returns the mark and the length of the code fence that text begins
// with, 0 without one, and whether it can close a fence.
func scanFence(text []byte) (mark byte, size int, closes bool) {
	rest, ok := scanIndent(text)
	if !ok || len(rest) < 3 || rest[0] != '`' && rest[0] != '~' {
		return 0, 0, false
	}
	info := bytes.TrimLeft(rest, string(rest[:1]))
	size = len(rest) - len(info)
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
func StartsComment(text []byte) bool {
	rest, ok := scanIndent(text)
	return ok && bytes.HasPrefix(rest, []byte("<!--"))
}

// Heading returns the level and the text of an ATX heading, level 0 when
// text is none.
func Heading(text []byte) (level int, title string) {
	rest, ok := scanIndent(text)
	level = int(headingLevel(rest))
	if !ok || level == 0 {
		return 0, ""
	}
	return level, strings.TrimSpace(string(headingText(rest[level:])))
}

// scanIndent returns text without the at most three spaces that may stand
// before Markdown's block marks.
func scanIndent(text []byte) (rest []byte, ok bool) {
	rest = bytes.TrimLeft(text, " ")
	return rest, len(text)-len(rest) <= 3
}

// IsRule reports whether text is a thematic break, such as "---".
func IsRule(text []byte) bool {
	rest, ok := scanIndent(text)
	return ok && len(rest) > 0 && isRule(rest)
}

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
	for i := start; i < len(line); i++ {
		if line[i] == '|' && line[i-1] != '\\' {
			cells = append(cells, newScanCell(line, start, i))
			start = i + 1
		}
	}
	if len(bytes.TrimSpace(line[start:])) > 0 {
		cells = append(cells, newScanCell(line, start, len(line)))
	}
	return cells, true
}

// newScanCell returns the cell line[start:end], without the spaces around it.
func newScanCell(line []byte, start, end int) Cell {
	text := bytes.TrimSpace(line[start:end])
	if len(text) == 0 {
		at := min(start+1, end)
		return Cell{Start: at, End: at}
	}
	at := start + bytes.Index(line[start:end], text)
	return Cell{Text: string(text), Start: at, End: at + len(text)}
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

// OpenEnds returns the lines that close the fence or the comment that a text
// leaves open. Only the first one counts: all behind it is inside.
func OpenEnds(text []byte) []string {
	for _, l := range Lines(text) {
		if !l.Open {
			continue
		}
		if mark, size, _ := scanFence(l.Text); mark != 0 {
			return []string{strings.Repeat(string(mark), size)}
		}
		return []string{"-->"}
	}
	return nil
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
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && isNested(&lines[end]) {
			end++
		}
		scanNestedFences(lines[i:end])
		i = end + 1
	}
}

// isNested reports whether a line may belong to a list item or a quotation.
func isNested(l *Line) bool {
	if l.Quiet {
		return false
	}
	return len(bytes.TrimSpace(l.Text)) == 0 || strings.IndexByte(" \t>", l.Text[0]) >= 0 ||
		len(skipListMark(l.Text)) < len(l.Text)
}

// skipListMark returns text without the mark of a list item that it begins with.
func skipListMark(text []byte) []byte {
	rest := bytes.TrimLeft(text, "0123456789")
	marks := "-*+"
	if len(rest) < len(text) {
		marks = ".)"
	}
	if len(rest) < 2 || strings.IndexByte(marks, rest[0]) < 0 || rest[1] != ' ' {
		return text
	}
	return bytes.TrimLeft(rest, marks+" \t")
}

// scanNestedFences marks the fences of one list or quotation, each from the line
// that opens it to the next one that closes such a fence.
func scanNestedFences(lines []Line) {
	last := map[string]int{} // by the fence, the index of the last line that closes it
	for i := range lines {
		if fence, closes := nestedFence(lines[i].Text); closes {
			last[fence] = i
		}
	}
	for i := 0; i < len(lines); i++ {
		fence, _ := nestedFence(lines[i].Text)
		if fence == "" || last[fence] <= i {
			continue
		}
		lines[i].Quiet = true
		for closes := false; !closes; {
			i++
			again, ends := nestedFence(lines[i].Text)
			lines[i].Quiet, closes = true, ends && again == fence
		}
	}
}

// nestedFence returns the marks of the fence that a line begins with, behind
// spaces, quotation marks and the mark of a list item, and whether it can close
// one.
func nestedFence(text []byte) (marks string, closes bool) {
	bare := bytes.TrimLeft(text, " \t>")
	inside := skipListMark(bare)
	mark, size, closes := scanFence(inside)
	if size == 0 {
		return "", false
	}
	return strings.Repeat(string(mark), size), closes && len(inside) == len(bare)
}
