package layout

import (
	"bytes"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// A rowTable is a table with a row for each of some things, in the section of a title. The header of
// a file says which column is which.
type rowTable[T any] struct {
	title  string
	fields []Field[T]           // the first is what the table and its rows are known by
	width  int                  // how many of the fields a new table has as columns
	extra  func(*T) *[]Property // the columns that are not known; nil: they are left alone
}

// A tablePlace is where such a table stands in a file. All places are indexes of lines.
type tablePlace struct {
	lines       []markdown.Line
	section     int      // the heading, -1 without one
	next        int      // the line after the section
	columns     []string // those of a new table if there is none
	header, end int      // the first line of the table, -1 without one, and the one after it
}

// isTitled returns whether a heading is a title, in any case.
func isTitled(title string) func(heading string) bool {
	return func(heading string) bool { return markdown.Key(heading) == markdown.Key(title) }
}

// sectionOf returns the heading of the first section whose title fits, -1 without one, and the line after
// the section.
func sectionOf(lines []markdown.Line, fits func(heading string) bool) (section, next int) {
	section = slices.IndexFunc(lines, func(l markdown.Line) bool {
		_, heading := markdown.Heading(l.Text)
		return l.Level > 0 && fits(heading)
	})
	for next = section + 1; section >= 0 && next < len(lines); next++ {
		if l := lines[next]; l.Level > 0 && l.Level <= lines[section].Level {
			return section, next
		}
	}
	return section, len(lines)
}

// columns returns the headings of a new table.
func (t *rowTable[T]) columns() []string {
	return markdown.Each(t.fields[:t.width], func(f Field[T]) string { return f.Name })
}

// find finds the first table of the section that has the first of the columns. Other tables may stand
// before it.
func (t *rowTable[T]) find(text []byte) tablePlace {
	p := tablePlace{lines: markdown.Lines(text), columns: t.columns(), header: -1}
	p.section, p.next = sectionOf(p.lines, isTitled(t.title))
	for i := p.section + 1; p.section >= 0 && i+1 < p.next; i++ {
		cells, found := markdown.TableHead(p.lines, i)
		columns := markdown.Each(cells, func(c markdown.Cell) string {
			return markdown.UnescapeCell(strings.Trim(c.Text, "*` "))
		})
		if !found || t.column(columns, t.fields[0].Name) < 0 {
			continue
		}
		p.columns, p.header, p.end = columns, i, i+2
		for p.end < p.next && markdown.IsTableLine(p.lines[p.end]) {
			p.end++
		}
		break
	}
	return p
}

// rows returns the lines of the table's rows.
func (p *tablePlace) rows() []markdown.Line {
	if p.header < 0 {
		return nil
	}
	return p.lines[p.header+2 : p.end]
}

// field returns the field of a column; one that is not known has no text.
func (t *rowTable[T]) field(column string) Field[T] {
	key := markdown.Key(column)
	for _, f := range t.fields {
		if slices.Contains(f.keys(), key) {
			return f
		}
	}
	return Field[T]{Name: key}
}

// column returns the index of the column of a field, -1 without it.
func (t *rowTable[T]) column(columns []string, field string) int {
	name := t.field(field).Name
	return slices.IndexFunc(columns, func(column string) bool { return t.field(column).Name == name })
}

// read reads a row, and counts its cells; it has none if it is no row.
func (t *rowTable[T]) read(row []byte, columns []string) (v T, count int) {
	cells, _ := markdown.Row(bytes.TrimRight(row, "\r\n"))
	for i, c := range cells[:min(len(cells), len(columns))] {
		value := markdown.UnescapeCell(c.Text)
		if f := t.field(columns[i]); f.text != nil {
			*f.text(&v) = value
		} else if t.extra != nil {
			*t.extra(&v) = append(*t.extra(&v), Property{columns[i], value})
		}
	}
	return v, len(cells)
}

// cells returns the cells of a row, for a table with some columns. Values for others are left out.
func (t *rowTable[T]) cells(v T, columns []string) []string {
	return markdown.Each(columns, func(column string) string {
		if f := t.field(column); f.text != nil {
			return *f.text(&v)
		}
		if t.extra == nil {
			return ""
		}
		return ExtraValue(*t.extra(&v), column)
	})
}

// update returns a row with the values that are not empty, but for the first field; all other bytes
// stay. A row that is too short gets the cells; a column that the table lacks changes nothing.
func (t *rowTable[T]) update(row []byte, columns []string, v T) []byte {
	for _, f := range t.fields[1:] {
		value, i := *f.text(&v), t.column(columns, f.Name)
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

// addColumn returns the text of a file with one more column at the end of its
// table: its heading, its part of the delimiter row, and an empty cell in each row.
// A file without the table stays as it is.
func (t *rowTable[T]) addColumn(text []byte, column string) []byte {
	p := t.find(text)
	if p.header < 0 {
		return text
	}
	out := slices.Clone(text[:p.lines[p.header].Start])
	for i, l := range p.lines[p.header:p.end] {
		cell := " |"
		switch i {
		case 0:
			cell = " " + markdown.EscapeCell(column) + " |"
		case 1:
			cell = strings.Repeat("-", len(column)+2) + "|"
		}
		out = append(out, addCells(text[l.Start:l.End], len(p.columns), cell)...)
	}
	return append(out, text[p.lines[p.end-1].End:]...)
}
