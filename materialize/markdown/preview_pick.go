package markdown

import (
	"bytes"
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A previewRank orders what a text without a paragraph is previewed by.
type previewRank int

const (
	rankLeadIn   previewRank = iota // a sentence that ends in a colon
	rankSentence                    // a field whose value is a sentence
	rankItem                        // of a list
	rankQuote
	rankRow       // of a table, the first after its header
	rankCode      // a line of code, fenced or indented
	rankField     // any field, or a list item that is one
	rankHeading   // also a line that is all bold
	rankAnnounced // what an agent says of itself and of what comes next
	rankNoise     // how a program gets on
	ranks         // how many there are
)

// maxParsed is how many pieces of a text are read for their plain text.
const maxParsed = 200

// A piece is a paragraph, a table, a heading or another line of a text.
type piece struct {
	kind    lineKind
	outer   byte     // what it stands in
	isTable bool     // its first line is the header
	lines   [][]byte // at most maxProse bytes of them
	size    int      // of lines, in bytes
}

// add keeps a line.
func (p *piece) add(line []byte) {
	if line = Head(line, maxProse-p.size); len(line) > 0 {
		p.lines = append(p.lines, line)
		p.size += len(line) + 1
	}
}

// join returns the lines with something between them.
func (p *piece) join(between string) []byte { return bytes.Join(p.lines, []byte(between)) }

// A prosePicker looks for the first paragraph of a text, and remembers the best that stands
// before it.
type prosePicker struct {
	parsed  int // pieces read for their plain text so far
	instead [ranks]string
	lead    leadIn
}

// A leadIn is a sentence that ends in a colon, with the list that follows it.
type leadIn struct {
	text  string
	rank  previewRank // for which it stands if no list follows
	items []string
	size  int // of items, in bytes
}

// pick returns the plain text of the first paragraph, of the best other piece
// when there is none, or "".
func (p *prosePicker) pick(text []byte) string {
	var blocks blockScanner
	var now piece
	for len(text) > 0 {
		var line []byte
		line, text = cutTextLine(text)
		line = stripEscapes(line)
		if blocks.leaf < leafFence && len(line) > 0 && now.size < maxProse {
			line = p.withoutNoise(line)
		}
		info := blocks.next(line)
		next := piece{kind: info.kind, outer: info.outer}
		switch last := len(now.lines) - 1; {
		case info.delim && last >= 0: // what stands before the header of a table is a paragraph of its own
			next.isTable = true
			next.add(now.lines[last])
			now.lines = now.lines[:last]
		case info.kind == lineText && !info.opens && !info.enter:
			now.add(info.text)
			continue
		case info.kind == lineUnderline:
			now.kind = lineHeading
			fallthrough
		default:
			next.add(info.text)
		}
		if prose := p.take(now); prose != "" {
			return prose
		}
		now = next
	}
	return cmp.Or(p.take(now), p.endLead(), cmp.Or(p.instead[:]...))
}

// withoutNoise returns a line, or nothing of one that is a tag or tells how a program gets
// on. What an agent's screen begins a message with is cut off.
func (p *prosePicker) withoutNoise(line []byte) []byte {
	switch {
	case line[0] == '<' && isWrapper(line):
	case isNoise(line):
		if hasLetter(line) && len(p.instead[rankNoise]) < maxHeading {
			p.instead[rankNoise] = OneLine(p.instead[rankNoise] + " " + strings.Trim(string(Head(line, maxProse)), "│┃║|╭╰ "))
		}
	default:
		return bytes.TrimPrefix(line, []byte("⏺ "))
	}
	return nil
}

// take takes a piece. It returns its plain text if it is a paragraph of the text itself and
// says something, or a lead-in with its list that the piece ends, and else remembers it.
func (p *prosePicker) take(now piece) string {
	if len(now.lines) == 0 {
		return ""
	}
	if now.outer != '-' {
		if prose := p.endLead(); prose != "" {
			return prose
		}
	}
	switch {
	case now.kind == lineHeading:
		p.propose(rankHeading, now.join(" "))
		return ""
	case now.kind == lineCode:
		if p.instead[rankCode] == "" && hasLetter(now.lines[0]) {
			p.instead[rankCode] = OneLine(string(now.lines[0]))
		}
		return ""
	case now.isTable:
		for _, line := range append(now.lines[1:], now.lines[0]) {
			p.proposeRow(line)
		}
		return ""
	case now.kind != lineText:
		return ""
	}
	return p.takeText(now)
}

// takeText takes a paragraph.
func (p *prosePicker) takeText(now piece) string {
	if now.outer == 0 && p.parsed < maxParsed {
		now.lines = p.withoutLeadIns(now.lines)
	}
	switch {
	case len(now.lines) == 0: // it only leads in
	case now.outer == '-':
		p.takeItem(now)
	case now.outer == '>':
		p.propose(rankQuote, now.join("\n"))
	case isMetadata(now.lines):
		p.proposeFields(now)
	case isLabel(now.lines):
		p.propose(rankHeading, now.lines[0])
	case isFootnote(now.lines):
	case isLeadIn(now.join(" ")):
		p.lead = leadIn{text: p.plain(now.join("\n")), rank: rankLeadIn}
	default: // nothing speaks against it
		return p.plain(footnoteMark().ReplaceAll(now.join("\n"), nil))
	}
	return ""
}

// withoutLeadIns returns a paragraph from where it says something; if it does not, that
// is remembered.
func (p *prosePicker) withoutLeadIns(lines [][]byte) [][]byte {
	text := bytes.Join(lines, []byte("\n"))
	if said := afterLeadIns(text); len(said) > 0 {
		return bytes.Split(said, []byte("\n"))
	}
	p.propose(rankAnnounced, text)
	p.parsed, p.lead = p.parsed+1, leadIn{text: " ", rank: rankAnnounced} // a list may follow
	return nil
}

// takeItem remembers a list item, as a field if it is one.
func (p *prosePicker) takeItem(now piece) {
	if p.lead.text != "" && p.lead.size < maxProse {
		if item := strings.TrimRight(p.plain(now.join("\n")), " .;,"); item != "" {
			p.lead.items = append(p.lead.items, item)
			p.lead.size += len(item)
		}
	}
	if isMetadata(now.lines) {
		p.proposeFields(now)
	} else {
		p.propose(rankItem, now.join("\n"))
	}
}

// endLead returns the sentence that ends in a colon with the list that has
// followed it. Without a list the sentence is only remembered.
func (p *prosePicker) endLead() string {
	lead := p.lead
	p.lead = leadIn{}
	if len(lead.items) > 0 {
		return strings.TrimSpace(lead.text + " " + strings.Join(lead.items, "; "))
	}
	if lead.text != "" && p.instead[lead.rank] == "" {
		p.instead[lead.rank] = lead.text
	}
	return ""
}

// plain returns the plain text of a piece. After many pieces that said nothing,
// such as images, it takes the next as it stands: reading each may be slow.
func (p *prosePicker) plain(text []byte) string {
	if p.parsed++; p.parsed > maxParsed {
		return OneLine(string(text))
	}
	return PlainInline(text)
}

// propose remembers the first text of each rank that says something.
func (p *prosePicker) propose(r previewRank, text []byte) {
	if p.instead[r] == "" && len(text) > 0 {
		p.instead[r] = p.plain(Head(text, maxProse))
	}
}

// proposeFields remembers fields: the first, and the first that is a sentence.
func (p *prosePicker) proposeFields(now piece) {
	if len(now.lines) == 1 && now.outer == 0 && isLeadIn(now.lines[0]) {
		p.lead = leadIn{text: p.plain(now.lines[0]), rank: rankField}
		return
	}
	p.propose(rankField, now.join("\n"))
	for _, line := range now.lines {
		if _, value, ok := cutMetadata(line); ok && isSentence(value) {
			p.propose(rankSentence, value)
		}
	}
}

// proposeRow remembers a row of a table, its cells separated by bars. The rows
// come before the header.
func (p *prosePicker) proposeRow(line []byte) {
	if p.instead[rankRow] != "" || !hasLetter(line) {
		return
	}
	line = bytes.Trim(bytes.TrimSpace(Head(line, maxProse)), "|")
	cells := strings.NewReplacer(`\|`, "|", "|", " | ").Replace(string(line))
	p.instead[rankRow] = PlainInline([]byte(cells))
}

// isMetadata reports whether every line is a field. A single one whose value
// reads like a sentence is prose.
func isMetadata(lines [][]byte) bool {
	var key, value []byte
	ok := true
	for _, line := range lines {
		if key, value, ok = cutMetadata(line); !ok {
			return false
		}
	}
	// "Note: the index has to be built first." stands alone more often as prose.
	return len(lines) > 1 || !isSentence(value) && (len(value) == 0 || !failure().Match(bytes.TrimSpace(key)))
}

// failure is what programs begin their last words with.
var failure = pattern(`(?i)^(?:errors?|fatal(?: error)?|panic|exception|failure|failed|runtime error)$`)

// cutMetadata cuts a line "Key: value", "**Key:** value" or "**Key**: value". A plain key begins
// with a letter and has at most three words.
func cutMetadata(line []byte) (key, value []byte, ok bool) {
	key, value, ok = bytes.Cut(line, []byte(":"))
	inside, isBold := bytes.CutPrefix(key, []byte("**"))
	if !isBold {
		first, _ := utf8.DecodeRune(key)
		ok = ok && unicode.IsLetter(first) && !bytes.ContainsAny(key, "`[](),;*") && Words(key) <= 3 &&
			(len(value) == 0 || value[0] == ' ' || value[0] == '\t')
	} else if key, isBold = bytes.CutSuffix(inside, []byte("**")); !isBold {
		value, isBold = bytes.CutPrefix(value, []byte("**"))
		ok = ok && isBold
	}
	size := utf8.RuneCount(key) - bytes.Count(key, []byte("*"))
	return key, bytes.TrimSpace(value), ok && 0 < size && size <= 60 && !bytes.HasSuffix(key, []byte("*")) && !bytes.Contains(key, []byte("**"))
}

// isSentence reports whether a field's value is prose: more than a dozen words,
// or at least five that end like a sentence.
func isSentence(value []byte) bool {
	value = bytes.TrimRight(value, "*_`\"')\\ ")
	if len(value) == 0 {
		return false
	}
	// An abbreviation or a version may end in a full stop too, hence five words.
	words := Words(value)
	last, _ := utf8.DecodeLastRune(value)
	return words > 12 || words >= 5 && strings.ContainsRune(".!?", last) || strings.ContainsRune("。！？", last)
}

// label is a heading in disguise: a line that is all bold, or a mark that tools replace, such as [TOC].
var label = pattern(`^(?i:\[*toc\]*|\*\*((?:[^*]|\*[^*])*)\*\*)\s*$`)

// isLabel reports whether a paragraph is such a line, and no sentence.
func isLabel(lines [][]byte) bool {
	m := label().FindSubmatch(lines[0])
	return len(lines) == 1 && m != nil && !isSentence(m[1])
}

// hasLetter reports whether text holds a letter or a digit.
func hasLetter(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
