package markdown

import (
	"bytes"
	"cmp"
	"slices"
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

// A prosePicker looks for the first paragraph of a text, and remembers the best that stands
// before it.
type prosePicker struct {
	blocks  blockScanner
	lines   [][]byte // of the paragraph that is being read
	size    int      // of lines, in bytes
	outer   byte     // what that paragraph stands in
	isTable bool     // it has turned out to be a table
	parsed  int      // pieces read for their plain text so far
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
	for len(text) > 0 {
		line, rest := cutTextLine(text)
		text = rest
		line = stripEscapes(line)
		if p.blocks.leaf < leafFence && len(line) > 0 && p.size < maxProse {
			line = p.withoutNoise(line)
		}
		if prose := p.take(p.blocks.next(line)); prose != "" {
			return prose
		}
	}
	if prose := p.flush(); prose != "" {
		return prose
	}
	if prose := p.endLead(); prose != "" {
		return prose
	}
	return cmp.Or(p.instead[:]...)
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

// take handles one line. It returns the first paragraph when the line ends it.
func (p *prosePicker) take(info lineInfo) string {
	var prose string
	// Everything but a further line of the same paragraph ends it.
	if info.kind != lineText || info.opens || info.enter {
		if info.kind == lineUnderline {
			p.propose(rankHeading, bytes.Join(p.lines, []byte(" ")))
			p.lines = nil
		}
		prose = p.flush()
		p.lines, p.size, p.isTable, p.outer = p.lines[:0], 0, false, info.outer
	}
	if prose == "" && p.lead.text != "" && info.kind != lineBlank && info.outer != '-' {
		prose = p.endLead()
	}
	if prose != "" {
		return prose
	}
	switch info.kind {
	case lineText:
		if info.delim {
			prose = p.startTable()
		} else if p.isTable {
			p.proposeRow(info.text)
		} else {
			p.add(info.text)
		}
	case lineHeading:
		p.propose(rankHeading, info.text)
	case lineCode:
		if p.instead[rankCode] == "" && hasLetter(info.text) {
			p.instead[rankCode] = OneLine(string(Head(info.text, maxProse)))
		}
	}
	return prose
}

// add keeps a line of the paragraph, up to maxProse bytes in all.
func (p *prosePicker) add(line []byte) {
	if p.size < maxProse {
		line = Head(line, maxProse-p.size)
		p.lines = append(p.lines, line)
		p.size += len(line) + 1
	}
}

// startTable takes the paragraph's last line as the header of a table. What
// stands before it is a paragraph of its own, which is returned.
func (p *prosePicker) startTable() string {
	var header []byte
	if n := len(p.lines); n > 0 {
		header = p.lines[n-1]
		p.lines = p.lines[:n-1]
	}
	prose := p.flush()
	if prose == "" {
		prose = p.endLead()
	}
	p.lines, p.isTable = p.lines[:0], true
	p.add(header)
	return prose
}

// flush ends the paragraph that was read. It returns its plain text if it is
// one of the text itself and says something, and else remembers it.
func (p *prosePicker) flush() string {
	lines := p.lines
	p.lines = p.lines[:0]
	if len(lines) == 0 {
		return ""
	}
	if p.outer == 0 && !p.isTable && p.parsed < maxParsed {
		lines = p.withoutLeadIns(lines)
	}
	switch {
	case len(lines) == 0: // it only leads in
	case p.isTable:
		p.proposeRow(lines[0])
	case p.outer == '-':
		p.flushItem(lines)
	case p.outer == '>':
		p.propose(rankQuote, bytes.Join(lines, []byte("\n")))
	case isMetadata(lines):
		p.proposeFields(lines)
	case isLabel(lines):
		p.propose(rankHeading, lines[0])
	case isFootnote(lines):
	case isLeadIn(lines):
		p.startLead(rankLeadIn, bytes.Join(lines, []byte("\n")))
	default: // nothing speaks against it
		return p.plain(dropFootnoteMarks(bytes.Join(lines, []byte("\n"))))
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

// flushItem remembers a list item, as a field if it is one.
func (p *prosePicker) flushItem(lines [][]byte) {
	if p.lead.text != "" && p.lead.size < maxProse {
		item := strings.TrimRight(p.plain(bytes.Join(lines, []byte("\n"))), " .;,")
		if item != "" {
			p.lead.items = append(p.lead.items, item)
			p.lead.size += len(item)
		}
	}
	if isMetadata(lines) {
		p.proposeFields(lines)
		return
	}
	p.propose(rankItem, bytes.Join(lines, []byte("\n")))
}

// startLead remembers a sentence that ends in a colon, until it is known what
// follows it.
func (p *prosePicker) startLead(rank previewRank, text []byte) {
	p.lead = leadIn{text: p.plain(text), rank: rank}
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
func (p *prosePicker) proposeFields(lines [][]byte) {
	if len(lines) == 1 && p.outer == 0 && isLeadIn(lines) {
		p.startLead(rankField, lines[0])
		return
	}
	p.propose(rankField, bytes.Join(lines, []byte("\n")))
	for _, line := range lines {
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
	cells := strings.ReplaceAll(string(line), "|", " | ")
	p.instead[rankRow] = PlainInline([]byte(cells))
}

// isMetadata reports whether every line is a field. A single one whose value
// reads like a sentence is prose.
func isMetadata(lines [][]byte) bool {
	for _, line := range lines {
		if _, _, ok := cutMetadata(line); !ok {
			return false
		}
	}
	// "Note: the index has to be built first." stands alone more often as prose.
	if len(lines) == 1 {
		key, value, _ := cutMetadata(lines[0])
		return !isSentence(value) && (len(value) == 0 || !isFailure(key))
	}
	return true
}

// isFailure reports whether a key is what programs begin their last words with.
func isFailure(key []byte) bool {
	words := []string{"error", "errors", "fatal", "fatal error", "panic", "exception", "failure", "failed", "runtime error"}
	return len(key) < 16 && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, string(bytes.TrimSpace(key))) })
}

// cutMetadata cuts a line "Key: value", "**Key:** value" or "**Key**: value". A
// plain key has at most three words and begins with a letter.
func cutMetadata(line []byte) (key, value []byte, ok bool) {
	bare, bold := bytes.CutPrefix(line, []byte("**"))
	colon := bytes.IndexByte(bare, ':')
	if colon <= 0 || colon > 60 {
		return nil, nil, false
	}
	key, value = bare[:colon], bare[colon+1:]
	if bold {
		// The colon may stand on either side of the closing asterisks.
		inner, outside := bytes.CutSuffix(key, []byte("**"))
		rest, inside := bytes.CutPrefix(value, []byte("**"))
		if outside == inside || bytes.Contains(inner, []byte("**")) {
			return nil, nil, false
		}
		if inside {
			value = rest
		}
		return inner, bytes.TrimSpace(value), true
	}
	spaced := len(value) == 0 || value[0] == ' ' || value[0] == '\t'
	r, _ := utf8.DecodeRune(key)
	if !spaced || !unicode.IsLetter(r) || Words(key) > 3 || bytes.ContainsAny(key, "`[](),;*") {
		return nil, nil, false
	}
	return key, bytes.TrimSpace(value), true
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

// isLabel reports whether a paragraph is a heading in disguise: one line, all
// bold, that is no sentence; or a mark that tools replace, such as [TOC].
func isLabel(lines [][]byte) bool {
	if len(lines) > 1 {
		return false
	}
	line := bytes.TrimSpace(lines[0])
	if bytes.EqualFold(bytes.Trim(line, "[]"), []byte("toc")) {
		return true
	}
	inside, found := bytes.CutPrefix(line, []byte("**"))
	if !found {
		return false
	}
	inside, found = bytes.CutSuffix(inside, []byte("**"))
	return found && !bytes.Contains(inside, []byte("**")) && !isSentence(inside)
}

// hasLetter reports whether text holds a letter or a digit.
func hasLetter(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
