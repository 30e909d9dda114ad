package markdown

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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
		return CollapseSpace(string(markdown))
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
	return CollapseSpace(out.String())
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

// CollapseSpace returns text as one line of valid UTF-8: white space as single
// spaces, control characters and the colour codes of terminals left out.
func CollapseSpace(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	var out strings.Builder
	out.Grow(len(text))
	space := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			space = out.Len() > 0
		case r == 0x1b:
			size = escapeSize(text[i:])
		case unicode.IsControl(r) || r == '\ufeff':
		default:
			if space {
				out.WriteByte(' ')
				space = false
			}
			out.WriteString(text[i : i+size])
		}
		i += size
	}
	return out.String()
}

// escapeSize returns the length of the terminal escape sequence that text
// begins with: ESC "[", parameters, a final byte. Of any other, one byte.
func escapeSize(text string) int {
	if len(text) < 2 || text[1] != '[' {
		return 1
	}
	for i := 2; i < len(text) && i < 32; i++ {
		if c := text[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		} else if c < 0x20 || c > 0x7e {
			break
		}
	}
	return 2
}

// Clip returns line cut to at most max runes, the "…" that marks the cut
// included. It cuts between words; in Chinese and Japanese, and where a word is longer
// than half of max, between runes.
func Clip(line string, max int) string {
	// Runes are counted only when there are enough bytes for too many of them.
	if len(line) <= max || utf8.RuneCountInString(line) <= max {
		return line
	}
	// cut is the last place between words so far, byRune the last between runes.
	count, cut, byRune := 0, 0, 0
	previous := ' '
	for i, r := range line {
		if i > 0 && !isMark(r) {
			byRune = i
			if r == ' ' || isWide(r) || isWide(previous) {
				cut = i
			}
		}
		if count == max-1 {
			break
		}
		count++
		previous = r
	}
	if utf8.RuneCountInString(line[:cut]) < max/2 {
		cut = byRune
	}
	return strings.TrimRight(line[:cut], " ,;:-–—(，、；：（") + "…"
}

// isWide reports whether r belongs to a script that is written without spaces.
func isWide(r rune) bool {
	return r >= 0x2e80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef)
}

// isMark reports whether r belongs to the rune before it.
func isMark(r rune) bool {
	return r >= 0x300 && (unicode.Is(unicode.M, r) || r == 0x200d || r >= 0x1f3fb && r <= 0x1f3ff)
}

// Each returns what a function makes of each of a list.
func Each[T, S any](list []T, of func(T) S) (all []S) {
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}

// OneLine returns text in one line without control characters.
func OneLine(text string) string {
	return SingleSpaced(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd")))
}

// CleanText returns Markdown without what is no text: bytes that are not UTF-8, and
// control characters but for tabs and line ends.
func CleanText(text string) string {
	text = strings.NewReplacer("\ufeff", "", "\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\ufffd"))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text))
}

// FirstWords returns the beginning of a text in one line, of at most some
// characters, cut between words.
func FirstWords(text string, limit int) string {
	text = OneLine(text)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	cut := string([]rune(text)[:limit-1])
	if space := strings.LastIndexByte(cut, ' '); space > limit/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}
