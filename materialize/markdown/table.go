package markdown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Table is a table of Markdown, as it is read.
type Table struct {
	Columns []string // folded, without emphasis
	Rows    []tableRow
}

// A tableRow is one row of a Table.
type tableRow struct {
	Line  int // counted from 1
	cells []string
}

// Tables returns the tables of a text, those in code fences and comments left
// out. A row may have fewer or more cells than there are columns.
func Tables(lines []Line) (tables []Table) {
	plain := func(c Cell) string { return PlainCell(c.Text) }
	for i := 0; i < len(lines); i++ {
		head, found := TableHead(lines, i)
		if !found {
			continue
		}
		t := Table{Columns: Each(Each(head, plain), Fold)}
		for i++; i+1 < len(lines) && IsTableLine(lines[i+1]); i++ {
			cells, _ := lineCells(lines[i+1])
			t.Rows = append(t.Rows, tableRow{lines[i+1].Number, Each(cells, plain)})
		}
		tables = append(tables, t)
	}
	return tables
}

var (
	boldCell   = pattern(`^\*\*(.*?)\*\*`)
	cellNumber = pattern(`^[*_rR ]*(\d+)`)
)

// PlainCell returns what a cell says, without the emphasis around it; what follows that stays.
func PlainCell(text string) string {
	return strings.TrimSpace(boldCell().ReplaceAllString(UnescapeCell(text), "$1"))
}

// Column returns the index of the first column that has one of some names, -1
// without one.
func (t *Table) Column(names ...string) int {
	for _, name := range names {
		if i := slices.Index(t.Columns, name); i >= 0 {
			return i
		}
	}
	return -1
}

// Cell returns a row's cell in a column, "" where there is none.
func (r tableRow) Cell(column int) string {
	if column < 0 || column >= len(r.cells) {
		return ""
	}
	return r.cells[column]
}

// CellNumber returns the number that the text of a cell begins with: "94", "100%", "R2", "92 points".
func CellNumber(text string) (n int, found bool) {
	m := cellNumber().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > maxNumber {
		return 0, false
	}
	return n, true
}

// maxNumber bounds the numbers of tables, so that their sums are numbers.
const maxNumber = 1_000_000_000

// AppendRow appends a row of a table.
func AppendRow(dst []byte, cells ...string) []byte {
	for _, c := range cells {
		dst = append(append(dst, "| "...), EscapeCell(c)...)
		dst = append(dst, ' ')
	}
	return append(dst, "|\n"...)
}

// AppendHead appends the header of a table and the row below it.
func AppendHead(dst []byte, columns ...string) []byte {
	return append(AppendRow(dst, columns...), strings.Repeat("|---", len(columns))+"|\n"...)
}

// AppendWideHead is AppendHead with dashes as wide as the columns.
func AppendWideHead(dst []byte, columns ...string) []byte {
	below := Each(columns, func(column string) string {
		return "|" + strings.Repeat("-", utf8.RuneCountInString(column)+2)
	})
	return append(AppendRow(dst, columns...), strings.Join(below, "")+"|\n"...)
}

// AppendTightRow is AppendRow with one space in an empty cell.
func AppendTightRow(dst []byte, cells ...string) []byte {
	return append(dst, bytes.ReplaceAll(AppendRow(nil, cells...), []byte("|  "), []byte("| "))...)
}

// NoCell is what a cell without a value says.
const NoCell = "—"

// IsNoCell reports whether a cell says that there is no value.
func IsNoCell(text string) bool { return strings.Trim(text, "—–- ") == "" }

// lineCells returns the cells of a row that is not inside a fence.
func lineCells(l Line) ([]Cell, bool) {
	if l.Quiet {
		return nil, false
	}
	return Row(l.Text)
}

// TableHead returns the cells of the line at index i if it is the header of a table:
// a delimiter row stands below it.
func TableHead(lines []Line, i int) (head []Cell, found bool) {
	if i+1 >= len(lines) || !IsTableLine(lines[i+1]) {
		return nil, false
	}
	head, isRow := lineCells(lines[i])
	below, _ := Row(lines[i+1].Text)
	return head, isRow && IsDelimiter(below)
}

// IsTableLine reports whether a line goes on with a table.
func IsTableLine(l Line) bool {
	return !l.Quiet && bytes.HasPrefix(bytes.TrimSpace(l.Text), []byte("|"))
}

// IsClosedRow reports whether a row ends with the "|" of its last cell.
func IsClosedRow(row []byte) bool {
	return bytes.HasSuffix(row, []byte("|")) && !bytes.HasSuffix(row, []byte(`\|`))
}

// HasRow reports whether a line of text, outside of fences, is a table's row.
func HasRow(text string) bool {
	return slices.ContainsFunc(Lines([]byte(text)), func(l Line) bool {
		_, isRow := lineCells(l)
		return isRow
	})
}
