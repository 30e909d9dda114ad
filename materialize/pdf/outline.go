package pdf

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// A heading is one of the document's structure: those in quotes and lists are
// merely bold text.
type heading struct {
	node       *ast.Heading
	text       string // without a number
	number     string // 1.2, or empty
	depth      int    // counted from 1
	references bool
	link       int // of fpdf
	page       int // once it is written
}

// title returns the heading as the table of contents and the outline show it.
func (h *heading) title() string {
	if h.number == "" {
		return h.text
	}
	return h.number + "  " + h.text
}

// An outline is all headings in order.
type outline struct {
	headings []*heading
	byNode   map[ast.Node]*heading
	bySlug   map[string]int // of GitHub's kind, to the link
	slugs    map[string]int // how often each was made
}

// ownNumber matches a number that a heading brings along: "3. ", "2.1. ", "4) ".
var (
	ownNumber  = pattern(`^\d{1,2}(?:\.\d{1,2})*[.)]\s+`)
	bareNumber = pattern(`^\d{1,2}(?:\.\d{1,2})+ |^\d{1,2} `)
)

// collectHeadings finds the headings and numbers them. A heading that was skipped
// is the title of the document.
func (d *document) collectHeadings() {
	o := &d.outline
	o.byNode, o.bySlug, o.slugs = map[ast.Node]*heading{}, map[string]int{}, map[string]int{}
	var path []*heading // the headings above, outermost first
	counts := []int{0}
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		node, ok := n.(*ast.Heading)
		if !ok || n == d.titleNode {
			continue
		}
		h := &heading{node: node, text: d.plainText(d.inline(node)), link: d.out.AddLink()}
		o.addSlug(h)
		for len(path) > 0 && path[len(path)-1].node.Level >= node.Level {
			path = path[:len(path)-1]
		}
		h.depth = len(path) + 1
		h.references = isReferences(h.text)
		counts = append(counts[:min(h.depth, len(counts))], make([]int, max(0, h.depth+1-len(counts)))...)
		h.setNumber(path, counts)
		path = append(path, h)
		o.headings = append(o.headings, h)
		o.byNode[node] = h
	}
}

// setNumber gives a heading its number, unless it or one above it has none. The
// counts of its depth and above are in counts.
func (h *heading) setNumber(path []*heading, counts []int) {
	if len(path) > 0 && path[len(path)-1].number == "" || isUnnumbered(h.text) {
		h.text = ownNumber().ReplaceAllString(h.text, "")
		return
	}
	counts[h.depth-1]++
	if len(path) > 0 {
		h.number = path[len(path)-1].number + "."
	}
	h.number += strconv.Itoa(counts[h.depth-1])
	h.text = strings.TrimPrefix(h.text, h.ownNumber(h.text))
}

// ownNumber returns the number that the text of a numbered heading brings along. A
// number without a dot at its end is one if it has as many parts as it should, and
// is not the beginning of a sentence: "2.1 Methods", but not "2.1 million users".
func (h *heading) ownNumber(text string) string {
	if own := ownNumber().FindString(text); own != "" {
		return own
	}
	own := bareNumber().FindString(text)
	next, _ := utf8.DecodeRuneInString(text[len(own):])
	if own == h.number+" " || own != "" && h.depth > 1 && strings.Count(own, ".")+1 == h.depth && unicode.IsUpper(next) {
		return own
	}
	return ""
}

func isUnnumbered(text string) bool {
	name := strings.ToLower(strings.Trim(ownNumber().ReplaceAllString(text, ""), " *_:."))
	return name == "abstract" || isReferences(text)
}

// addSlug makes a heading known under the name that links use: the second of a name
// has -1 behind it.
func (o *outline) addSlug(h *heading) {
	slug := slugOf(h.text)
	name := slug
	if n := o.slugs[slug]; n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	o.slugs[slug]++
	o.bySlug[name] = cmp.Or(o.bySlug[name], h.link)
}

func slugOf(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// writeHeading writes a heading of the structure, with its place in the outline.
func (d *document) writeHeading(h *heading) {
	size := [...]float64{15, 12.5, 11, 10}[min(h.depth, 4)-1]
	d.gap(size * 1.35)
	d.flushGap()
	pieces := d.headingPieces(h)
	lines := d.fit(pieces, d.right-d.left, size)
	d.need(float64(len(lines))*size*1.3 + 4.5*d.leading()) // never alone at the foot of a page
	d.out.SetLink(h.link, d.y, -1)
	d.fonts.use(faceSans, d.size) // an outline is written in the encoding of the font
	d.out.Bookmark(basic(h.title()), h.depth-1, d.y)
	h.page = d.out.PageNo()
	d.paint(lines, block{size: size, leading: size * 1.3})
	d.gap(size * 0.45)
	if h.references && d.references == nil {
		d.references = h
	}
}

// headingPieces returns the text of a heading, bold and with its number.
func (d *document) headingPieces(h *heading) []piece {
	pieces := d.inline(h.node)
	if h.number == "" {
		pieces = trimPrefix(pieces, ownNumber().FindString(d.plainText(pieces)))
	} else {
		pieces = trimPrefix(pieces, h.ownNumber(d.plainText(pieces)))
		pieces = append([]piece{{text: h.number + "\u00A0\u00A0"}}, pieces...)
	}
	return bold(pieces)
}

func trimPrefix(pieces []piece, prefix string) []piece {
	if len(pieces) > 0 {
		pieces[0].text = strings.TrimPrefix(pieces[0].text, prefix)
	}
	return pieces
}

func bold(pieces []piece) []piece {
	for i := range pieces {
		pieces[i].style.bold = true
	}
	return pieces
}
