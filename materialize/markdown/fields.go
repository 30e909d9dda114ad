package markdown

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// A fieldForm is a way to write a field.
type fieldForm int

const (
	RowForm    fieldForm = iota // | Status | pending |
	BulletForm                  // - Status: pending, or - **Status:** pending
	LabelForm                   // **Status:** pending, and text below it
)

// Rules say what counts as a field in the entries of a format. Agents write
// one format in several forms, so each reader takes rows, bullets and labels;
// writers have one form each.
//
// The head of an entry ends at the first label of a block. Before it, rows,
// bullets and labels are fields; after it, text may hold any of them, and only
// labels count.
type Rules struct {
	Known  []string // keys that the format defines
	Blocks []string // keys of fields whose text runs on below their label
	Rows   bool     // rows are fields
	Plain  plainBullets
	Late   bool // after the head, labels with unknown names are fields too
	Form   fieldForm
}

// plainBullets say which bullets are fields though their names are not bold: none,
// unless it is one of these.
type plainBullets int

// The bullets that can be fields.
const (
	PlainKnown plainBullets = iota + 1 // those with names that the format defines
	PlainAny                           // all that have a name
	PlainLines                         // as PlainKnown, and lines without a bullet too, among others "name: value"
)

// An entryField is a field as it stands in an entry. It holds places rather than
// text, so that a setter can change the value and nothing else.
type entryField struct {
	key, name   string
	form        fieldForm
	first, last int // lines, by index: the one with the name, and the last of the value
	at, end     int // where the value's text lies in the file
	lead        int // offset in the first line of what follows the name
}

// Key folds the ways to write a field's name: "Task_Ref" is "task ref".
func Key(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return unicode.ToLower(r)
	}, name)
	return SingleSpaced(name)
}

// A fieldScanner finds the fields of one entry.
type fieldScanner struct {
	rules  Rules
	lines  []Line
	head   bool           // still in the entry's head
	below  bool           // nothing but fields stands above: known names need neither bullet nor mark
	open   int            // index of the field whose value goes on, or -1
	seen   map[string]int // the line of each field, by key
	fields []entryField
	errs   []*SyntaxError
}

// scanFields finds the fields of the entry whose lines are given, its heading
// first. Of two fields with one name the first counts, the other is reported.
func scanFields(lines []Line, rules Rules) ([]entryField, []*SyntaxError) {
	s := &fieldScanner{rules: rules, lines: lines, head: true, below: rules.Plain == PlainKnown, open: -1, seen: make(map[string]int)}
	for i := 1; i < len(lines); i++ {
		s.line(i)
	}
	return s.fields, s.errs
}

// line takes the line at index i, below the heading.
func (s *fieldScanner) line(i int) {
	l := s.lines[i]
	if l.Quiet { // code may look like anything
		s.content(i)
		return
	}
	if IsRule(l.Text) {
		s.open = -1
		return
	}
	if s.head && s.rules.Rows {
		if cells, ok := Row(l.Text); ok {
			s.row(i, cells)
			return
		}
	}
	if name, lead, form, ok := s.rules.cutName(l.Text, s.head); ok {
		s.add(i, name, lead, form)
		return
	}
	name, lead, ok := cutPlainName(l.Text)
	isKnown := ok && slices.Contains(s.rules.Known, Key(name))
	if s.rules.Plain == PlainLines && ok {
		if s.open = -1; isKnown {
			s.add(i, name, lead, BulletForm)
		}
		return
	}
	if isKnown && s.below && s.head {
		if s.below = s.seen[Key(name)] == 0; s.below {
			s.add(i, name, lead, BulletForm)
			return
		}
	}
	s.content(i)
}

// row takes a row of the table of fields: name and value.
func (s *fieldScanner) row(i int, cells []Cell) {
	s.open = -1
	if IsDelimiter(cells) || s.isHeaderRow(i, cells) {
		return
	}
	if len(cells) != 2 {
		s.errorf(i, "table row has %s, not a field and a value", CountOf(len(cells), "cell"))
	}
	if len(cells) < 2 {
		return
	}
	name := strings.Trim(cells[0].Text, "*` ")
	if name == "" {
		s.errorf(i, "table row names no field")
		return
	}
	// A value with a bare "|" looks like several cells: take them all.
	end := cells[len(cells)-1].End
	s.addField(entryField{
		key: Key(name), name: UnescapeCell(name), form: RowForm,
		first: i, last: i, at: s.lines[i].At + cells[1].Start, end: s.lines[i].At + end,
	})
}

