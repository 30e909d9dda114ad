package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// CheckYAML locates the first place where a text is no YAML to others, or returns nil. Their reader takes more than linear
// time and memory, so of a text that is long or has thousands of brackets it says nothing.
func CheckYAML(text []byte) *SyntaxError {
	nested := 0
	for _, mark := range []string{"[", "{", "- -", "? ?"} {
		nested += bytes.Count(text, []byte(mark))
	}
	if len(text) > 128<<10 || nested > 2000 {
		return nil
	}
	var problem yaml.Error
	if _, err := parser.ParseBytes(bytes.TrimPrefix(text, []byte(ByteOrderMark)), 0); errors.As(err, &problem) {
		return &SyntaxError{Line: problem.GetToken().Position.Line, Err: errors.New(problem.GetMessage())}
	}
	return nil
}

// maxYAMLDepth bounds the nesting that is followed.
const maxYAMLDepth = 32

// ParseYAML reads text, whose first line has the number line: maps and lists by their
// indentation, lists and maps in brackets, quotes and blocks of text. Names of values (&x) and
// tags (!!str) are left out; aliases, which agents do not mean, are text. What has no place is reported and skipped. The
// time is linear in the text, times the depth.
func ParseYAML(text string, line int) (Node, []*SyntaxError) {
	r := yamlReader{first: line}
	return r.read(text), r.problems
}

// A yamlLine is a line of a text.
type yamlLine struct {
	at     int    // its index
	indent int    // columns; a tab counts as one
	text   string // without indentation and line ending
}

// isEmpty reports whether nothing or a comment stands on the line.
func (l yamlLine) isEmpty() bool { return l.text == "" || l.text[0] == '#' }

// A yamlReader cuts a text into items and pairs by their indentation.
type yamlReader struct {
	first    int  // the number of the first line
	prose    bool // what is indented below a text belongs to it, whatever it looks like
	problems []*SyntaxError
}

// read reads a text.
func (r *yamlReader) read(text string) Node {
	var lines []yamlLine
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		content := strings.TrimLeft(raw, " \t")
		lines = append(lines, yamlLine{len(lines), len(raw) - len(content), strings.TrimRight(content, " \t")})
	}
	return r.block(lines, 0)
}

// report notes lines that have no place.
func (r *yamlReader) report(lines []yamlLine) {
	for _, l := range lines {
		if !l.isEmpty() {
			r.problem(l, "unexpected %q", Clip(l.text, 40))
		}
	}
}

func (r *yamlReader) problem(l yamlLine, format string, args ...any) {
	r.problems = append(r.problems, &SyntaxError{Line: r.first + l.at, Err: fmt.Errorf(format, args...)})
}

// block reads lines, each with those below it, as the items of a list, the pairs of a map, or
// a text.
func (r *yamlReader) block(lines []yamlLine, depth int) (node Node) {
	var texts []string
	for len(lines) > 0 {
		if lines[0].isEmpty() || lines[0].text == "---" {
			lines = lines[1:]
			continue
		}
		part := lines[:partSize(lines)]
		lines = lines[len(part):]
		key, _, isPair := CutYAMLKey(part[0].text)
		switch {
		case depth == maxYAMLDepth:
			r.problem(part[0], "more than %d levels", maxYAMLDepth)
		case isDash(part[0].text):
			node.List = append(node.List, r.part(part, depth))
		case isPair:
			node.Pairs = append(node.Pairs, Pair{key, r.part(part, depth)})
		case len(node.List)+len(node.Pairs) > 0:
			r.report(part)
		default:
			node = r.value(part[0].text, part[0].indent, part[1:])
			texts = append(texts, node.scalar)
		}
	}
	node.scalar = strings.TrimSpace(strings.Join(texts, " "))
	return node
}

// partSize returns how many lines the item or pair has that begins with the first: up to
// the next one at its indentation. A list may stand at that of its key.
func partSize(lines []yamlLine) int {
	_, value, isPair := CutYAMLKey(lines[0].text)
	goesOn := "]}" // what may stand at the indentation of the first line
	if isPair && bareScalar(value) == "" {
		goesOn = "-"
	}
	next := slices.IndexFunc(lines[1:], func(l yamlLine) bool {
		return !l.isEmpty() && l.indent <= lines[0].indent && !strings.ContainsAny(l.text[:1], goesOn)
	})
	if next < 0 {
		return len(lines)
	}
	return 1 + next
}

