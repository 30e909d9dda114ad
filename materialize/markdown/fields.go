package markdown

import (
	"bytes"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
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
	Leads  []string // those of them whose text is one paragraph or list
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

var keySpaces = strings.NewReplacer("_", " ", "-", " ")

// Key folds the ways to write a field's name: "Task_Ref" is "task ref".
func Key(name string) string { return SingleSpaced(strings.ToLower(keySpaces.Replace(name))) }

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
	isLine := ok && (s.rules.Plain == PlainLines || s.below && s.head) // whatever its name is, it ends what stands above
	isBelow := isKnown && s.below && s.head
	switch {
	case isBelow && s.seen[Key(name)] > 0:
		s.below = false
	case isKnown && isLine || isBelow:
		s.add(i, name, lead, BulletForm)
		return
	case isLine:
		s.open = -1
		return
	}
	s.content(i)
}

// row takes a row of the table of fields: name and value. The header "Field | Value"
// names no field of the format, and a delimiter follows it.
func (s *fieldScanner) row(i int, cells []Cell) {
	s.open = -1
	_, isHead := TableHead(s.lines, i)
	if IsDelimiter(cells) || isHead && !slices.Contains(s.rules.Known, Key(cells[0].Text)) {
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

// add takes a bullet or label whose value begins on line i.
func (s *fieldScanner) add(i int, name string, lead int, form fieldForm) {
	l := s.lines[i]
	value := newScanCell(l.Text[lead:], 0)
	f := entryField{key: Key(name), name: name, form: form, first: i, last: i, lead: lead}
	f.at, f.end = l.At+lead, l.At+lead
	if value.Text != "" {
		f.at, f.end = f.at+value.Start, f.end+value.End
	}
	if form == LabelForm && slices.Contains(s.rules.Blocks, f.key) {
		s.head = false
	}
	s.open = -1
	// What stands below a field of one line is a text of the entry's own, which no setter may replace.
	isLine := value.Text != "" && !strings.HasSuffix(value.Text, ",") &&
		slices.Contains(s.rules.Known, f.key) && !slices.Contains(s.rules.Blocks, f.key)
	if s.addField(f) && !isLine {
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
	if f.at < f.end && i-1 != f.last && slices.Contains(s.rules.Leads, f.key) &&
		!(isBulletLine(text) && isBulletLine(s.lines[f.last].Text)) {
		s.open = -1
		return
	}
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
	rest := bytes.TrimPrefix(line, []byte(" "))
	skip := len(line) - len(rest)
	if !isBulletLine(rest) {
		name, lead, ok = cutBoldName(rest)
		return name, lead + skip, LabelForm, ok && (head || r.Late || slices.Contains(r.Known, Key(name)))
	}
	if !head {
		return "", 0, 0, false
	}
	// A bold name is a field whatever it is; a plain one must be known, or every
	// "- see: that" of a list would be a field.
	rest = bytes.TrimLeft(rest[1:], " \t")
	if name, lead, ok = cutBoldName(rest); !ok {
		name, lead, ok = cutPlainName(rest)
		ok = ok && (r.Plain == PlainAny || r.Plain != 0 && slices.Contains(r.Known, Key(name)))
	}
	return name, lead + len(line) - len(rest), BulletForm, ok
}

// isBulletLine reports whether line is an item of an outermost list.
func isBulletLine(line []byte) bool {
	return len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && (line[1] == ' ' || line[1] == '\t')
}

// The name of a field begins with a letter, is made of words, and has 60 characters at most. This keeps
// "- http://..." and "- 10:30" out. The empty group stands where the value begins.
const fieldName = `[ \t]*(\pL[\pL\pN _/()-]{0,59}?)[ \t]*`

var (
	boldName  = pattern(`^\*\*` + fieldName + `(?::\*\*|\*\*:)()`)
	plainName = pattern(`^` + fieldName + `:()(?:[ \t]|$)`)
)

// cutBoldName cuts "**Name:** value" and "**Name**: value" after the name.
func cutBoldName(text []byte) (name string, lead int, ok bool) {
	if !bytes.HasPrefix(text, []byte("**")) {
		return "", 0, false
	}
	return matchName(boldName(), text)
}

// cutPlainName cuts "Name: value" after the colon.
func cutPlainName(text []byte) (name string, lead int, ok bool) {
	if bytes.IndexByte(text, ':') < 0 {
		return "", 0, false
	}
	return matchName(plainName(), text)
}

func matchName(pattern *regexp.Regexp, text []byte) (name string, lead int, ok bool) {
	m := pattern.FindSubmatchIndex(text)
	if m == nil {
		return "", 0, false
	}
	return string(text[m[2]:m[3]]), m[4], true
}

// belowBullet is the indent of a line below a bullet.
var belowBullet = pattern(`^(?:\t| {1,2})`)

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
			text = belowBullet().ReplaceAll(text, nil)
		}
		out.WriteByte('\n')
		out.Write(text)
	}
	return strings.TrimSpace(out.String())
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

// KnownFields returns the keys of the fields between the heading at lines[i] and the next one that the format defines,
// and how many fields stand there in all.
func KnownFields(lines []Line, i int, rules Rules) (known []string, all int) {
	lines = lines[i:]
	if next := slices.IndexFunc(lines[1:], func(l Line) bool { return l.Level > 0 }); next >= 0 {
		lines = lines[:1+next]
	}
	fields, _ := scanFields(lines, rules)
	for _, f := range fields {
		if slices.Contains(rules.Known, f.key) {
			known = append(known, f.key)
		}
	}
	return known, len(fields)
}

// Fold returns a key in the form in which keys are compared: as Key does, with "_" for spaces.
func Fold(key string) string { return strings.ReplaceAll(Key(key), " ", "_") }
