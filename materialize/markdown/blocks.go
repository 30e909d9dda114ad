package markdown

import (
	"bytes"
	"strings"
)

// A lineKind says which kind of Markdown block a line belongs to.
type lineKind uint8

const (
	lineBlank     lineKind = iota
	lineText               // of a paragraph, a table or a link reference definition
	lineHeading            // ATX: "## Title"
	lineUnderline          // the second half of a setext heading
	lineRule               // a thematic break
	lineFence              // opens or closes a code fence
	lineCode               // inside a fence, or indented
	lineHTML
)

// A lineInfo is what a blockScanner found out about one line.
type lineInfo struct {
	kind  lineKind
	level int8   // of a heading, 1 to 6
	outer byte   // what the line stands in: 0 nothing, '>' a quote, '-' a list item
	opens bool   // a paragraph begins here
	enter bool   // a list item or a quote begins here
	delim bool   // a paragraph turns out to be a table: this is its delimiter row
	text  []byte // the line without its containers' marks and the space around it
}

// maxDepth bounds how many quotes and list items may stand in each other;
// deeper ones are taken as text. It keeps every line's work bounded, and no
// heading at the top level depends on it.
const maxDepth = 64

// A blockScanner follows the block structure of a Markdown text, one line after the
// other, by the algorithm of the CommonMark specification (appendix "A parsing
// strategy") without keeping a tree. The zero value is at the start of a text.
type blockScanner struct {
	open    []openContainer // outermost first
	leaf    leafKind        // the block in the innermost container that the next line may continue
	refs    bool            // the open paragraph holds link reference definitions only
	table   bool            // the open paragraph has become a table
	columns int             // of the paragraph's last line, if it is a row of a table

	fence     byte // '`' or '~'
	fenceSize int
	flat      bool   // lists, quotes and HTML are text, comments not
	htmlEnd   string // what ends the HTML block; empty: a blank line
}

// A leafKind says which block is open in the innermost container.
type leafKind uint8

const (
	leafNone  leafKind = iota // the next line begins something new
	leafText                  // a paragraph, which a line without its containers' marks may continue
	leafFence                 // code up to the closing fence or the end of the container
	leafHTML                  // up to htmlEnd or a blank line
)

// An openContainer is an open quote or list item.
type openContainer struct {
	kind  byte // '>' or '-'
	width int  // of a list item: the columns by which its content is indented
	empty bool // of a list item: nothing but its marker so far
}

// next takes the next line, without its line ending.
func (b *blockScanner) next(line []byte) lineInfo {
	if len(b.open) == 0 && b.leaf <= leafText && startsText(line) {
		return b.textLine(line, 0)
	}
	c := lineCursor{line: line}
	matched := b.match(&c)
	// Only a paragraph can go on without the marks of its containers, so only then
	// is it too early to close those that do not continue.
	if matched < len(b.open) && b.leaf != leafText {
		b.close(matched)
	}
	var info lineInfo
	if matched == len(b.open) && b.leaf > leafText {
		info = b.goOn(&c)
	} else {
		entered := !b.flat && b.enter(&c, &matched)
		info = b.start(&c, matched)
		info.enter = entered
	}
	if len(b.open) > 0 {
		info.outer = b.open[0].kind
	}
	return info
}

// startsText reports whether line begins with a byte that opens no block but a
// paragraph. It decides most lines of most texts.
func startsText(line []byte) bool {
	return len(line) > 0 && strings.IndexByte(" \t#>-+*_=`~<0123456789", line[0]) < 0
}

// match moves c past the marks of the open containers and returns how many of
// them continue on this line.
func (b *blockScanner) match(c *lineCursor) int {
	for i := range b.open {
		width, at := c.indent()
		switch item := &b.open[i]; {
		case item.kind == '>':
			if width > 3 || at == len(c.line) || c.line[at] != '>' {
				return i
			}
			c.pastQuote(width, at)
		case at == len(c.line):
			if item.empty {
				return i
			}
		case width >= item.width:
			item.empty = false
			c.skip(item.width)
		default:
			return i
		}
	}
	return len(b.open)
}

// close ends the containers from depth on, and the block inside them.
func (b *blockScanner) close(depth int) {
	b.open = b.open[:depth]
	b.leaf = leafNone
}

// enter opens the quotes and list items that begin at c and reports whether
// there were any. The containers that matched, of which there are *matched,
// stay open.
func (b *blockScanner) enter(c *lineCursor, matched *int) bool {
	// Each turn moves the cursor on or ends the loop, and opens at most maxDepth.
	entered := false
	for len(b.open) < maxDepth || *matched < maxDepth {
		width, at := c.indent()
		if width > 3 || at == len(c.line) {
			break
		}
		if c.line[at] == '>' {
			b.close(*matched)
			b.open = append(b.open, openContainer{kind: '>'})
			c.pastQuote(width, at)
		} else if !b.enterItem(c, *matched) {
			break
		}
		*matched = len(b.open)
		entered = true
	}
	return entered
}

