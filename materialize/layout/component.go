package layout

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A Component is the typed view of a row of a context map: a part of the
// project, and what is known of it.
type Component struct {
	Name     string     `json:"component"`          // a path, mostly, such as src/auth/
	Modified string     `json:"task,omitempty"`     // the task that changed it last
	Location string     `json:"location,omitempty"` // where it is, when the name is no path
	Notes    string     `json:"notes,omitempty"`
	Extra    []Property `json:"-"` // further columns, by their headings
}

// contextMap is the format of the section "Context Map" in journal/index.md: a
// table with a row for each component, described in docs/layouts/context-map.md.
// The header says which column is which.
type contextMap struct{}

func (contextMap) kindOf() record.Kind { return record.KindComponent }

// componentColumns returns the headings of the table that filebus writes.
func componentColumns() []string { return []string{"Component", "Last Modified", "Notes"} }

// A contextTable is where the table of a context map stands. All places are
// indexes of lines.
type contextTable struct {
	lines       []markdown.Line
	section     int      // the heading, -1 without one
	next        int      // the line after the section
	columns     []string // those that filebus writes if there is no table
	header, end int      // the first line of the table, -1 without one, and the one after it
}

// findContextTable finds the first table with a column Component below a
// heading "Context Map".
func findContextTable(text []byte) contextTable {
	lines := markdown.Lines(text)
	t := contextTable{lines: lines, section: -1, next: len(lines), columns: componentColumns(), header: -1}
	for i, l := range lines {
		_, title := markdown.Heading(l.Text)
		if l.Level > 0 && t.section >= 0 && l.Level <= lines[t.section].Level {
			t.next = i
			break
		}
		if l.Level > 0 && t.section < 0 && markdown.Key(title) == "context map" {
			t.section = i
		}
	}
	for i := t.section + 1; t.section >= 0 && i+1 < t.next; i++ { // other tables may stand before it
		cells, found := markdown.TableHead(lines, i)
		columns := markdown.Each(cells, func(c markdown.Cell) string {
			return markdown.UnescapeCell(strings.Trim(c.Text, "*` "))
		})
		if !found || columnOf(columns, "component") < 0 {
			continue
		}
		t.columns, t.header, t.end = columns, i, i+2
		for t.end < t.next && markdown.IsTableLine(lines[t.end]) {
			t.end++
		}
		break
	}
	return t
}

// componentFields are the columns that filebus knows, in the order in which they are
// set. Both forms in use name the component first; one has the last change next, the
// other the location.
var componentFields = []Field[Component]{
	{Name: "Component", also: []string{"components"}, text: func(c *Component) *string { return &c.Name }},
	{Name: "Last Modified", also: []string{"modified", "last modified by", "modified by"},
		text: func(c *Component) *string { return &c.Modified }},
	{Name: "Notes", also: []string{"note"}, text: func(c *Component) *string { return &c.Notes }},
	{Name: "Location", also: []string{"locations", "path"}, text: func(c *Component) *string { return &c.Location }},
}

// componentField returns the field of a column; one that is not known is a further one.
func componentField(column string) Field[Component] {
	key := markdown.Key(column)
	for _, f := range componentFields {
		if slices.Contains(f.keys(), key) {
			return f
		}
	}
	return Field[Component]{Name: key}
}

// columnOf returns the index of the column of a field, -1 without it.
func columnOf(columns []string, field string) int {
	name := componentField(field).Name
	return slices.IndexFunc(columns, func(column string) bool { return componentField(column).Name == name })
}

// Parse cuts the file of a context map into rows and the text around them. A row
// is known by its component, without quotes and final "/". Rows that do not fit
// the header are reported.
func (contextMap) Parse(path string, text []byte) (File, []*SyntaxError) {
	c := newFileCutter(path, text)
	t := findContextTable(text)
	c.reportOpen(t.lines)
	for i := t.header + 2; i < t.end; i++ {
		// A row with too many or too few cells is still a row; one without a
		// component is no entry.
		l := t.lines[i]
		component, err := parseComponent(l.Text, t.columns)
		if err != nil {
			c.errorf(l.Number, "%w", err)
		}
		if component.Name == "" {
			continue
		}
		if id, ok := c.claim(component.ID(), component.Name, l.Number); ok {
			c.add(&Entry{Kind: record.KindComponent, ID: id, Line: l.Number, Facts: component.facts()}, l.Start, l.End)
		}
	}
	return c.finish()
}

// Components reads a context map: its entries, and the row of each.
func Components(path string, text []byte) (entries []*Entry, rows []Component) {
	file, _ := contextMap{}.Parse(path, text)
	columns := findContextTable(text).columns
	for _, e := range file.Entries() {
		row, _ := parseComponent(e.Text, columns) // a row that is too short is one too
		rows = append(rows, row)
	}
	return file.Entries(), rows
}

// ID returns the id that the component's name gives, or "" when it gives none.
func (c Component) ID() string {
	name := strings.TrimSpace(strings.Trim(c.Name, "` "))
	name = strings.TrimSuffix(name, "/")
	if record.CheckID(name) != nil {
		return ""
	}
	return name
}

