package markdown

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inlineParser reads a paragraph and nothing else: whatever its lines begin
// with, they are its text. The parser is made once, since that costs more than
// most paragraphs, and is safe for concurrent use.
var inlineParser = sync.OnceValue(func() parser.Parser {
	inline := append(parser.DefaultInlineParsers(), util.Prioritized(extension.NewStrikethroughParser(), 500))
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 100)),
		parser.WithInlineParsers(inline...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// PlainInline returns the text of a paragraph of Markdown in one line: marks of
// emphasis and code dropped, links replaced by their text, escapes and entities
// resolved, images and HTML left out. The caller bounds its length: goldmark needs
// quadratic time for some inputs.
func PlainInline(markdown []byte) string {
	if !bytes.ContainsAny(markdown, "*_`[<&\\~") {
		return OneLine(string(markdown))
	}
	var out strings.Builder
	root := inlineParser().Parse(text.NewReader(markdown))
	// The walk fails only when its function does, and this one does not.
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		return writePlain(&out, node, markdown), nil
	})
	return OneLine(out.String())
}

// writePlain appends what a node itself says.
func writePlain(out *strings.Builder, node ast.Node, source []byte) ast.WalkStatus {
	switch node := node.(type) {
	case *ast.Image, *ast.RawHTML:
		return ast.WalkSkipChildren
	case *ast.AutoLink:
		out.Write(node.Label(source))
	case *ast.Paragraph:
		out.WriteByte(' ')
	case *ast.CodeSpan:
		for child := node.FirstChild(); child != nil; child = child.NextSibling() {
			if t, ok := child.(*ast.Text); ok {
				out.Write(t.Segment.Value(source))
			}
		}
		return ast.WalkSkipChildren
	case *ast.Text:
		// goldmark leaves escapes and entities to its renderers.
		value := util.UnescapePunctuations(node.Segment.Value(source))
		out.Write(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
		if node.SoftLineBreak() || node.HardLineBreak() {
			out.WriteByte(' ')
		}
	case *ast.String:
		out.Write(node.Value)
	}
	return ast.WalkContinue
}
