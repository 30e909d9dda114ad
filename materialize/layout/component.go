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
	Name     string       `json:"component"`          // a path, mostly, such as src/auth/
	Modified string       `json:"task,omitempty"`     // the task that changed it last
	Location string       `json:"location,omitempty"` // where it is, when the name is no path
	Notes    string       `json:"notes,omitempty"`
	Extra    []ExtraField `json:"-"` // further columns, by their headings
}

// ContextMap is the format of the section "Context Map" in journal/index.md: a
// table with a row for each component, described in docs/layouts/context-map.md.
// The header says which column is which.
type ContextMap struct{}

// componentColumns returns the headings of the table that filebus writes.
func componentColumns() []string { return []string{"Component", "Last Modified", "Notes"} }

// A contextTable is where the table of a context map stands. All places are
// indexes of lines.
type contextTable struct {
	section   int // line of the heading, -1 without one
	next      int // line after the section
	columns   []string
	header    int // line of the header, -1 without a table
	delimiter int // line of the delimiter row
	end       int // line after the last row
}

// findContextTable finds the first table with a column Component below a
// heading "Context Map".
func findContextTable(lines []markdown.Line) contextTable {
	t := contextTable{section: -1, header: -1, next: len(lines)}
	for i, l := range lines {
		if l.Level > 0 && t.section >= 0 && l.Level <= lines[t.section].Level {
			t.next = i
			break
		}
		if _, title := markdown.Heading(l.Text); l.Level > 0 && t.section < 0 && markdown.Key(title) == "context map" {
			t.section = i
		}
	}
	if t.section >= 0 {
		t.findHeader(lines)
	}
	return t
}

// findHeader finds the table of the section. Other tables may stand before it.
func (t *contextTable) findHeader(lines []markdown.Line) {
	for i := t.section + 1; i+1 < t.next; i++ {
		cells, found := markdown.TableHead(lines, i)
		if !found {
			continue
		}
		var columns []string
		for _, c := range cells {
			columns = append(columns, markdown.UnescapeCell(strings.Trim(c.Text, "*` ")))
		}
		if columnOf(columns, "component") < 0 {
			continue
		}
		t.columns, t.header, t.delimiter, t.end = columns, i, i+1, i+2
		for t.end < t.next && markdown.IsTableLine(lines[t.end]) {
			t.end++
		}
		return
	}
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

// componentField returns the field of a column; one that is not known has no place.
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

// Columns returns the headings of the table in f, which ParseComponent and
// AppendComponent need, or ComponentColumns when there is no table.
func (ContextMap) Columns(f File) []string {
	if t := findContextTable(markdown.Lines(f.Append(nil))); t.header >= 0 {
		return t.columns
	}
	return componentColumns()
}

// Parse cuts the file of a context map into rows and the text around them. A row
// is known by its component, without quotes and final "/". Rows that do not fit
// the header are reported.
func (ContextMap) Parse(path string, text []byte) (File, []*SyntaxError) {
	lines := markdown.Lines(text)
	c := newFileCutter(path, text)
	c.reportOpen(lines)
	t := findContextTable(lines)
	if t.header < 0 {
		return c.finish()
	}
	for _, l := range lines[t.delimiter+1 : t.end] {
		// A row with too many or too few cells is still a row; one without a
		// component is no entry.
		component, err := ParseComponent(l.Text, t.columns)
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
// row is taken as it is: write it for Columns(f).
func (ContextMap) Insert(f File, e Entry) File {
	if e.Kind == "" {
		e.Kind = record.KindComponent
	}
	text := f.Append(nil)
	eol := markdown.LineEnding(text)
	lines := markdown.Lines(text)
	t := findContextTable(lines)
	e.Text = []byte(strings.TrimRight(string(e.Text), " \t\r\n") + eol)
	table := strings.ReplaceAll(string(markdown.AppendWideHead(nil, componentColumns()...)), "\n", eol)
	switch {
	case t.header >= 0:
		at, before := lines[t.end-1].End, ""
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
	if t.next < len(lines) {
		at, after = lines[t.next].Start, eol
	}
	return spliceEntry(f, at, blankBefore(text[:at], eol)+table, e, after)
}

// ParseComponent reads a row of a context map whose table has the columns
// given. A row that does not fit them is reported beside what it gives.
func ParseComponent(row []byte, columns []string) (Component, error) {
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
			component.Extra = append(component.Extra, ExtraField{columns[i], value})
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
	facts := Facts{Title: factLine(c.Name), Task: factTask(c.Modified)}
	summary := c.Notes
	if c.Location != "" {
		summary = strings.TrimSpace(c.Location + " " + c.Notes)
	}
	facts.Summary = factText(summary, maxFactSummary)
	return facts
}

// AppendComponent appends the row of a component to dst, for a table with the
// columns given. Values for other columns are left out.
func AppendComponent(dst []byte, c Component, columns []string) []byte {
	var cells []string
	for _, column := range columns {
		cells = append(cells, c.value(column))
	}
	return markdown.AppendTightRow(dst, cells...)
}

// value returns what a row holds in a column.
func (c Component) value(column string) string {
	if f := componentField(column); f.text != nil {
		return *f.text(&c)
	}
	for _, f := range c.Extra {
		if f.Name == column {
			return f.Value
		}
	}
	return ""
}

// UpdateComponent returns row with the values of a component that are not empty, but
// for its name; all other bytes stay.
func UpdateComponent(row []byte, columns []string, c Component) []byte {
	for _, f := range componentFields[1:] {
		if value := *f.text(&c); value != "" {
			row = setComponentField(row, columns, f.Name, value)
		}
	}
	return row
}

// setComponentField returns row with another value in one column, such as Last
// Modified; all other bytes stay. A row that is too short gets the cell; a
// column that the table lacks leaves the row as it is.
func setComponentField(row []byte, columns []string, field, value string) []byte {
	line := bytes.TrimRight(row, "\r\n")
	i := columnOf(columns, field)
	cells, ok := markdown.Row(line)
	switch {
	case i < 0 || !ok:
		return row
	case i < len(cells):
		return markdown.ReplaceCell(row, cells[i].Start, cells[i].End, value)
	}
	end := bytes.TrimRight(line, " \t")
	out := slices.Clone(end)
	if !markdown.IsClosedRow(end) {
		out = append(out, " |"...)
	}
	out = append(out, strings.Repeat("  |", i-len(cells))...)
	out = append(out, " "+markdown.EscapeCell(value)+" |"...)
	return append(out, row[len(end):]...)
}