// Insert returns f with a new row, e, after the last one. The table, its
// section, and the title of an empty file are made when they are missing. The
// row is taken as it is, written for the columns of the table.
func (contextMap) Insert(f File, e Entry) File {
	e.Kind = record.KindComponent
	text := f.Append(nil)
	eol := markdown.LineEnding(text)
	t := findContextTable(text)
	e.Text = []byte(strings.TrimRight(string(e.Text), " \t\r\n") + eol)
	table := strings.ReplaceAll(string(markdown.AppendWideHead(nil, componentColumns()...)), "\n", eol)
	switch {
	case t.header >= 0:
		at, before := t.lines[t.end-1].End, ""
		if !bytes.HasSuffix(text[:at], []byte("\n")) {
			before = eol
		}
		return spliceEntry(f, at, before, e, "")
	case t.section < 0:
		intro := "## Context Map" + eol + eol
		if isBlankText(text) {
			intro = "# Journal Index" + eol + eol + intro
		}
		return spliceEntry(f, len(text), blankBefore(text, eol)+intro+table, e, "")
	}
	at, after := len(text), ""
	if t.next < len(t.lines) {
		at, after = t.lines[t.next].Start, eol
	}
	return spliceEntry(f, at, blankBefore(text[:at], eol)+table, e, after)
}

// parseComponent reads a row of a context map whose table has the columns
// given. A row that does not fit them is reported beside what it gives.
func parseComponent(row []byte, columns []string) (Component, error) {
	cells, ok := markdown.Row(bytes.TrimRight(row, "\r\n"))
	if !ok {
		return Component{}, errors.New("line is not a table row")
	}
	var component Component
	for i, c := range cells[:min(len(cells), len(columns))] {
		value := markdown.UnescapeCell(c.Text)
		if f := componentField(columns[i]); f.text != nil {
			*f.text(&component) = value
		} else {
			component.Extra = append(component.Extra, Property{columns[i], value})
		}
	}
	switch {
	case component.Name == "":
		return component, errors.New("table row names no component")
	case len(cells) != len(columns):
		return component, fmt.Errorf("table row has %s, its header %d", markdown.CountOf(len(cells), "cell"),
			len(columns))
	}
	return component, nil
}

// facts returns what a row says about its component.
func (c Component) facts() Facts {
	summary := c.Notes
	if c.Location != "" {
		summary = strings.TrimSpace(c.Location + " " + c.Notes)
	}
	return Facts{Title: factLine(c.Name), Task: factTask(c.Modified), Summary: factText(summary, maxFactSummary)}
}

// appendComponent appends the row of a component to dst, for a table with the
// columns given. Values for other columns are left out.
func appendComponent(dst []byte, c Component, columns []string) []byte {
	var cells []string
	for _, column := range columns {
		value := ""
		if f := componentField(column); f.text != nil {
			value = *f.text(&c)
		} else if i := slices.IndexFunc(c.Extra, func(e Property) bool { return e.Key == column }); i >= 0 {
			value = c.Extra[i].Value
		}
		cells = append(cells, value)
	}
	return markdown.AppendTightRow(dst, cells...)
}

// SetComponent returns the text of a context map's file with what is said of a
// component in its row: the values that are not empty. A component without a row gets
// one, and a table that has no column for the location gets that if it needs it; all
// other bytes stay. The id is empty if the row is not read again.
func SetComponent(path string, text []byte, c Component) (edited []byte, row Component, id string, isNew bool) {
	find := func() *Entry {
		entries, rows := Components(path, text)
		for i, row := range rows {
			if PlainPath(row.Name) == PlainPath(c.Name) {
				return entries[i]
			}
		}
		return nil
	}
	isNew = find() == nil
	columns := findContextTable(text).columns
	if isNew {
		file, _ := contextMap{}.Parse(path, text)
		text = contextMap{}.Insert(file, Entry{Text: appendComponent(nil, c, columns)}).Append(nil)
	}
	if c.Location != "" && columnOf(columns, "Location") < 0 {
		text = addComponentColumn(text, "Location")
	}
	e := find()
	if e == nil {
		return text, row, "", isNew
	}
	columns = findContextTable(text).columns
	l := markdown.Lines(text)[e.Line-1]
	changed := updateComponent(e.Text, columns, c)
	row, _ = parseComponent(changed, columns)
	return slices.Concat(text[:l.Start], changed, text[l.End:]), row, e.ID, isNew
}

// updateComponent returns row with the values of a component that are not empty, but
// for its name; all other bytes stay. A row that is too short gets the cells; a column
// that the table lacks changes nothing.
func updateComponent(row []byte, columns []string, c Component) []byte {
	for _, f := range componentFields[1:] {
		value, i := *f.text(&c), columnOf(columns, f.Name)
		cells, ok := markdown.Row(bytes.TrimRight(row, "\r\n"))
		switch {
		case value == "" || i < 0 || !ok:
		case i < len(cells):
			row = markdown.ReplaceCell(row, cells[i].Start, cells[i].End, value)
		default:
			row = addCells(row, i, " "+markdown.EscapeCell(value)+" |")
		}
	}
	return row
}

// addCells returns a row with one more cell behind n others: empty ones fill it up.
func addCells(row []byte, n int, cell string) []byte {
	line := bytes.TrimRight(row, " \t\r\n")
	cells, _ := markdown.Row(line)
	closing := ""
	if !markdown.IsClosedRow(line) {
		closing = " |"
	}
	added := closing + strings.Repeat("  |", max(n-len(cells), 0)) + cell
	return slices.Concat(line, []byte(added), row[len(line):])
}

// addComponentColumn returns the text of a context map's file with one more
// column at the end of its table: its heading, its part of the delimiter row, and
// an empty cell in each row. A file without the table stays as it is.
func addComponentColumn(text []byte, column string) []byte {
	t := findContextTable(text)
	if t.header < 0 {
		return text
	}
	out := slices.Clone(text[:t.lines[t.header].Start])
	for i, l := range t.lines[t.header:t.end] {
		cell := " |"
		switch i {
		case 0:
			cell = " " + markdown.EscapeCell(column) + " |"
		case 1:
			cell = strings.Repeat("-", len(column)+2) + "|"
		}
		out = append(out, addCells(text[l.Start:l.End], len(t.columns), cell)...)
	}
	return append(out, text[t.lines[t.end-1].End:]...)
}
