// Package commonmark parses CommonMark with GitHub's extensions and footnotes, of any
// source, in time and memory that its length bounds.
package commonmark

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Markdown can be made to be slow to parse: the work for some inputs grows with
// the square of their length. These limits, which no text by a person or a model
// comes near, keep it in proportion.
const (
	maxNesting = 32          // of quotes and lists
	maxLines   = 400_000     // of a source
	maxWork    = 300_000_000 // for one block: marks × bytes
	allWork    = 1_000_000_000
	allMarks   = 1_000_000 // of a source
	maxColumns = 40        // of a table
	maxCells   = 200_000
	maxNotes   = 2_000 // footnotes
)

// A Note is called with what became preformatted text, and why.
type Note func(format string, args ...any)

// Parse returns the tree of a source. What is beyond the limits becomes
// preformatted text.
func Parse(source []byte, note Note) (root ast.Node) {
	if bytes.Count(source, []byte("\n")) > maxLines {
		note("more than %d lines: the source is shown as it stands", maxLines)
		return plainTree(source)
	}
	defer func() {
		if p := recover(); p != nil {
			note("the source cannot be parsed (%v): it is shown as it stands", p)
			root = plainTree(source)
		}
	}()
	g := &guard{note: note}
	p := parser.NewParser(
		parser.WithBlockParsers(g.blockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(g, 0))...),
	)
	extensions := []goldmark.Extender{extension.Table, extension.Strikethrough, extension.Linkify, extension.TaskList}
	if bytes.Count(source, []byte("[^")) <= 2*maxNotes {
		extensions = append(extensions, extension.Footnote)
	} else {
		note("more than %d footnotes: they are shown as they stand", maxNotes)
	}
	goldmark.New(goldmark.WithParser(p), goldmark.WithExtensions(extensions...))
	return p.Parse(text.NewReader(source))
}

// plainTree returns the tree of a document that is one block of code.
func plainTree(source []byte) ast.Node {
	code, root := ast.NewCodeBlock(), ast.NewDocument()
	start := 0
	for line := range bytes.Lines(source) {
		code.Lines().Append(text.NewSegment(start, start+len(line)))
		start += len(line)
	}
	root.AppendChild(root, code)
	return root
}

// A guard keeps the parser from work without bounds.
type guard struct {
	note        Note
	work, marks int // so far
}

// blockParsers returns goldmark's parsers of blocks, those that can be made slow
// behind a limit.
func (g *guard) blockParsers() []util.PrioritizedValue {
	all := parser.DefaultBlockParsers()
	for i, v := range all {
		p := v.Value.(parser.BlockParser)
		switch v.Priority {
		case 100, 600: // headings: with a line below them, with #
			all[i].Value = &limited{p, g.mayHead}
		case 300, 800: // lists and quotes
			all[i].Value = &limited{p, g.mayNest}
		}
	}
	return all
}

// A limited parser opens a block only where it may. What it refuses is text of a
// paragraph.
type limited struct {
	parser.BlockParser
	may func(parent ast.Node, reader text.Reader, pc parser.Context) bool
}

// Open opens the block if it may.
func (l *limited) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if !l.may(parent, reader, pc) {
		return nil, parser.NoChildren
	}
	return l.BlockParser.Open(parent, reader, pc)
}

func (g *guard) mayNest(parent ast.Node, _ text.Reader, _ parser.Context) bool {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindList || n.Kind() == ast.KindBlockquote {
			depth++
		}
	}
	return depth < maxNesting
}

// mayHead reports whether a heading may begin: with its own line, and the paragraph that it
// may be the line below.
func (g *guard) mayHead(_ ast.Node, reader text.Reader, pc parser.Context) bool {
	line, _ := reader.PeekLine()
	marks, size := countMarks(line), len(line)
	if last := pc.LastOpenedBlock().Node; last != nil && last.Kind() == ast.KindParagraph {
		more, below := g.measure(last, reader.Source())
		marks, size = marks+more, size+below
	}
	return marks*size <= maxWork
}

// countMarks counts the characters that can begin something in a line of text.
func countMarks(text []byte) int {
	n := 0
	for _, c := range text {
		switch c {
		case '[', ']', '*', '_', '~', '<', '`', '!', '&', '(', ':', '@':
			n++
		}
	}
	return n
}

func (g *guard) measure(n ast.Node, source []byte) (marks, size int) {
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		line := segment.Value(source)
		marks, size = marks+countMarks(line), size+len(line)
	}
	return marks, size
}

// Transform makes a paragraph preformatted text if it would take too long to go on
// with.
func (g *guard) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source := reader.Source()
	marks, size := g.measure(node, source)
	work, limit := marks*size, maxWork
	rows, columns := g.table(node, source)
	if columns > 0 { // each cell is a block of its own
		work, limit = marks*size/rows, allWork
	}
	g.work, g.marks = g.work+work, g.marks+marks
	switch {
	case columns > maxColumns || rows*columns > maxCells:
		g.note("a table of %d rows and %d columns is shown as it stands", rows, columns)
	case work > limit || g.work > allWork || g.marks > allMarks:
		g.note("a block of %d bytes with %d marks is shown as it stands", size, marks)
	default:
		return
	}
	code := ast.NewCodeBlock()
	code.SetLines(node.Lines())
	node.Parent().ReplaceChild(node.Parent(), node, code)
}

// table returns the size of the table that a paragraph may be the text of, and 0
// columns if it is none.
func (g *guard) table(n ast.Node, source []byte) (rows, columns int) {
	for i := 1; i < n.Lines().Len(); i++ {
		segment := n.Lines().At(i)
		line := bytes.TrimSpace(segment.Value(source))
		if len(line) > 0 && bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|-: \t")) == 0 {
			columns = max(columns, 1+bytes.Count(bytes.Trim(line, "|"), []byte("|")))
		}
	}
	return n.Lines().Len(), columns
}
