package pdf

import (
	"strconv"

	"github.com/go-pdf/fpdf"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// footnotes are shown at the end. Number and note lead to each other.
type footnotes struct {
	out  *fpdf.Fpdf
	to   map[int]int // number to the link that leads to the note
	back map[int]int // number to the link that leads to its first mention
}

func (f *footnotes) link(links map[int]int, number int) int {
	if links[number] == 0 {
		links[number] = f.out.AddLink()
	}
	return links[number]
}

// reference adds the raised number of a footnote.
func (f *footnotes) reference(c *inliner, n *east.FootnoteLink) {
	p := piece{text: strconv.Itoa(n.Index), style: style{rise: 1}, link: target{id: f.link(f.to, n.Index)}}
	if n.RefIndex == 0 {
		p.mark = f.link(f.back, n.Index)
	}
	c.pieces = append(c.pieces, p)
}

// writeFootnotes writes the notes below a short rule.
func (d *document) writeFootnotes(list ast.Node) {
	d.gap(16)
	d.need(40)
	d.rule(d.left, d.left+120)
	d.gap(6)
	before := d.size
	d.size = smallSize
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		note, ok := n.(*east.Footnote)
		if !ok {
			continue
		}
		mark := d.footnotes.link(d.footnotes.to, note.Index)
		back := target{id: d.footnotes.link(d.footnotes.back, note.Index)}
		d.item(marker{text: strconv.Itoa(note.Index), link: back, mark: mark}, 16, func() { d.blocks(note, true) })
	}
	d.size = before
}
