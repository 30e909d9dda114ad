package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// The names of HTML: of elements whose content is taken as it stands up to their end tag, of
// those that open a block even in the middle of a paragraph, and of those that stand alone on
// a line in some documents.
const (
	verbatimTags = "script|pre|style|textarea"
	blockTags    = "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|" +
		"dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|" +
		"h6|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|" +
		"optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|" +
		"ul"
	inlineTags = "a|abbr|audio|b|br|button|canvas|code|em|embed|font|i|img|input|kbd|label|object|path|" +
		"picture|rect|s|select|small|source|span|strong|sub|sup|svg|u|video"
	attributes = `(?:[ \t]+[a-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^ \t"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*`
)

// A htmlKind is one of the kinds of HTML blocks of the CommonMark specification: what they
// begin with, and the text that ends them; a blank line if that is empty.
type htmlKind struct {
	begin *regexp.Regexp
	end   string
}

const (
	noBlock    = "text" // the end of what is no block
	commentEnd = "-->"
)

// htmlKinds are the seven kinds; only the last cannot interrupt a paragraph.
var htmlKinds = sync.OnceValue(func() (kinds []htmlKind) {
	for _, kind := range [][2]string{
		{`<(?:` + verbatimTags + `)(?:[ \t>]|$)`, ""}, // the end tag of the same name
		{`<!--`, commentEnd},
		{`<\?`, "?>"},
		{`<![a-z]`, ">"},
		{`<!\[CDATA\[`, "]]>"},
		{`</?(?:` + blockTags + `)(?:[ \t]|/?>|$)`, ""},
		{`</(?:` + verbatimTags + `)[ \t]*>`, noBlock},
		{`<(?:[a-z][a-z0-9-]*` + attributes + `[ \t]*/?|/[a-z][a-z0-9-]*[ \t]*)>[ \t]*$`, ""},
	} {
		kinds = append(kinds, htmlKind{regexp.MustCompile(`(?i)^` + kind[0]), kind[1]})
	}
	return kinds
})

// htmlStart reports whether text opens an HTML block, and what ends it: the
// text returned, in any case of letters, or a blank line when that is empty.
func htmlStart(text []byte, inParagraph bool) (end string, ok bool) {
	kinds := htmlKinds()
	if inParagraph {
		kinds = kinds[:len(kinds)-1]
	}
	for i, kind := range kinds {
		found := kind.begin.Find(text)
		switch {
		case found == nil:
		case i == 0:
			return "</" + strings.ToLower(strings.Trim(string(found), "< \t>")) + ">", true
		default:
			return kind.end, kind.end != noBlock
		}
	}
	return "", false
}

// containsFold reports whether text holds want, which is in lower case, in any case.
func containsFold(text []byte, want string) bool {
	return bytes.Contains(bytes.ToLower(text), []byte(want))
}

var (
	loneTag  = pattern(`^</?([a-zA-Z][^<>@: ]*)(?: [^<>@:]*)?>$`)
	knownTag = pattern(`(?i)^(?:` + blockTags + `|` + verbatimTags + `|` + inlineTags + `)/?$`)
)

// isWrapper reports whether a line is one tag that no HTML has, such as
// "<answer>" or "</final_report>", or a "<summary>" without details.
func isWrapper(line []byte) bool {
	if line = bytes.TrimSpace(line); len(line) > 100 || len(line) == 0 || line[0] != '<' {
		return false
	}
	name := loneTag().FindSubmatch(line)
	return name != nil && (strings.EqualFold(string(name[1]), "summary") || !knownTag().Match(name[1]))
}
