package pdf

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// code writes a block of code on a ground of its own. Lines that are too long go
// on in the next.
func (d *document) code(n ast.Node) {
	const pad = 5
	d.gap(d.size * 0.5)
	lines := d.codeLines(n, d.right-d.left-2*pad)
	b := block{size: codeSize, leading: codeSize * 1.36}
	for i, line := range lines {
		top, bottom := 0.0, 0.0
		if i == 0 {
			top = pad
		}
		if i == len(lines)-1 {
			bottom = pad
		}
		height := top + b.leading + bottom
		if i == 0 && len(lines) > 1 {
			d.need(height + b.leading)
		}
		d.need(height)
		d.fill(d.left, d.y, d.right-d.left, height, inkCode)
		d.advance(top)
		d.paintLine(line, d.left+pad, d.right-d.left-2*pad, b)
		d.advance(b.leading + bottom)
	}
	d.gap(d.size * 0.9)
}

func (d *document) codeLines(n ast.Node, width float64) []textLine {
	var lines []textLine
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		text := strings.ReplaceAll(strings.TrimRight(string(segment.Value(d.source)), "\n"), "\t", "    ")
		lines = append(lines, d.codeLine(clean(text), width)...)
	}
	for len(lines) > 0 && len(lines[len(lines)-1].atoms) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// codeLine returns a line of code, which is one atom with all its spaces, cut where
// it is too long.
func (d *document) codeLine(text string, width float64) []textLine {
	if text == "" {
		return []textLine{{}}
	}
	a := &atomizer{fonts: d.fonts, size: codeSize}
	a.add(piece{text: strings.ReplaceAll(text, " ", "\u00A0"), style: style{mono: true}})
	whole := atom{}
	for _, part := range a.atoms { // wide characters make several
		whole.frags = append(whole.frags, part.frags...)
		whole.width += part.width
	}
	for i := range whole.frags {
		whole.frags[i].style.mono = false // the ground is there already
		whole.frags[i].text = strings.ReplaceAll(whole.frags[i].text, "\u00A0", " ")
	}
	return d.fonts.breakLines([]atom{whole}, width)
}
