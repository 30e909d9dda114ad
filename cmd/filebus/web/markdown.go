package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"filebus/materialize/commonmark"
)

// maxRendered is how long a text may be that is rendered. Longer ones are shown as they stand.
const maxRendered = 512 << 10

// rendered returns Markdown as HTML that can do nothing: without raw HTML, with links to the web,
// to mail and to records, with images of the store alone, which are links here. The ids of
// headings are h-LINE, as outlines count.
func rendered(text string) (out template.HTML, notes []string, ok bool) {
	if len(text) > maxRendered {
		return "", nil, false
	}
	source := []byte(visible(text))
	root := commonmark.Parse(source, func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) })
	var all []ast.Node // before any is replaced, behind which a walk would end
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			all = append(all, n)
		}
		return ast.WalkContinue, nil
	}) // which has no error
	for _, n := range all {
		tame(n, source)
	}
	markdown := goldmark.New(goldmark.WithRendererOptions(html.WithXHTML()), goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.TaskList, extension.NewFootnote(extension.WithFootnoteIDPrefix("text-")),
	))
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, root); err != nil {
		return "", nil, false
	}
	return template.HTML(visible(b.String())), notes, true // by goldmark, which escapes all text, and knows entities
}

// tame takes from a node what could leave the page.
func tame(n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Heading:
		n.RemoveAttributes()
		if n.Lines().Len() > 0 {
			line := 1 + bytes.Count(source[:n.Lines().At(0).Start], []byte("\n"))
			n.SetAttributeString("id", fmt.Appendf(nil, "h-%d", line))
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
