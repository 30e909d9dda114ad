package pdf

import "fmt"

// All measures are in points: an A4 page is 595.28 wide and 841.89 high.
const (
	pageWidth  = 595.28
	marginSide = 62
	marginTop  = 60
	pageBottom = 841.89 - 64 // below it is the number of the page
	bodySize   = 10.0
	smallSize  = 8.5
	codeSize   = 8.0
	minWidth   = 90 // of text, however deep it is nested
)

// An ink is a colour.
type ink struct{ r, g, b int }

var (
	inkText  = ink{0, 0, 0}
	inkLink  = ink{20, 70, 150}
	inkPale  = ink{95, 95, 95}
	inkCode  = ink{244, 244, 246}
	inkRule  = ink{190, 190, 190}
	inkQuote = ink{200, 205, 212}
	inkHead  = ink{236, 238, 242}
)

// leading returns the height of a line of text in the current size.
func (d *document) leading() float64 { return d.size * 1.42 }

// newPage begins a page.
func (d *document) newPage() {
	if d.out.PageCount() == maxPages {
		panic(stop{fmt.Errorf("%w: more than %d pages", ErrTooLarge, maxPages)})
	}
	d.out.AddPage()
	d.fonts.current = font{}
	d.y, d.pending = marginTop, 0
}

// gap asks for white space before what comes next; the larger of two asked for
// wins. At the top of a page there is none.
func (d *document) gap(height float64) { d.pending = max(d.pending, height) }

// flushGap leaves the white space that was asked for.
func (d *document) flushGap() {
	height := d.pending
	d.pending = 0
	if d.y > marginTop {
		d.advance(min(height, max(0, pageBottom-d.y)))
	}
}

// need begins a page unless there is room for height points, less if that is more
// than a page has.
func (d *document) need(height float64) {
	d.flushGap()
	if d.y+min(height, pageBottom-marginTop) > pageBottom+slack {
		d.newPage()
	}
}

// advance goes down, and draws the bars of quotes along the way.
func (d *document) advance(height float64) {
	for _, x := range d.bars {
		d.fill(x, d.y, 2.2, height, inkQuote)
	}
	d.y += height
}

// fill paints a rectangle. The colour for filling is black at all other times, as
// text without a colour of its own has it.
func (d *document) fill(x, y, width, height float64, c ink) {
	d.out.SetFillColor(c.r, c.g, c.b)
	d.out.Rect(x, y, width, height, "F")
	d.out.SetFillColor(0, 0, 0)
}

// rule draws a thin line from one x to another.
func (d *document) rule(from, to float64) { d.fill(from, d.y, to-from, 0.6, inkRule) }

// A block says how lines are painted.
type block struct {
	size, leading float64
	align         align
	ink           ink
}

// An align says where the lines of a block stand in its width.
type align int

const (
	alignLeft align = iota
	alignCenter
	alignRight
	alignBoth // even on both sides
)

// paint writes lines below each other, with page breaks between them. A paragraph
// leaves no single line at the foot of a page.
func (d *document) paint(lines []textLine, b block) {
	for i, line := range lines {
		height := b.leading
		if i == 0 && len(lines) > 1 {
			height *= 2
		}
		d.need(height)
		d.paintLine(line, d.left, d.right-d.left, b)
		d.advance(b.leading)
	}
}

// A placed fragment knows its x.
type placed struct {
	frag
	x float64
}

// paintLine writes one line at d.y, within width points from x.
func (d *document) paintLine(line textLine, x, width float64, b block) {
	baseline := d.y + b.leading/2 + b.size*0.36
	free, extra := width-line.width, 0.0
	switch b.align {
	case alignCenter:
		x += max(0, free/2)
	case alignRight:
		x += max(0, free)
	case alignBoth:
		gaps := 0
		for _, a := range line.atoms {
			if a.space > 0 {
				gaps++
			}
		}
		if !line.last && gaps > 0 && free > 0 && free/float64(gaps) < b.size*0.7 {
			extra = free / float64(gaps)
		}
	}
	var all []placed
	for _, a := range line.atoms {
		if a.space > 0 {
			x += a.space + extra
		}
		for _, f := range a.frags {
			all = append(all, placed{f, x})
			x += f.width
		}
	}
	d.decorate(all, baseline)
	d.paintText(all, baseline, extra > 0, b.ink)
}

// decorate paints what lies below the text of a line, and makes its links.
func (d *document) decorate(all []placed, baseline float64) {
	for i := 0; i < len(all); {
		f, end := all[i], i+1
		for end < len(all) && all[end].link == f.link && all[end].style == f.style && all[end].mark == 0 {
			end++
		}
		x, width := f.x, all[end-1].x+all[end-1].width-f.x
		top, height := baseline-f.size*0.95, f.size*1.25
		if f.style.mono {
			d.fill(x-0.8, top, width+1.6, height, inkCode)
		}
		if f.style.strike {
			d.fill(x, baseline-f.size*0.3, width, 0.6, inkText)
		}
		switch {
		case f.link.id > 0:
			d.out.Link(x, top, width, height, f.link.id)
		case f.link.uri != "":
			d.out.LinkString(x, top, width, height, f.link.uri)
		}
		if f.mark > 0 {
			d.out.SetLink(f.mark, top, -1)
		}
		i = end
	}
}

// paintText writes the text of a line: what is alike in one go, or word by word
// where the spaces are stretched.
func (d *document) paintText(all []placed, baseline float64, stretched bool, c ink) {
	for i := 0; i < len(all); {
		f := all[i]
		text, end := f.text, i+1
		for ; end < len(all) && all[end].size == f.size && all[end].face == f.face && all[end].style == f.style && all[end].link == f.link; end++ {
			before := all[end-1]
			switch gap := all[end].x - before.x - before.width; {
			case gap < slack:
				text += all[end].text
				continue
			case !stretched:
				text += " " + all[end].text
				continue
			}
			break
		}
		if end < len(all) && all[end].x-all[end-1].x-all[end-1].width > slack {
			text += " " // for whoever copies the text
		}
		d.text(f.frag, text, f.x, baseline-float64(f.style.rise)*f.size*0.45, c)
		i = end
	}
}

// text writes text in the face of a fragment.
func (d *document) text(f frag, text string, x, baseline float64, c ink) {
	if f.link != (target{}) {
		c = inkLink
	}
	if f.style.pale {
		c = inkPale
	}
	d.fonts.use(f.face, f.size)
	d.out.SetTextColor(c.r, c.g, c.b)
	d.out.Text(x, baseline, text)
}

// writeFooters numbers the pages.
func (d *document) writeFooters() {
	pages := d.out.PageCount()
	for n := 1; n <= pages; n++ {
		d.out.SetPage(n)
		d.fonts.current = font{}
		line := d.fit([]piece{{text: fmt.Sprintf("%d / %d", n, pages), style: style{pale: true}}}, pageWidth, smallSize)
		d.y = pageBottom + 22
		d.paintLine(line[0], 0, pageWidth, block{size: smallSize, leading: 12, align: alignCenter})
	}
}