// enterItem opens a list item if one begins at c.
func (b *blockScanner) enterItem(c *lineCursor, matched int) bool {
	width, at := c.indent()
	marker := markerSize(c.line[at:])
	if marker == 0 || isRule(c.line[at:]) {
		return false
	}
	// The content of an item begins after its marker and the white space there,
	// unless that is so wide that it belongs to indented code.
	after := lineCursor{c.line, at + marker, c.col + width + marker}
	gap, content := after.indent()
	empty := content == len(c.line)
	// In the middle of a paragraph a line such as "2026. It was" is no list: an ordered
	// one must count from 1 there.
	starts := marker == 1 || marker == 2 && c.line[at] == '1'
	if b.leaf == leafText && matched == len(b.open) && (empty || !starts) {
		return false
	}
	if empty || gap > 4 {
		gap = 1
	}
	b.close(matched)
	b.open = append(b.open, openContainer{'-', width + marker + gap, empty})
	*c = after
	c.skip(gap)
	return true
}

// markerSize returns the length of the list marker that text begins with, or 0.
func markerSize(text []byte) int {
	rest := bytes.TrimLeft(text, "0123456789")
	n, marks := len(text)-len(rest), "-*+"
	if n > 0 {
		marks = ".)"
	}
	if n > 9 || len(rest) == 0 || strings.IndexByte(marks, rest[0]) < 0 ||
		len(rest) > 1 && !bytes.ContainsAny(rest[1:2], " \t") {
		return 0
	}
	return n + 1
}

// start classes what is left of a line after its containers. Of the open
// containers, the first matched ones continue on this line.
func (b *blockScanner) start(c *lineCursor, matched int) lineInfo {
	width, at := c.indent()
	rest := c.line[at:]
	switch {
	case len(rest) == 0:
		b.close(matched)
		return lineInfo{kind: lineBlank}
	case width > 3:
		if b.leaf == leafText {
			return b.textLine(rest, matched)
		}
		b.close(matched)
		return lineInfo{kind: lineCode, text: rest}
	}
	info, leaf := b.startLeaf(rest, matched)
	if info.kind == lineText {
		return b.textLine(rest, matched)
	}
	b.close(matched)
	b.leaf = leaf
	return info
}

// startLeaf tries the blocks that a line can begin, in the order of the
// specification, and returns what the line is and the block it leaves open.
func (b *blockScanner) startLeaf(rest []byte, matched int) (lineInfo, leafKind) {
	switch rest[0] {
	case '#':
		if level := headingLevel(rest); level > 0 {
			return lineInfo{kind: lineHeading, level: level, text: headingText(rest[level:])}, leafNone
		}
	case '`', '~':
		if mark, size, _ := scanFence(rest); mark != 0 {
			b.fence, b.fenceSize = mark, size
			return lineInfo{kind: lineFence, text: rest}, leafFence
		}
	case '<':
		if end, ok := htmlStart(rest, b.leaf == leafText); ok && (end == commentEnd || !b.flat) {
			b.htmlEnd = end
			if end != "" && containsFold(rest, end) {
				return lineInfo{kind: lineHTML, text: rest}, leafNone
			}
			return lineInfo{kind: lineHTML, text: rest}, leafHTML
		}
	case '=', '-':
		// Below a table or definitions there is no text to be a heading.
		level := int8(1)
		if rest[0] == '-' {
			level = 2
		}
		isLine := isBlankLine(rest[runOf(rest, rest[0]):])
		if isLine && b.leaf == leafText && matched == len(b.open) && !b.refs && !b.table {
			return lineInfo{kind: lineUnderline, level: level, text: rest}, leafNone
		}
	}
	if isRule(rest) {
		return lineInfo{kind: lineRule, text: rest}, leafNone
	}
	return lineInfo{kind: lineText}, leafText
}

// textLine takes a line of a paragraph, which goes on or begins with it.
func (b *blockScanner) textLine(rest []byte, matched int) lineInfo {
	info := lineInfo{kind: lineText, text: trimEnd(rest)}
	if b.leaf == leafText {
		info.delim = !b.table && isDelimiterRow(rest) && columns(rest) == b.columns
		b.table = b.table || info.delim
	} else {
		b.close(matched)
		b.leaf, b.table, b.refs, info.opens = leafText, false, false, true
	}
	b.columns = columns(rest)
	// Definitions do not belong to the paragraph after them, which therefore
	// begins with the first line that is none.
	isRef := (info.opens || b.refs) && isReference(rest)
	info.opens = info.opens || b.refs && !isRef
	b.refs = isRef
	return info
}

