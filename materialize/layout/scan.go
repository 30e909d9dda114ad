package layout

import (
	"bytes"
	"strings"
)

// A scanLine is one line of a file that is cut by its lines.
type scanLine struct {
	text       []byte // without byte order mark and line ending
	at         int    // where text begins in the file
	start, end int    // of the whole line, its ending included
	number     int    // counted from 1
	level      int    // of the ATX heading that the line is, or 0
	quiet      bool   // in a code fence or an HTML comment: text, whatever it looks like
	open       bool   // begins a fence or comment that nothing ends, and so counts as text
	behind     int    // of a quiet line: where text goes on behind the comment's end, or 0
}

// scanLines cuts text after each LF, and marks headings, code fences and HTML
// comments. A fence that is never closed is no fence: one slip of one writer
// must not hide all entries behind it. The time is linear in the text.
func scanLines(text []byte) []scanLine {
	lines := make([]scanLine, 0, bytes.Count(text, []byte("\n"))+1)
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
func newScanLine(text []byte, start, end, number int) scanLine {
	at := start
	if start == 0 && bytes.HasPrefix(text, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(text[at:end], []byte("\n")), []byte("\r"))
	return scanLine{text: line, at: at, start: start, end: end, number: number}
}

// A scanCloser says what can still be closed at a line or below it.
type scanCloser struct {
	ticks, tildes int  // the longest fence
	comment       bool // whether there is a "-->"
}

// scanClosers returns, for each line, what is closed at it or below. With it, one
// look tells whether a fence has an end; searching for each would take quadratic
// time in a file of fences.
func scanClosers(lines []scanLine) []scanCloser {
	closers := make([]scanCloser, len(lines)+1)
	for i := len(lines) - 1; i >= 0; i-- {
		c := closers[i+1]
		mark, size, closes := scanFence(lines[i].text)
		switch {
		case closes && mark == '`':
			c.ticks = max(c.ticks, size)
		case closes && mark == '~':
			c.tildes = max(c.tildes, size)
		}
		c.comment = c.comment || bytes.Contains(lines[i].text, []byte("-->"))
		closers[i] = c
	}
	return closers
}

// scanBlock marks the line at index i, and the lines of the fence or comment
// that it begins. It returns the index of the line after them.
func scanBlock(lines []scanLine, closers []scanCloser, i int) int {
	l := &lines[i]
	mark, size, _ := scanFence(l.text)
	switch {
	case mark == '`' && closers[i+1].ticks >= size, mark == '~' && closers[i+1].tildes >= size:
		return scanQuiet(lines, i, i+1, func(text []byte) bool {
			m, n, closes := scanFence(text)
			return closes && m == mark && n >= size
		})
	case startsComment(l.text) && closers[i].comment:
		next := scanQuiet(lines, i, i, func(text []byte) bool { return bytes.Contains(text, []byte("-->")) })
		last := &lines[next-1]
		last.behind = last.at + bytes.Index(last.text, []byte("-->")) + len("-->")
		return next
	case mark != 0 || startsComment(l.text):
		l.open = true
	default:
		l.level, _ = scanHeading(l.text)
	}
	return i + 1
}

// scanQuiet marks the lines from index first up to the first one, from index
// next on, that ends the block. There is one.
func scanQuiet(lines []scanLine, first, next int, ends func([]byte) bool) int {
	for !ends(lines[next].text) {
		next++
	}
	for i := first; i <= next; i++ {
		lines[i].quiet = true
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

// startsComment reports whether text begins an HTML comment. Comments inside a
// line are of no concern: they hide no headings.
func startsComment(text []byte) bool {
	rest, ok := scanIndent(text)
	return ok && bytes.HasPrefix(rest, []byte("<!--"))
}

// scanHeading returns the level and the text of an ATX heading, level 0 when
// text is none.
func scanHeading(text []byte) (level int, title string) {
	rest, ok := scanIndent(text)
	level = int(headingLevel(rest))
	if !ok || level == 0 {
		return 0, ""
	}
	title = strings.TrimSpace(string(rest[level:]))
	if open := strings.TrimRight(title, "#"); open == "" || strings.HasSuffix(open, " ") {
		title = strings.TrimSpace(open)
	}
	return level, title
}

// scanIndent returns text without the at most three spaces that may stand
// before Markdown's block marks.
func scanIndent(text []byte) (rest []byte, ok bool) {
	rest = bytes.TrimLeft(text, " ")
	return rest, len(text)-len(rest) <= 3
}

// isScanRule reports whether text is a thematic break, such as "---".
func isScanRule(text []byte) bool {
	rest, ok := scanIndent(text)
	return ok && len(rest) > 0 && isRule(rest)
}

// A scanCell is one cell of a table row.
type scanCell struct {
	text       string // trimmed, with "\|" as it is written
	start, end int    // of the trimmed text in the line; in an empty cell after its first space
}

// scanRow cuts a table row, which begins with "|", at each "|" that no
// backslash precedes.
func scanRow(line []byte) (cells []scanCell, ok bool) {
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
func newScanCell(line []byte, start, end int) scanCell {
	text := bytes.TrimSpace(line[start:end])
	if len(text) == 0 {
		at := min(start+1, end)
		return scanCell{start: at, end: at}
	}
	at := start + bytes.Index(line[start:end], text)
	return scanCell{text: string(text), start: at, end: at + len(text)}
}

// isTableDelimiter reports whether cells are the row below a table's header.
func isTableDelimiter(cells []scanCell) bool {
	for _, c := range cells {
		if strings.Trim(c.text, ":-") != "" || !strings.Contains(c.text, "-") {
			return false
		}
	}
	return len(cells) > 0
}

// Cells hold one line, their "|" written as "\|"; nothing else is escaped.
func escapeCell(value string) string { return strings.ReplaceAll(singleSpaced(value), "|", `\|`) }

// unescapeCell returns the value that escapeCell was given.
func unescapeCell(text string) string { return strings.ReplaceAll(text, `\|`, "|") }

// singleSpaced returns text with each run of white space made one space.
func singleSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// LineEnding returns the ending of text's first line, LF when it has none.
func LineEnding(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
