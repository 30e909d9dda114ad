package layout

import (
	"cmp"
	"slices"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A FieldTable says what the fields of one kind of entries are: reading, writing,
// setting, checking, facts and the flags of commands follow from it. A new field is
// one more line.
type FieldTable[T any] struct {
	noun   string // how errors name an entry: "issue %s"
	head   func(*T) (id, title *string)
	cutID  func(heading string) (id, title string)
	extra  func(*T) *[]Property
	facts  func(*T, *Facts) // what else an entry says
	rules  markdown.Rules
	fields []Field[T]
}

// An EntryForm is a way to write the entries of a file. A FieldTable is one.
type EntryForm[T any] interface {
	Read(text []byte) T
	Append(dst []byte, v T) []byte
	Set(text []byte, field string, values ...string) []byte
	SetID(v *T, id string)
	Facts(v T) Facts
	Fields() []Field[T]
	More(v *T) []Property
	Inputs() []Field[T]
	Input(flag string) Field[T]
	Complete(v *T)
	Clean(v *T)
	Wrong(v *T) (f Field[T], value, want string)
	Missing(v *T) (f Field[T], is bool)
}

// A Field is one line of the table: what is written under a name. A T has it in text
// or list; without either it is one of the further fields.
type Field[T any] struct {
	Name  string   // as it is written: Claimed By
	also  []string // further names that it is read under, folded
	rows  []string // those of them below which no text runs on
	loose bool     // the name alone makes no field
	form  valueForm
	text  func(*T) *string
	list  func(*T) *[]string
	extra func(*T) *[]Property

	folded []string // see keys; nil: of a table that newFieldTable has not made

	Values  []string            // that it can have; nil: any
	Fact    string              // "status", "loop", "task", "summary", "tags" or an attribute; "": none
	more    []string            // further values that other programs' entries have
	Filter  bool                // lists are filtered by the fact
	fold    func(string) string // the value as a fact; nil: its first line
	Needed  bool                // an entry without it is reported
	implied string              // what a value that is not written means

	Flag    string              // that gives it, of the commands that add and edit; "": none
	Default string              // of a new entry
	Example string              // of a value
	Ask     string              // what is asked for where it is missing; "": it may be
	Want    string              // what is valid, where Values does not say it
	valid   func(string) bool   // nil: any
	clean   func(string) string // what is given, as entries have it; nil: as the form has it
}

// A valueForm is a way to write the value of a field.
type valueForm int

const (
	lineForm  valueForm = iota // one line: a row, bullet or label, as all of the kind
	leadForm                   // one paragraph
	textForm                   // Markdown: behind the name, or below it if it has several lines
	belowForm                  // Markdown below the name
	itemsForm                  // a list below the name
	pathsForm                  // paths between commas, or a list
	tagsForm                   // words between commas
	titleForm                  // no field: the title in the heading
	extraForm                  // no field: where the further fields stand
)

// newFieldTable returns a table with the rules that follow from its fields.
func newFieldTable[T any](t FieldTable[T]) *FieldTable[T] {
	known := slices.Clone(t.rules.Known)
	var blocks, leads []string
	for i := range t.fields {
		f := &t.fields[i]
		f.extra, f.folded = t.extra, f.keys()
		if f.form >= titleForm || f.loose {
			continue
		}
		known = append(known, f.keys()...)
		if f.form != lineForm && f.form != tagsForm {
			blocks = append(append(blocks, markdown.Key(f.Name)), f.also...)
		}
		if f.form == leadForm || f.form == pathsForm {
			leads = append(leads, markdown.Key(f.Name))
		}
	}
	t.rules.Known, t.rules.Blocks, t.rules.Leads = known, blocks, leads
	return &t
}

// With returns a table with one more field.
func (t *FieldTable[T]) With(f Field[T]) *FieldTable[T] {
	more := *t
	more.fields = append(slices.Clone(t.fields), f)
	return newFieldTable(more)
}

// SetID gives an entry its id.
func (t *FieldTable[T]) SetID(v *T, id string) {
	at, _ := t.head(v)
	*at = id
}

// Fields returns the fields that have names, in the order of the table.
func (t *FieldTable[T]) Fields() []Field[T] {
	return slices.DeleteFunc(slices.Clone(t.fields), func(f Field[T]) bool { return f.Name == "" })
}

// More returns the fields of an entry that the table does not have.
func (t *FieldTable[T]) More(v *T) []Property {
	return slices.DeleteFunc(slices.Clone(*t.extra(v)), func(p Property) bool {
		return slices.ContainsFunc(t.fields, func(f Field[T]) bool { return slices.Contains(f.keys(), markdown.Key(p.Key)) })
	})
}

// Inputs returns the fields that a user can give, in the order of the table.
func (t *FieldTable[T]) Inputs() []Field[T] {
	return slices.DeleteFunc(slices.Clone(t.fields), func(f Field[T]) bool { return f.Flag == "" })
}

// Input returns the field that a flag gives.
func (t *FieldTable[T]) Input(flag string) Field[T] {
	i := slices.IndexFunc(t.fields, func(f Field[T]) bool { return f.Flag == flag })
	return t.fields[i]
}

// Filters returns the fields by which lists are filtered.
func (t *FieldTable[T]) Filters() []Field[T] {
	return slices.DeleteFunc(slices.Clone(t.fields), func(f Field[T]) bool { return !f.Filter })
}

// field returns the field with a name, the zero one if there is none.
func (t *FieldTable[T]) field(name string) Field[T] {
	for _, f := range t.fields {
		if f.Name == name {
			return f
		}
	}
	return Field[T]{}
}

// keys returns the names of a field, folded.
func (f *Field[T]) keys() []string {
	if f.folded != nil {
		return f.folded
	}
	return slices.Concat([]string{markdown.Key(f.Name)}, f.also, f.rows)
}

// Filters returns the values that a list can be filtered by; nil: any.
func (f *Field[T]) Filters() []string { return append(slices.Clone(f.Values), f.more...) }

// IsList reports whether a field can have several values, and whether they stand
// between commas.
func (f *Field[T]) IsList() (isList, commas bool) { return f.list != nil, f.form == tagsForm }

// IsBlock reports whether the value of a field may have lines of its own.
func (f *Field[T]) IsBlock() bool {
	return f.form == textForm || f.form == belowForm || f.form == itemsForm
}

// Get returns the values of a field that are not empty.
func (f *Field[T]) Get(v *T) []string {
	value := ""
	switch {
	case f.list != nil:
		return *f.list(v)
	case f.text != nil:
		value = *f.text(v)
	default:
		value = ExtraValue(*f.extra(v), f.keys()...)
	}
	if value == "" {
		return nil
	}
	return []string{value}
}

// Put sets the values of a field; one that is no list takes the first.
func (f *Field[T]) Put(v *T, values ...string) {
	value := first(values)
	switch {
	case f.list != nil:
		*f.list(v) = values
	case f.text != nil:
		*f.text(v) = value
	default:
		isOld := func(e Property) bool { return slices.Contains(f.keys(), markdown.Key(e.Key)) }
		kept := slices.DeleteFunc(slices.Clone(*f.extra(v)), isOld)
		if value != "" {
			kept = append(kept, Property{f.Name, value})
		}
		*f.extra(v) = kept
	}
}

// first returns the first of some values, "" without any.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// Read reads the text of an entry. It takes what it finds.
func (t *FieldTable[T]) Read(text []byte) T {
	v, _ := t.parse(markdown.Lines(text))
	return v
}

// parse is Read for lines of a whole file, with their numbers: a field that is missing,
// unknown or given twice is reported.
func (t *FieldTable[T]) parse(lines []markdown.Line) (v T, errs []*SyntaxError) {
	if len(lines) == 0 {
		noun, _, _ := strings.Cut(t.noun, " ")
		return v, []*SyntaxError{wrong(1, "%s is empty", noun)}
	}
	// The id and title are in the heading; all else is found by name, so that the
	// forms and their order are of no concern.
	values, errs := markdown.ReadFields(lines, t.rules)
	_, heading := markdown.Heading(lines[0].Text)
	id, title := t.head(&v)
	*id, *title = t.cutID(heading)
	var own []string
	for i := range t.fields {
		f := &t.fields[i]
		if f.form < titleForm && (f.text != nil || f.list != nil) {
			own = append(own, f.keys()...)
			f.read(&v, values.Get(f.keys()...))
		}
	}
	*t.extra(&v) = extraFields(values, own)
	return v, append(errs, t.check(&v, lines[0].Number)...)
}

// read sets the field to what its text says.
func (f *Field[T]) read(v *T, text string) {
	switch f.form {
	case itemsForm:
		*f.list(v), _ = markdown.ParseItems(text)
	case pathsForm:
		*f.list(v) = parseFiles(text)
	case tagsForm:
		*f.list(v) = markdown.ParseTags(text)
	case leadForm:
		*f.text(v) = markdown.SingleSpaced(text)
	default:
		*f.text(v) = cmp.Or(text, f.implied)
	}
}

// ErrValue says that a field of an entry is missing, or has a value that its format
// does not know, and names the field. The entry is one all the same.
const ErrValue record.Reason = "a value is missing or unknown"

// check reports the fields that an entry is of no use without.
func (t *FieldTable[T]) check(v *T, line int) (errs []*SyntaxError) {
	id, title := t.head(v)
	name := cmp.Or(*id, *title)
	report := func(f *Field[T], format string, args ...any) {
		err := record.Failed.Errorf(t.noun+" "+format, append([]any{name}, args...)...)
		errs = append(errs, &SyntaxError{Line: line, Err: err.Because(ErrValue, f.Flag, markdown.Key(f.Name))})
	}
	for _, f := range t.fields {
		if f.Needed && len(f.Get(v)) == 0 {
			report(&f, "has no field %s", f.Name)
		}
		for _, tag := range f.Get(v) {
			if f.form == tagsForm && len(strings.Fields(tag)) > 2 {
				report(&f, "has the tag %q: write commas between tags", markdown.Clip(tag, 60))
			}
		}
	}
	for _, f := range t.fields {
		if word := f.factOf(v); f.Needed && f.Values != nil && word != "" && !slices.Contains(f.Values, word) {
			report(&f, "has the unknown %s %q", markdown.Key(f.Name), f.Get(v)[0])
		}
	}
	return errs
}

// Append appends the canonical text of an entry to dst: its heading, and the fields
// that are not empty. Parse reads every value back, except for white space in
// fields of one line.
func (t *FieldTable[T]) Append(dst []byte, v T) []byte {
	id, title := t.head(&v)
	dst = markdown.AppendHeading(dst, 3, *id, *title)
	isTable := t.rules.Form == markdown.RowForm
	if isTable {
		dst = markdown.AppendWideHead(append(dst, '\n'), "Field", "Value")
	}
	for i := range t.fields {
		f := &t.fields[i]
		switch values := f.Get(&v); {
		case f.form == extraForm:
			for _, e := range *t.extra(&v) {
				dst = appendLine(dst, t.rules, e.Key, e.Value)
			}
		case f.form == titleForm || f.text == nil && f.list == nil:
		case len(values) > 0, f.Needed, f.form == tagsForm:
			dst = f.append(dst, t.rules, values)
		}
	}
	if isTable {
		dst = append(dst, "\n---\n"...)
	}
	return dst
}

// append appends the values of a field. One that is needed is there even if it is
// empty, unless it is a row.
func (f *Field[T]) append(dst []byte, r markdown.Rules, values []string) []byte {
	value := first(values)
	switch {
	case f.implied != "" && markdown.SingleSpaced(value) == f.implied:
		return dst
	case f.form == lineForm:
		return appendLine(dst, r, f.Name, markdown.SingleSpaced(value))
	}
	if r.Form == markdown.RowForm {
		dst = append(dst, '\n')
	}
	switch f.form {
	case belowForm:
		return r.AppendBlock(r.AppendLabel(dst, f.Name, ""), "", value)
	case itemsForm:
		return r.AppendItems(r.AppendLabel(dst, f.Name, ""), values)
	case pathsForm:
		if value = pathsLine(values); value == "" {
			return r.AppendItems(r.AppendLabel(dst, f.Name, ""), values)
		}
	case tagsForm:
		value = tagsText(r, markdown.FormatList(values))
	case leadForm:
		value = markdown.SingleSpaced(value)
	}
	return appendNamed(dst, r, f.Name, value)
}

// appendLine appends a field of one line as the kind has it. A row is not empty.
func appendLine(dst []byte, r markdown.Rules, name, value string) []byte {
	switch {
	case r.Form == markdown.LabelForm:
		return r.AppendLabel(dst, name, markdown.SingleSpaced(value))
	case r.Form == markdown.BulletForm:
		return r.AppendBullet(dst, name, value)
	case value == "":
		return dst
	}
	return markdown.AppendTightRow(dst, name, value)
}

// appendNamed appends a field as a bullet where a kind has those, else as a label.
func appendNamed(dst []byte, r markdown.Rules, name, value string) []byte {
	if r.Form == markdown.BulletForm {
		return r.AppendBullet(dst, name, value)
	}
	return r.AppendLabel(dst, name, value)
}

// tagsText returns a list as a field has it: bullets have brackets around it.
func tagsText(r markdown.Rules, list string) string {
	if r.Form == markdown.BulletForm {
		return "[" + list + "]"
	}
	return list
}

// Set returns text, an entry, with other values for a field, such as Status: the
// bytes of the value alone change. Without values the field is taken away; an empty
// value stays as an empty field. A field that the entry lacks becomes a new row or
// bullet; in an entry with a table, one that text runs on below is added at the end.
func (t *FieldTable[T]) Set(text []byte, name string, values ...string) []byte {
	f := t.field(name)
	switch {
	case f.form == titleForm && f.text != nil:
		v := t.Read(text)
		id, _ := t.head(&v)
		return setTitle(text, *id, first(values))
	case f.list != nil && f.form != tagsForm:
		return f.setList(text, t.rules, values)
	case f.form == tagsForm:
		return t.rules.Set(text, name, tagsText(t.rules, strings.Join(values, ", ")))
	case f.Name != "":
		name = f.nameIn(text, t.rules)
	}
	if len(values) == 0 {
		return t.rules.Drop(text, name)
	}
	return setText(text, t.rules, name, values[0])
}

// nameIn returns the name that an entry has a field by.
func (f *Field[T]) nameIn(text []byte, r markdown.Rules) string {
	if i := slices.IndexFunc(f.also, func(key string) bool { return r.Has(text, key) }); i >= 0 && !r.Has(text, f.Name) {
		return f.also[i]
	}
	return f.Name
}

// setList sets a field that is a list, under the name that the entry has it by.
func (f *Field[T]) setList(text []byte, r markdown.Rules, items []string) []byte {
	name := f.nameIn(text, r)
	if len(items) == 0 {
		for _, key := range f.keys() {
			text = r.Drop(text, key)
		}
		return text
	}
	if line := pathsLine(items); f.form == pathsForm && line != "" {
		return setText(text, r, name, line)
	}
	return r.SetItems(text, name, items)
}

// setText sets a field to a text.
func setText(text []byte, r markdown.Rules, name, value string) []byte {
	if r.Form == markdown.RowForm && slices.Contains(r.Blocks, markdown.Key(name)) && !r.Has(text, name) {
		return r.AddBlock(text, name, value)
	}
	return r.Set(text, name, value)
}

// factOf returns a field's value as a fact.
func (f *Field[T]) factOf(v *T) string {
	value := first(f.Get(v))
	if f.fold != nil {
		return f.fold(value)
	}
	return factLine(value)
}

// Facts returns what an entry says about itself.
func (t *FieldTable[T]) Facts(v T) Facts {
	_, title := t.head(&v)
	facts := Facts{Title: factText(*title, maxFactTitle)}
	own := map[string]*string{
		"status": &facts.Status, "loop": &facts.Loop, "task": &facts.Task, "summary": &facts.Summary,
	}
	for i := range t.fields {
		switch f := &t.fields[i]; {
		case f.Fact == "":
		case f.Fact == "tags":
			facts.Tags = factList(f.Get(&v), factLine)
		case own[f.Fact] != nil:
			*own[f.Fact] = f.factOf(&v)
		default:
			facts.setAttribute(f.Fact, f.factOf(&v))
		}
	}
	for _, e := range *t.extra(&v) {
		facts.addExtra(markdown.Key(e.Key), e.Value)
	}
	if t.facts != nil {
		t.facts(&v, &facts)
	}
	return facts
}

// describe reads an entry of a file.
func (t *FieldTable[T]) describe(lines []markdown.Line) (Facts, []*SyntaxError) {
	v, errs := t.parse(lines)
	return t.Facts(v), errs
}

// Complete gives the fields of a new entry that have no value their defaults.
func (t *FieldTable[T]) Complete(v *T) {
	for _, f := range t.fields {
		if f.Default != "" && len(f.Get(v)) == 0 {
			f.Put(v, f.Default)
		}
	}
}

// Clean makes of the values that a user has given those that entries have.
func (t *FieldTable[T]) Clean(v *T) {
	for _, f := range t.Inputs() {
		clean := f.clean
		switch {
		case clean != nil:
		case f.form == tagsForm:
			f.Put(v, record.NormalizeTags(f.Get(v))...)
			continue
		case f.form == textForm, f.form == belowForm:
			clean = markdown.CleanText
		default:
			clean = markdown.OneLine
		}
		f.Put(v, factList(f.Get(v), clean)...)
	}
}

// Wrong returns the first field that has a value which a user cannot give, and what
// he can.
func (t *FieldTable[T]) Wrong(v *T) (f Field[T], value, want string) {
	for _, f := range t.Inputs() {
		for _, value := range f.Get(v) {
			switch {
			case f.Values != nil && !slices.Contains(f.Values, value):
				return f, value, "one of " + strings.Join(f.Values, ", ")
			case f.valid != nil && !f.valid(value):
				return f, value, f.Want
			}
		}
	}
	return f, "", ""
}

// Missing returns a field that a new entry needs and has not, the last first.
func (t *FieldTable[T]) Missing(v *T) (f Field[T], is bool) {
	for _, f := range slices.Backward(t.fields) {
		if f.Ask != "" && len(f.Get(v)) == 0 {
			return f, true
		}
	}
	return f, false
}
