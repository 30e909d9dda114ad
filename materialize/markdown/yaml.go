package markdown

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Node is a value of the part of YAML that agents write in handoffs and
// states: scalars, quoted or not, block scalars, lists and maps by indentation,
// and flow lists and maps on one line. Anchors, tags and several documents are
// read as plain text. Exactly one of the fields is set; an empty value has
// none.
type Node struct {
	scalar string
	List   []Node
	Pairs  []Pair
	// The lines of an item or of a pair with its value, counted from 0; comments and
	// blank lines may be among the last.
	From, To int
}

// at returns n as what stands on some lines.
func (n Node) at(from, to int) Node {
	n.From, n.To = from, to
	return n
}

// A Pair is one key of a map. Pairs keep their order and may repeat a key.
type Pair struct {
	Key   string
	Value Node
}

// Get returns the value of the first pair with one of the keys, folded.
func (n Node) Get(keys ...string) Node {
	for _, key := range keys {
		for _, p := range n.Pairs {
			if Fold(p.Key) == key {
				return p.Value
			}
		}
	}
	return Node{}
}

// isEmpty reports whether n holds nothing, or a word for nothing.
func (n Node) isEmpty() bool {
	return len(n.List) == 0 && len(n.Pairs) == 0 && IsNothing(n.scalar)
}

// IsNothing reports whether text is one of the words that stand for nothing.
func IsNothing(text string) bool {
	switch strings.Trim(Fold(text), ".*") {
	case "", "none", "null", "~", "n/a", "na", "nil", "[]", "{}", "_", "—", "–":
		return true
	}
	return false
}

// Text returns n as one text: a scalar, or the values of a list or map joined.
func (n Node) Text() string {
	parts := make([]string, 0, len(n.List)+len(n.Pairs))
	for _, item := range n.List {
		parts = append(parts, item.Text())
	}
	for _, p := range n.Pairs {
		parts = append(parts, p.Key+": "+p.Value.Text())
	}
	if len(parts) == 0 {
		return n.scalar
	}
	return strings.Join(parts, ", ")
}

// Items returns the elements of a list, or a single value as a list of one.
func (n Node) Items() []Node {
	if len(n.List) > 0 || n.isEmpty() {
		return n.List
	}
	return []Node{n}
}

// Texts returns the elements of a list as texts.
func (n Node) Texts() []string {
	var out []string
	for _, item := range n.Items() {
		if !item.isEmpty() {
			out = append(out, item.Text())
		}
	}
	return out
}

// maxYAMLDepth bounds the nesting that is followed; deeper text is a scalar.
const maxYAMLDepth = 32

// A yamlLine is a line of the text. The reader moves its beginning past a dash,
// so that what stands behind the dash is read like a line of its own.
type yamlLine struct {
	indent int    // columns; a tab counts as one
	text   string // without indentation and line ending
}

// A yamlReader reads one text. Every step consumes a line or returns to a
// shallower level, so its work is linear in the text, times the depth.
type yamlReader struct {
	lines    []yamlLine
	at       int
	first    int // the number of the first line
	problems []*SyntaxError
}

// ParseYAML reads text, whose first line has the number line. What it cannot
// place is reported and skipped.
func ParseYAML(text string, line int) (Node, []*SyntaxError) {
	r := yamlReader{first: line}
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		content := strings.TrimLeft(raw, " \t")
		r.lines = append(r.lines, yamlLine{len(raw) - len(content), strings.TrimRight(content, " \t")})
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
		if root.scalar == "" {
			root.scalar = node.scalar
		}
	}
	return root, r.problems
}

// skip moves to the next line with content and reports whether there is one.
func (r *yamlReader) skip() bool {
	for r.at < len(r.lines) {
		if text := r.lines[r.at].text; text != "" && text[0] != '#' {
			return true
		}
		r.at++
	}
	return false
}

// report notes a problem with the current line.
func (r *yamlReader) report(format string, args ...any) {
	r.problems = append(r.problems, &SyntaxError{Line: r.first + r.at, Err: fmt.Errorf(format, args...)})
}