// goOn takes a line of an open code fence or HTML block, the one that ends it included.
func (b *blockScanner) goOn(c *lineCursor) lineInfo {
	width, at := c.indent()
	text := c.line[at:]
	switch {
	case b.leaf == leafHTML:
		if b.htmlEnd == "" && len(text) == 0 || b.htmlEnd != "" && containsFold(text, b.htmlEnd) {
			b.leaf = leafNone
		}
		return lineInfo{kind: lineHTML, text: text}
	case width <= 3 && runOf(text, b.fence) >= b.fenceSize && closesFence(text, b.fence, b.fenceSize):
		b.leaf = leafNone
		return lineInfo{kind: lineFence, text: text}
	}
	return lineInfo{kind: lineCode, text: text}
}

// A lineCursor is a place in a line. Tabs reach to the next multiple of four
// columns; one of them may be half consumed, so col says more than pos.
type lineCursor struct {
	line []byte
	pos  int
	col  int
}

// indent returns the columns of white space at the lineCursor and the index of the
// first byte after it.
func (c *lineCursor) indent() (width, at int) {
	col := c.col
	for at = c.pos; at < len(c.line); at++ {
		switch c.line[at] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col, at
		}
	}
	return col - c.col, at
}

// skip moves the lineCursor over n columns of white space.
func (c *lineCursor) skip(n int) {
	for n > 0 && c.pos < len(c.line) {
		width := 1
		if c.line[c.pos] == '\t' {
			width = 4 - c.col%4
		}
		if width > n {
			c.col += n
			return
		}
		c.pos++
		c.col += width
		n -= width
	}
}

// pastQuote moves the lineCursor past the ">" at index at, which width columns of
// white space precede, and past the one column that belongs to it.
func (c *lineCursor) pastQuote(width, at int) {
	c.pos = at + 1
	c.col += width + 1
	if c.pos < len(c.line) && (c.line[c.pos] == ' ' || c.line[c.pos] == '\t') {
		c.skip(1)
	}
}

// runOf returns how often c is repeated at the beginning of text.
func runOf(text []byte, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

// isBlankLine reports whether text is empty but for white space.
func isBlankLine(text []byte) bool {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// trimEnd is bytes.TrimRight of spaces and tabs, for what is called for each line.
func trimEnd(text []byte) []byte {
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}

// headingLevel returns the level of the ATX heading that text begins with, or 0.
func headingLevel(text []byte) int8 {
	n := runOf(text, '#')
	if n > 6 || n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return int8(n)
}

// headingText trims what stands around an ATX heading's text, the closing
// number signs included.
func headingText(text []byte) []byte {
	text = bytes.Trim(text, " \t")
	open := bytes.TrimRight(text, "#")
	if len(open) == 0 || len(open) < len(text) && (open[len(open)-1] == ' ' || open[len(open)-1] == '\t') {
		return bytes.TrimRight(open, " \t")
	}
	return text
}

// isRule reports whether text is a thematic break.
func isRule(text []byte) bool {
	if len(text) == 0 || strings.IndexByte("-*_", text[0]) < 0 {
		return false
	}
	count := func(c byte) int { return bytes.Count(text, []byte{c}) }
	return count(text[0]) >= 3 && count(text[0])+count(' ')+count('\t') == len(text)
}

// isDelimiterRow reports whether text can stand below the header of a table.
func isDelimiterRow(text []byte) bool {
	return strings.IndexByte("-|: \t", text[0]) >= 0 && len(bytes.Trim(text, "-|: \t")) == 0 &&
		bytes.IndexByte(text, '-') >= 0 && bytes.ContainsAny(text, "|:")
}

// columns returns how many cells text has as a row of a table.
func columns(text []byte) int {
	if bytes.IndexByte(text, '|') < 0 {
		return 1
	}
	text = bytes.TrimPrefix(bytes.TrimRight(text, " \t"), []byte("|"))
	if !bytes.HasSuffix(text, []byte(`\|`)) {
		text = bytes.TrimSuffix(text, []byte("|"))
	}
	return 1 + bytes.Count(text, []byte("|")) - bytes.Count(text, []byte(`\|`))
}

// reference is a link reference definition on one line: "[label]: target", with a title or without.
var reference = pattern(`(?m)^\[[^\[\]\n]*[^\[\]\s][^\[\]\n]*\]:[ \t]*\S+(?:[ \t]+["'(].*["')])?[ \t]*$`)

// isReference reports whether text is such a definition.
func isReference(text []byte) bool { return text[0] == '[' && reference().Match(text) }

// Unclosed returns the line that closes the fence or comment which a text leaves
// open at its end, or "".
func Unclosed(text []byte) string {
	var b blockScanner
	for rest := markdownBody(text); len(rest) > 0; {
		var line []byte
		line, rest = cutTextLine(rest)
		b.next(line)
	}
	switch {
	case len(b.open) > 0: // a heading ends the list or quote, and what is open in it
	case b.leaf == leafFence:
		return strings.Repeat(string(b.fence), b.fenceSize)
	case b.leaf == leafHTML:
		return b.htmlEnd
	}
	return ""
}
