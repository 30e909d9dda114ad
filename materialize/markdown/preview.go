package markdown

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
// UTF-8, cut at a word with "…": what the "summary" of a single JSON object says, or another of its members; else the
// first paragraph of the Markdown, as plain text, from the first sentence that says something.
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
	whole, _ := choosePreview(text)
	return Clip(whole, max)
}

// SummaryPreview returns the preview of a JSON object that says something of itself, such as by
// a "summary", as Preview does; ok is false for any other text.
func SummaryPreview(text []byte, max int) (preview string, ok bool) {
	whole, ok := choosePreview(text)
	return Clip(whole, max), ok
}

// Title returns a name for a text, in one line of at most 120 runes: the "title",
// "name" or preview of a single JSON object; else its first heading, for which the
// "title" of front matter stands in unless that heading has level 1; else its first
// line that says something. A text with nothing to say, or a binary one, has none.
func Title(text []byte) string {
	if IsBinary(text) {
		return ""
	}
	if fields, ok := parseSummary(text); ok {
		if title := cmp.Or(OneLine(fields.title), OneLine(fields.name), OneLine(fields.said)); title != "" {
			return Clip(title, maxTitleRunes)
		}
	}
	body := markdownBody(text)
	heading, level := firstHeading(body)
	if level == 1 {
		return Clip(heading, maxTitleRunes)
	}
	fields, _ := FrontMatter(text)
	title := OneLine(strings.Join(fields["title"], ", "))
	return Clip(cmp.Or(title, heading, firstLine(body)), maxTitleRunes)
}

// IsBinary reports whether text is no text: its first 8 KiB hold a NUL byte, or
// more than one byte in twenty is a control character that text never holds. Text
// in other encodings than UTF-8, and terminal output with colours, is text.
func IsBinary(text []byte) bool {
	text = text[:min(len(text), 8<<10)]
	controls := 0
	for _, c := range text {
		if c < ' ' && (c < '\b' || c > '\r' && c != 0x1b) || c == 0x7f {
			controls++
		}
	}
	return bytes.IndexByte(text, 0) >= 0 || controls*20 > len(text)
}

// Words counts the words of text: what white space parts. Chinese and Japanese are written
// without: there each character is a word, as is what stands between two of them and has
// a letter or digit.
func Words(text []byte) (words int) {
	for line := range bytes.Lines(text) {
		fields, wasSpace, all := 0, 1, byte(0)
		for _, c := range line {
			isSpace := int(spaces[c])
			fields += wasSpace &^ isSpace
			wasSpace, all = isSpace, all|c
		}
		if all >= utf8.RuneSelf {
			fields = wordsOfScripts(line)
		}
		words += fields
	}
	return words
}

var spaces = [256]uint8{'\t': 1, '\n': 1, '\v': 1, '\f': 1, '\r': 1, ' ': 1} // of ASCII

// wordsOfScripts is Words for any line.
func wordsOfScripts(text []byte) (words int) {
	wide, others, isOther, isField := 0, 0, false, false
	end := func() {
		if isField && wide == 0 {
			others = 1
		}
		words += wide + others
		wide, others, isOther, isField = 0, 0, false, false
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch i += size; {
		case unicode.IsSpace(r):
			end()
			continue
		case r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			wide, isOther = wide+1, false
		case !isOther && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			others, isOther = others+1, true
		}
		isField = true
	}
	end()
	return words
}

// jsonFields are what a structured result says about itself.
type jsonFields struct {
	title, name string // "" where it has something else or nothing
	said        string // by the first member that says something
	text        []byte // of the object
}

// parseSummary reads text when it is a single JSON object, alone or in one code
// fence, before which sentences may lead in to it.
func parseSummary(text []byte) (jsonFields, bool) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(ByteOrderMark)))
	// Agents that were asked for JSON often put it in a fence.
	if inside, found := bytes.CutSuffix(text, []byte("```")); found {
		before, inside, _ := bytes.Cut(inside, []byte("```"))
		before = bytes.TrimSpace(before)
		if len(before) < maxHeading && (len(afterLeadIns(before)) == 0 || isLeadIn(afterLeadIns(before))) {
			_, inside, _ = bytes.Cut(inside, []byte("\n"))
			text = bytes.TrimSpace(inside)
		}
	}
	if len(text) < 2 || text[0] != '{' {
		return jsonFields{}, false
	}
	members, whole := membersOf(text)
	f := jsonFields{title: StringIn(members["title"]), name: StringIn(members["name"]), text: text}
	f.said = saidBy(members, 0)
	return f, whole || f.said != ""
}