// isHeaderRow reports whether the row at line i is the header "Field | Value":
// a delimiter follows, and it names no field of the format.
func (s *fieldScanner) isHeaderRow(i int, cells []Cell) bool {
	_, found := TableHead(s.lines, i)
	return found && (len(cells) == 0 || !slices.Contains(s.rules.Known, Key(cells[0].Text)))
}

// add takes a bullet or label whose value begins on line i.
func (s *fieldScanner) add(i int, name string, lead int, form fieldForm) {
	l := s.lines[i]
	value := bytes.TrimSpace(l.Text[lead:])
	f := entryField{key: Key(name), name: name, form: form, first: i, last: i, lead: lead}
	f.at = l.At + lead
	if len(value) > 0 {
		f.at += bytes.Index(l.Text[lead:], value)
	}
	f.end = f.at + len(value)
	if form == LabelForm && slices.Contains(s.rules.Blocks, f.key) {
		s.head = false
	}
	s.open = -1
	if s.addField(f) {
		s.open = len(s.fields) - 1
	}
}

// addField appends f, unless the entry has a field of its name.
func (s *fieldScanner) addField(f entryField) bool {
	if first, seen := s.seen[f.key]; seen {
		s.errorf(f.first, "field %s is given again (first at line %d)", f.name, first)
		return false
	}
	s.seen[f.key] = s.lines[f.first].Number
	s.fields = append(s.fields, f)
	return true
}

// content takes a line that begins no field: it may belong to the last one.
func (s *fieldScanner) content(i int) {
	text := s.lines[i].Text
	if s.open < 0 || len(bytes.TrimSpace(text)) == 0 {
		s.below = s.below && len(bytes.TrimSpace(text)) == 0
		return
	}
	f := &s.fields[s.open]
	// A label's text runs on until the next field or rule. A bullet's ends at the
	// first line that is not indented, unless that follows without a blank line.
	indented := text[0] == '\t' || bytes.HasPrefix(text, []byte("  "))
	if f.form == BulletForm && !indented && (i-1 != f.last || isBulletLine(text) || s.lines[i].Level > 0) {
		s.open = -1
		return
	}
	f.last = i
	f.end = s.lines[i].At + len(bytes.TrimRight(text, " \t\r"))
}

// errorf reports what is wrong at the line with index i. The file is filled in
// by whoever knows it.
func (s *fieldScanner) errorf(i int, format string, args ...any) {
	s.errs = append(s.errs, &SyntaxError{Line: s.lines[i].Number, Err: fmt.Errorf(format, args...)})
}

// cutName returns the name of the field that line begins, and the offset of
// what follows it.
func (r Rules) cutName(line []byte, head bool) (name string, lead int, form fieldForm, ok bool) {
	if len(line) > 0 && line[0] == ' ' {
		name, lead, form, ok = r.cutNameAt(line[1:], head)
		return name, lead + 1, form, ok
	}
	return r.cutNameAt(line, head)
}

// cutNameAt is cutName for a line without indent.
func (r Rules) cutNameAt(line []byte, head bool) (name string, lead int, form fieldForm, ok bool) {
	if !isBulletLine(line) {
		name, lead, ok = cutBoldName(line)
		return name, lead, LabelForm, ok && (head || r.Late || slices.Contains(r.Known, Key(name)))
	}
	if !head {
		return "", 0, 0, false
	}
	// A bold name is a field whatever it is; a plain one must be known, or every
	// "- see: that" of a list would be a field.
	skip := len(line) - len(bytes.TrimLeft(line[1:], " \t"))
	name, lead, ok = cutBoldName(line[skip:])
	if !ok {
		name, lead, ok = cutPlainName(line[skip:])
		ok = ok && (r.Plain == PlainAny || r.Plain != 0 && slices.Contains(r.Known, Key(name)))
	}
	return name, lead + skip, BulletForm, ok
}

// isBulletLine reports whether line is an item of an outermost list.
func isBulletLine(line []byte) bool {
	return len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && (line[1] == ' ' || line[1] == '\t')
}

