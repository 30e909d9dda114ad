package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// KnowledgeJSON is the format of knowledge_graph.json, the JSON form of a
// knowledge graph, described in docs/layouts/knowledge-graph.md. Each object in
// the array "nodes" is an entry; all else, such as the tag index, is literal.
type KnowledgeJSON struct{}

// A KnowledgeNode is the typed view of a node of a JSON knowledge graph.
type KnowledgeNode struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Tags        []string `json:"tags"`
	Summary     string   `json:"summary"`           // one line; 100 characters, as filebus writes it
	Content     string   `json:"content,omitempty"` // all of it, when the summary is cut
	Source      string   `json:"source,omitempty"`  // the task it was learned in
	Confidence  string   `json:"confidence,omitempty"`
	File        string   `json:"file,omitempty"`    // the file with the whole text
	Created     string   `json:"created,omitempty"` // as written, mostly RFC 3339
	Connections []string `json:"connections,omitempty"`
	// Links say of connections what they mean.
	Links []NodeLink `json:"links,omitempty"`
}

// Parse cuts a JSON knowledge graph into its nodes and the text around them. A
// file that is not JSON has no entries and one error.
func (KnowledgeJSON) Parse(path string, text []byte) (File, []*SyntaxError) {
	c := newFileCutter(path, text)
	graph, err := scanGraph(text)
	if isBlankText(text) {
		return c.finish()
	}
	if err != nil {
		c.report([]*SyntaxError{err})
		return c.finish()
	}
	for _, value := range graph.nodes.Inner {
		node, err := ParseKnowledgeNode(text[value.Start:value.End])
		if err != nil {
			c.errorf(value.Line, "%w", err)
			if node == nil {
				continue
			}
		}
		if id, ok := c.claim(node.ID, node.Summary, value.Line); ok {
			e := &Entry{Kind: record.KindKnowledge, ID: id, Line: value.Line, Facts: node.facts()}
			c.add(e, value.Start, value.End)
		}
	}
	return c.finish()
}

// Insert returns f with a new node at the end of the array "nodes", indented as
// the others; the array is made when the file has none. The tag index stays as
// it is. In a file that is not JSON the node is put at the end, where it waits
// for whoever mends the file.
func (KnowledgeJSON) Insert(f File, e Entry) File {
	if e.Kind == "" {
		e.Kind = record.KindKnowledge
	}
	text := f.Append(nil)
	graph, err := scanGraph(text)
	switch {
	case isBlankText(text):
		e.Text = indentNode(e.Text, "    ", "  ")
		return spliceEntry(f, len(text), "{\n  \"nodes\": [\n    ", e, "\n  ],\n  \"tag_index\": {}\n}\n")
	case err != nil && graph.object.End == 0: // no object to put it in
		return spliceEntry(f, len(text), blankBefore(text, markdown.LineEnding(text)), e, markdown.LineEnding(text))
	case graph.nodes.End == 0:
		return insertNodes(f, text, graph, e)
	case len(graph.nodes.Inner) == 0:
		return insertFirst(f, text, graph, e)
	}
	// The new node stands off from the last one as that does from what is before
	// it: on a line of its own, or on the same line.
	last := graph.nodes.Inner[len(graph.nodes.Inner)-1]
	space := spaceBefore(text, last.Start)
	multiline := strings.Contains(space, "\n")
	unit := indentUnit(text[last.Start:last.End], multiline)
	e.Text = markdown.WithEnding(indentNode(e.Text, space[strings.LastIndexByte(space, '\n')+1:], unit), text)
	if !multiline && space == "" && len(graph.nodes.Inner) > 1 {
		return spliceEntry(f, last.End, ",", e, "")
	}
	if !multiline && len(graph.nodes.Inner) == 1 {
		space = " "
	}
	return spliceEntry(f, last.End, ","+space, e, "")
}

// insertFirst puts a node into an empty array.
func insertFirst(f File, text []byte, graph graphTree, e Entry) File {
	at := graph.nodes.Start + 1
	eol := markdown.LineEnding(text)
	inside := string(text[at : graph.nodes.End-1])
	if !bytes.Contains(text[graph.object.Start:graph.object.End], []byte("\n")) {
		e.Text = indentNode(e.Text, "", "")
		return spliceEntry(f, at, "", e, "")
	}
	base := leadingSpace(text[bytes.LastIndexByte(text[:graph.nodes.Start], '\n')+1 : graph.nodes.Start])
	unit := "  "
	if strings.HasPrefix(base, "\t") {
		unit = "\t"
	}
	e.Text = markdown.WithEnding(indentNode(e.Text, base+unit, unit), text)
	after := eol + base
	if strings.Contains(inside, "\n") {
		after = ""
	}
	return spliceEntry(f, at, eol+base+unit, e, after)
}

// insertNodes adds the member "nodes" with one node to an object without it.
func insertNodes(f File, text []byte, graph graphTree, e Entry) File {
	at, comma := graph.object.Start+1, ""
	eol := markdown.LineEnding(text)
	if n := len(graph.object.Inner); n > 0 {
		at, comma = graph.object.Inner[n-1].End, ","
	}
	e.Text = markdown.WithEnding(indentNode(e.Text, "    ", "  "), text)
	before := comma + strings.ReplaceAll("\n  \"nodes\": [\n    ", "\n", eol)
	after := eol + "  ]"
	if !bytes.Contains(text[at:graph.object.End], []byte("\n")) {
		after += eol
	}
	return spliceEntry(f, at, before, e, after)
}

