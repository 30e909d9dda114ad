package layout

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

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

// What heads are made of: names in capitals, ids of both generations, and what may stand behind a head. Before a "|" it
// is one of several to choose from, and at the end of a text it may have been cut.
const (
	headName = `[\p{Lu}\p{Nd}_-]+`
	headWord = `(PERSPECTIVE|TENSION|REFINEMENT|CONCESSION|RESOLVED|VERDICT|DISSENT)`
	headVerb = `(?:SUPPORT|OPPOSE|REFINE|ADDRESS|RESOLVE|REOPEN|QUESTION|DEPEND)`
	headEnd  = `(?:[:\]]|\s+(?:[^|\s]|$))`
	anyID    = `(?:` + headName + `-([PTRECS])\d{4}|([PT])\d{1,9})`
	idEnd    = `[:\]/,.\-\s]`
)

// headForms are the forms of heads: what a head takes is the first group, its kind the word or letter of the second one if
// no kind is given. Of several forms the first counts.
var headForms = []struct {
	form         func() *regexp.Regexp
	kind         MarkerKind
	second, bent bool
}{
	{form: Pattern(`^(MINORITY VERDICT)` + headEnd), kind: MarkerDissent},
	{form: Pattern(`^(` + headWord + `)` + headEnd)},
	{form: Pattern(`^(` + headWord + `-)[PT]\d{1,9}\b`), bent: true},
	{form: Pattern(`^(RE:)` + headVerb + headEnd), kind: markerRe},
	{form: Pattern(`^(RE:)(?: +` + headVerb + headEnd + `|[\p{Lu}\p{Nd}_]+\s+` + anyID + idEnd + `)`), kind: markerRe, bent: true},
	{form: Pattern(`^()CONVERGENCE (?:CONFIRMED|PROPOSAL)[:\]]`), kind: markerMove},
	{form: Pattern(`^()CONVERGENCE (?:CONFIRMED|PROPOSAL)` + headEnd), kind: markerMove, bent: true},
	{form: Pattern(`^(MOVE:)` + headName + headEnd), kind: markerMove},
	{form: Pattern(`^(MOVE:)(?: +` + headName + `|[\pL\p{Nd}_-]+)` + headEnd), kind: markerMove, bent: true},
	{form: Pattern(`^()` + headName + `-([PTRECS])\d{4}` + headEnd), second: true},
	{form: Pattern(`^()([PT])\d{4}:`)},
	{form: Pattern(`^()` + headName + `-([PTRECS])\d{1,8}:`), bent: true},
}

// otherHead is another word in capitals before the id of a tension.
var otherHead = Pattern(`^[\p{Lu}\p{Nd}_-]{3,} (?:` + headName + `-T\d{4}|T\d{1,9})` + idEnd)

// cutMarkerHead returns the head that text, which follows a bracket, begins with.
// A word that is unknown is one only where a marker begins its line.
func cutMarkerHead(text string, begins bool) (markerHead, bool) {
	if text == "" || text[0] < 'A' || text[0] > 'Z' && text[0] < 0x80 {
		return markerHead{}, false
	}
	for _, h := range headForms {
		if m := h.form().FindStringSubmatch(text); m != nil {
			kind := h.kind
			if kind == "" {
				kind = cmp.Or(secondKind(m[2]), MarkerKind(m[2]))
			}
			return markerHead{kind: kind, size: len(m[1]), second: h.second, bent: h.bent}, true
		}
	}
	return markerHead{kind: MarkerOther}, begins && otherHead().MatchString(text) && meantBy(text) == ""
}

// moveWord returns the word that the label of a move begins with.
func moveWord(label string) string {
	return leading(label, func(c rune) bool { return c == '-' || isWordRune(c) })
}

