package markdown

import (
	"fmt"
	"slices"
	"strings"
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
		if i := slices.IndexFunc(n.Pairs, func(p Pair) bool { return Fold(p.Key) == key }); i >= 0 {
			return n.Pairs[i].Value
		}
	}
	return Node{}
}

// First returns the value of one of the keys, or all of n as text when n has
// none of them: agents write "- a.go" where the form has "- path: a.go".
func (n Node) First(keys ...string) string {
	if value := n.Get(keys...); !value.isEmpty() {
		return value.Text()
	}
	return n.Text()
}

// isEmpty reports whether n holds nothing, or a word for nothing.
func (n Node) isEmpty() bool {
	return len(n.List) == 0 && len(n.Pairs) == 0 && IsNothing(n.scalar)
}

// nothing are the words that stand for nothing.
var nothing = []string{"", "none", "null", "~", "n/a", "na", "nil", "[]", "{}", "_", "—", "–"}

// IsNothing reports whether text is one of the words that stand for nothing.
func IsNothing(text string) bool { return slices.Contains(nothing, strings.Trim(Fold(text), ".*")) }

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
	return Each(slices.DeleteFunc(slices.Clone(n.Items()), Node.isEmpty), Node.Text)
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
	switch {
	case v.IsObject():
		n.Pairs = Each(v.Inner, func(inner *Value) Pair { return Pair{inner.Key, inner.node()} })
	case v.IsArray():
		n.List = Each(v.Inner, (*Value).node)
	case v.token != nil:
		n.scalar = fmt.Sprint(v.token)
	}
	return n
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
	for i := 0; i < len(lines) && (!found || fence.Info == ""); i++ {
		mark, size, _ := scanFence(lines[i].Text)
		if mark == 0 {
			continue
		}
		info := strings.ToLower(strings.Trim(string(lines[i].Text), string(mark)+" \t\r"))
		begin, end := i, len(text)
		if size := slices.IndexFunc(lines[i+1:], func(l Line) bool { return closesFence(l.Text, mark, size) }); size >= 0 {
			i += 1 + size
			end = lines[i].Start
		} else {
			i = len(lines)
		}
		if info == "yaml" || info == "yml" || info == "" && !found {
			fence, found = yamlFence{Info: info, Inside: text[lines[begin].End:end], Before: begin + 1}, true
		}
	}
	return fence, found
}
