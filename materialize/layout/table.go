package layout

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A sheet is a table of Markdown, as it is read.
type sheet struct {
	columns []string // folded, without emphasis
	rows    []sheetRow
}

// A sheetRow is one row of a sheet.
type sheetRow struct {
	line  int // counted from 1
	cells []string
}

// readSheets returns the tables of a text, those in code fences and comments left
// out. A row may have fewer or more cells than there are columns.
func readSheets(text []byte) []sheet {
	var sheets []sheet
	lines := scanLines(text)
	for i := 0; i+1 < len(lines); i++ {
		head, found := tableHead(lines, i)
		if !found {
			continue
		}
		var s sheet
		for _, c := range head {
			s.columns = append(s.columns, fold(plainCell(c.text)))
		}
		for i += 2; i < len(lines) && isTableLine(lines[i]); i++ {
			cells, _ := tableCells(lines[i])
			row := sheetRow{line: lines[i].number}
			for _, c := range cells {
				row.cells = append(row.cells, plainCell(c.text))
			}
			s.rows = append(s.rows, row)
		}
		i--
		sheets = append(sheets, s)
	}
	return sheets
}

// plainCell returns what a cell says, without the emphasis around it.
func plainCell(text string) string {
	text = unescapeCell(text)
	for {
		inner, found := strings.CutPrefix(text, "**")
		end := strings.Index(inner, "**")
		if !found || end < 0 {
			return strings.TrimSpace(text)
		}
		text = inner[:end] + inner[end+2:] // what follows the emphasis stays
	}
}

// column returns the index of the first column that has one of some names, -1
// without one.
func (s *sheet) column(names ...string) int {
	for _, name := range names {
		for i, column := range s.columns {
			if column == name {
				return i
			}
		}
	}
	return -1
}

// cell returns a row's cell in a column, "" where there is none.
func (r sheetRow) cell(column int) string {
	if column < 0 || column >= len(r.cells) {
		return ""
	}
	return r.cells[column]
}

// number returns the number that a cell begins with: "94", "100%", "R2", "92
// points".
func (r sheetRow) number(column int) (n int, found bool) { return cellNumber(r.cell(column)) }

func cellNumber(text string) (n int, found bool) {
	text = strings.TrimLeft(text, "*_rR ")
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(text[:end])
	if err != nil || n > maxScore {
		return 0, false
	}
	return n, true
}

// maxScore bounds the numbers of tables, so that their sums are numbers.
const maxScore = 1_000_000_000

// appendRow appends a row of a table.
func appendRow(dst []byte, cells ...string) []byte {
	for _, c := range cells {
		dst = append(append(dst, "| "...), escapeCell(c)...)
		dst = append(dst, ' ')
	}
	return append(dst, "|\n"...)
}

// appendHead appends the header of a table and the row below it.
func appendHead(dst []byte, columns ...string) []byte {
	dst = appendRow(dst, columns...)
	for range columns {
		dst = append(dst, "|---"...)
	}
	return append(dst, "|\n"...)
}

// appendWideHead is appendHead with dashes as wide as the columns.
func appendWideHead(dst []byte, columns ...string) []byte {
	dst = appendRow(dst, columns...)
	for _, column := range columns {
		dst = append(append(dst, '|'), strings.Repeat("-", utf8.RuneCountInString(column)+2)...)
	}
	return append(dst, "|\n"...)
}

// appendTightRow is appendRow with one space in an empty cell.
func appendTightRow(dst []byte, cells ...string) []byte {
	for _, c := range cells {
		dst = append(dst, '|')
		if c = escapeCell(c); c != "" {
			dst = append(append(dst, ' '), c...)
		}
		dst = append(dst, ' ')
	}
	return append(dst, "|\n"...)
}

// noCell is what a cell without a value says.
const noCell = "—"

// isNoCell reports whether a cell says that there is no value.
func isNoCell(text string) bool { return strings.Trim(text, "—–- ") == "" }
