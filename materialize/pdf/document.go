package pdf

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-pdf/fpdf"
	"github.com/yuin/goldmark/ast"

	"filebus/materialize/commonmark"
)

// A document is one rendering.
type document struct {
	options Options
	out     *fpdf.Fpdf
	fonts   *fonts
	notes   notes
	images  images
	source  []byte
	root    ast.Node

	title, date string
	authors     []string
	titleNode   ast.Node // the heading that is the title, or nil
	outline     outline
	citations   citations
	footnotes   footnotes
	references  *heading // whose section is being written, or nil

	y, left, right float64
	pending        float64   // white space asked for
	bars           []float64 // the x of quotes' bars
	size           float64   // of text
}

// producer is what the PDF says made it. It names no version: a new one that
// writes the same must give the same bytes.
const producer = "filebus"

func newDocument(source []byte, o Options) (*document, error) {
	d := &document{options: o, left: marginSide, right: pageWidth - marginSide, size: bodySize}
	d.out = fpdf.New("P", "pt", "A4", "")
	d.out.SetAutoPageBreak(false, 0)
	d.out.SetMargins(0, 0, 0)
	d.out.SetCatalogSort(true)
	d.out.SetProducer(producer, true)
	var err error
	if d.fonts, err = newFonts(d.out, o.Font); err != nil {
		return nil, err
	}
	var matter frontMatter
	d.source, matter = prepare(source)
	d.root = commonmark.Parse(d.source, d.notes.add)
	d.footnotes = footnotes{d.out, map[int]int{}, map[int]int{}}
	d.citations = citations{out: d.out}
	d.images = images{d: d, read: map[string]*picture{}}
	d.setTitle(matter)
	d.setMetadata(matter)
	d.collectHeadings()
	d.citations.collect(d)
	return d, nil
}

// setTitle finds the title, and the heading that has it already.
func (d *document) setTitle(m frontMatter) {
	d.title = cmp.Or(oneLine(d.options.Title), oneLine(m.title))
	if heading, ok := firstShown(d.root).(*ast.Heading); ok {
		text := d.plainText(d.inline(heading))
		d.title = cmp.Or(d.title, text)
		if strings.EqualFold(text, d.title) && (heading.Level == 1 || d.isAbove(heading)) {
			d.titleNode = heading
		}
	}
	d.title = cmp.Or(d.title, oneLine(d.firstHeading()), oneLine(d.options.Fallback))
}

// isAbove reports whether all other headings are below one.
func (d *document) isAbove(h *ast.Heading) bool {
	for n := h.NextSibling(); n != nil; n = n.NextSibling() {
		if other, ok := n.(*ast.Heading); ok && other.Level <= h.Level {
			return false
		}
	}
	return true
}

func (d *document) firstHeading() string {
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			return d.plainText(d.inline(h))
		}
	}
	return ""
}

// firstShown returns the first block that is not a comment.
func firstShown(root ast.Node) ast.Node {
	n := root.FirstChild()
	for n != nil && n.Kind() == ast.KindHTMLBlock {
		n = n.NextSibling()
	}
	return n
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(clean(strings.ToValidUTF8(text, "\uFFFD"))), " ")
}

