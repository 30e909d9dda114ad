package layout

import (
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// A markerHead is the word that a marker begins with.
type markerHead struct {
	kind   MarkerKind
	size   int  // how much of the text behind the bracket it takes
	second bool // an id of the second generation stands for the kind, and is no part of size
	bent   bool // the word does not stand as the grammar has it
}

// maxMarkerHead bounds the length of a head with the id in it, in bytes.
const maxMarkerHead = 64

// cutMarkerHead returns the head that text, which follows a bracket, begins with.
// A word that is unknown is one only where a marker begins its line.
func cutMarkerHead(text string, begins bool) (markerHead, bool) {
	if text == "" || text[0] < 'A' || text[0] > 'Z' && text[0] < 0x80 {
		return markerHead{}, false
	}
	for _, rule := range markerRules {
		kind := rule.kind
		rest, found := strings.CutPrefix(text, string(kind))
		if !found || !rule.isWord {
			continue
		}
		if endsHead(rest) {
			return markerHead{kind: kind, size: len(kind)}, true
		}
		if joined, isJoined := strings.CutPrefix(rest, "-"); isJoined && isFirstID(refWord(joined)) {
			return markerHead{kind: kind, size: len(kind) + 1, bent: true}, true
		}
	}
	for _, cut := range []func(string) (markerHead, bool){cutRe, cutMove, cutSecond} {
		if h, found := cut(text); found {
			return h, true
		}
	}
	if begins {
		return cutOther(text)
	}
	return markerHead{}, false
}

// endsHead reports whether a word may end before rest. Before a "|" it is one of
// several to choose from, and at the end of a text it may have been cut.
func endsHead(rest string) bool {
	return rest != "" && strings.IndexByte(": \t]\r\n", rest[0]) >= 0 && !strings.HasPrefix(strings.TrimLeft(rest, " \t"), "|")
}

func isFirstID(word string) bool {
	if word == "" || word[0] != 'P' && word[0] != 'T' {
		return false
	}
	_, isID := normalMarkerID(word, word[0])
	return isID
}

// cutRe takes "RE:", before a verb that is known or has an id behind it.
func cutRe(text string) (markerHead, bool) {
	rest, found := strings.CutPrefix(text, "RE:")
	if !found {
		return markerHead{}, false
	}
	word := refWord(strings.TrimLeft(rest, " "))
	spaced := strings.HasPrefix(rest, " ")
	behind := strings.TrimLeft(rest, " ")[len(word):]
	if word == "" || !endsHead(behind) {
		return markerHead{}, false
	}
	known := slices.Contains(markerVerbs(), word)
	if !known && (spaced || !isCapitals(word) || beginsID(strings.TrimLeft(behind, " \t\r\n")) == "") {
		return markerHead{}, false
	}
	return markerHead{kind: MarkerRe, size: len("RE:"), bent: spaced || !known}, true
}

// cutMove takes "MOVE:", before a word.
func cutMove(text string) (markerHead, bool) {
	rest, found := strings.CutPrefix(text, "MOVE:")
	if !found {
		return markerHead{}, false
	}
	label := strings.TrimLeft(rest, " ")
	word, spaced := moveWord(label), label != rest
	if word == "" || !endsHead(label[len(word):]) || spaced && !isCapitals(word) {
		return markerHead{}, false
	}
	return markerHead{kind: MarkerMove, size: len("MOVE:"), bent: spaced || !isCapitals(word)}, true
}

// moveWord returns the word that the label of a move begins with.
func moveWord(label string) string {
	end := strings.IndexFunc(label, func(c rune) bool { return c != '-' && refWord(string(c)) == "" })
	if end < 0 {
		return label
	}
	return label[:end]
}

func isCapitals(word string) bool {
	return strings.IndexFunc(word, func(c rune) bool { return !isAgentCapital(c) && c != '-' }) < 0
}

// cutSecond finds an id of the second generation, which is left where it is. One
// with more or fewer digits counts before a colon.
func cutSecond(text string) (markerHead, bool) {
	if id, _, _, found := cutRefSecond(text); found && endsHead(text[len(id):]) {
		return markerHead{kind: secondKind(id[len(id)-len("P0101")]), second: true}, true
	}
	id, _, found := strings.Cut(text, ":")
	cut := strings.LastIndexByte(id, '-')
	if !found || cut < 1 || cut+2 >= len(id) || len(id)-cut > 10 || !isCapitals(id) || !isDigits(id[cut+2:]) {
		return markerHead{}, false
	}
	kind := secondKind(id[cut+1])
	return markerHead{kind: kind, bent: true}, kind != ""
}

// cutOther finds another word in capitals that stands before the id of a tension.
func cutOther(text string) (markerHead, bool) {
	word, rest, _ := strings.Cut(text, " ")
	if len(word) < 3 || !isCapitals(word) {
		return markerHead{}, false
	}
	return markerHead{kind: MarkerOther}, beginsID(rest) == MarkerTension
}

// beginsID returns which kind the id that text begins with is of, "" if it begins
// with none.
func beginsID(text string) MarkerKind {
	kind := MarkerTension
	id, _, _, isSecond := cutRefSecond(text)
	if isSecond {
		kind = secondKind(id[len(id)-len("P0101")])
	} else if id = refWord(text); !isFirstID(id) {
		return ""
	} else if id[0] == 'P' {
		kind = MarkerPerspective
	}
	if rest := text[len(id):]; rest == "" || strings.IndexByte(":]/,.- \t\r\n", rest[0]) < 0 {
		return ""
	}
	return kind
}

// read reads a marker with this head, raw from bracket to bracket.
func (h markerHead) read(raw string, line int) Marker {
	closed := strings.Count(raw, "[") == strings.Count(raw, "]")              // else raw is cut at a line's end
	inside := strings.TrimRight(strings.TrimSuffix(raw, "]")[1+h.size:], `\`) // the brackets may be escaped
	m := Marker{Kind: h.kind, Line: line, Raw: raw, Label: markdown.SingleSpaced(inside)}
	switch {
	case h.second:
		m.readSecond(inside)
	case h.kind == MarkerRe:
		m.readRe(inside, closed && !h.bent)
	case h.kind == MarkerMove:
		m.Exact = true
		m.Refs = markerRefs(inside[len(moveWord(inside)):])
	case h.kind == MarkerOther:
		_, rest, _ := strings.Cut(inside, " ")
		m.Refs = markerRefs(rest)
	case h.kind == MarkerVerdict, h.kind == MarkerDissent:
		m.readVerdict(inside)
	default:
		m.readFirst(inside, closed)
	}
	m.Exact = m.Exact && closed && !h.bent
	return m
}

// readFirst reads what follows the kind in a marker of the first generation: an
// id if the kind has ids, a colon, the label.
func (m *Marker) readFirst(inside string, closed bool) {
	head, label, hasLabel := strings.Cut(inside, ":")
	id, isID := normalMarkerID(strings.TrimSpace(head), m.Kind.letter())
	switch {
	case !closed:
	case isID && (hasLabel || m.Kind == MarkerResolved):
		m.ID, m.Label, m.Exact = id, markdown.SingleSpaced(label), true
	case m.Kind.letter() == 0 && hasLabel && strings.TrimSpace(head) == "":
		m.Label, m.Exact = markdown.SingleSpaced(label), true
	case isID: // without a label
		m.ID, m.Label = id, ""
	}
	if m.Exact && m.Label == "" && m.Kind != MarkerResolved {
		m.Exact = false
	}
	if m.Kind != MarkerPerspective && (m.Kind != MarkerTension || m.ID == "") { // those name themselves
		m.Refs = markerRefs(inside)
	}
}

// readSecond reads a marker that begins with an id of the second generation.
func (m *Marker) readSecond(inside string) {
	id, agent, round, found := cutRefSecond(inside)
	if !found {
		return
	}
	label, hasLabel := strings.CutPrefix(strings.TrimSpace(inside[len(id):]), ":")
	m.ID, m.Agent, m.Round, m.Label = id, agent, round, markdown.SingleSpaced(label)
	m.Exact = hasLabel && m.Label != ""
}

// readRe reads "VERB id, id: label". References of other forms are taken in too,
// and make the marker inexact.
func (m *Marker) readRe(inside string, may bool) {
	text := strings.TrimLeft(inside, " ")
	verb := refWord(text)
	ids, label, hasLabel := strings.Cut(text[len(verb):], ":")
	m.Refs = markerRefs(ids)
	for i := range m.Refs {
		m.Refs[i].Verb = verb
	}
	if label = markdown.SingleSpaced(label); may && areIDs(ids) && (label != "" || !hasLabel) {
		m.Label, m.Exact = label, true
	}
}

// areIDs reports whether text is a list of ids with commas between them, and
// nothing else.
func areIDs(text string) bool {
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if id, _, _, isSecond := cutRefSecond(word); !isFirstID(word) && (!isSecond || id != word) {
			return false
		}
	}
	return true
}

// readVerdict reads what follows VERDICT and DISSENT: a colon and a label. A
// dissent may go without.
func (m *Marker) readVerdict(inside string) {
	m.Refs = markerRefs(inside)
	label, hasLabel := strings.CutPrefix(strings.TrimSpace(inside), ":")
	if hasLabel {
		m.Label = markdown.SingleSpaced(label)
	}
	m.Exact = hasLabel && m.Label != "" || m.Kind == MarkerDissent && m.Label == ""
}

// normalMarkerID returns an id with two digits at least: T1, T01 and T001 are
// T01. Other forms, such as T01-R1 or T1.1, are no ids.
func normalMarkerID(text string, letter byte) (string, bool) {
	if letter == 0 || len(text) < 2 || len(text) > 10 || text[0] != letter {
		return "", false
	}
	digits, found := number(text[1:], "")
	if !found {
		return "", false
	}
	return fmt.Sprintf("%c%02s", letter, digits), true
}
