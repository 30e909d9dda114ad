package markdown

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Node is a value of YAML or JSON as agents write them in handoffs. All
// scalars are texts. Exactly one of the fields is set; an empty value has none.
type Node struct {
	scalar string
	List   []Node
	Pairs  []Pair
}

// A Pair is one key of a map. Pairs keep their order and may repeat a key.
type Pair struct {
	Key   string
	Value Node
}

// TextNode returns a list of texts.
func TextNode(texts ...string) Node {
	return Node{List: Each(texts, func(text string) Node { return Node{scalar: text} })}
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
	parts := append(Each(n.List, Node.Text), Each(n.Pairs, func(p Pair) string { return p.Key + ": " + p.Value.Text() })...)
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

// maxYAMLDepth bounds the nesting that is followed, and maxYAML the text that is given
// to the library, in bytes: what it takes for some texts grows with their square.
const (
	maxYAMLDepth = 32
	maxYAML      = 64 << 10
)

// ParseYAML reads text, whose first line has the number line. What is YAML is read
// by the library; else a looseReader takes what it can. What that cannot place is
// reported and skipped.
func ParseYAML(text string, line int) (Node, []*SyntaxError) {
	isProse := strings.HasPrefix(strings.TrimSpace(text), "[")
	if node, ok := readYAML(text, 0); ok && !isProse {
		return node, nil
	}
	r := looseReader{first: line}
	return r.read(text), r.problems
}

// readYAML reads a text that is one YAML document, or a part of one so many levels deep. It
// refuses what stands for something else: anchors, aliases and tags, which agents do not mean.
func readYAML(text string, depth int) (node Node, ok bool) {
	if len(text) > maxYAML || hasMarks(text) {
		return Node{}, false
	}
	var document, more yaml.Node // what is indented less than its beginning is no YAML, and said only then
	decoder := yaml.NewDecoder(strings.NewReader(text))
	if decoder.Decode(&document) != nil || len(document.Content) != 1 || !errors.Is(decoder.Decode(&more), io.EOF) {
		return Node{}, false
	}
	root := document.Content[0]
	return yamlTree{strings.Split(strings.TrimSuffix(text, "\n"), "\n")}.node(root, depth)
}

// hasMarks reports whether a text has the marks of documents, or line breaks that are
// none elsewhere: its lines would not be those of the library.
func hasMarks(text string) bool {
	return strings.ContainsAny(text, "\u0085\u2028\u2029") || strings.Count(text, "\r") > strings.Count(text, "\r\n") ||
		strings.Contains("\n"+text, "\n---") || strings.Contains("\n"+text, "\n...")
}

// A yamlTree turns the tree of the library into ours.
type yamlTree struct{ lines []string }

// node returns n.
func (t yamlTree) node(n *yaml.Node, depth int) (node Node, ok bool) {
	if depth > maxYAMLDepth || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return Node{}, false
	}
	switch n.Kind {
	case yaml.ScalarNode:
		switch n.Style {
		case yaml.LiteralStyle:
			return Node{scalar: strings.Trim(n.Value, " \n")}, true
		case yaml.FoldedStyle: // agents use it for prose: all of it is one paragraph
			return Node{scalar: SingleSpaced(n.Value)}, true
		}
		if n.Style != 0 {
			return Node{scalar: n.Value}, true
		}
		// A text that goes on below is often something else: "- item", "key : value".
		isWhole := n.Line <= len(t.lines) && strings.Contains(t.lines[n.Line-1], n.Value)
		return Node{scalar: strings.TrimSpace(n.Value)}, isWhole
	case yaml.SequenceNode, yaml.MappingNode:
	default:
		return Node{}, false
	}
	step := 1 // of the content: a mapping has keys and values in turn
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := 0; i < len(n.Content); i += step {
		key, value := n.Content[i], n.Content[i+step-1]
		child, ok := t.node(value, depth+1)
		if !ok || step == 2 && (key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0) {
			return Node{}, false
		}
		if step == 2 {
			node.Pairs = append(node.Pairs, Pair{strings.TrimSpace(key.Value), child})
		} else {
			node.List = append(node.List, child)
		}
	}
	return node, true
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

// A yamlFence is a code fence that holds YAML, or may.
type yamlFence struct {
	Info   string // "yaml", "yml" or ""
	Inside string
	Before int // lines up to inside
}

// YAMLFence returns the first fence of text that is marked as YAML, else the
// first that is not marked at all. One that is never closed runs to the end.
func YAMLFence(text string) (fence yamlFence, found bool) {
	lines := Lines([]byte(text))
	for i := 0; i < len(lines); i++ {
		mark, size, _ := scanFence(lines[i].Text)
		if mark == 0 {
			continue
		}
		info := strings.ToLower(strings.Trim(string(lines[i].Text), string(mark)+" \t\r"))
		begin, end := i, len(text)
		for i++; i < len(lines) && !closesFence(lines[i].Text, mark, size); i++ {
		}
		if i < len(lines) {
			end = lines[i].Start
		}
		isYAML := info == "yaml" || info == "yml"
		if isYAML || info == "" && !found {
			fence, found = yamlFence{Info: info, Inside: text[lines[begin].End:end], Before: begin + 1}, true
		}
		if isYAML {
			break
		}
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

// ParseJSONNode reads an object of JSON as ParseYAML reads one of YAML.
func ParseJSONNode(text []byte) (Node, *SyntaxError) {
	object, err := ParseObject(text)
	if err != nil {
		return Node{}, err
	}
	return object.node(), nil
}

// node returns v as the YAML reader would have it.
func (v *Value) node() (n Node) {
	for _, inner := range v.Inner {
		if v.IsObject() {
			n.Pairs = append(n.Pairs, Pair{inner.Key, inner.node()})
		} else {
			n.List = append(n.List, inner.node())
		}
	}
	if isScalar := !v.IsObject() && !v.IsArray(); isScalar && v.token != nil {
		n.scalar = fmt.Sprint(v.token)
	}
	return n
}