// indentNode writes a JSON value anew: on one line when unit is empty, else with
// that indent for each level below the prefix. What is no JSON stays as it is.
func indentNode(node []byte, prefix, unit string) []byte {
	var out bytes.Buffer
	var err error
	if unit == "" {
		err = json.Compact(&out, node)
	} else {
		err = json.Indent(&out, bytes.TrimSpace(node), prefix, unit)
	}
	if err != nil {
		return node
	}
	return out.Bytes()
}

// indentUnit returns the indent of one level inside a node, "" for a node on one
// line.
func indentUnit(node []byte, multiline bool) string {
	_, rest, found := bytes.Cut(node, []byte("\n"))
	if !found || !multiline {
		return ""
	}
	inner := leadingSpace(rest)
	closing := leadingSpace(node[bytes.LastIndexByte(node, '\n')+1:])
	if unit, ok := strings.CutPrefix(inner, closing); ok && unit != "" {
		return unit
	}
	return "  "
}

// leadingSpace returns the spaces and tabs that text begins with.
func leadingSpace(text []byte) string {
	return string(text[:len(text)-len(bytes.TrimLeft(text, " \t"))])
}

// spaceBefore returns the white space that ends at an offset.
func spaceBefore(text []byte, at int) string {
	return string(text[len(bytes.TrimRight(text[:at], " \t\r\n")):at])
}

// ParseKnowledgeNode reads a node. A value of another type than expected is
// left out and reported; what is no JSON object gives no node.
func ParseKnowledgeNode(text []byte) (*KnowledgeNode, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, errors.New("node is not a JSON object")
	}
	node := new(KnowledgeNode)
	var wrong []string
	markdown.ReadMembers(members, node,
		func(key string) { wrong = append(wrong, key+" is "+jsonTypeName(members[key])) })
	if node.ID == "" && len(wrong) == 0 {
		wrong = append(wrong, "id is missing")
	}
	if len(wrong) > 0 {
		return node, fmt.Errorf("node %q: %s", node.ID, strings.Join(wrong, ", "))
	}
	return node, nil
}

// jsonTypeName names a value of an unexpected type in an error.
func jsonTypeName(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array of other things"
	case '"':
		return "a string"
	}
	return string(value[:min(len(value), maxFactWord)])
}

// facts returns what a node says about itself.
func (n *KnowledgeNode) facts() Facts {
	f := knowledgeFields.Facts(Knowledge{
		ID: n.ID, Type: n.Type, Tags: n.Tags, Content: cmp.Or(n.Content, n.Summary), Source: n.Source,
		Confidence: n.Confidence, Created: n.Created,
	})
	f.Title, f.Links = factText(n.Summary, maxFactTitle), n.TypedLinks()
	return f
}

// AppendKnowledgeNode appends the canonical text of a node to dst: an object
// with an indent of two spaces and no final newline. Bytes that are not UTF-8
// are replaced.
func AppendKnowledgeNode(dst []byte, n KnowledgeNode) []byte {
	if n.Tags == nil {
		n.Tags = []string{}
	}
	return append(dst, encodeJSON(n, "  ")...)
}

// SetKnowledgeNodeField returns text, a node, with another value for one
// member: the bytes of the value alone change. The value is a string, or in
// tags and connections a list such as "a, b". A missing member is added at the
// end. What is no JSON object is returned as it is.
func SetKnowledgeNodeField(text []byte, field, value string) []byte {
	if field == "tags" || field == "connections" {
		return setNodeMember(text, field, append([]string{}, markdown.ParseList(value)...))
	}
	return setNodeMember(text, field, value)
}

// setNodeMember returns text, a node, with another value for one member.
func setNodeMember(text []byte, field string, value any) []byte {
	object, err := markdown.ParseObject(text)
	if err != nil {
		return text
	}
	encoded := encodeJSON(value, "")
	for _, m := range object.Inner {
		if m.Key == field {
			return slices.Concat(text[:m.Start], encoded, text[m.End:])
		}
	}
	member := slices.Concat(encodeJSON(field, ""), []byte(": "), encoded)
	if len(object.Inner) == 0 {
		return slices.Concat(text[:object.Start+1], member, text[object.Start+1:])
	}
	first, last := object.Inner[0], object.Inner[len(object.Inner)-1]
	space := spaceBefore(text, first.First)
	if space == "" {
		space = " "
	}
	return slices.Concat(text[:last.End], []byte(","+space), member, text[last.End:])
}

// encodeJSON returns value as JSON, "<" and "&" as they are; on one line without an
// indent.
func encodeJSON(value any, indent string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // strings and a buffer cannot fail
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// A graphTree is a JSON knowledge graph with the places of its values.
type graphTree struct{ object, nodes markdown.Value }

// scanGraph finds the array "nodes". Without it, the object is given beside the error.
func scanGraph(text []byte) (graphTree, *SyntaxError) {
	object, err := markdown.ParseObject(text)
	if err != nil {
		return graphTree{}, err
	}
	graph := graphTree{object: *object}
	err = &SyntaxError{Line: object.Line, Err: errors.New(`the array "nodes" is missing`)}
	for _, m := range object.Inner {
		switch {
		case m.Key != "nodes":
		case m.IsArray():
			graph.nodes = *m
			return graph, nil
		default:
			err = &SyntaxError{Line: m.Line, Err: errors.New(`"nodes" is not an array`)}
		}
	}
	return graph, err
}