// read reads a marker with this head, raw from bracket to bracket.
func (h markerHead) read(raw string, line int) Marker {
	closed := strings.Count(raw, "[") == strings.Count(raw, "]")              // else raw is cut at a line's end
	inside := strings.TrimRight(strings.TrimSuffix(raw, "]")[1+h.size:], `\`) // the brackets may be escaped
	m := Marker{Kind: h.kind, Line: line, Raw: raw, Label: markdown.SingleSpaced(inside)}
	switch {
	case h.second:
		m.readSecond(inside)
	case h.kind == markerRe:
		m.readRe(inside, closed && !h.bent)
	case h.kind == markerMove:
		m.Exact = true
		if h.size > 0 {
			m.Refs = markerRefs(inside[len(moveWord(inside)):])
		}
	case h.kind == MarkerOther:
		_, rest, _ := strings.Cut(inside, " ")
		m.Refs = markerRefs(rest)
	case h.kind == markerVerdict, h.kind == MarkerDissent:
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

// readRe reads "VERB id, id: label". References of other forms are read too,
// and make the marker inexact.
func (m *Marker) readRe(inside string, may bool) {
	text := strings.TrimLeft(inside, " ")
	verb := refWord(text)
	ids, label, hasLabel := strings.Cut(text[len(verb):], ":")
	m.Refs = markerRefs(ids)
	for i := range m.Refs {
		m.Refs[i].Verb = verb
	}
	if label = markdown.SingleSpaced(label); may && idList().MatchString(ids) && (label != "" || !hasLabel) {
		m.Label, m.Exact = label, true
	}
}

// idList is a list of ids with commas between them, and nothing else.
var idList = Pattern(`^(?:\s*(?:` + headName + `-[PTRECS]\d{4}|[PTRECS]\d{4}|[PT]\d{1,9})\s*(?:,\s*\b|$))+$`)

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
// T01. One of four digits is of the second generation, and stays as it is. Other
// forms, such as T01-R1 or T1.1, are no ids.
func normalMarkerID(text string, letter byte) (string, bool) {
	if letter == 0 || len(text) < 2 || len(text) > 10 || text[0] != letter {
		return "", false
	}
	digits, found := number(text[1:], "")
	if !found || isGlobalID(text) {
		return text, found
	}
	return fmt.Sprintf("%c%02s", letter, digits), true
}

// A MarkerRef is a tension, a perspective or another marker that a marker
// speaks of.
type MarkerRef struct {
	Agent string // whose marker, lower case; "" if it is not said
	Round int    // of which round; -1 if it is not said
	ID    string // T01, P01; T01.1 below T01; MUFFIN-T0101 in the second generation, as written
	Verb  string // of a marker [RE:VERB id]: SUPPORT, RESOLVE …; "" in all others
}

// NamesWhole reports whether a marker resolves tensions that it names by their whole
// ids, as tensions.md has them: [RESOLVED MUFFIN R0-T01]. It departs from the grammar of
// the first generation, and cannot be clearer.
func (m Marker) NamesWhole() bool {
	isPart := func(ref MarkerRef) bool { return ref.Agent == "" || ref.Round < 0 }
	return m.Kind == MarkerResolved && len(m.Refs) > 0 && !slices.ContainsFunc(m.Refs, isPart)
}

// markerRefs returns what the text behind a marker's kind speaks of: the ids
// that it begins with. Those of the sentences behind them are not looked for.
func markerRefs(text string) []MarkerRef {
	r := refReader{rest: strings.TrimSpace(text)}
	if rest, found := strings.CutPrefix(r.rest, ":"); found {
		r.rest, r.prose = rest, true
	}
	r.skip(refLeads())
	for len(r.refs) < maxRefs && r.next() {
		r.skip(refJoins())
	}
	return r.refs
}

const maxRefs = 100 // bounds the references of one marker

// What stands before the first reference, and between two.
var (
	refLeads = Pattern(`^(?:[\s,/&+;]|(?i:on|to|with|re|regarding|of|for|from|by|former|both|tensions?)(?:\s|$))*`)
	refJoins = Pattern(`^(?:[\s,/&+;]|(?i:and|or|plus|former)(?:\s|$))*`)
)

// A refReader takes references from the beginning of a text.
type refReader struct {
	rest  string
	prose bool // the text is a sentence: a word in it is an agent only if that is sure
	refs  []MarkerRef
}

// skip drops what stands before a reference.
func (r *refReader) skip(lead *regexp.Regexp) { r.rest = r.rest[len(lead.FindString(r.rest)):] }

// next takes one reference, or the two ends of a range with what lies between.
func (r *refReader) next() bool {
	if id, agent, round, found := cutRefSecond(r.rest); found {
		r.add(MarkerRef{Agent: agent, Round: round, ID: id})
		r.rest = r.rest[len(id):]
		return true
	}
	ref, rest, found := cutRef(r.rest)
	if m := refAgent().FindStringSubmatch(r.rest); !found && m != nil {
		isSure := m[3] == "" || m[4] != ""
		ref, rest, found = cutRef(r.rest[len(m[0]):])
		found = found && (!r.prose || isSure || ref.Round >= 0)
		ref.Agent = strings.ToLower(m[1] + m[2] + m[3])
	}
	if found {
		r.add(ref)
		r.rest = rest
		r.span(ref)
	}
	return found
}

// rangeMark stands between the two ends of a range.
var rangeMark = Pattern(`^ *(?:-|–|\.\.) *`)

// span takes the end of a range that begins with ref, as in "T01-T07", with all
// between them.
func (r *refReader) span(ref MarkerRef) {
	mark := rangeMark().FindString(r.rest)
	last, rest, found := cutRef(r.rest[len(mark):])
	if mark == "" || !found || last.Round >= 0 || len(last.ID) != len(ref.ID) || last.ID[0] != ref.ID[0] || last.ID <= ref.ID {
		return
	}
	low, _ := strconv.Atoi(ref.ID[1:]) // two or four digits each
	high, _ := strconv.Atoi(last.ID[1:])
	for n := low + 1; n <= min(high, low+maxRefs); n++ {
		ref.ID = fmt.Sprintf("%c%0*d", ref.ID[0], len(last.ID)-1, n)
		r.add(ref)
	}
	r.rest = rest
}

func (r *refReader) add(ref MarkerRef) {
	if !slices.Contains(r.refs, ref) {
		r.refs = append(r.refs, ref)
	}
}

// refWord returns the letters, digits and "_" that text begins with.
func refWord(text string) string { return leading(text, isWordRune) }

func isWordRune(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// refAgent is the name of an agent before an id: "Muffin's T01" and "muffin/T01", "MUFFIN-T01", "Strudel on T01". It is
// sure of one that owns the id, or is joined to it; of "Strudel T01" it is not.
var refAgent = Pattern(`^(?:([\pL\p{Nd}_]+)(?:['’]s +|/)|([\p{Lu}\p{Nd}_]+)[-.]|(\p{Lu}[\pL\p{Nd}_]*) +(on +)?)`)

// refForm is an id, with its round before or behind it: "T01", "R0.T03", "R1-T01", "Round 1 T01", "T01-R1", "T1.1".
var refForm = Pattern(`^(?:(?:R|(?i:round)[ -]+)(\d{1,4})\b[-.:/ ]*)?([PT]\d{1,9}|[RECS]\d{4})\b(\.\d{1,18}\b)?` +
	`(?:-(?:R|(?i:round)[ -]+)(\d{1,4})\b)?`)

// cutRef takes an id of the first generation with its round, or one of the second without an agent. What else is joined
// to the id with a hyphen, as in "T01-RESPONSE", is dropped.
func cutRef(text string) (ref MarkerRef, rest string, found bool) {
	m := refForm().FindStringSubmatch(text)
	if m == nil {
		return MarkerRef{Round: -1}, "", false
	}
	id, _ := normalMarkerID(m[2], m[2][0])
	ref, rest = MarkerRef{ID: id + m[3], Round: -1}, text[len(m[0]):]
	if round := cmp.Or(m[4], m[1]); round != "" {
		ref.Round, _ = strconv.Atoi(round) // at most four digits
	}
	if suffix, joined := strings.CutPrefix(rest, "-"); joined && !refForm().MatchString(suffix) && refWord(suffix) != "" {
		rest = suffix[len(refWord(suffix)):]
	}
	return ref, rest, true
}

// cutRefSecond takes an id of the second generation: MUFFIN-T0101 is the first
// tension of muffin in round 1.
func cutRefSecond(text string) (id, agent string, round int, found bool) {
	text = leading(text, func(c rune) bool { return c == '-' || c == '_' || unicode.IsDigit(c) || unicode.IsUpper(c) })
	cut := strings.LastIndexByte(text, '-')
	if cut <= 0 || !isGlobalID(text[cut+1:]) || isGlobalID(text[:cut]) {
		return "", "", 0, false
	}
	round, _ = strconv.Atoi(text[cut+2 : cut+4])
	return text, strings.ToLower(text[:cut]), round, true
}

// isGlobalID reports whether an id is one of the second generation without an agent.
func isGlobalID(id string) bool {
	return len(id) == len("T0001") && secondKind(id[:1]) != "" && isDigits(id[1:])
}
