package markdown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A looseLine is a line of a text.
type looseLine struct {
	at     int    // its index
	indent int    // columns; a tab counts as one
	text   string // without indentation and line ending
}

// isEmpty reports whether nothing or a comment stands on the line.
func (l looseLine) isEmpty() bool { return l.text == "" || l.text[0] == '#' }

// A looseReader reads what is not quite YAML: it cuts the text into items and pairs by
// their indentation, and gives each to the library. What that does not take is cut in
// turn, or a text. The work is linear in the text, times the depth.
type looseReader struct {
	first    int  // the number of the first line
	prose    bool // what is indented below a text belongs to it, whatever it looks like
	problems []*SyntaxError
}

// read reads a text. What it cannot place is reported and skipped.
func (r *looseReader) read(text string) (root Node) {
	var lines []looseLine
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		content := strings.TrimLeft(raw, " \t")
		lines = append(lines, looseLine{len(lines), len(raw) - len(content), strings.TrimRight(content, " \t")})
	}
	for len(lines) > 0 {
		if lines[0].isEmpty() || lines[0].text == "---" {
			lines = lines[1:]
			continue
		}
		var node Node
		node, lines = r.block(lines, 0)
		root.List = append(root.List, node.List...)
		root.Pairs = append(root.Pairs, node.Pairs...)
		root.scalar = cmp.Or(root.scalar, node.scalar)
	}
	return root
}

// report notes lines that have no place.
func (r *looseReader) report(lines []looseLine) {
	for _, l := range lines {
		if !l.isEmpty() {
			r.problem(l, "unexpected %q", Clip(l.text, 40))
		}
	}
}

func (r *looseReader) problem(l looseLine, format string, args ...any) {
	r.problems = append(r.problems, &SyntaxError{Line: r.first + l.at, Err: fmt.Errorf(format, args...)})
}

// block reads the lines at the indentation of the first, with those below them, as a
// list, a map or a text. It returns the lines from the first on that is none of it.
func (r *looseReader) block(all []looseLine, depth int) (node Node, rest []looseLine) {
	base, isList := all[0].indent, isDash(all[0].text)
	_, _, isMap := CutYAMLKey(all[0].text)
	switch {
	case depth == maxYAMLDepth:
		r.problem(all[0], "more than %d levels", maxYAMLDepth)
		return Node{scalar: all[0].text}, all[1:]
	case !isList && !isMap:
		text, used := r.scalar(all[0].text, base, all[1:])
		return Node{scalar: text}, all[1+used:]
	}
	used := 0
	for used < len(all) && all[used].indent == base && all[used].text != "---" && isDash(all[used].text) == isList {
		part := all[used : used+partSize(all[used:])]
		used += len(part)
		key, _, isPair := CutYAMLKey(part[0].text)
		if !isList && !isPair {
			r.report(part)
			continue
		}
		inner, ok := readPart(part, depth)
		if !ok {
			inner = r.part(part, depth)
		}
		if isList {
			node.List = append(node.List, inner)
		} else {
			node.Pairs = append(node.Pairs, Pair{key, inner})
		}
	}
	return node, all[used:]
}

// partSize returns how many lines the item or pair has that begins with the first: up to
// the next one at its indentation. A list may stand at that of its key.
func partSize(lines []looseLine) int {
	_, value, _ := CutYAMLKey(lines[0].text)
	hasList := !isDash(lines[0].text) && (value == "" || value[0] == '#')
	next := slices.IndexFunc(lines[1:], func(l looseLine) bool {
		return !l.isEmpty() && l.indent <= lines[0].indent && !(hasList && isDash(l.text))
	})
	if next < 0 {
		return len(lines)
	}
	return 1 + next
}

// maxPart bounds the parts that are given to the library, in bytes, as maxYAML does whole texts.
const maxPart = 8 << 10