// block reads the lines at indent as a list, a map or a scalar.
func (r *yamlReader) block(indent, depth int) Node {
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
func (r *yamlReader) list(indent, depth int) Node {
	var node Node
	for r.skip() && r.lines[r.at].indent == indent && isDash(r.lines[r.at].text) {
		from := r.at
		item := r.item(indent, depth)
		node.List = append(node.List, item.at(from, r.at))
	}
	return node
}

// item reads the item whose dash stands at indent on the current line.
func (r *yamlReader) item(indent, depth int) Node {
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
func (r *yamlReader) pairs(indent, depth int) Node {
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
		from := r.at
		var inner Node
		if value == "" || value[0] == '#' {
			r.at++
			inner = r.childOf(indent, depth)
		} else {
			inner = r.value(value, indent)
		}
		node.Pairs = append(node.Pairs, Pair{key, inner.at(from, r.at)})
	}
	return node
}

// child reads the value below a dash or key at indent, if it is indented.
func (r *yamlReader) child(indent, depth int) Node {
	if !r.skip() || r.lines[r.at].indent <= indent {
		return Node{}
	}
	return r.block(r.lines[r.at].indent, depth+1)
}

// childOf reads the value below a key, where a list may stand at the key's own
// indentation.
func (r *yamlReader) childOf(indent, depth int) Node {
	if r.skip() && r.lines[r.at].indent == indent && isDash(r.lines[r.at].text) {
		return r.list(indent, depth+1)
	}
	return r.child(indent, depth)
}

// value reads what stands behind a key or dash at indent on the current line.
func (r *yamlReader) value(text string, indent int) Node {
	switch {
	case isBlockHeader(text):
		return r.blockScalar(text[0] == '>', indent)
	case text[0] == '[' && strings.Contains(text, "]"):
		r.at++
		inside, _ := cutFlow(text)
		return flowList(inside)
	case text[0] == '{' && strings.HasSuffix(text, "}"):
		r.at++
		return flowMap(text[1 : len(text)-1])
	}
	return r.scalar(text, indent)
}

// flowList reads the inside of "[a, b]". Lists and maps inside it are scalars.
func flowList(inside string) Node {
	var node Node
	for _, item := range splitFlow(inside) {
		if item != "" {
			node.List = append(node.List, Node{scalar: yamlScalar(item)})
		}
	}
	return node
}

// flowMap reads the inside of "{a: 1, b: 2}".
func flowMap(inside string) Node {
	var node Node
	for _, item := range splitFlow(inside) {
		if key, value, found := CutYAMLKey(item); found {
			node.Pairs = append(node.Pairs, Pair{key, Node{scalar: yamlScalar(value)}})
		}
	}
	return node
}

// scalar reads a text and the lines that continue it, which are indented
// deeper than indent.
func (r *yamlReader) scalar(text string, indent int) Node {
	r.at++
	if text[0] == '"' || text[0] == '\'' {
		return Node{scalar: yamlScalar(text)}
	}
	parts := []string{yamlScalar(text)}
	for r.at < len(r.lines) {
		next := r.lines[r.at]
		if _, _, isPair := CutYAMLKey(next.text); next.text == "" || next.indent <= indent || isPair || isDash(next.text) {
			break
		}
		parts = append(parts, yamlScalar(next.text))
		r.at++
	}
	return Node{scalar: strings.TrimSpace(strings.Join(parts, " "))}
}

// isBlockHeader reports whether text announces a block scalar: "|", ">", with
// "+", "-" or a digit.
func isBlockHeader(text string) bool {
	return (text[0] == '|' || text[0] == '>') && len(text) <= 3 && strings.Trim(text[1:], "+-0123456789") == ""
}

// blockScalar reads the lines indented deeper than indent, without the least
// of their indentations; folded joins them. Trailing line breaks are dropped.
func (r *yamlReader) blockScalar(folded bool, indent int) Node {
	r.at++
	begin, least := r.at, -1
	for ; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		if line.text == "" {
			continue
		}
		if line.indent <= indent {
			break
		}
		if least < 0 || line.indent < least {
			least = line.indent
		}
	}
	var b strings.Builder
	for _, line := range r.lines[begin:r.at] {
		if line.text != "" && !folded {
			b.WriteString(strings.Repeat(" ", line.indent-least))
		}
		b.WriteString(line.text)
		if folded {
			b.WriteByte(' ')
		} else {
			b.WriteByte('\n')
		}
	}
	return Node{scalar: strings.Trim(b.String(), " \n")}
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

// yamlScalar resolves the quotes of a scalar, or drops the comment behind a
// bare one. What has no closing quote is taken as it stands.
func yamlScalar(text string) string {
	if text == "" || text[0] == '#' {
		return ""
	}
	switch text[0] {
	case '"':
		if end := closingQuote(text); end > 0 {
			if value, err := strconv.Unquote(text[:end+1]); err == nil {
				return value
			}
			return text[1:end]
		}
		return text
	case '\'':
		rest := strings.ReplaceAll(text[1:], "''", "\x00")
		if end := strings.IndexByte(rest, '\''); end >= 0 {
			return strings.ReplaceAll(rest[:end], "\x00", "'")
		}
		return text
	}
	if comment := strings.Index(text, " #"); comment >= 0 {
		text = text[:comment]
	}
	return strings.TrimSpace(text)
}

// closingQuote returns where the double quote that text begins with is closed, or 0.
func closingQuote(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return 0
}

// AppendYAML appends a text so that ParseYAML reads it back: bare where
// that is safe, else in double quotes, invalid UTF-8 replaced.
func AppendYAML(dst []byte, text string) []byte {
	text = strings.ToValidUTF8(text, "\ufffd")
	if isBareScalar(text) {
		return append(dst, text...)
	}
	return strconv.AppendQuote(dst, text)
}

// isBareScalar reports whether text means itself without quotes.
func isBareScalar(text string) bool {
	if text == "" || strings.TrimSpace(text) != text || strings.Contains(text, ": ") || strings.Contains(text, " #") {
		return false
	}
	if strings.HasSuffix(text, ":") || strings.IndexByte("-?:,[]{}#&*!|>'\"%@`", text[0]) >= 0 {
		return false
	}
	return !IsNothing(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\u0085' || r == '\ufeff' })
}

// A Fence is a code fence that holds YAML, or may.
type Fence struct {
	Info   string // "yaml", "yml" or ""
	Inside string
	Before int // lines up to inside
}

// YAMLFence returns the first fence of text that is marked as YAML, else the
// first that is not marked at all. One that is never closed runs to the end.
func YAMLFence(text string) (fence Fence, found bool) {
	var open byte // the mark of the fence that the line is in
	var size, offset, line int
	begin := -1 // of the inside, when the fence is taken
	for raw := range strings.Lines(text) {
		mark, n, closes := scanFence([]byte(strings.TrimRight(raw, "\r\n")))
		switch {
		case open != 0 && closes && mark == open && n >= size:
			if begin >= 0 {
				fence.Inside = text[begin:offset]
			}
			if fence.Info != "" {
				return fence, true
			}
			open, begin = 0, -1
		case open == 0 && mark != 0:
			open, size = mark, n
			info := strings.ToLower(strings.Trim(raw, string(mark)+" \t\r\n"))
			if info == "yaml" || info == "yml" || info == "" && !found {
				begin, found = offset+len(raw), true
				fence = Fence{Info: info, Before: line + 1}
			}
		}
		offset += len(raw)
		line++
	}
	if begin >= 0 {
		fence.Inside = text[begin:]
	}
	return fence, found
}

// First returns the value of one of the keys, or all of n as text when n has
// none of them: agents write "- a.go" where the form has "- path: a.go".
func (n Node) First(keys ...string) string {
	if value := n.Get(keys...); !value.isEmpty() {
		return value.Text()
	}
	return n.Text()
}

// DecodeJSONNode reads one value as the YAML reader would have it.
func DecodeJSONNode(d *json.Decoder, depth int) (n Node, err error) {
	if depth > maxYAMLDepth {
		return n, fmt.Errorf("nested more than %d levels deep", maxYAMLDepth)
	}
	token, err := d.Token()
	if err != nil {
		return n, err
	}
	switch token {
	case nil:
		return n, nil
	case json.Delim('['):
		for d.More() {
			item, err := DecodeJSONNode(d, depth+1)
			if err != nil {
				return n, err
			}
			n.List = append(n.List, item)
		}
		_, err = d.Token()
		return n, err
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return n, err
			}
			value, err := DecodeJSONNode(d, depth+1)
			if err != nil {
				return n, err
			}
			n.Pairs = append(n.Pairs, Pair{fmt.Sprint(key), value})
		}
		_, err = d.Token()
		return n, err
	}
	n.scalar = fmt.Sprint(token)
	return n, nil
}

// YAMLComment returns what yamlScalar drops behind the value of a line.
func YAMLComment(text string) string {
	text = strings.TrimLeft(text, "- \t")
	if _, value, found := CutYAMLKey(text); found {
		text = value
	}
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		text = text[1+max(0, strings.IndexByte(text[1:], text[0])):]
	}
	if strings.HasPrefix(text, "#") {
		return text
	}
	if i := strings.Index(text, " #"); i >= 0 {
		return text[i+1:]
	}
	return ""
}
