package markdown

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What bounds the work of Preview and Title.
const (
	maxProse      = 4 << 10 // bytes of a paragraph that are read
	maxTitleRunes = 120     // runes of a title
)

// Preview returns what a text says, in one line of at most max runes of valid
// UTF-8, cut at a word with "…": for a single JSON object its string "summary";
// else the first paragraph of the Markdown, as plain text.
//
// Headings, front matter, runs of "Key: value" lines, tables, code, lists,
// quotes, HTML, rules, images, footnotes and the thinking that an agent begins with are
// no paragraphs. Neither is a sentence that ends in a colon; with the list that
// follows it, it is one. A text without a paragraph is previewed by the first of these
// it has: such a sentence, a list item, a quote, a row of a table, a line of code, a
// field, a heading; else by its beginning. Binary text and max below 1 give "". It
// takes time in proportion to the text before the paragraph.
func Preview(text []byte, max int) string {
	if max < 1 {
		return ""
	}
	_, whole := choosePreview(text, false)
	return Clip(whole, max)
}

// Title returns a name for a text, in one line of at most 120 runes: the "title",
// "name" or "summary" of a single JSON object; else its first heading, for which the
// "title" of front matter stands in unless that heading has level 1; else its first
// line that says something. A text with nothing to say, or a binary one, has none.
func Title(text []byte) string {
	if IsBinary(text) {
		return ""
	}
	if fields, ok := parseSummary(text); ok {
		for _, field := range []string{fields.title, fields.name, fields.summary} {
			if field = CollapseSpace(field); field != "" {
				return Clip(field, maxTitleRunes)
			}
		}
	}
	body := markdownBody(text)
	heading, level := firstHeading(body)
	if level == 1 {
		return Clip(heading, maxTitleRunes)
	}
	fields, _ := FrontMatter(text)
	title := CollapseSpace(strings.Join(fields["title"], ", "))
	return Clip(cmp.Or(title, heading, firstLine(body)), maxTitleRunes)
}

// IsBinary reports whether text is no text: its first 8 KiB hold a NUL byte, or
// more than one byte in twenty is a control character that text never holds. Text
// in other encodings than UTF-8, and terminal output with colours, is text.
func IsBinary(text []byte) bool {
	text = text[:min(len(text), 8<<10)]
	controls := 0
	for _, c := range text {
		switch {
		case c == 0:
			return true
		case c >= ' ' && c != 0x7f, c >= '\b' && c <= '\r', c == 0x1b:
		default:
			controls++
		}
	}
	return controls*20 > len(text)
}

// Words counts the words of text: what white space parts. Chinese and Japanese are written
// without: there each character is a word, as is what stands between two of them and has
// a letter or digit.
func Words(text []byte) int {
	words := 0
	for field := range bytes.FieldsSeq(text) {
		wide, others, isOther := 0, 0, false
		for _, r := range string(field) {
			switch {
			case r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
				wide, isOther = wide+1, false
			case !isOther && (unicode.IsLetter(r) || unicode.IsDigit(r)):
				others, isOther = others+1, true
			}
		}
		if wide == 0 {
			others = 1
		}
		words += wide + others
	}
	return words
}

// jsonFields are what a structured result may say about itself.
// The strings are empty where the object has something else or nothing.
type jsonFields struct {
	summary, title, name string
	text                 []byte // of the object
}

// parseSummary reads text when it is a single JSON object, alone or in one code
// fence, before which a sentence may lead in to it.
func parseSummary(text []byte) (jsonFields, bool) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(ByteOrderMark)))
	// Agents that were asked for JSON often put it in a fence.
	if inside, found := bytes.CutSuffix(text, []byte("```")); found {
		before, inside, _ := bytes.Cut(inside, []byte("```"))
		if before = bytes.TrimSpace(before); len(before) == 0 || len(before) < maxHeading && isLeadIn([][]byte{before}) {
			_, inside, _ = bytes.Cut(inside, []byte("\n"))
			text = bytes.TrimSpace(inside)
		}
	}
	if len(text) < 2 || text[0] != '{' {
		return jsonFields{}, false
	}
	var raw struct {
		Summary, Title, Name json.RawMessage
	}
	if text[len(text)-1] != '}' || json.Unmarshal(text, &raw) != nil {
		summary := summaryAtStart(text)
		return jsonFields{summary: summary, text: text}, summary != ""
	}
	return jsonFields{StringIn(raw.Summary), StringIn(raw.Title), StringIn(raw.Name), text}, true
}