// part reads the value of an item or pair.
func (r *yamlReader) part(lines []yamlLine, depth int) Node {
	first, below := lines[0], lines[1:]
	_, value, _ := CutYAMLKey(first.text)
	if isDash(first.text) {
		value = strings.TrimLeft(first.text[1:], " \t")
		first.indent += len(first.text) - len(value)
		value = yamlMark().ReplaceAllString(value, "")
		first.text = value
		if _, _, isPair := CutYAMLKey(value); isPair || isDash(value) { // it is read like a line of its own
			below, value = append([]yamlLine{first}, below...), ""
		}
	}
	if value = yamlMark().ReplaceAllString(value, ""); bareScalar(value) != "" {
		return r.value(value, lines[0].indent, below)
	}
	return r.block(below, depth+1)
}

// yamlMark is the name or the tag of a value, which are no part of it.
var yamlMark = pattern(`^(?:(?:&[\w-]+|!!\w+)(?:[ \t]+|$))+`)

// value reads a value that begins with text, and reports which of the lines below do not belong to it.
func (r *yamlReader) value(text string, indent int, below []yamlLine) Node {
	if len(text) <= 3 && blockHeader().MatchString(text) {
		return readBlock(text[0], indent, below)
	}
	if strings.ContainsAny(text[:1], "[{\"'") {
		whole, quote := uncommented(text, 0)
		for used := range min(len(below)+1, maxFlowLines) {
			if used > 0 {
				whole, quote = foldLine(whole, below[used-1].text, quote)
			}
			node, rest, ok := readFlow(strings.TrimSpace(whole), 0)
			if ok && bareScalar(rest) == "" {
				r.report(below[used:])
				return node
			} else if ok { // something follows it: all is text
				break
			}
		}
	}
	parts := []string{bareScalar(text)}
	for i, l := range below {
		_, _, isPair := CutYAMLKey(l.text)
		isProse := r.prose && l.indent > indent
		if l.text == "" || !isProse && (isPair || isDash(l.text)) {
			r.report(below[i:])
			break
		}
		parts = append(parts, bareScalar(l.text))
	}
	return Node{scalar: strings.TrimSpace(strings.Join(parts, " "))}
}

// blockHeader announces a text of several lines.
var blockHeader = pattern(`^[|>][+0-9-]*$`)

// maxFlowLines bounds the lines of a list in brackets, each of which is tried as the last.
const maxFlowLines = 64

// readBlock reads the lines of a text below its header, without the indentation that all
// have. A folded one is prose: all of it is one paragraph.
func readBlock(header byte, indent int, lines []yamlLine) Node {
	least := 1 << 20
	for _, l := range lines {
		if l.indent > indent && l.text != "" {
			least = min(least, l.indent)
		}
	}
	var text strings.Builder
	for _, l := range lines {
		if l.indent > indent || !l.isEmpty() { // else it is a comment
			text.WriteString(strings.Repeat(" ", max(0, l.indent-least)) + l.text)
		}
		text.WriteByte('\n')
	}
	if header == '>' {
		return Node{scalar: SingleSpaced(text.String())}
	}
	return Node{scalar: strings.Trim(text.String(), " \n")}
}

// readFlow reads the value that a text in brackets begins with, and returns what follows it.
func readFlow(text string, depth int) (node Node, rest string, ok bool) {
	if text == "" || depth > maxYAMLDepth {
		return Node{}, text, false
	}
	open := text[0]
	switch open {
	case '"', '\'':
		scalar, rest, ok := cutQuoted(text)
		return Node{scalar: scalar}, rest, ok
	case '[', '{':
	default:
		end := strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune(",[]{}", r) })
		if end < 0 {
			end = len(text)
		}
		if colon := strings.Index(text[:end]+" ", ": "); colon >= 0 {
			end = colon
		}
		return Node{scalar: strings.TrimSpace(text[:end])}, text[end:], true
	}
	for text = text[1:]; ; text = rest {
		text = strings.TrimLeft(text, " \t,")
		if rest, ok = strings.CutPrefix(text, string(open+2)); ok { // "]" or "}"
			return node, rest, true
		}
		var item, value Node
		if item, rest, ok = readFlow(text, depth+1); !ok || len(rest) == len(text) {
			return Node{}, text, false
		}
		rest = strings.TrimLeft(rest, " \t")
		after, isPair := strings.CutPrefix(rest, ":")
		if isPair {
			if value, rest, ok = readFlow(strings.TrimLeft(after, " \t"), depth+1); !ok {
				return Node{}, text, false
			}
		}
		pairs := []Pair{{item.scalar, value}}
		switch {
		case open == '{':
			node.Pairs = append(node.Pairs, pairs...)
		case isPair:
			node.List = append(node.List, Node{Pairs: pairs})
		default:
			node.List = append(node.List, item)
		}
	}
}