// setMetadata says what the document is, and when it was made: at a fixed time, if
// it has no date.
func (d *document) setMetadata(m frontMatter) {
	names := d.options.Authors
	if len(names) == 0 {
		names = m.authors
	}
	for _, name := range names {
		d.authors = append(d.authors, oneLine(name))
	}
	made := d.options.Date
	if made.IsZero() {
		d.date = oneLine(dateText(m.date))
		made, _ = time.Parse(dateForm, d.date) // else the zero time
	} else {
		d.date = made.Format(dateForm)
	}
	if made.Year() < 1970 || made.Year() > 9999 {
		made = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	d.out.SetCreationDate(made.UTC())
	d.out.SetModificationDate(made.UTC())
	d.out.SetTitle(basic(d.title), true)
	d.out.SetAuthor(basic(strings.Join(d.authors, ", ")), true)
}

// write writes all pages.
func (d *document) write() {
	d.newPage()
	d.writeTitle()
	contents := d.writeContents()
	d.blocks(d.root, false)
	d.flushGap()
	d.finishContents(contents)
	d.writeFooters()
	d.fonts.warn(&d.notes)
}

// writeTitle writes title, authors and date in the middle of the first page's top.
func (d *document) writeTitle() {
	lines := func(text string, size float64, s style) {
		if text == "" {
			return
		}
		d.paint(d.fit([]piece{{text: text, style: s}}, d.right-d.left, size), block{size: size, leading: size * 1.3, align: alignCenter})
	}
	if d.title+d.date == "" && len(d.authors) == 0 {
		return
	}
	d.y += 14
	lines(d.title, 20, style{bold: true})
	d.gap(10)
	lines(strings.Join(d.authors, ", "), 11, style{})
	d.gap(6)
	lines(d.date, smallSize+0.5, style{pale: true})
	d.gap(22)
}

// An itemOfContents is a line of the table of contents that waits for its page
// number.
type itemOfContents struct {
	heading *heading
	page    int
	x, y    float64 // where the title ends
}

// The table of contents.
const (
	minContents   = 3 // headings
	depthContents = 3
	numberWidth   = 34
)

// writeContents writes the table of contents without the numbers of pages: they
// are known when the pages are written.
func (d *document) writeContents() []itemOfContents {
	if len(d.outline.headings) < minContents {
		return nil
	}
	started := d.out.PageNo()
	d.need(4 * d.leading())
	d.paint(d.fit([]piece{{text: "Contents", style: style{bold: true}}}, d.right-d.left, 12.5), block{size: 12.5, leading: 18})
	d.gap(4)
	var items []itemOfContents
	for _, h := range d.outline.headings {
		if h.depth <= depthContents {
			items = append(items, d.contentsLine(h))
		}
	}
	d.gap(20)
	if d.y > pageBottom/2 || d.out.PageNo() > started {
		d.newPage()
	}
	return items
}

func (d *document) contentsLine(h *heading) itemOfContents {
	indent := float64(h.depth-1) * 16
	if h.depth == 1 {
		d.gap(3)
	}
	s := style{bold: h.depth == 1}
	lines := d.fit([]piece{{text: h.title(), style: s}}, d.right-d.left-indent-numberWidth, d.size)
	item := itemOfContents{heading: h}
	for _, line := range lines {
		d.need(d.leading())
		d.paintLine(line, d.left+indent, d.right-d.left, block{size: d.size, leading: d.leading()})
		d.out.Link(d.left+indent, d.y, d.right-d.left-indent, d.leading(), h.link)
		item.page, item.x, item.y = d.out.PageNo(), d.left+indent+line.width, d.y
		d.advance(d.leading())
	}
	return item
}

// finishContents adds dots and numbers of pages.
func (d *document) finishContents(items []itemOfContents) {
	for _, item := range items {
		d.out.SetPage(item.page)
		d.fonts.current = font{}
		d.y = item.y
		b := block{size: d.size, leading: d.leading(), align: alignRight}
		number := d.fit([]piece{{text: fmt.Sprint(item.heading.page), style: style{bold: item.heading.depth == 1}}}, numberWidth, d.size)
		d.paintLine(number[0], d.right-numberWidth, numberWidth, b)
		if item.heading.depth == 1 {
			continue
		}
		const step = 5
		if room := d.right - number[0].width - item.x - 2*step; room > 3*step {
			dot := d.fonts.metrics(faceSans).width('.') * d.size
			dots := d.fit([]piece{{text: strings.Repeat("\u00A0.", int(room/(2*dot))), style: style{pale: true}}}, room+step, d.size)
			d.paintLine(dots[0], d.right-number[0].width-step-room, room, b)
		}
	}
	d.out.SetPage(d.out.PageCount())
}