// readPart reads the value of an item or pair that is YAML.
func readPart(lines []looseLine, depth int) (node Node, ok bool) {
	var text strings.Builder
	for _, l := range lines {
		indent := min(max(0, l.indent-lines[0].indent), maxPart)
		if text.Len()+indent+len(l.text) > maxPart {
			return Node{}, false
		}
		text.WriteString(strings.Repeat(" ", indent) + l.text + "\n")
	}
	whole, ok := readYAML(text.String(), depth)
	switch {
	case len(whole.List) == 1:
		node = whole.List[0]
	case len(whole.Pairs) == 1:
		node = whole.Pairs[0].Value
	default:
		return Node{}, false
	}
	return node, ok
}

// part reads the value of an item or pair that is no YAML.
func (r *looseReader) part(lines []looseLine, depth int) (node Node) {
	first, below := lines[0], lines[1:]
	if isDash(first.text) { // what stands behind a dash is read like a line of its own
		behind := strings.TrimLeft(first.text[1:], " \t")
		first.indent += len(first.text) - len(behind)
		first.text = behind
		below = append([]looseLine{first}, below...)
	} else if _, value, _ := CutYAMLKey(first.text); value != "" && value[0] != '#' {
		text, used := r.scalar(value, first.indent, below)
		r.report(below[used:])
		return Node{scalar: text}
	}
	if begin := slices.IndexFunc(below, func(l looseLine) bool { return !l.isEmpty() }); begin >= 0 {
		node, below = r.block(below[begin:], depth+1)
		r.report(below)
	}
	return node
}

// scalar reads a text at an indentation, and how many of the lines below continue it.
func (r *looseReader) scalar(text string, indent int, below []looseLine) (whole string, used int) {
	quote, inner := text[0], text[1:]
	switch {
	case isBlockHeader(text): // its first line is indented deeper than another
		lines := Each(below, func(l looseLine) string { return l.text })
		if quote == '>' {
			return SingleSpaced(strings.Join(lines, " ")), len(below)
		}
		return strings.Trim(strings.Join(lines, "\n"), "\n"), len(below)
	case quote != '"' && quote != '\'':
	case inner != "" && strings.IndexByte(inner, quote) == len(inner)-1:
		return inner[:len(inner)-1], 0
	default:
		return text, 0
	}
	parts := []string{bareScalar(text)}
	for _, l := range below {
		_, _, isPair := CutYAMLKey(l.text)
		isProse := r.prose && l.indent > indent
		if l.text == "" || l.indent < indent || !isProse && (isPair || isDash(l.text)) {
			break
		}
		parts = append(parts, bareScalar(l.text))
	}
	return strings.TrimSpace(strings.Join(parts, " ")), len(parts) - 1
}

// bareScalar returns a text without the comment behind it.
func bareScalar(text string) string {
	if text[0] == '#' {
		return ""
	}
	text, _, _ = strings.Cut(text, " #")
	return strings.TrimSpace(text)
}

// isBlockHeader reports whether text announces a block scalar: "|", ">", with
// "+", "-" or a digit.
func isBlockHeader(text string) bool {
	return (text[0] == '|' || text[0] == '>') && len(text) <= 3 && strings.Trim(text[1:], "+-0123456789") == ""
}

// isDash reports whether a line begins an item of a list.
func isDash(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-\t")
}

// CutYAMLKey cuts "key: value" at the first colon that is followed by white
// space or the end. A key has at most 100 bytes; it may be quoted.
func CutYAMLKey(text string) (key, value string, found bool) {
	if text == "" || strings.IndexByte("[{#|>&!%@`", text[0]) >= 0 {
		return "", "", false
	}
	limit := min(len(text), 100)
	for at := 0; at < limit; at++ {
		if text[at] != ':' || at+1 < len(text) && text[at+1] != ' ' && text[at+1] != '\t' {
			continue
		}
		key = strings.TrimSpace(text[:at])
		// A colon inside quotes belongs to a scalar.
		if quote := key; len(quote) > 0 && (quote[0] == '"' || quote[0] == '\'') && (len(quote) < 2 || quote[len(quote)-1] != quote[0]) {
			return "", "", false
		}
		return strings.Trim(key, `"'`), strings.TrimSpace(text[at+1:]), key != ""
	}
	return "", "", false
}
