package pdf

import (
	"bytes"
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"filebus/materialize/markdown"
)

// A style says how a piece of text looks.
type style struct {
	bold, italic, mono, strike bool
	rise                       int // 1: above the line, as numbers of footnotes are; -1: below
	pale                       bool
}

func (s style) face() face {
	switch {
	case s.mono && s.bold:
		return faceMonoBold
	case s.mono:
		return faceMono
	case s.bold && s.italic:
		return faceBoldItalic
	case s.bold:
		return faceBold
	case s.italic:
		return faceItalic
	}
	return faceSans
}

// size returns the size that text of a style has where plain text has size.
func (s style) size(size float64) float64 {
	if s.mono {
		size *= 0.93 // its letters look larger
	}
	if s.rise != 0 {
		size *= 0.68
	}
	return size
}

// A target is where a link leads: out of the document, or to a place in it. The
// zero target is none.
type target struct {
	uri string
	id  int // of a link of fpdf
}

// A piece is a part of a paragraph in one style.
type piece struct {
	text  string // clean
	style style
	link  target
	mark  int        // a place that links lead to, or 0
	image *ast.Image // in place of text
	brk   lineBreak
}

// A lineBreak says what a line end of the source means.
type lineBreak int

const (
	noBreak lineBreak = iota
	softBreak
	hardBreak
)

// An inliner collects the pieces of a block.
type inliner struct {
	d      *document
	pieces []piece
}

// inline returns the pieces of a block's text, with citations linked.
func (d *document) inline(n ast.Node) []piece { return d.citations.link(d.pieces(n)) }

// pieces returns the pieces of a text as they are.
func (d *document) pieces(n ast.Node) []piece {
	c := &inliner{d: d}
	c.children(n, style{}, target{})
	return c.pieces
}

func (c *inliner) children(n ast.Node, s style, link target) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		s = c.node(child, s, link)
	}
}

// node collects one node, and returns the style of what follows: tags of HTML
// change it.
func (c *inliner) node(n ast.Node, s style, link target) style {
	switch n := n.(type) {
	case *ast.Text:
		c.text(n, s, link)
	case *ast.String:
		c.add(string(n.Value), s, link)
	case *ast.CodeSpan:
		c.code(n, s, link)
	case *ast.Emphasis:
		inner := s
		inner.bold, inner.italic = s.bold || n.Level > 1, s.italic || n.Level == 1
		c.children(n, inner, link)
	case *east.Strikethrough:
		inner := s
		inner.strike = true
		c.children(n, inner, link)
	case *ast.Link:
		c.children(n, s, c.d.target(string(n.Destination)))
	case *ast.AutoLink:
		c.add(string(n.Label(c.d.source)), s, c.d.target(string(n.URL(c.d.source))))
	case *ast.Image:
		c.pieces = append(c.pieces, piece{image: n, style: s, link: link})
	case *ast.RawHTML:
		return c.tag(string(n.Segments.Value(c.d.source)), s)
	case *east.FootnoteLink:
		notes := &c.d.footnotes
		p := piece{text: strconv.Itoa(n.Index), style: style{rise: 1}, link: target{id: notes.link(notes.to, n.Index)}}
		if n.RefIndex == 0 { // the first mention
			p.mark = notes.link(notes.back, n.Index)
		}
		c.pieces = append(c.pieces, p)
	case *east.TaskCheckBox, *east.FootnoteBacklink:
	default:
		c.children(n, s, link)
	}
	return s
}

func (c *inliner) text(n *ast.Text, s style, link target) {
	value := n.Segment.Value(c.d.source)
	if !n.IsRaw() {
		value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
	}
	c.add(string(value), s, link)
	switch {
	case n.HardLineBreak():
		c.pieces = append(c.pieces, piece{brk: hardBreak})
	case n.SoftLineBreak():
		c.pieces = append(c.pieces, piece{brk: softBreak})
	}
}

func (c *inliner) code(n *ast.CodeSpan, s style, link target) {
	s.mono = true
	var code bytes.Buffer
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			code.Write(t.Segment.Value(c.d.source))
		}
	}
	c.add(strings.ReplaceAll(code.String(), "\n", " "), s, link)
}

// add adds text, to the piece before if it is alike.
func (c *inliner) add(text string, s style, link target) {
	text = clean(text)
	if text == "" {
		return
	}
	if last := len(c.pieces) - 1; last >= 0 {
		p := &c.pieces[last]
		if p.text != "" && p.style == s && p.link == link {
			p.text += text
			return
		}
	}
	c.pieces = append(c.pieces, piece{text: text, style: s, link: link})
}

// tag obeys the few tags of HTML that Markdown has no marks for.
func (c *inliner) tag(tag string, s style) style {
	name, _, _ := strings.Cut(strings.ToLower(strings.Trim(tag, "<> \t\n")), " ")
	name, ends := strings.CutPrefix(strings.TrimSuffix(name, "/"), "/")
	switch name {
	case "br":
		if !ends {
			c.pieces = append(c.pieces, piece{brk: hardBreak})
		}
	case "sup", "sub":
		s.rise = map[string]int{"sup": 1, "sub": -1}[name]
		if ends {
			s.rise = 0
		}
	case "b", "strong":
		s.bold = !ends
	case "i", "em":
		s.italic = !ends
	case "del", "s":
		s.strike = !ends
	case "code", "kbd":
		s.mono = !ends
	}
	return s
}

// target returns where a destination leads: only to places of the document and
// to addresses that a reader may open.
func (d *document) target(destination string) target {
	if slug, inside := strings.CutPrefix(destination, "#"); inside {
		return target{id: d.outline.bySlug[strings.ToLower(slug)]}
	}
	uri := string(util.URLEscape([]byte(destination), true))
	scheme, _, _ := strings.Cut(strings.ToLower(uri), ":")
	switch scheme {
	case "http", "https", "mailto", "ftp", "tel":
		return target{uri: uri}
	}
	return target{}
}

// plainText returns the text of pieces; an image counts as its alternative text.
func (d *document) plainText(pieces []piece) string {
	var out strings.Builder
	for _, p := range pieces {
		switch {
		case p.brk != noBreak:
			out.WriteByte(' ')
		case p.image != nil:
			out.WriteString(d.alt(p.image))
		case p.style.rise == 0:
			out.WriteString(p.text)
		}
	}
	return markdown.SingleSpaced(out.String())
}

// alt returns the alternative text of an image.
func (d *document) alt(n *ast.Image) string { return d.plainText(d.pieces(n)) }

var (
	htmlHidden = pattern(`(?is)<!--.*?(?:-->|$)|<(?:script|style)\b.*?(?:</(?:script|style)>|$)|<[!?][^>]*(?:>|$)`)
	htmlEnd    = pattern(`(?i)<(?:br|/p|/div|/li|/tr|/h[1-6]|/summary|/figcaption)\b[^>]*>`)
	htmlTag    = pattern(`</?[A-Za-z][^>]*>`)
)

// htmlText returns the lines of text that HTML shows.
func htmlText(source string) []string {
	source = htmlHidden().ReplaceAllString(source, "")
	source = htmlEnd().ReplaceAllString(source, "\n")
	source = html.UnescapeString(htmlTag().ReplaceAllString(source, " "))
	var lines []string
	for line := range strings.Lines(source) {
		if line = markdown.SingleSpaced(clean(line)); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
