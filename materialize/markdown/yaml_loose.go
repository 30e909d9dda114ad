package markdown

import (
	"cmp"
	"fmt"
	"strings"
)

// A looseLine is a line of the text. The reader moves its beginning past a dash,
// so that what stands behind the dash is read like a line of its own.
type looseLine struct {
	indent int    // columns; a tab counts as one
	text   string // without indentation and line ending
}

// A looseReader reads what is not quite YAML: it follows the indentation, and leaves
// quotes, lists in brackets and block scalars to the library. Every step consumes a line or returns to a
// shallower level, so its work is linear in the text, times the depth.
type looseReader struct {
	lines    []looseLine
	at       int
	first    int  // the number of the first line
	prose    bool // what is indented below a text belongs to it, whatever it looks like
	problems []*SyntaxError
}

// read reads a text. What it cannot place is
// reported and skipped.
func (r *looseReader) read(text string) Node {
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		content := strings.TrimLeft(raw, " \t")
		r.lines = append(r.lines, looseLine{len(raw) - len(content), strings.TrimRight(content, " \t")})
	}
	var root Node
	for r.skip() {
		if r.lines[r.at].text == "---" {
			r.at++
			continue
		}
		node := r.block(r.lines[r.at].indent, 0)
		root.List = append(root.List, node.List...)
		root.Pairs = append(root.Pairs, node.Pairs...)
		root.scalar = cmp.Or(root.scalar, node.scalar)
	}
	return root
}

// skip moves to the next line with content and reports whether there is one.
func (r *looseReader) skip() bool {
	for r.at < len(r.lines) {
		if text := r.lines[r.at].text; text != "" && text[0] != '#' {
			return true
		}
		r.at++
	}
	return false
}

// report notes a problem with the current line.
func (r *looseReader) report(format string, args ...any) {
	r.problems = append(r.problems, &SyntaxError{Line: r.first + r.at, Err: fmt.Errorf(format, args...)})
}

// block reads the lines at indent as a list, a map or a scalar.
func (r *looseReader) block(indent, depth int) Node {
	text := r.lines[r.at].text
	switch _, _, isPair := CutYAMLKey(text); {
	case depth >= maxYAMLDepth:
		r.report("more than %d levels", maxYAMLDepth)
		r.at++
		return Node{scalar: text}
	case isDash(text):
		return r.list(indent, depth)
	case isPair:
		return r.pairs(indent, depth)
	}
	return r.scalar(text, indent-1)
}

// list reads the items that begin at indent. An item's own content stands
// behind its dash as if that were indentation.
func (r *looseReader) list(indent, depth int) Node {
	var node Node
	for r.skip() && r.lines[r.at].indent == indent && isDash(r.lines[r.at].text) {
		node.List = append(node.List, r.item(indent, depth))
	}
	return node
}

// item reads the item whose dash stands at indent on the current line.
func (r *looseReader) item(indent, depth int) Node {
	line := &r.lines[r.at]
	rest := strings.TrimLeft(line.text[1:], " \t")
	if rest == "" || rest[0] == '#' {
		r.at++
		return r.child(indent, depth)
	}
	// The lines of a block scalar are measured against the dash; a block that
	// begins behind the dash, against its own first line.
	if rest[0] == '|' || rest[0] == '>' || strings.IndexByte("[{\"'", rest[0]) >= 0 {
		return r.value(rest, indent)
	}
	line.indent += len(line.text) - len(rest)
	line.text = rest
	return r.block(line.indent, depth+1)
}

// pairs reads the keys that begin at indent and their values.
func (r *looseReader) pairs(indent, depth int) Node {
	var node Node
	for r.skip() && r.lines[r.at].indent >= indent {
		line := r.lines[r.at]
		key, value, isPair := CutYAMLKey(line.text)
		if line.indent == indent && (isDash(line.text) || line.text == "---") {
			break // the list goes on that this map is an item of, or the document ends
		}
		if line.indent > indent || !isPair {
			// Deeper than its map, or no key at all. The keys after it still count.
			r.report("unexpected %q", Clip(line.text, 40))
			r.at++
			continue
		}
		var inner Node
		if value == "" || value[0] == '#' {
			r.at++
			inner = r.childOf(indent, depth)
		} else {
			inner = r.value(value, indent)
		}
		node.Pairs = append(node.Pairs, Pair{key, inner})
	}
	return node
}

