package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
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

// Insert returns f with new nodes at the end of the array "nodes", on lines of their
// own; the array is made when the file has none. The tag index stays as it is. In a
// file that is not JSON the nodes are put at the end, where they wait for whoever mends
// the file.
func (knowledgeJSON) Insert(f File, entries ...Entry) File {
	text := f.Append(nil)
	eol := markdown.LineEnding(text)
	entries = slices.Clone(entries)
	for i, e := range entries {
		entries[i].Kind = cmp.Or(e.Kind, record.KindKnowledge)
	}
	put := func(at int, before, after string) File {
		for i, e := range entries {
			entries[i].Text = markdown.WithEnding(indentNode(e.Text, "    "), text)
		}
		return splice(f, at, strings.ReplaceAll(before, "\n", eol), entries, ","+eol+"    ", strings.ReplaceAll(after, "\n", eol))
	}
	graph, err := scanGraph(text)
	nodes := graph.nodes.Inner
	switch {
	case isBlankText(text):
		return put(len(text), "{\n  \"nodes\": [\n    ", "\n  ],\n  \"tag_index\": {}\n}\n")
	case err != nil && graph.object.End == 0: // no object to put it in
		return splice(f, len(text), blankBefore(text, eol), entries, eol+eol, eol)
	case graph.nodes.End == 0:
		at, comma, after := graph.object.Start+1, "", "\n  ]"
		if members := graph.object.Inner; len(members) > 0 {
			at, comma = members[len(members)-1].End, ","
		}
		if !bytes.Contains(text[at:graph.object.End], []byte("\n")) {
			after += "\n"
		}
		return put(at, comma+"\n  \"nodes\": [\n    ", after)
	case len(nodes) > 0:
		return put(nodes[len(nodes)-1].End, ",\n    ", "")
	case bytes.Contains(text[graph.nodes.Start:graph.nodes.End], []byte("\n")):
		return put(graph.nodes.Start+1, "\n    ", "")
	}
	return put(graph.nodes.Start+1, "\n    ", "\n  ")
}

// indentNode writes a JSON value with two spaces for each level below a prefix. What is no
// JSON stays as it is.
func indentNode(node []byte, prefix string) []byte {
	var out bytes.Buffer
	if json.Indent(&out, bytes.TrimSpace(node), prefix, "  ") != nil {
		return node
	}
	return out.Bytes()
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
