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

// Links returns the links that an entry states, in its fields Links, Supersedes,
// Contradicts, Relates To, Derived From and Superseded By. A target is a name in
// the tree of the entry, such as knowledge/pattern-001. What reads as no link is
// left out.
func (k Knowledge) Links() []record.Link {
	var links []record.Link
	for _, f := range k.Extra {
		kind, isType := ParseLinkType(f.Key)
		switch {
		case isType:
			for _, item := range linkItems(f.Value) {
				links = appendLink(links, kind, item)
			}
		case markdown.Key(f.Key) == "links":
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
	const maxLinks = 200 // bounds the links that are read from one entry
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
func (t knowledgeTable) AddLink(text []byte, l record.Link) []byte {
	k := t.Read(text)
	if slices.Contains(k.Links(), l) {
		return text
	}
	value := ExtraValue(k.Extra, "links")
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
func (t knowledgeTable) DropLink(text []byte, l record.Link) []byte {
	value := ExtraValue(t.Read(text).Extra, "links")
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
