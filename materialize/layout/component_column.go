package layout

import (
	"bytes"
	"slices"

	"filebus/materialize/markdown"
)

// AddComponentColumn returns the text of a context map's file with one more
// column at the end of its table: its heading, its part of the delimiter row, and
// an empty cell in each row. A file without the table stays as it is.
func AddComponentColumn(text []byte, column string) []byte {
	lines := markdown.Lines(text)
	t := findContextTable(lines)
	if t.header < 0 {
		return text
	}
	out := slices.Clone(text[:lines[t.header].Start])
	for i := t.header; i < t.end; i++ {
		l := lines[i]
		whole := text[l.Start:l.End]
		line := bytes.TrimRight(whole, " \t\r\n")
		cells, _ := markdown.Row(line)
		out = append(out, line...)
		if !markdown.IsClosedRow(line) {
			out = append(out, " |"...)
		}
		for n := len(cells); n < len(t.columns); n++ { // a short row
			out = append(out, "  |"...)
		}
		switch i {
		case t.header:
			out = append(append(append(out, ' '), markdown.EscapeCell(column)...), " |"...)
		case t.delimiter:
			out = append(out, bytes.Repeat([]byte("-"), len(column)+2)...)
			out = append(out, '|')
		default:
			out = append(out, " |"...)
		}
		out = append(out, whole[len(line):]...)
	}
	return append(out, text[lines[t.end-1].End:]...)
}
