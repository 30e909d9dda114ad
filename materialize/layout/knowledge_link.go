package layout

import (
	"slices"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// The types of links between entries of knowledge. Their text is stored.
const (
	LinkSupersedes   = "supersedes"
	linkContradicts  = "contradicts"
	LinkRelatesTo    = "relates-to"
	linkDerivedFrom  = "derived-from"
	LinkSupersededBy = "superseded-by" // the other end of supersedes
)

// LinkTypes returns the types of links that one entry states of another.
func LinkTypes() []string {
	return []string{LinkSupersedes, linkContradicts, LinkRelatesTo, linkDerivedFrom}
}

// ParseLinkType reads a type of a link as agents write it: "Relates to" is
// relates-to. It reports whether the type is one of those known here.
func ParseLinkType(text string) (string, bool) {
	kind := strings.ReplaceAll(markdown.Key(text), " ", "-")
	switch kind {
	case "supersede", "replaces":
		kind = LinkSupersedes
	case "contradict":
		kind = linkContradicts
	case "relates", "related", "related-to", "see", "see-also":
		kind = LinkRelatesTo
	case "derived", "derives-from":
		kind = linkDerivedFrom
	case "replaced-by":
		kind = LinkSupersededBy
	}
	return kind, kind == LinkSupersededBy || slices.Contains(LinkTypes(), kind)
}

// knowledgePrefix begins the name of an entry of knowledge.
const knowledgePrefix = string(record.KindKnowledge) + "/"

// maxLinks bounds the links that are read from one entry.
const maxLinks = 200

// Links returns the links that an entry states, in its fields Links, Supersedes,
// Contradicts, Relates To, Derived From and Superseded By. A target is a name in
// the tree of the entry, such as knowledge/pattern-001. What reads as no link is
// left out.
func (k Knowledge) Links() []record.Link {
	var links []record.Link
	for _, f := range k.Extra {
		kind, isType := ParseLinkType(f.Name)
		switch {
		case isType:
			for _, item := range linkItems(f.Value) {
				links = appendLink(links, kind, item)
			}
		case markdown.Key(f.Name) == "links":
			for _, item := range linkItems(f.Value) {
				kind, target := cutLink(item)
				links = appendLink(links, kind, target)
			}
		}
	}
	return links
}

// linkItems returns the items of a list of links: of a Markdown list, or between
// commas.
func linkItems(value string) []string {
	if items, isList := markdown.ParseItems(value); isList {
		return items
	}
	return markdown.ParseList(value)
}

// cutLink cuts "supersedes pattern-001" into type and target. A target alone is
// related; of other texts of several words the type is empty.
func cutLink(item string) (kind, target string) {
	first, rest, found := strings.Cut(markdown.SingleSpaced(item), " ")
	if !found {
		return LinkRelatesTo, first
	}
	kind, isKnown := ParseLinkType(strings.Trim(first, "*:`"))
	if !isKnown {
		return "", ""
	}
	return kind, rest
}

// appendLink appends a link unless it is there or has no target.
func appendLink(links []record.Link, kind, target string) []record.Link {
	l := record.Link{Type: kind, Target: linkTarget(target)}
	if l.Type == "" || l.Target == "" || len(links) >= maxLinks || slices.Contains(links, l) {
		return links
	}
	return append(links, l)
}

// linkTarget returns the name that a target means: kind/id as it is, and an id
// for that of knowledge. It returns "" for what is no id, such as an address.
func linkTarget(text string) string {
	text = strings.Trim(markdown.SingleSpaced(text), "`[]* ")
	if markdown.IsNothing(text) || strings.Contains(text, "://") || len(text) > maxFactSource {
		return ""
	}
	if name, err := record.ParseName(text); err == nil {
		return name.String()
	}
	if record.CheckID(text) != nil || strings.Contains(text, " ") && !strings.Contains(text, "#") {
		return ""
	}
	return knowledgePrefix + text
}

// LinkText returns a link as entries have it: "supersedes pattern-001".
func LinkText(l record.Link) string {
	return l.Type + " " + strings.TrimPrefix(l.Target, knowledgePrefix)
}

// AddLink returns text, an entry, with one more link in its field Links. A link that
// it has changes nothing.
func (t KnowledgeTable) AddLink(text []byte, l record.Link) []byte {
	k := t.Read(text)
	if slices.Contains(k.Links(), l) {
		return text
	}
	value := extraValue(k.Extra, "links")
	added := markdown.FormatList([]string{LinkText(l)})
	switch _, isList := markdown.ParseItems(value); {
	case value == "":
		value = added
	case isList:
		value += "\n- " + LinkText(l)
	default:
		value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]") + ", " + added
	}
	return t.Set(text, "Links", value)
}

// DropLink returns text, an entry, without a link of its field Links. Fields such as
// Supersedes stay.
func (t KnowledgeTable) DropLink(text []byte, l record.Link) []byte {
	value := extraValue(t.Read(text).Extra, "links")
	items := linkItems(value)
	kept := slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		kind, target := cutLink(item)
		return kind == l.Type && linkTarget(target) == l.Target
	})
	if len(kept) == len(items) {
		return text
	}
	if _, isList := markdown.ParseItems(value); isList && len(kept) > 1 {
		return t.Set(text, "Links", "- "+strings.Join(kept, "\n- "))
	}
	return t.Set(text, "Links", markdown.FormatList(kept))
}

// A NodeLink is a typed link of a node of a JSON knowledge graph.
type NodeLink struct {
	Type   string `json:"type"`
	Target string `json:"target"`
}

// TypedLinks returns the links that a node states: its link objects, and its
// connections as related entries where no object has their target.
func (n *KnowledgeNode) TypedLinks() []record.Link {
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

// AddKnowledgeNodeLink returns text, a node, with one more link object, whose
// target is one of its connections as well. A link that it has changes nothing.
func AddKnowledgeNodeLink(text []byte, l record.Link) []byte {
	node, err := ParseKnowledgeNode(text)
	if node == nil || err != nil || slices.Contains(node.TypedLinks(), l) {
		return text
	}
	target := strings.TrimPrefix(l.Target, knowledgePrefix)
	text = setNodeMember(text, "links", append(slices.Clone(node.Links), NodeLink{l.Type, target}))
	if l.Type == LinkSupersededBy || slices.Contains(node.Connections, target) {
		return text
	}
	return setNodeMember(text, "connections", append(slices.Clone(node.Connections), target))
}

// DropKnowledgeNodeLink returns text, a node, without a link.
func DropKnowledgeNodeLink(text []byte, l record.Link) []byte {
	node, err := ParseKnowledgeNode(text)
	if node == nil || err != nil || !slices.Contains(node.TypedLinks(), l) {
		return text
	}
	links := slices.DeleteFunc(slices.Clone(node.Links), func(n NodeLink) bool {
		kind, _ := ParseLinkType(n.Type)
		return kind == l.Type && linkTarget(n.Target) == l.Target
	})
	if len(links) < len(node.Links) {
		text = setNodeMember(text, "links", links)
	}
	stays := slices.ContainsFunc(links, func(n NodeLink) bool { return linkTarget(n.Target) == l.Target })
	connections := slices.DeleteFunc(slices.Clone(node.Connections), func(target string) bool {
		return !stays && linkTarget(target) == l.Target
	})
	if len(connections) < len(node.Connections) {
		text = setNodeMember(text, "connections", connections)
	}
	return text
}