// membersOf returns the members of an object that text begins with, by their keys in small letters, and
// whether there is nothing else: its end may be missing, as of the beginning of a large one, or prose may follow it.
func membersOf(text []byte) (members map[string]json.RawMessage, whole bool) {
	members = map[string]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	_, err := decoder.Token() // the brace
	for err == nil && decoder.More() {
		var key json.Token
		var raw json.RawMessage
		if key, err = decoder.Token(); err == nil {
			if err = decoder.Decode(&raw); err == nil {
				members[strings.ToLower(fmt.Sprint(key))] = raw
			}
		}
	}
	if err == nil {
		_, err = decoder.Token()
	}
	rest := bytes.TrimSpace(text[decoder.InputOffset():])
	isCut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	if err != nil && !isCut || err == nil && bytes.HasPrefix(rest, []byte("{")) { // broken, or one of several objects
		return nil, false
	}
	return members, err == nil && len(rest) == 0
}

// saidKeys are the members that say something, the best first.
const saidKeys = "summary tldr conclusion result answer message findings issues response output text content description " +
	"error errors finding issue problem title name"

const maxNested = 20 // objects and lists in each other that are looked into, and items of a list

// saidBy returns the first of the members that says something, in more than words such as
// "pass" or "f-028".
func saidBy(members map[string]json.RawMessage, depth int) string {
	for key := range strings.FieldsSeq(saidKeys) {
		text := saidIn(members[key], depth+1)
		if isSaid(strings.ReplaceAll(text, "; ", "")) || text != "" && key == "summary" {
			return text
		}
	}
	longest := ""
	for _, raw := range members { // whatever the language of their keys
		if text := saidIn(raw, maxNested); raw[0] == '"' && isSaid(text) && cmp.Or(len(text)-len(longest), strings.Compare(longest, text)) > 0 {
			longest = text
		}
	}
	return longest
}

// isSaid reports whether a text is more than a word.
func isSaid(text string) bool {
	return strings.Contains(text, " ") || strings.ContainsFunc(text, isWide)
}

// saidIn returns what a value says: the preview of a string, the items of a list.
func saidIn(raw json.RawMessage, depth int) (text string) {
	var list []json.RawMessage
	switch {
	case len(raw) == 0 || depth > maxNested:
	case raw[0] == '"':
		text, _ = choosePreview([]byte(StringIn(raw)))
		text = cmp.Or(text, OneLine(StringIn(raw))) // what is no text elsewhere
	case raw[0] == '{':
		members, _ := membersOf(raw)
		text = saidBy(members, depth)
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list[:min(len(list), maxNested)] {
			if item := saidIn(item, depth+1); item != "" {
				text = strings.TrimPrefix(strings.TrimRight(text, " .;,")+"; "+item, "; ")
			}
		}
	}
	return text
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
func markdownBody(text []byte) []byte { return cutThinking(text[markdownStart(text):]) }

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
func firstHeading(text []byte) (title string, level int) {
	outline(text, func(s Section) bool {
		if title = PlainInline([]byte(s.Title)); title != "" {
			level = s.Level
		}
		return title == ""
	})
	return title, level
}

// firstLine returns the plain text of the first line that holds a letter or a
// digit and is neither HTML nor a mark of a code fence.
func firstLine(text []byte) string {
	// A fence's mark and HTML say nothing about the text; neither do rules and
	// delimiter rows, which hold no letter.
	var b blockScanner
	for rest := Head(text, 4*maxProse); len(rest) > 0; {
		var line []byte
		line, rest = cutTextLine(rest)
		info := b.next(line)
		if info.kind == lineFence || info.kind == lineHTML || !hasLetter(info.text) {
			continue
		}
		title := OneLine(string(Head(info.text, maxHeading)))
		if info.kind == lineText {
			title = PlainInline(afterLeadIns(Head(info.text, maxHeading)))
		}
		if title = strings.Trim(title, "| "); title != "" {
			return title
		}
	}
	said, _ := choosePreview(text)
	return said
}
