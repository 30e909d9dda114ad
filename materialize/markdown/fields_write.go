package markdown

import (
	"bytes"
	"slices"
	"strings"
)

// escapeLine puts a backslash before what would read as structure of the file
// in a line of running text: a heading, a rule, a field, a fence that is never
// closed. Markdown shows the line as it was; unescapeLine gives it back.
func (r Rules) escapeLine(l Line) []byte {
	indent, slashes, rest := cutSlashes(l.Text)
	if l.Quiet || !r.isStructure(rest, len(indent)) || opensBlock().Match(l.Text) && !l.Open {
		return l.Text
	}
	return slices.Concat(indent, []byte(`\`), slashes, rest)
}

// unescapeLine removes what escapeLine adds.
func (r Rules) unescapeLine(text []byte) []byte {
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

var (
	opensBlock   = pattern("^ *(?:```|~~~|<!--)")
	entryHeading = pattern(`^#{1,4}(?:[ \t]|$)`) // MaxEntryLevel
)

// isStructure reports whether a line of running text, without its indent, could
// be taken for structure. Fences count whether or not they are closed.
func (r Rules) isStructure(rest []byte, indent int) bool {
	if indent > 3 {
		return false
	}
	_, _, _, isField := r.cutName(rest, false)
	return entryHeading().Match(rest) || opensBlock().Match(rest) || IsRule(rest) || isField && indent <= 1
}

// AppendBlock appends the lines of a text, each with an indent, escaped where
// they would read as structure.
func (r Rules) AppendBlock(dst []byte, indent, text string) []byte {
	text = strings.TrimSpace(unixLines(text))
	if indent != "" {
		text = indent + strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	// The first line is there so that a byte order mark in the text stays text.
	for _, l := range Lines([]byte("\n" + text))[1:] {
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
func (r Rules) appendValue(dst []byte, indent, value string) []byte {
	value = strings.TrimSpace(unixLines(value))
	switch {
	case value == "":
		return append(dst, '\n')
	case strings.Contains(value, "\n"):
		return r.AppendBlock(append(dst, '\n'), indent, value)
	}
	return append(append(append(dst, ' '), value...), '\n')
}

// AppendLabel appends "**Name:** value".
func (r Rules) AppendLabel(dst []byte, name, value string) []byte {
	return r.appendValue(append(append(append(dst, "**"...), name...), ":**"...), "", value)
}

// AppendBullet appends "- Name: value", the lines of a longer value indented.
func (r Rules) AppendBullet(dst []byte, name, value string) []byte {
	return r.appendValue(append(append(append(dst, "- "...), name...), ':'), "  ", value)
}

// Set returns text, which is one entry, with another value for a field; a
// field that is missing is added in the form of the others. All other bytes
// stay. The value is written as the field stands: escaped in a row, indented
// below a bullet, in the line endings of the entry. Setting the same value again
// changes nothing.
func (r Rules) Set(text []byte, name, value string) []byte {
	lines := Lines(text)
	if len(lines) == 0 {
		return text
	}
	f, found := r.find(lines, name)
	if !found {
		return r.addField(text, lines, name, value)
	}
	if f.form == RowForm { // a cell holds one line
		return ReplaceCell(text, f.at, f.end, value)
	}
	at, indent := lines[f.first].At+f.lead, ""
	if f.form == BulletForm {
		indent = "  "
	}
	value = strings.TrimSpace(unixLines(value))
	if isLine := value != "" && !strings.Contains(value, "\n"); isLine && f.at > at && f.at < f.end {
		// The space before the old value stays, be it one or many.
		return slices.Concat(text[:f.at], []byte(value), text[f.end:])
	}
	return f.replace(text, at, r.appendValue(nil, indent, value))
}

// replace puts lines in the place of a field's value, which begins behind its name.
func (f entryField) replace(text []byte, at int, lines []byte) []byte {
	lines = bytes.TrimSuffix(lines, []byte("\n"))
	return slices.Concat(text[:at], WithEnding(lines, text), text[max(f.end, at):])
}

// ReplaceCell puts a value in the place of text[at:end], the trimmed text of a
// table cell, and sees to a space on either side.
func ReplaceCell(text []byte, at, end int, value string) []byte {
	cell := EscapeCell(value)
	if at == end && text[at-1] == '|' {
		cell = " " + cell
	}
	if at == end && end < len(text) && text[end] == '|' {
		cell += " "
	}
	return slices.Concat(text[:at], []byte(cell), text[end:])
}

// addFirst adds a field to an entry whose head has none, below the heading. Below a block's label
// a new field would be past the head, and not be read. Above a text that stands there a label
// would take it for its value.
func (r Rules) addFirst(text []byte, lines []Line, fields []entryField, name, value string) []byte {
	isText := func(l Line) bool { return !isBlankLine(l.Text) }
	intro := lines[1:]
	if len(fields) > 0 {
		intro = lines[1:fields[0].first]
	}
	first := r.firstField(name, value)
	switch hasIntro := r.Form == LabelForm && slices.ContainsFunc(intro, isText); {
	case hasIntro && len(fields) == 0:
		return r.AddBlock(text, name, value)
	case hasIntro:
		return insertLines(text, lines[fields[0].first].Start, append(first, '\n'))
	case r.Form != LabelForm && len(lines) > 1 && isText(lines[1]):
		first = append(first, '\n')
	}
	return insertLines(text, lines[0].End, first)
}

// addField adds a field below the last row or bullet, or below the first label;
// below the heading when the head of the entry has no fields.
func (r Rules) addField(text []byte, lines []Line, name, value string) []byte {
	fields, _ := scanFields(lines, r)
	if len(fields) == 0 || fields[0].form == LabelForm && slices.Contains(r.Blocks, fields[0].key) {
		return r.addFirst(text, lines, fields, name, value)
	}
	model, last := fields[0], fields[0]
	for _, f := range fields {
		if f.form == model.form && f.form != LabelForm {
			last = f
		}
	}
	at := lines[last.last].End
	if next := last.last + 1; next < len(lines) && lines[last.last].Quiet && lines[next].Quiet {
		at = lines[last.first].Start // a blank line in a code fence ends the value, and not the fence
	}
	var line []byte
	switch model.form {
	case RowForm:
		line = AppendTightRow(nil, name, value)
	case BulletForm:
		line = r.appendValue(r.bulletLike(lines[model.first].Text[:model.lead], name), "  ", value)
	default:
		line = r.AppendLabel(nil, name, value)
	}
	return insertLines(text, at, line)
}

// bulletLike returns the beginning of a bullet for the field name, bold where
// that of another field is, or where it is read as a field only so.
func (r Rules) bulletLike(lead []byte, name string) []byte {
	switch {
	case !isBulletLine(lead) && r.Plain == PlainLines:
		return []byte(name + ":")
	case bytes.HasSuffix(lead, []byte("**:")), r.Plain != PlainAny && !slices.Contains(r.Known, Key(name)):
		return []byte("- **" + name + "**:")
	case bytes.HasSuffix(lead, []byte("**")):
		return []byte("- **" + name + ":**")
	}
	return []byte("- " + name + ":")
}

// firstField returns the lines for the first field of an entry.
func (r Rules) firstField(name, value string) []byte {
	switch r.Form {
	case RowForm:
		return AppendTightRow(AppendWideHead([]byte("\n"), "Field", "Value"), name, value)
	case BulletForm:
		return r.AppendBullet(nil, name, value)
	}
	return r.AppendLabel(nil, name, value)
}

// insertLines puts whole lines at an offset where a line begins, or at the end
// of a text that ends without one.
func insertLines(text []byte, at int, lines []byte) []byte {
	lines = WithEnding(lines, text)
	if at > 0 && text[at-1] != '\n' {
		eol := LineEnding(text)
		lines = append([]byte(eol), bytes.TrimSuffix(lines, []byte(eol))...)
	}
	return slices.Concat(text[:at], lines, text[at:])
}

// WithEnding returns lines that end in LF with the line ending of text.
func WithEnding(lines, text []byte) []byte {
	return bytes.ReplaceAll(lines, []byte("\n"), []byte(LineEnding(text)))
}

// MaxEntryLevel is the deepest heading that can begin an entry.
const MaxEntryLevel = 4

// AppendHeading appends a heading with an id, a title, or both.
func AppendHeading(dst []byte, level int, id, title string) []byte {
	dst = append(append(dst, strings.Repeat("#", level)...), ' ')
	dst = append(dst, SingleSpaced(id)...)
	if title = SingleSpaced(title); title != "" {
		if id != "" {
			dst = append(dst, ": "...)
		}
		dst = append(dst, title...)
	}
	return append(dst, '\n')
}

// AppendItems appends a list with one line an item.
func (r Rules) AppendItems(dst []byte, items []string) []byte {
	items = slices.DeleteFunc(Each(items, SingleSpaced), func(item string) bool { return item == "" })
	if len(items) == 0 {
		return dst
	}
	return r.AppendBlock(dst, "", "- "+strings.Join(items, "\n- "))
}

// SetItems sets a block to a list with one line an item, below its label. In a
// cell, which is one line, the items stand behind each other.
func (r Rules) SetItems(text []byte, name string, items []string) []byte {
	list := r.AppendItems(nil, items)
	if !r.Has(text, name) {
		text = r.AddBlock(text, name, "")
	}
	lines := Lines(text)
	f, found := r.find(lines, name)
	if !found || f.form != LabelForm {
		value := strings.TrimSpace(string(list))
		if f.form == RowForm {
			value = strings.Join(items, "; ")
		}
		return r.Set(text, name, value)
	}
	return f.replace(text, lines[f.first].At+f.lead, append([]byte("\n"), list...))
}

// Drop returns text, which is one entry, without the lines of a field. A field
// that the entry lacks changes nothing.
func (r Rules) Drop(text []byte, name string) []byte {
	lines := Lines(text)
	f, found := r.find(lines, name)
	if !found {
		return text
	}
	// The blank line above a block goes with it.
	if f.form == LabelForm && blankAt(lines, f.first-1) && blankAt(lines, f.last+1) {
		f.first--
	}
	return slices.Concat(text[:lines[f.first].Start], text[lines[f.last].End:])
}

// blankAt reports whether there is a line with an index, and nothing on it.
func blankAt(lines []Line, i int) bool {
	return i >= 0 && i < len(lines) && isBlankLine(lines[i].Text)
}

// find returns the field of an entry that has a name.
func (r Rules) find(lines []Line, name string) (f entryField, found bool) {
	fields, _ := scanFields(lines, r)
	for _, f := range fields {
		if f.key == Key(name) {
			return f, true
		}
	}
	return entryField{}, false
}

// Has reports whether an entry has a field.
func (r Rules) Has(text []byte, name string) bool {
	_, found := r.find(Lines(text), name)
	return found
}

// AddBlock adds a block at the end of an entry, above the rule that closes it.
func (r Rules) AddBlock(text []byte, name, value string) []byte {
	lines := Lines(text)
	if len(lines) == 0 {
		return text
	}
	last := lastTextLine(lines)
	if last > 0 && !lines[last].Quiet && IsRule(lines[last].Text) {
		last = lastTextLine(lines[:last])
	}
	return insertLines(text, lines[last].End, r.AppendLabel([]byte("\n"), name, value))
}

// lastTextLine returns the index of the last line that is not blank, or 0.
func lastTextLine(lines []Line) int {
	last := len(lines) - 1
	for last > 0 && isBlankLine(lines[last].Text) {
		last--
	}
	return max(last, 0)
}
