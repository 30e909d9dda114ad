package layout

import (
	"strings"

	"filebus/materialize/likeness"
)

var leadingID = Pattern(`^` + anyID + idEnd)

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
	hasID, hasLabel := leadingID().MatchString(behind), strings.Contains(behind, ":")
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
	if found && !h.second && word == strings.ToUpper(word) && (h.kind == markerMove || strings.ContainsAny(rest, ":0123456789")) {
		return MarkerKind(refWord(rest))
	}
	return ""
}