// child reads the value below a dash or key at indent, if it is indented.
func (r *looseReader) child(indent, depth int) Node {
	if !r.skip() || r.lines[r.at].indent <= indent {
		return Node{}
	}
	return r.block(r.lines[r.at].indent, depth+1)
}

// childOf reads the value below a key, where a list may stand at the key's own
// indentation.
func (r *looseReader) childOf(indent, depth int) Node {
	if r.skip() && r.lines[r.at].indent == indent && isDash(r.lines[r.at].text) {
		return r.list(indent, depth+1)
	}
	return r.child(indent, depth)
}

// value reads what stands behind a key or dash at indent on the current line.
func (r *looseReader) value(text string, indent int) Node {
	begin := r.at
	kind := strings.IndexByte("[{\"'", text[0])
	isYAML := true // it may be
	switch {
	case isBlockHeader(text):
		all := []string{text}
		for r.at++; r.at < len(r.lines) && (r.lines[r.at].text == "" || r.lines[r.at].indent > indent); r.at++ {
			all = append(all, strings.Repeat(" ", r.lines[r.at].indent)+r.lines[r.at].text)
		}
		if r.at == begin+1 {
			return Node{}
		}
		text = strings.Join(all, "\n") + "\n"
	case kind < 0:
		return r.scalar(text, indent)
	default:
		r.at++
		isYAML = strings.IndexByte(text[1:], "]}\"'"[kind]) >= 0
	}
	var node Node
	ok := false
	if isYAML {
		node, ok = readYAML(text)
	}
	switch quote := text[0]; {
	case ok:
		return node
	case quote == '"' || quote == '\'':
		if inner := text[1:]; inner != "" && strings.IndexByte(inner, quote) == len(inner)-1 {
			text = inner[:len(inner)-1]
		}
		return Node{scalar: text}
	case quote == '|' || quote == '>': // its first line is indented deeper than another
		_, text, _ = strings.Cut(text, "\n")
		if quote == '>' {
			return Node{scalar: SingleSpaced(text)}
		}
		return Node{scalar: strings.Trim(dedent(text), " \n")}
	}
	r.at = begin
	joined := r.scalar(text, indent) // a list over several lines
	if node, ok = readYAML(joined.scalar); ok {
		return node
	}
	return joined
}

// dedent returns a text without the indentation that all its lines have.
func dedent(text string) string {
	lines := strings.Split(text, "\n")
	least := len(text)
	for _, line := range lines {
		if bare := strings.TrimLeft(line, " "); bare != "" {
			least = min(least, len(line)-len(bare))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(least, len(line)):]
	}
	return strings.Join(lines, "\n")
}

// bareScalar returns a text without the comment behind it.
func bareScalar(text string) string {
	if text[0] == '#' {
		return ""
	}
	text, _, _ = strings.Cut(text, " #")
	return strings.TrimSpace(text)
}

// scalar reads a text without quotes, and the lines that continue it, which are
// indented deeper than indent.
func (r *looseReader) scalar(text string, indent int) Node {
	r.at++
	parts := []string{bareScalar(text)}
	for r.at < len(r.lines) {
		next := r.lines[r.at]
		_, _, isPair := CutYAMLKey(next.text)
		isProse := r.prose && next.indent > indent+1
		if next.text == "" || next.indent <= indent || !isProse && (isPair || isDash(next.text)) {
			break
		}
		parts = append(parts, bareScalar(next.text))
		r.at++
	}
	return Node{scalar: strings.TrimSpace(strings.Join(parts, " "))}
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
