package markdown

import (
	"bytes"
	"cmp"
	"slices"
)

// choosePreview returns what a text is previewed by, before it is cut, and whether a JSON
// object says that of itself.
func choosePreview(text []byte) (whole string, isSummary bool) {
	if IsBinary(text) {
		return "", false
	}
	if fields, ok := parseSummary(text); ok {
		return cmp.Or(fields.said, OneLine(string(Head(fields.text, maxProse)))), fields.said != ""
	}
	var p prosePicker
	if whole = p.pick(markdownBody(text)); whole != "" {
		return whole, false
	}
	block, _ := cutFrontMatter(text)
	return cmp.Or(OneLine(string(Head(block, maxProse))), OneLine(string(Head(text, maxProse)))), false
}

// Agents think aloud, wrap what they say into tags of their own, and lead in to
// it. None of that says what a text says.

var (
	thinking     = pattern(`^[ \t\r\n]*<(think|thinking|reasoning|scratchpad|reflection|analysis)>`)
	footnoteMark = pattern(`\[\^[^ \[\]]{1,38}\]`)
	footnote     = pattern(`^\[\^[^\]]{1,39}\]:`)
)

// cutThinking returns text without the thinking that it begins with, if it ends.
func cutThinking(text []byte) []byte {
	if m := thinking().FindSubmatch(text); m != nil {
		if _, after, closed := bytes.Cut(text, slices.Concat([]byte("</"), m[1], []byte(">"))); closed {
			return after
		}
	}
	return text
}

// stripEscapes returns a line without the colour codes of terminals.
func stripEscapes(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	return escapeSequence().ReplaceAll(line, nil)
}

// isLeadIn reports whether a paragraph only leads in to what follows: one sentence
// of at most 20 words that ends in a colon.
func isLeadIn(text []byte) bool {
	text = bytes.Trim(text, "*_ \t")
	return (bytes.HasSuffix(text, []byte(":")) || bytes.HasSuffix(text, []byte("："))) &&
		Words(text) <= 20 && !bytes.Contains(text, []byte(". ")) && !bytes.ContainsAny(text, "!?。！？")
}

// isFootnote reports whether a paragraph is the text of a footnote.
func isFootnote(lines [][]byte) bool { return footnote().Match(lines[0]) }
