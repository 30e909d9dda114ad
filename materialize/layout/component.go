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

// components is the table of a context map. Both forms in use name the component first; one has the
// last change next, the other the location.
var components = &rowTable[Component]{
	title: "Context Map", width: 3, extra: func(c *Component) *[]Property { return &c.Extra },
	fields: []Field[Component]{
		{Name: "Component", also: []string{"components"}, text: func(c *Component) *string { return &c.Name }},
		{Name: "Last Modified", also: []string{"modified", "last modified by", "modified by"},
			text: func(c *Component) *string { return &c.Modified }},
		{Name: "Notes", also: []string{"note"}, text: func(c *Component) *string { return &c.Notes }},
		{Name: "Location", also: []string{"locations", "path"}, text: func(c *Component) *string { return &c.Location }},
	},
}

// Parse cuts the file of a context map into rows and the text around them. A row
// is known by its component, without quotes and final "/". Rows that do not fit
// the header are reported.
func (contextMap) Parse(path string, text []byte) (File, []*SyntaxError) {
	c := newFileCutter(path, text)
	t := components.find(text)
	c.reportOpen(t.lines)
	for _, l := range t.rows() {
		// A row with too many or too few cells is still a row; one without a
		// component is no entry.
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
	columns := components.find(text).columns
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

// Insert returns f with new rows after the last one. The table, its
// section, and the title of an empty file are made when they are missing. The
// rows are taken as they are, written for the columns of the table.
func (contextMap) Insert(f File, entries ...Entry) File {
	text := f.Append(nil)
	eol := markdown.LineEnding(text)
	t := components.find(text)
	entries = slices.Clone(entries)
	for i, e := range entries {
		entries[i].Kind, entries[i].Text = record.KindComponent, []byte(strings.TrimRight(string(e.Text), " \t\r\n")+eol)
	}
	table := strings.ReplaceAll(string(markdown.AppendWideHead(nil, components.columns()...)), "\n", eol)
	switch {
	case t.header >= 0:
		at, before := t.lines[t.end-1].End, ""
		if !bytes.HasSuffix(text[:at], []byte("\n")) {
			before = eol
		}
		return splice(f, at, before, entries, "", "")
	case t.section < 0:
		intro := "## Context Map" + eol + eol
		if isBlankText(text) {
			intro = "# Journal Index" + eol + eol + intro
		}
		return splice(f, len(text), blankBefore(text, eol)+intro+table, entries, "", "")
	}
	at, after := len(text), ""
	if t.next < len(t.lines) {
		at, after = t.lines[t.next].Start, eol
	}
	return splice(f, at, blankBefore(text[:at], eol)+table, entries, "", after)
}

// parseComponent reads a row of a context map whose table has the columns
// given. A row that does not fit them is reported beside what it gives.
func parseComponent(row []byte, columns []string) (Component, error) {
	component, cells := components.read(row, columns)
	if cells == 0 {
		return component, errors.New("line is not a table row")
	}
	switch {
	case component.Name == "":
		return component, errors.New("table row names no component")
	case cells != len(columns):
		return component, fmt.Errorf("table row has %s, its header %d", markdown.CountOf(cells, "cell"), len(columns))
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
	return markdown.AppendTightRow(dst, components.cells(c, columns)...)
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
	columns := components.find(text).columns
	if isNew {
		file, _ := contextMap{}.Parse(path, text)
		text = contextMap{}.Insert(file, Entry{Text: appendComponent(nil, c, columns)}).Append(nil)
	}
	if c.Location != "" && components.column(columns, "Location") < 0 {
		text = components.addColumn(text, "Location")
	}
	e := find()
	if e == nil {
		return text, row, "", isNew
	}
	columns = components.find(text).columns
	l := markdown.Lines(text)[e.Line-1]
	changed := components.update(e.Text, columns, c)
	row, _ = parseComponent(changed, columns)
	return slices.Concat(text[:l.Start], changed, text[l.End:]), row, e.ID, isNew
}
