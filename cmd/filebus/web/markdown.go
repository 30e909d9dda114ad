package web

import (
	"bufio"
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	markdowntext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"filebus/materialize/commonmark"
)

// maxRendered is how long a text may be that is rendered. Longer ones are shown as they stand.
const maxRendered = 512 << 10

// rendered returns Markdown as HTML that can do nothing: without raw HTML, with links to the web,
// to mail and to records, with images of the store alone, which are links here. The ids of
// headings are h-LINE, as outlines count. The blocks of a passage stand in an element of their own.
func rendered(text string, p passage) (out template.HTML, notes []string, ok bool) {
	if len(text) > maxRendered {
		return "", nil, false
	}
	source := []byte(visible(text))
	root := commonmark.Parse(source, func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) })
	ends := endsOf(source)
	for _, n := range below(root) { // before any is replaced, behind which a walk would end
		tame(n, source, ends)
	}
	markdown := goldmark.New(goldmark.WithRendererOptions(html.WithXHTML()), goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.TaskList, extension.NewFootnote(extension.WithFootnoteIDPrefix("text-")),
	))
	var all bytes.Buffer
	b := bufio.NewWriter(&all) // one for all blocks
	isOpen := false
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		is := p.From > 0 && p.Has(lineOf(n, ends))
		if is != isOpen {
			b.WriteString(map[bool]string{true: `<div class="passage" id="passage">`, false: "</div>"}[is])
		}
		if isOpen = is; is && p.Words != "" {
			mark(n, source, strings.Split(p.Words, "\n"))
		}
		if err := markdown.Renderer().Render(b, source, n); err != nil {
			return "", nil, false
		}
	}
	if isOpen {
		b.WriteString("</div>")
	}
	_ = b.Flush()                                            // into memory
	return template.HTML(visible(all.String())), notes, true // by goldmark, which escapes all text, and knows entities
}

// below returns a node and all that it has.
func below(root ast.Node) (all []ast.Node) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			all = append(all, n)
		}
		return ast.WalkContinue, nil
	}) // which has no error
	return all
}

// endsOf returns where the lines of a source end.
func endsOf(source []byte) (ends []int) {
	for i, c := range source {
		if c == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// lineAt returns the line that has a byte, given where lines end.
func lineAt(ends []int, at int) int {
	before, _ := slices.BinarySearch(ends, at)
	return 1 + before
}

// lineOf returns the line where a block begins; 0 where it does not say.
func lineOf(n ast.Node, ends []int) int {
	for ; n != nil && n.Type() != ast.TypeInline; n = n.FirstChild() {
		if n.Lines() != nil && n.Lines().Len() > 0 {
			return lineAt(ends, n.Lines().At(0).Start)
		}
	}
	return 0
}

// mark puts marks around words of a block.
func mark(block ast.Node, source []byte, words []string) {
	for _, n := range below(block) {
		t, isText := n.(*ast.Text)
		if !isText || n.Parent() == nil || n.Parent().Kind() == ast.KindCodeSpan {
			continue
		}
		begin := t.Segment.Start
		for at := begin; at < t.Segment.Stop; {
			rest := source[at:t.Segment.Stop]
			i := slices.IndexFunc(words, func(w string) bool {
				return w != "" && len(w) <= len(rest) && strings.EqualFold(string(rest[:len(w)]), w)
			})
			if i < 0 || at > 0 && isLetter(source[at-1]) {
				at++
				continue
			}
			end := at + len(words[i])
			for _, part := range []ast.Node{ast.NewTextSegment(markdowntext.NewSegment(begin, at)), written("<mark>"),
				ast.NewTextSegment(markdowntext.NewSegment(at, end)), written("</mark>")} {
				n.Parent().InsertBefore(n.Parent(), n, part)
			}
			begin, at = end, end
		}
		t.Segment = t.Segment.WithStart(begin)
	}
}

func isLetter(b byte) bool {
	return b >= utf8.RuneSelf || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}

// written returns a tag of the page's own.
func written(tag string) ast.Node {
	n := ast.NewString([]byte(tag))
	n.SetCode(true)
	return n
}

// tame takes from a node what could leave the page.
func tame(n ast.Node, source []byte, ends []int) {
	switch n := n.(type) {
	case *ast.Heading:
		n.RemoveAttributes()
		if n.Lines().Len() > 0 {
			id := fmt.Appendf(nil, "h-%d", lineAt(ends, n.Lines().At(0).Start))
			n.SetAttributeString("id", id)
			link := ast.NewLink()
			link.Destination, link.Title = append([]byte("#"), id...), []byte("link to this section")
			link.SetAttributeString("class", []byte("anchor"))
			link.AppendChild(link, ast.NewString([]byte("#")))
			n.AppendChild(n, link)
		}
	case *ast.Link:
		n.Destination = []byte(linkTo(string(n.Destination)))
		n.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
	case *ast.AutoLink:
		n.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
		if linkTo(string(n.URL(source))) == "#" {
			n.Parent().ReplaceChild(n.Parent(), n, ast.NewString(n.Label(source)))
		}
	case *ast.Image:
		link := ast.NewLink()
		link.Destination = []byte(linkTo(string(n.Destination)))
		link.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			link.AppendChild(link, child)
		}
		if link.FirstChild() == nil {
			link.AppendChild(link, ast.NewString([]byte("image")))
		}
		n.Parent().ReplaceChild(n.Parent(), n, link)
	}
}

// linkTo returns where a link of a text leads: to the web, to mail, within the text, or to the
// record that has the path. Any other leads nowhere.
func linkTo(destination string) string {
	meant := util.ResolveEntityNames(util.ResolveNumericReferences([]byte(destination)))
	u, err := url.Parse(strings.TrimSpace(string(meant)))
	switch {
	case err != nil:
		return "#"
	case slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(u.Scheme)):
		return u.String()
	case u.Scheme != "" || u.Host != "" || u.Path == "" || u.Opaque != "":
		return "#"
	}
	return "/record?" + url.Values{"name": {u.Path}}.Encode()
}

// visible makes characters visible that hide others or turn the order of reading.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200d' || r == '\u200c': // joiners belong to scripts and emoji
			return r
		case r == '\r':
			return -1
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
