package layout

import (
	"bytes"
	"slices"
	"strings"
)

// setItems sets a block to a list with one line an item, below its label. In a
// cell, which is one line, the items stand behind each other.
func (r fieldRules) setItems(text []byte, name string, items []string) []byte {
	list := r.appendItems(nil, items)
	if !r.has(text, name) {
		text = r.addBlock(text, name, "")
	}
	lines := scanLines(text)
	f, found := r.find(lines, name)
	if !found || f.form != fieldLabel {
		value := strings.TrimSpace(string(list))
		if f.form == fieldRow {
			value = strings.Join(items, "; ")
		}
		return r.setField(text, name, value)
	}
	at := lines[f.first].at + f.lead
	block := withEnding(append([]byte("\n"), bytes.TrimSuffix(list, []byte("\n"))...), text)
	return slices.Concat(text[:at], block, text[max(f.end, at):])
}

// dropField returns text, which is one entry, without the lines of a field. A field
// that the entry lacks changes nothing.
func (r fieldRules) dropField(text []byte, name string) []byte {
	lines := scanLines(text)
	f, found := r.find(lines, name)
	if !found {
		return text
	}
	// The blank line above a block goes with it.
	if f.form == fieldLabel && blankAt(lines, f.first-1) && blankAt(lines, f.last+1) {
		f.first--
	}
	return slices.Concat(text[:lines[f.first].start], text[lines[f.last].end:])
}

// blankAt reports whether there is a line with an index, and nothing on it.
func blankAt(lines []scanLine, i int) bool {
	return i >= 0 && i < len(lines) && isBlankLine(lines[i].text)
}

// find returns the field of an entry that has a name.
func (r fieldRules) find(lines []scanLine, name string) (f entryField, found bool) {
	fields, _ := scanFields(lines, r)
	for _, f := range fields {
		if f.key == fieldKey(name) {
			return f, true
		}
	}
	return entryField{}, false
}

// has reports whether an entry has a field.
func (r fieldRules) has(text []byte, name string) bool {
	_, found := r.find(scanLines(text), name)
	return found
}

// addBlock adds a block at the end of an entry, above the rule that closes it.
func (r fieldRules) addBlock(text []byte, name, value string) []byte {
	lines := scanLines(text)
	if len(lines) == 0 {
		return text
	}
	last := lastTextLine(lines)
	if last > 0 && !lines[last].quiet && isScanRule(lines[last].text) {
		last = lastTextLine(lines[:last])
	}
	return insertLines(text, lines[last].end, r.appendLabel([]byte("\n"), name, value))
}

// lastTextLine returns the index of the last line that is not blank, or 0.
func lastTextLine(lines []scanLine) int {
	last := len(lines) - 1
	for last > 0 && isBlankLine(lines[last].text) {
		last--
	}
	return max(last, 0)
}

// appendHeading appends a heading with an id, a title, or both.
func appendHeading(dst []byte, level int, id, title string) []byte {
	dst = append(append(dst, strings.Repeat("#", level)...), ' ')
	dst = append(dst, singleSpaced(id)...)
	if title = singleSpaced(title); title != "" {
		if id != "" {
			dst = append(dst, ": "...)
		}
		dst = append(dst, title...)
	}
	return append(dst, '\n')
}

// appendItems appends a list with one line an item.
func (r fieldRules) appendItems(dst []byte, items []string) []byte {
	var list strings.Builder
	for _, item := range items {
		if item = singleSpaced(item); item != "" {
			list.WriteString("- " + item + "\n")
		}
	}
	if list.Len() == 0 {
		return dst
	}
	return r.appendBlock(dst, "", list.String())
}
