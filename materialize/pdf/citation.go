package pdf

import (
	"strconv"
	"strings"

	"github.com/go-pdf/fpdf"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// citations links numbers in brackets to the entries of the list of references. A
// document that was joined from several can have several lists: a citation means
// the next one that has its number, else any.
type citations struct {
	out   *fpdf.Fpdf
	lists []map[int]int // number to link of fpdf
	next  int           // the list of the section that is being written, or the next one
	notes *notes        // nil while entries are collected
}

var (
	citation    = pattern(`\[\d{1,4}(?:\s*[-–—,;]\s*\d{1,4})*\]`)
	digits      = pattern(`\d+`)
	entryNumber = pattern(`^\s*\[(\d{1,4})\][:.]?\s*`)
)

// isReferences reports whether a heading is that of a list of references.
func isReferences(heading string) bool {
	name := strings.ToLower(strings.Trim(ownNumber().ReplaceAllString(heading, ""), " *_:.#"))
	return name == "references" || name == "bibliography"
}

// collect finds the entries of all lists of references: paragraphs, lines and
// items that begin with [N], and the items of numbered lists.
func (c *citations) collect(d *document) {
	defer func() { c.notes = &d.notes }()
	var within *heading // of a list of references
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		h := d.outline.byNode[n]
		if h != nil && within != nil && h.node.Level <= within.node.Level {
			within = nil
		}
		switch {
		case within != nil:
			c.collectBlock(d, n, c.lists[len(c.lists)-1])
		case h != nil && h.references:
			within = h
			c.lists = append(c.lists, map[int]int{})
		}
	}
}

func (c *citations) collectBlock(d *document, n ast.Node, list map[int]int) {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		for _, entry := range splitEntries(d.pieces(n)) {
			if entry.number > 0 {
				c.define(list, entry.number)
			}
		}
	case *ast.List:
		number := n.Start
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			if n.IsOrdered() {
				c.define(list, number)
				number++
				continue
			}
			for child := item.FirstChild(); child != nil; child = child.NextSibling() {
				c.collectBlock(d, child, list)
			}
		}
	}
}

func (c *citations) define(list map[int]int, number int) {
	if list[number] == 0 {
		list[number] = c.out.AddLink()
	}
}

// place takes the link of an entry, the first time that the entry is written.
func (c *citations) place(number int) int {
	if c.next >= len(c.lists) {
		return 0
	}
	return c.lists[c.next][number]
}

func (c *citations) find(number int) int {
	for i := c.next; i < len(c.lists); i++ {
		if id := c.lists[i][number]; id > 0 {
			return id
		}
	}
	for i := min(c.next, len(c.lists)) - 1; i >= 0; i-- {
		if id := c.lists[i][number]; id > 0 {
			return id
		}
	}
	return 0
}

// link cuts pieces at citations and links their numbers. Code and links stay as
// they are.
func (c *citations) link(pieces []piece) []piece {
	if len(c.lists) == 0 {
		return pieces
	}
	var out []piece
	for _, p := range pieces {
		if p.text == "" || p.style.mono || p.link != (target{}) || !strings.Contains(p.text, "[") {
			out = append(out, p)
			continue
		}
		out = c.cut(out, p)
	}
	return out
}

func (c *citations) cut(out []piece, p piece) []piece {
	at := 0
	add := func(end int, link target) {
		if end > at {
			out = append(out, piece{text: p.text[at:end], style: p.style, link: link})
		}
		at = end
	}
	for _, cited := range citation().FindAllStringIndex(p.text, -1) {
		for _, n := range digits().FindAllStringIndex(p.text[cited[0]:cited[1]], -1) {
			from, to := cited[0]+n[0], cited[0]+n[1]
			value, _ := strconv.Atoi(p.text[from:to]) // four digits at most
			id := c.find(value)
			if id == 0 && c.notes != nil {
				c.notes.add("citation [%d] has no entry in the list of references", value)
			}
			add(from, target{})
			add(to, target{id: id})
		}
	}
	add(len(p.text), target{})
	return out
}

// An entry is one of a list of references.
type entry struct {
	number int // 0: a text without
	pieces []piece
}

// splitEntries cuts a paragraph of a list of references, whose citations are not
// linked yet, at the lines that begin with [N], and takes these marks away.
func splitEntries(pieces []piece) []entry {
	entries := []entry{{}}
	for i, p := range pieces {
		last := &entries[len(entries)-1]
		mark := entryNumber().FindStringSubmatch(p.text)
		if mark != nil && !p.style.mono && (i == 0 || pieces[i-1].brk != noBreak) {
			if last.number > 0 || len(last.pieces) > 0 {
				last.pieces = trimBreak(last.pieces)
				entries = append(entries, entry{})
				last = &entries[len(entries)-1]
			}
			last.number, _ = strconv.Atoi(mark[1]) // four digits at most
			p.text = p.text[len(mark[0]):]
		}
		if last.number > 0 && len(last.pieces) == 0 {
			if p.text = strings.TrimLeft(p.text, ":. "); p.text == "" && p.image == nil {
				continue
			}
		}
		last.pieces = append(last.pieces, p)
	}
	return entries
}

func trimBreak(pieces []piece) []piece {
	for len(pieces) > 0 && pieces[len(pieces)-1].brk != noBreak {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces
}

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
