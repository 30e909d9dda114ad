package layout

import (
	"bytes"
	"slices"
	"strings"

	"filebus/materialize/likeness"
)

// meantBy returns what kind of marker the text behind a bracket is probably meant for,
// "" if it does not look like one: its word is in another case, misspelt by a letter, or
// has another word before it.
func meantBy(text string) MarkerKind {
	word := refWord(text)
	if word == "" || !strings.ContainsAny(text, "0123456789:]") {
		return ""
	}
	rest, loud := text[len(word):], strings.ToUpper(text)
	behind := strings.ToUpper(strings.TrimLeft(rest, " -#"))
	hasID, hasLabel := beginsID(behind) != "", strings.Contains(behind, ":")
	for _, rule := range markerRules {
		if rule.isWord && likeness.IsSlip(word, string(rule.kind)) &&
			(hasID && (hasLabel || rule.kind == MarkerResolved) || rule.first == 0 && strings.HasPrefix(behind, ":")) {
			return rule.kind
		}
	}
	if h, found := cutMarkerHead(loud, false); found && loud != text && (h.second && hasLabel || h.kind == markerMove && !h.bent) {
		return h.kind
	}
	rest = strings.TrimLeft(rest, " ")
	h, found := cutMarkerHead(rest, false)
	if found && !h.second && isCapitals(word) && (h.kind == markerMove || strings.ContainsAny(rest, ":0123456789")) {
		return MarkerKind(refWord(rest))
	}
	return ""
}

// isSure reports whether there is a marker that nothing else looks like.
func (r *markerReader) isSure() bool {
	return slices.ContainsFunc(r.markers, func(m Marker) bool { return m.Exact && (m.ID != "" || m.Kind == markerMove) })
}

// raised returns what a bracket begins; where all is read in capitals, with its head so.
func (r *markerReader) raised(raw string) string {
	head := ""
	if r.loud {
		head = headForm().FindString(raw)
	}
	return strings.ToUpper(head) + raw[len(head):]
}

var (
	// headForm finds what the head of a marker may be, in any case: a word, and ids.
	headForm = Pattern(`^\[(?i:re: ?|move: ?|minority |convergence )?[\w-]+(?:[ ,/]+(?:\w+ )?[\w-]*[A-Za-z]\d[\w.-]*)*`)

	// fencedForm finds a text that stands in one fence, with a line or two around it.
	fencedForm = Pattern("(?s)^\ufeff?\\s*(?:[^\\s\\[`~][^\\n\\[]*\\n\\s*){0,2}(`{3,}|~{3,})(?:markdown|md|text)?[ \\t\\r]*\n" +
		"(.*\n)(`{3,}|~{3,})[ \\t\\r]*(?:\n\\s*[^\\s\\[`~][^\\n\\[]*)?\\s*$")
	fenceForm = Pattern("(?m)^ {0,3}(`{3,}|~{3,})[ \\t\\r]*(\\S?)")
)

// insideFence returns a text that stands in a fence as a whole, with blank lines for
// those before it, else nil. Fences inside are shorter, or say what language they hold.
func insideFence(text []byte) []byte {
	m := fencedForm().FindSubmatchIndex(text)
	if m == nil || !bytes.Equal(text[m[2]:m[3]], text[m[6]:m[7]]) {
		return nil
	}
	for i, f := range fenceForm().FindAllSubmatch(text[m[4]:m[5]], -1) {
		if i%2 == 0 && len(f[2]) == 0 && bytes.HasPrefix(f[1], text[m[2]:m[3]]) {
			return nil
		}
	}
	return append(bytes.Repeat([]byte("\n"), bytes.Count(text[:m[4]], []byte("\n"))), text[m[4]:m[5]]...)
}