// summaryAtStart returns the summary of an object that text begins with, or "": its
// end is missing, as of the beginning of a large one, or prose follows it.
func summaryAtStart(text []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(text))
	_, _ = decoder.Token() // the brace
	summary := ""
	for decoder.More() {
		key, err := decoder.Token()
		var raw json.RawMessage
		if err == nil {
			err = decoder.Decode(&raw)
		}
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				return summary
			}
			return ""
		}
		if key == "summary" {
			summary = StringIn(raw)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return summary // nothing follows the last comma or member
	}
	if rest := bytes.TrimSpace(text[decoder.InputOffset():]); len(rest) > 0 && rest[0] == '{' {
		return "" // one of several objects
	}
	return summary
}

// StringIn returns the string that raw holds, or "" when it is something else.
func StringIn(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// markdownBody returns text without a byte order mark, front matter and the
// thinking of an agent.
func markdownBody(text []byte) []byte {
	if _, start := cutFrontMatter(text); start > 0 {
		return cutThinking(text[start:])
	}
	return cutThinking(bytes.TrimPrefix(text, []byte(ByteOrderMark)))
}

// cutTextLine cuts the first line off text, without its line ending and with at
// most maxScanLine bytes of it.
func cutTextLine(text []byte) (line, rest []byte) {
	line = text
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		line, rest = text[:i], text[i+1:]
	}
	return bytes.TrimSuffix(line[:min(len(line), maxScanLine)], []byte("\r")), rest
}

// firstHeading returns the plain text and the level of the first heading that
// has any text.
func firstHeading(text []byte) (title string, level int8) {
	var b blockScanner
	var paragraph []byte // in case it becomes a heading
	for len(text) > 0 {
		line, rest := cutTextLine(text)
		text = rest
		info := b.next(line)
		switch {
		case info.outer != 0:
		case info.kind == lineText: // a later underline may make it a heading
			if info.opens {
				paragraph = nil
			}
			if len(paragraph) < maxHeading {
				paragraph = append(append(paragraph, headOf(info.text, maxHeading)...), ' ')
			}
		case info.kind == lineHeading, info.kind == lineUnderline:
			if info.kind == lineHeading {
				paragraph = info.text
			}
			if title = PlainInline(headOf(paragraph, maxHeading)); title != "" {
				return title, info.level
			}
		}
	}
	return "", 0
}

// firstLine returns the plain text of the first line that holds a letter or a
// digit and is neither HTML nor a mark of a code fence.
func firstLine(text []byte) string {
	// A fence's mark and HTML say nothing about the text; neither do rules and
	// delimiter rows, which hold no letter.
	var b blockScanner
	for rest := text; len(rest) > 0; {
		var line []byte
		line, rest = cutTextLine(rest)
		info := b.next(line)
		if info.kind == lineFence || info.kind == lineHTML || !hasLetter(info.text) {
			continue
		}
		title := CollapseSpace(string(headOf(info.text, maxHeading)))
		if info.kind == lineText {
			title = PlainInline(headOf(info.text, maxHeading))
		}
		if title = strings.Trim(title, "| "); title != "" {
			return title
		}
	}
	return CollapseSpace(string(headOf(text, maxHeading)))
}

// headOf returns the first n bytes of text, or fewer so that no rune is cut.
func headOf(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	for cut := n; cut > n-utf8.UTFMax; cut-- {
		if utf8.RuneStart(text[cut]) {
			return text[:cut]
		}
	}
	return text[:n]
}
