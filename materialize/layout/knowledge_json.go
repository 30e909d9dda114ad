package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// knowledgeJSON is the format of knowledge_graph.json, the JSON form of a
// knowledge graph, described in docs/layouts/knowledge-graph.md. Each object in
// the array "nodes" is an entry; all else, such as the tag index, is literal.
type knowledgeJSON struct{}

func (knowledgeJSON) kindOf() record.Kind { return record.KindKnowledge }

// Parse cuts a JSON knowledge graph into its nodes and the text around them. A
// file that is not JSON has no entries and one error.
func (knowledgeJSON) Parse(path string, text []byte) (File, []*SyntaxError) {
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
		node, err := parseNode(text[value.Start:value.End])
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
func (knowledgeJSON) Insert(f File, e Entry) File {
	e.Kind = cmp.Or(e.Kind, record.KindKnowledge)
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

// A graphTree is a JSON knowledge graph with the places of its values.
type graphTree struct{ object, nodes markdown.Value }

// scanGraph finds the array "nodes". Without it, the object is given beside the error.
func scanGraph(text []byte) (graphTree, *SyntaxError) {
	object, err := markdown.ParseObject(text)
	if err != nil {
		return graphTree{}, err
	}
	graph := graphTree{object: *object}
	err = wrong(object.Line, `the array "nodes" is missing`)
	for _, m := range object.Inner {
		switch {
		case m.Key != "nodes":
		case m.IsArray():
			graph.nodes = *m
			return graph, nil
		default:
			err = wrong(m.Line, `"nodes" is not an array`)
		}
	}
	return graph, err
}
