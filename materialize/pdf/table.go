package pdf

import (
	"slices"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// A grid is a table that is being written.
type grid struct {
	d      *document
	widths []float64 // of the columns, their padding included
	aligns []align
	size   float64
	pad    float64
	header []cell
	width  float64
}

// A cell is the text of one.
type cell []piece

// table writes a table: columns as wide as their text wants, narrower where the
// page is too narrow, and its header again on each page.
func (d *document) table(n *east.Table) {
	g := &grid{d: d, size: d.size * 0.9, pad: 4}
	var rows [][]cell
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		cells := g.cells(row, len(n.Alignments))
		if _, is := row.(*east.TableHeader); is {
			for i := range cells {
				cells[i] = bold(cells[i])
			}
			g.header = cells
			continue
		}
		rows = append(rows, cells)
	}
	aligns := map[east.Alignment]align{east.AlignCenter: alignCenter, east.AlignRight: alignRight}
	for _, a := range n.Alignments {
		g.aligns = append(g.aligns, aligns[a])
	}
	g.measure(rows)
	d.gap(d.size * 0.6)
	g.writeHeader(rows)
	for i, row := range rows {
		g.writeRow(row, false, i%2 == 1)
	}
	d.gap(d.size)
}

func (g *grid) cells(row ast.Node, columns int) []cell {
	cells := make([]cell, columns)
	i := 0
	for n := row.FirstChild(); n != nil && i < columns; n = n.NextSibling() {
		cells[i] = g.d.inline(n)
		i++
	}
	return cells
}

// measure sets the widths of the columns: what their texts want on one line, if
// the page is wide enough.
func (g *grid) measure(rows [][]cell) {
	room := g.d.right - g.d.left
	least, wanted := g.extremes(rows)
	for total(least) > room && g.size > 5.5 { // smaller letters, before words are cut
		g.size -= 0.5
		g.pad = max(1.5, g.pad-0.4)
		least, wanted = g.extremes(rows)
	}
	g.widths = wanted
	if total(wanted) > room {
		g.widths = shares(least, wanted, room)
	}
	g.width = total(g.widths)
}

// shares returns widths whose total is room. Each column gets what it wants up to a
// level that is the same for all, but no less than it needs, so that narrow columns
// are not broken for the sake of wide ones. If the columns need more than there
// is, the widest give way.
func shares(least, wanted []float64, room float64) []float64 {
	needed := least
	if total(least) >= room {
		needed, wanted = make([]float64, len(least)), least
	}
	upTo := func(level float64) []float64 {
		widths := slices.Clone(wanted)
		for i := range widths {
			widths[i] = max(min(widths[i], level), needed[i])
		}
		return widths
	}
	low, high := 0.0, room
	for range 40 { // halves the difference to less than can be seen
		if level := (low + high) / 2; total(upTo(level)) > room {
			high = level
		} else {
			low = level
		}
	}
	return upTo(low)
}

func total(widths []float64) float64 {
	sum := 0.0
	for _, w := range widths {
		sum += w
	}
	return sum
}

// longWord is how wide a word must be to be cut, as addresses are, before the
// letters of a table get smaller.
const longWord = 100

// extremes returns, for each column, the width that its longest word needs,
// and that of its longest text on one line.
func (g *grid) extremes(rows [][]cell) (least, wanted []float64) {
	least, wanted = make([]float64, len(g.aligns)), make([]float64, len(g.aligns))
	add := func(row []cell) {
		for i, c := range row {
			line := 0.0
			for _, a := range g.d.atoms(c, g.size) {
				if a.brk {
					line = 0
					continue
				}
				line += a.space + a.width
				least[i], wanted[i] = max(least[i], min(a.width, longWord)), max(wanted[i], line)
			}
		}
	}
	add(g.header)
	const measuredRows = 2_000 // how many rows of a long table decide on the widths
	for _, row := range rows[:min(len(rows), measuredRows)] {
		add(row)
	}
	for i := range least {
		least[i], wanted[i] = max(least[i], g.size)+2*g.pad+0.1, max(wanted[i], g.size)+2*g.pad+0.1
	}
	return least, wanted
}

func (g *grid) leading() float64 { return g.size * 1.35 }

// fit breaks the cells of a row into lines.
func (g *grid) fit(row []cell) (cells [][]textLine, height int) {
	for i, c := range row {
		lines := g.d.fonts.breakLines(g.d.atoms(c, g.size), max(1, g.widths[i]-2*g.pad))
		cells = append(cells, lines)
		height = max(height, len(lines))
	}
	return cells, max(1, height)
}

// writeHeader writes the header where the first row has room below it.
func (g *grid) writeHeader(rows [][]cell) {
	_, header := g.fit(g.header)
	first := 0
	if len(rows) > 0 {
		_, first = g.fit(rows[0])
	}
	g.d.need(float64(header+min(first, 5))*g.leading() + 4*g.pad)
	g.writeRow(g.header, true, false)
	if float64(header)*g.leading() > (pageBottom-marginTop)/3 {
		g.header = nil // too high to be repeated
	}
}

// writeRow writes a row: on the next page if it has room only there, else cut
// where the page ends.
func (g *grid) writeRow(row []cell, header, shaded bool) {
	cells, lines := g.fit(row)
	height := float64(lines)*g.leading() + 2*g.pad*0.7
	d := g.d
	d.flushGap()
	if !header && d.y+height > pageBottom && height < (pageBottom-marginTop)/2 {
		g.breakPage()
	}
	for from := 0; from < lines; {
		fits := int((pageBottom - d.y - 2*g.pad*0.7 + slack) / g.leading())
		if fits < 1 {
			g.breakPage()
			continue
		}
		to := min(lines, from+fits)
		g.writeLines(cells, from, to, header, shaded)
		from = to
	}
}

func (g *grid) breakPage() {
	g.d.newPage()
	if g.header != nil {
		cells, lines := g.fit(g.header)
		g.writeLines(cells, 0, lines, true, false)
	}
}

// writeLines writes the lines from and up to to of all cells of a row.
func (g *grid) writeLines(cells [][]textLine, from, to int, header, shaded bool) {
	d := g.d
	height := float64(to-from)*g.leading() + 2*g.pad*0.7
	switch {
	case header:
		d.fill(d.left, d.y, g.width, height, inkHead)
	case shaded:
		d.fill(d.left, d.y, g.width, height, ink{250, 250, 251})
	}
	top, x := d.y, d.left
	for i, lines := range cells {
		d.y = top + g.pad*0.7
		for _, line := range lines[min(from, len(lines)):min(to, len(lines))] {
			b := block{size: g.size, leading: g.leading(), align: g.aligns[i]}
			d.paintLine(line, x+g.pad, g.widths[i]-2*g.pad, b)
			d.y += g.leading()
		}
		x += g.widths[i]
	}
	d.y = top
	d.advance(height)
	d.fill(d.left, d.y-0.6, g.width, 0.6, inkRule)
}
