package pdf

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// blocks writes the blocks below a node. In a tight list paragraphs stand close.
func (d *document) blocks(parent ast.Node, tight bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		d.block(n, tight)
	}
}

func (d *document) block(n ast.Node, tight bool) {
	switch n := n.(type) {
	case *ast.Heading:
		d.heading(n)
	case *ast.Paragraph, *ast.TextBlock:
		d.textBlock(n, tight)
	case *ast.List:
		d.list(n)
	case *ast.Blockquote:
		d.quote(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		d.code(n)
	case *ast.ThematicBreak:
		d.gap(12)
		d.need(8)
		d.rule(d.left, d.right)
		d.advance(1)
		d.gap(12)
	case *ast.HTMLBlock:
		d.html(n)
	case *east.Table:
		d.table(n)
	case *east.FootnoteList:
		d.writeFootnotes(n)
	default:
		d.blocks(n, tight)
	}
}

func (d *document) heading(n *ast.Heading) {
	h := d.outline.byNode[n]
	switch {
	case n == d.titleNode:
		return
	case h == nil: // within a quote or a list
		d.gap(8)
		d.paint(d.fit(bold(d.inline(n)), d.right-d.left, d.size), block{size: d.size, leading: d.leading()})
		d.gap(4)
		return
	case d.references != nil && h.node.Level <= d.references.node.Level:
		d.references = nil
		d.citations.next++
	}
	d.writeHeading(h)
}

// textBlock writes a paragraph. Images stand on lines of their own.
func (d *document) textBlock(n ast.Node, tight bool) {
	after := d.size * 0.75
	if tight {
		after = d.size * 0.2
	}
	if d.references != nil {
		d.entries(d.pieces(n))
	} else {
		d.paragraph(d.inline(n))
	}
	d.gap(after)
}

// paragraph writes pieces, cut at their images.
func (d *document) paragraph(pieces []piece) {
	start := 0
	for i, p := range pieces {
		if p.image == nil {
			continue
		}
		if picture := d.images.of(p.image); picture != nil {
			d.lines(pieces[start:i])
			d.images.write(picture, p)
			start = i + 1
		}
	}
	d.lines(pieces[start:])
}

// lines writes pieces as the lines of a paragraph.
func (d *document) lines(pieces []piece) {
	for len(pieces) > 0 && pieces[0].brk != noBreak {
		pieces = pieces[1:]
	}
	pieces = trimBreak(pieces)
	if len(pieces) == 0 {
		return
	}
	d.paint(d.fit(pieces, d.right-d.left, d.size), block{size: d.size, leading: d.leading(), align: alignBoth})
}

// entries writes a paragraph of a list of references.
func (d *document) entries(pieces []piece) {
	for _, e := range splitEntries(pieces) {
		e.pieces = d.citations.link(e.pieces)
		if e.number == 0 {
			d.paragraph(e.pieces)
			continue
		}
		text := "[" + strconv.Itoa(e.number) + "]"
		d.item(marker{text: text, mark: d.citations.place(e.number)}, 28, func() { d.paragraph(e.pieces) })
		d.gap(d.size * 0.35)
	}
}

// A marker is what stands before an item of a list.
type marker struct {
	text string
	link target
	mark int // a place that links lead to, or 0
}

// item writes what body writes, indented, with a marker at its first line.
func (d *document) item(m marker, indent float64, body func()) {
	d.need(d.leading())
	line := d.fit([]piece{{text: m.text, link: m.link}}, pageWidth, d.size)
	if m.mark > 0 {
		d.out.SetLink(m.mark, d.y, -1)
	}
	indent = max(indent, line[0].width+4)
	d.paintLine(line[0], d.left, indent-5, block{size: d.size, leading: d.leading(), align: alignRight})
	page, y := d.out.PageNo(), d.y
	d.indented(indent, body)
	if d.out.PageNo() == page && d.y == y { // an empty item
		d.advance(d.leading())
	}
}

// indented writes what body writes, with a wider margin, unless text would get too
// narrow.
func (d *document) indented(indent float64, body func()) {
	left := d.left
	d.left = min(left+indent, d.right-minWidth)
	body()
	d.left = left
}

func (d *document) list(n *ast.List) {
	d.gap(d.size * 0.3)
	number, indent := n.Start, 18.0
	if n.IsOrdered() {
		last := strconv.Itoa(n.Start + n.ChildCount())
		indent = max(20, float64(len(last))*d.size*0.64+10)
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		m := marker{text: bullet(n)}
		if n.IsOrdered() {
			m.text = strconv.Itoa(number) + string(n.Marker)
			if d.references != nil {
				m.mark = d.citations.place(number)
			}
			number++
		} else if d.references != nil && d.isEntry(item) {
			d.blocks(item, n.IsTight)
			continue
		}
		if checked, is := taskOf(item); is {
			m.text = "☐"
			if checked {
				m.text = "☑"
			}
		}
		d.item(m, indent, func() { d.blocks(item, n.IsTight) })
		if !n.IsTight {
			d.gap(d.size * 0.5)
		}
	}
	if n.Parent().Kind() != ast.KindListItem {
		d.gap(d.size * 0.75)
	}
}

// isEntry reports whether an item begins with [N], which is marker enough.
func (d *document) isEntry(item ast.Node) bool {
	first := item.FirstChild()
	if first == nil || first.Type() != ast.TypeBlock || first.FirstChild() == nil {
		return false
	}
	return splitEntries(d.pieces(first))[0].number > 0
}

// bullet returns the marker of a list by its depth.
func bullet(list ast.Node) string {
	depth := 0
	for n := list.Parent(); n != nil; n = n.Parent() {
		if n.Kind() == ast.KindList {
			depth++
		}
	}
	return [...]string{"•", "–", "▪"}[depth%3]
}

// taskOf reports whether an item is a task, and whether it is done.
func taskOf(item ast.Node) (checked, is bool) {
	first := item.FirstChild()
	if first == nil {
		return false, false
	}
	box, is := first.FirstChild().(*east.TaskCheckBox)
	return is && box.IsChecked, is
}

func (d *document) quote(n ast.Node) {
	d.gap(d.size * 0.5)
	d.need(d.leading())
	bars := d.bars
	const maxBars = 8 // how many bars stand beside text in quotes of quotes
	if len(bars) < maxBars {
		d.bars = append(bars[:len(bars):len(bars)], d.left+3)
	}
	d.indented(14, func() { d.blocks(n, false) })
	d.bars = bars
	d.pending = 0 // white space at the end of the quote is none of it
	d.gap(d.size * 0.8)
}

// html writes the text that a block of HTML shows.
func (d *document) html(n *ast.HTMLBlock) {
	source := string(n.Lines().Value(d.source))
	if n.HasClosure() {
		source += string(n.ClosureLine.Value(d.source))
	}
	for _, line := range htmlText(source) {
		d.lines([]piece{{text: line}})
	}
	d.gap(d.size * 0.75)
}

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