// cutBoldName cuts "**Name:** value" and "**Name**: value" after the name.
func cutBoldName(text []byte) (name string, lead int, ok bool) {
	if !bytes.HasPrefix(text, []byte("**")) {
		return "", 0, false
	}
	text = text[:min(len(text), maxFieldName+8)] // a name with its marks
	end := bytes.Index(text[2:], []byte("**"))
	if end < 0 {
		return "", 0, false
	}
	name, lead = string(text[2:2+end]), 2+end+2
	inner, hasColon := strings.CutSuffix(name, ":")
	if !hasColon {
		if lead >= len(text) || text[lead] != ':' {
			return "", 0, false
		}
		lead++
	}
	return strings.TrimSpace(inner), lead, isFieldName(inner)
}

// cutPlainName cuts "Name: value" after the colon.
func cutPlainName(text []byte) (name string, lead int, ok bool) {
	end := bytes.IndexByte(text[:min(len(text), maxFieldName+1)], ':')
	if end < 0 || end+1 < len(text) && text[end+1] != ' ' && text[end+1] != '\t' {
		return "", 0, false
	}
	name = string(text[:end])
	return name, end + 1, isFieldName(name)
}

// maxFieldName bounds what can be the name of a field, in bytes.
const maxFieldName = 60

// isFieldName reports whether name can be the name of a field: it begins with a
// letter and is made of words. This keeps "- http://..." and "- 10:30" out.
func isFieldName(name string) bool {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxFieldName {
		return false
	}
	first := true
	for _, r := range name {
		switch {
		case unicode.IsLetter(r) && r != unicode.ReplacementChar:
		case first || !unicode.IsDigit(r) && !strings.ContainsRune(" _-/()", r):
			return false
		}
		first = false
	}
	return true
}

// value returns the text of a field: of a row its cell, else the rest of the
// line and the lines below, without their indent and escapes.
func (f entryField) value(lines []Line, rules Rules) string {
	first := lines[f.first]
	if f.form == RowForm {
		return UnescapeCell(string(first.Text[f.at-first.At : f.end-first.At]))
	}
	var out strings.Builder
	out.Write(bytes.TrimSpace(first.Text[f.lead:]))
	for _, l := range lines[f.first+1 : f.last+1] {
		text := l.Text
		if !l.Quiet {
			text = rules.unescapeLine(text)
		}
		if f.form == BulletForm {
			text = cutIndent(text)
		}
		out.WriteByte('\n')
		out.Write(text)
	}
	return strings.TrimSpace(out.String())
}

// cutIndent removes the indent of a line below a bullet.
func cutIndent(text []byte) []byte {
	if len(text) > 0 && text[0] == '\t' {
		return text[1:]
	}
	return bytes.TrimPrefix(bytes.TrimPrefix(text, []byte(" ")), []byte(" "))
}

// Values are the values of an entry's fields, by key.
type Values struct {
	fields []entryField
	values map[string]string
}

// ReadFields returns the fields of an entry with their values.
func ReadFields(lines []Line, rules Rules) (Values, []*SyntaxError) {
	fields, errs := scanFields(lines, rules)
	values := make(map[string]string, len(fields))
	for _, f := range fields {
		values[f.key] = f.value(lines, rules)
	}
	return Values{fields, values}, errs
}

// Get returns the value of the first of the keys that the entry has.
func (v Values) Get(keys ...string) string {
	for _, key := range keys {
		if value, ok := v.values[key]; ok {
			return value
		}
	}
	return ""
}

// Extra returns the names and values of the fields that are not known, in the order
// of the entry.
func (v Values) Extra(known []string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, f := range v.fields {
			if !slices.Contains(known, f.key) && !yield(f.name, v.values[f.key]) {
				return
			}
		}
	}
}

// CountOf returns a number with its noun: "1 cell", "3 cells".
func CountOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// HasKnownField reports whether a field that the format defines stands between
// the heading at lines[i] and the next one.
func HasKnownField(lines []Line, i int, rules Rules) bool {
	for _, l := range lines[i+1:] {
		if l.Level > 0 {
			return false
		}
		if l.Quiet {
			continue
		}
		if name, _, _, ok := rules.cutName(l.Text, true); ok && slices.Contains(rules.Known, Key(name)) {
			return true
		}
	}
	return false
}

// Fold returns a key in the form in which keys are compared: as Key does, with "_" for spaces.
func Fold(key string) string { return strings.ReplaceAll(Key(key), " ", "_") }