// uncommented returns a line without the comment behind it, and the quote that is open at its end, as one was at its
// beginning; 0: none.
func uncommented(text string, quote byte) (string, byte) {
	before := byte(',') // the last character that is no space
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case (c == '"' || c == '\'') && (strings.IndexByte("[{,:", before) >= 0 || i > 0 && text[i-1] == '\''):
			quote = c
		case c == '#' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t'):
			return strings.TrimRight(text[:i], " \t"), 0
		}
		if c != ' ' && c != '\t' {
			before = c
		}
	}
	return text, quote
}

// foldLine appends a line to those before it, in which a quote may be open: an empty line is a line end then, and a line
// that ends in a backslash goes on without a space.
func foldLine(whole, line string, quote byte) (string, byte) {
	added, after := uncommented(line, quote)
	slashes := len(whole) - len(strings.TrimRight(whole, `\`))
	switch {
	case quote != 0 && added == "":
		return whole + "\n", after
	case quote != 0 && strings.HasSuffix(whole, "\n"):
		return whole + added, after
	case quote == '"' && slashes%2 == 1:
		return whole[:len(whole)-1] + added, after
	}
	return whole + " " + added, after
}

// escapes says what stands for one character behind a backslash in double quotes, and codes how many digits tell one.
var (
	escapes = func() map[byte]rune {
		return map[byte]rune{
			'0': 0, 'a': '\a', 'b': '\b', 't': '\t', '\t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': 0x1b, ' ': ' ',
			'"': '"', '/': '/', '\\': '\\', 'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029,
		}
	}
	codes = func() map[byte]int { return map[byte]int{'x': 2, 'u': 4, 'U': 8} }
)

// unescaped returns what a text in double quotes means; one with an escape that is unknown stays as it is.
func unescaped(text string) string {
	var b strings.Builder
	plain, rest, found := strings.Cut(text, `\`)
	for all, digits := escapes(), codes(); found; plain, rest, found = strings.Cut(rest, `\`) {
		b.WriteString(plain)
		r, known := all[(rest + "!")[0]]
		size := 1
		if n := digits[(rest + "!")[0]]; n > 0 && len(rest) > n {
			code, err := strconv.ParseUint(rest[1:1+n], 16, 31)
			r, known, size = rune(code), err == nil, 1+n
		}
		if pair, ok := strings.CutPrefix(rest[min(size, len(rest)):], `\u`); known && utf16.IsSurrogate(r) && ok && len(pair) >= 4 {
			low, _ := strconv.ParseUint(pair[:4], 16, 31) // else it is no second half
			r, size = utf16.DecodeRune(r, rune(low)), size+6
		}
		if !known {
			return text
		}
		b.WriteRune(r)
		rest = rest[size:]
	}
	return b.String() + plain
}

// cutQuoted cuts the quoted text that another one begins with. What is escaped in another
// way than in YAML stays as it is.
func cutQuoted(text string) (inside, rest string, ok bool) {
	for end := 1; end < len(text); end++ {
		switch {
		case text[end] == '\\' && text[0] == '"', strings.HasPrefix(text[end:], "''") && text[0] == '\'':
			end++
		case text[end] == text[0]:
			inside, rest = text[1:end], text[end+1:]
			if text[0] == '"' {
				return unescaped(inside), rest, true
			}
			return strings.ReplaceAll(inside, "''", "'"), rest, true
		}
	}
	return "", text, false
}

// bareScalar returns a text without the comment behind it.
func bareScalar(text string) string {
	text, _, _ = strings.Cut(" "+text, " #")
	return strings.TrimSpace(text)
}

// isDash reports whether a line begins an item of a list.
func isDash(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-\t")
}

// yamlKey is "key: value". A colon inside quotes belongs to a scalar.
var yamlKey = pattern(`^("[^"]+"|'[^']+'|[^\[{#|>&!%@` + "`" + `"':].{0,98}?)[ \t]*:(?:[ \t]+(.*))?$`)

// CutYAMLKey cuts "key: value" at the first colon that is followed by white
// space or the end. A key has at most 100 characters; it may be quoted.
func CutYAMLKey(text string) (key, value string, found bool) {
	m := yamlKey().FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return strings.Trim(m[1], `"'`), strings.TrimSpace(m[2]), true
}

// AppendYAML appends a text so that ParseYAML reads it back: bare where
// that is safe, else in double quotes, invalid UTF-8 replaced.
func AppendYAML(dst []byte, text string) []byte {
	text = strings.ToValidUTF8(text, "\ufffd")
	isOdd := func(r rune) bool { return unicode.IsControl(r) || r == '\ufeff' }
	if IsNothing(text) || strings.TrimSpace(text) != text || strings.ContainsAny(text[:1], "-?:,[]{}#&*!|>'\"%@`") ||
		strings.Contains(text+" ", ": ") || strings.Contains(text, " #") || strings.ContainsFunc(text, isOdd) {
		return strconv.AppendQuote(dst, text)
	}
	return append(dst, text...)
}
