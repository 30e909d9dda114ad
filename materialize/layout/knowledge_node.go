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

// A knowledgeNode is a node of a JSON knowledge graph.
type knowledgeNode struct {
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
	Links []nodeLink `json:"links,omitempty"`
}

// A nodeLink is a typed link of a node.
type nodeLink struct {
	Type   string `json:"type"`
	Target string `json:"target"`
}

// parseNode reads a node. A value of another type than expected is left out and
// reported; what is no JSON object gives no node.
func parseNode(text []byte) (node *knowledgeNode, err error) {
	var other *json.UnmarshalTypeError
	isOther := errors.As(json.Unmarshal(text, &node), &other)
	switch {
	case node == nil, isOther && other.Field == "":
		return nil, errors.New("node is not a JSON object")
	case isOther:
		return node, fmt.Errorf("node %q: %s cannot be of type %s", node.ID, other.Field, other.Value)
	case node.ID == "":
		return node, errors.New(`node "": id is missing`)
	}
	return node, nil
}

// knowledge returns a node as an entry. A summary that is not made from the content
// is its title.
func (n *knowledgeNode) knowledge() Knowledge {
	k := Knowledge{
		ID: n.ID, Type: n.Type, Tags: n.Tags, Content: cmp.Or(n.Content, n.Summary),
		Source: n.Source, Confidence: n.Confidence, Created: n.Created,
	}
	if n.Content != "" && n.Summary != markdown.FirstWords(n.Content, MaxKnowledgeTitle) {
		k.Title = n.Summary
	}
	if n.File != "" {
		k.Extra = []Property{{"File", n.File}}
	}
	for _, l := range n.links() {
		k.Extra = append(k.Extra, Property{l.Type, l.Target})
	}
	return k
}

// facts returns what a node says about itself.
func (n *knowledgeNode) facts() Facts {
	f := knowledgeFields.Facts(n.knowledge())
	f.Title, f.Links = factText(n.Summary, maxFactTitle), n.links()
	return f
}

// links returns the links that a node states: its link objects, and its connections
// as related entries where no object has their target.
func (n *knowledgeNode) links() []record.Link {
	var links []record.Link
	typed := map[string]bool{}
	for _, l := range n.Links {
		kind, isKnown := ParseLinkType(l.Type)
		if isKnown {
			links = appendLink(links, kind, l.Target)
			typed[linkTarget(l.Target)] = true
		}
	}
	for _, target := range n.Connections {
		if !typed[linkTarget(target)] {
			links = appendLink(links, LinkRelatesTo, target)
		}
	}
	return links
}

// A nodeForm is the form of the nodes of JSON, with the fields of the Markdown one.
type nodeForm struct{ *FieldTable[Knowledge] }

// IsLesson is false: nodes have ids.
func (nodeForm) IsLesson() bool { return false }

// MaxKnowledgeTitle bounds the summary of a node and the title of a lesson that are
// made from the content, in characters.
const MaxKnowledgeTitle = 100

// Read reads a node.
func (nodeForm) Read(text []byte) Knowledge {
	if n, _ := parseNode(text); n != nil && n.ID != "" {
		return n.knowledge()
	}
	return Knowledge{}
}

// Append appends the canonical text of a node: an object with an indent of two spaces
// and no final newline. Bytes that are not UTF-8 are replaced.
func (f nodeForm) Append(dst []byte, k Knowledge) []byte {
	n := knowledgeNode{
		ID: k.ID, Type: k.Type, Tags: append([]string{}, k.Tags...), Content: k.Content,
		Summary: cmp.Or(k.Title, markdown.FirstWords(k.Content, MaxKnowledgeTitle)),
		Source:  k.Source, Confidence: k.Confidence, Created: k.Created, File: ExtraValue(k.Extra, "file"),
	}
	if n.Content == n.Summary {
		n.Content = ""
	}
	text := encodeJSON(n, "  ")
	for _, l := range k.Links() {
		text = f.AddLink(text, l)
	}
	return append(dst, text...)
}

// Set returns text, a node, with another value for a field: the bytes of the value
// alone change, and those of the summary that is made from the content. A missing
// member is added at the end. What is no JSON object is returned as it is.
func (f nodeForm) Set(text []byte, field string, values ...string) []byte {
	value := strings.Join(values, ", ")
	switch field {
	case "Title":
		return setMember(text, "summary", value)
	case "Tags":
		return setMember(text, "tags", append([]string{}, markdown.ParseList(value)...))
	case "Content":
		old, summary := f.Read(text), markdown.FirstWords(value, MaxKnowledgeTitle)
		if n, _ := parseNode(text); n != nil && n.Content != "" && n.Summary == "" { // as others write it
			break
		}
		if old.Title == "" {
			text = setMember(text, "summary", summary)
		}
		if old.Title == "" && value == summary {
			value = ""
		}
		if n, _ := parseNode(text); value == "" && n != nil && n.Content == "" {
			return text
		}
	}
	return setMember(text, strings.ToLower(field), value)
}

// setMember returns text, an object of JSON, with another value for one member.
func setMember(text []byte, field string, value any) []byte {
	object, err := markdown.ParseObject(text)
	if err != nil {
		return text
	}
	encoded := encodeJSON(value, "")
	if m := object.Member(field); m.End > 0 {
		return slices.Concat(text[:m.Start], encoded, text[m.End:])
	}
	member := slices.Concat(encodeJSON(field, ""), []byte(": "), encoded)
	if len(object.Inner) == 0 {
		return slices.Concat(text[:object.Start+1], member, text[object.Start+1:])
	}
	first, last := object.Inner[0], object.Inner[len(object.Inner)-1]
	space := cmp.Or(spaceBefore(text, first.First), " ")
	return slices.Concat(text[:last.End], []byte(","+space), member, text[last.End:])
}

// encodeJSON returns value as JSON, "<" and "&" as they are; on one line without an
// indent.
func encodeJSON(value any, indent string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // plain data and a buffer cannot fail
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// AddLink returns text, a node, with one more link object, whose target is one of its
// connections as well. A link that it has changes nothing.
func (nodeForm) AddLink(text []byte, l record.Link) []byte {
	node, err := parseNode(text)
	if err != nil || slices.Contains(node.links(), l) {
		return text
	}
	target := strings.TrimPrefix(l.Target, knowledgePrefix)
	text = setMember(text, "links", append(node.Links, nodeLink{l.Type, target}))
	if l.Type == LinkSupersededBy || slices.Contains(node.Connections, target) {
		return text
	}
	return setMember(text, "connections", append(node.Connections, target))
}

// DropLink returns text, a node, without a link.
func (nodeForm) DropLink(text []byte, l record.Link) []byte {
	node, err := parseNode(text)
	if err != nil || !slices.Contains(node.links(), l) {
		return text
	}
	links := slices.DeleteFunc(slices.Clone(node.Links), func(n nodeLink) bool {
		kind, _ := ParseLinkType(n.Type)
		return kind == l.Type && linkTarget(n.Target) == l.Target
	})
	if len(links) < len(node.Links) {
		text = setMember(text, "links", links)
	}
	stays := slices.ContainsFunc(links, func(n nodeLink) bool { return linkTarget(n.Target) == l.Target })
	connections := slices.DeleteFunc(slices.Clone(node.Connections), func(target string) bool {
		return !stays && linkTarget(target) == l.Target
	})
	if len(connections) < len(node.Connections) {
		text = setMember(text, "connections", connections)
	}
	return text
}
