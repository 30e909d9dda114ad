package layout

import (
	"bytes"
	"slices"
	"strings"
)

// escapeLine puts a backslash before what would read as structure of the file
// in a line of running text: a heading, a rule, a field, a fence that is never
// closed. Markdown shows the line as it was; unescapeLine gives it back.
func (r fieldRules) escapeLine(l scanLine) []byte {
	indent, slashes, rest := cutSlashes(l.text)
	isBlock := bytes.HasPrefix(rest, []byte("```")) || bytes.HasPrefix(rest, []byte("~~~")) ||
		bytes.HasPrefix(rest, []byte("<!--"))
	if l.quiet || !r.isStructure(rest, len(indent)) || isBlock && len(slashes) == 0 && !l.open {
		return l.text
	}
	return slices.Concat(indent, []byte(`\`), slashes, rest)
}

// unescapeLine removes what escapeLine adds.
func (r fieldRules) unescapeLine(text []byte) []byte {
	indent, slashes, rest := cutSlashes(text)
	if len(slashes) == 0 || !r.isStructure(rest, len(indent)) {
		return text
	}
	return slices.Concat(indent, slashes[1:], rest)
}

// cutSlashes cuts a line after its indent and after the backslashes there.
func cutSlashes(text []byte) (indent, slashes, rest []byte) {
	trimmed := bytes.TrimLeft(text, " ")
	rest = bytes.TrimLeft(trimmed, `\`)
	return text[:len(text)-len(trimmed)], trimmed[:len(trimmed)-len(rest)], rest
}

// isStructure reports whether a line of running text, without its indent, could
// be taken for structure. Fences count whether or not they are closed.
func (r fieldRules) isStructure(rest []byte, indent int) bool {
	if indent > 3 || len(rest) == 0 {
		return false
	}
	switch {
	case rest[0] == '#':
		level, _ := scanHeading(rest)
		return level > 0 && level <= maxEntryLevel
	case bytes.HasPrefix(rest, []byte("```")), bytes.HasPrefix(rest, []byte("~~~")),
		bytes.HasPrefix(rest, []byte("<!--")):
		return true
	}
	if isScanRule(rest) {
		return true
	}
	_, _, _, isField := r.cutName(rest, false)
	return isField && indent <= 1
}

// appendBlock appends the lines of a text, each with an indent, escaped where
// they would read as structure.
func (r fieldRules) appendBlock(dst []byte, indent, text string) []byte {
	text = strings.TrimSpace(unixLines(text))
	if indent != "" {
		text = indent + strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	// The first line is there so that a byte order mark in the text stays text.
	for _, l := range scanLines([]byte("\n" + text))[1:] {
		if line := r.escapeLine(l); string(line) != indent {
			dst = append(dst, line...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// unixLines returns text with LF for each line ending. Entries are written with
// LF; Insert and the setters turn it into the file's own.
func unixLines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// appendValue appends what stands after a name and its colon: nothing, one
// line, or a block below it.
func (r fieldRules) appendValue(dst []byte, indent, value string) []byte {
	value = strings.TrimSpace(unixLines(value))
	switch {
	case value == "":
		return append(dst, '\n')
	case strings.Contains(value, "\n"):
		return r.appendBlock(append(dst, '\n'), indent, value)
	}
	return append(append(append(dst, ' '), value...), '\n')
}

// appendLabel appends "**Name:** value".
func (r fieldRules) appendLabel(dst []byte, name, value string) []byte {
	return r.appendValue(append(append(append(dst, "**"...), name...), ":**"...), "", value)
}

// appendBullet appends "- Name: value", the lines of a longer value indented.
func (r fieldRules) appendBullet(dst []byte, name, value string) []byte {
	return r.appendValue(append(append(append(dst, "- "...), name...), ':'), "  ", value)
}

// setField returns text, which is one entry, with another value for a field; a
// field that is missing is added in the form of the others. All other bytes
// stay. The value is written as the field stands: escaped in a row, indented
// below a bullet, in the line endings of the entry. Setting the same value again
// changes nothing.
func (r fieldRules) setField(text []byte, name, value string) []byte {
	lines := scanLines(text)
	if len(lines) == 0 {
		return text
	}
	f, found := r.find(lines, name)
	if !found {
		return r.addField(text, lines, name, value)
	}
	if f.form == fieldRow { // a cell holds one line
		return replaceCell(text, f.at, f.end, value)
	}
	at := lines[f.first].at + f.lead
	indent := ""
	if f.form == fieldBullet {
		indent = "  "
	}
	value = strings.TrimSpace(unixLines(value))
	if isLine := value != "" && !strings.Contains(value, "\n"); isLine && f.at > at && f.at < f.end {
		// The space before the old value stays, be it one or many.
		return slices.Concat(text[:f.at], []byte(value), text[f.end:])
	}
	block := bytes.TrimSuffix(r.appendValue(nil, indent, value), []byte("\n"))
	return slices.Concat(text[:at], withEnding(block, text), text[max(f.end, at):])
}

// replaceCell puts a value in the place of text[at:end], the trimmed text of a
// table cell, and sees to a space on either side.
func replaceCell(text []byte, at, end int, value string) []byte {
	cell := escapeCell(value)
	if at == end && text[at-1] == '|' {
		cell = " " + cell
	}
	if at == end && end < len(text) && text[end] == '|' {
		cell += " "
	}
	return slices.Concat(text[:at], []byte(cell), text[end:])
}

// addField adds a field below the last row or bullet, or below the first label;
// below the heading when the head of the entry has no fields.
func (r fieldRules) addField(text []byte, lines []scanLine, name, value string) []byte {
	fields, _ := scanFields(lines, r)
	if len(fields) == 0 || fields[0].form == fieldLabel && slices.Contains(r.blocks, fields[0].key) {
		// Below a block's label a new field would be past the head, and not be read.
		first := r.firstField(name, value)
		if len(lines) > 1 && len(bytes.TrimSpace(lines[1].text)) > 0 {
			// Below a label, a label is no part of it.
			if _, _, form, isField := r.cutName(lines[1].text, true); r.form != fieldLabel || !isField ||
				form != fieldLabel {
				first = append(first, '\n')
			}
		}
		return insertLines(text, lines[0].end, first)
	}
	model, last := fields[0], fields[0]
	for _, f := range fields {
		if f.form == model.form && f.form != fieldLabel {
			last = f
		}
	}
	at := lines[last.last].end
	if next := last.last + 1; next < len(lines) && lines[last.last].quiet && lines[next].quiet {
		at = lines[last.first].start // a blank line in a code fence ends the value, and not the fence
	}
	var line []byte
	switch model.form {
	case fieldRow:
		line = appendTightRow(nil, name, value)
	case fieldBullet:
		line = r.appendValue(r.bulletLike(lines[model.first].text[:model.lead], name), "  ", value)
	default:
		line = r.appendLabel(nil, name, value)
	}
	return insertLines(text, at, line)
}

// bulletLike returns the beginning of a bullet for the field name, bold where
// that of another field is, or where it is read as a field only so.
func (r fieldRules) bulletLike(lead []byte, name string) []byte {
	switch {
	case bytes.HasSuffix(lead, []byte("**:")), r.plain != plainAny && !slices.Contains(r.known, fieldKey(name)):
		return []byte("- **" + name + "**:")
	case bytes.HasSuffix(lead, []byte("**")):
		return []byte("- **" + name + ":**")
	}
	return []byte("- " + name + ":")
}

// firstField returns the lines for the first field of an entry.
func (r fieldRules) firstField(name, value string) []byte {
	switch r.form {
	case fieldRow:
		return appendTightRow(appendWideHead([]byte("\n"), "Field", "Value"), name, value)
	case fieldBullet:
		return r.appendBullet(nil, name, value)
	}
	return r.appendLabel(nil, name, value)
}

// insertLines puts whole lines at an offset where a line begins, or at the end
// of a text that ends without one.
func insertLines(text []byte, at int, lines []byte) []byte {
	lines = withEnding(lines, text)
	if at > 0 && text[at-1] != '\n' {
		eol := LineEnding(text)
		lines = append([]byte(eol), bytes.TrimSuffix(lines, []byte(eol))...)
	}
	return slices.Concat(text[:at], lines, text[at:])
}

// withEnding returns lines that end in LF with the line ending of text.
func withEnding(lines, text []byte) []byte {
	return bytes.ReplaceAll(lines, []byte("\n"), []byte(LineEnding(text)))
}
