package layout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	if rest, found := strings.CutPrefix(text, "MINORITY VERDICT"); found && endsHead(rest) {
		return markerHead{kind: MarkerDissent, size: len("MINORITY VERDICT")}, true
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
	return rest != "" && strings.IndexByte(": \t]\r\n", rest[0]) >= 0 && !strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "|")
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
	verbs := []string{"SUPPORT", "OPPOSE", "REFINE", "ADDRESS", "RESOLVE", "REOPEN", "QUESTION", "DEPEND"}
	known := slices.Contains(verbs, word)
	if !known && (spaced || !isCapitals(word) || beginsID(strings.TrimLeft(behind, " \t\r\n")) == "") {
		return markerHead{}, false
	}
	return markerHead{kind: markerRe, size: len("RE:"), bent: spaced || !known}, true
}

// cutMove takes "MOVE:", before a word, or the words of one that goes without.
func cutMove(text string) (markerHead, bool) {
	if behind, found := strings.CutPrefix(text, "CONVERGENCE "); found {
		word := refWord(behind)
		bent := !strings.HasPrefix(behind[len(word):], "]") && !strings.HasPrefix(behind[len(word):], ":")
		return markerHead{kind: markerMove, bent: bent}, (word == "CONFIRMED" || word == "PROPOSAL") && endsHead(behind[len(word):])
	}
	rest, found := strings.CutPrefix(text, "MOVE:")
	if !found {
		return markerHead{}, false
	}
	label := strings.TrimLeft(rest, " ")
	word, spaced := moveWord(label), label != rest
	if word == "" || !endsHead(label[len(word):]) || spaced && !isCapitals(word) {
		return markerHead{}, false
	}
	return markerHead{kind: markerMove, size: len("MOVE:"), bent: spaced || !isCapitals(word)}, true
}

// moveWord returns the word that the label of a move begins with.
func moveWord(label string) string {
	return leading(label, func(c rune) bool { return c == '-' || isWordRune(c) })
}

func isCapitals(word string) bool {
	return leading(word, isNameCapital) == word
}

// cutSecond finds an id of the second generation, which is left where it is. One
// with more or fewer digits counts before a colon.
func cutSecond(text string) (markerHead, bool) {
	if id, _, _, found := cutRefSecond(text); found && endsHead(text[len(id):]) {
		return markerHead{kind: secondKind(id[len(id)-len("P0101")]), second: true}, true
	}
	id, _, found := strings.Cut(text, ":")
	if isGlobalID(id) && isFirstID(id) {
		return markerHead{kind: secondKind(id[0])}, found
	}
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
	if len(word) < 3 || !isCapitals(word) || meantBy(text) != "" {
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
	if label = markdown.SingleSpaced(label); may && areIDs(ids) && (label != "" || !hasLabel) {
		m.Label, m.Exact = label, true
	}
}

// areIDs reports whether text is a list of ids with commas between them, and
// nothing else.
func areIDs(text string) bool {
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if id, _, _, isSecond := cutRefSecond(word); !isFirstID(word) && !isGlobalID(word) && (!isSecond || id != word) {
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
	r.skip(refLeads)
	for len(r.refs) < maxRefs && r.next() {
		r.skip(refJoins)
	}
	return r.refs
}

const maxRefs = 100 // bounds the references of one marker

// Words that stand before the first reference, and between two.
const (
	refLeads = " on to with re regarding of for from by former both tension tensions "
	refJoins = " and or plus former "
)

// A refReader takes references from the beginning of a text.
type refReader struct {
	rest  string
	prose bool // the text is a sentence: a word in it is an agent only if that is sure
	refs  []MarkerRef
}

// skip drops spaces, separators and the words that are listed.
func (r *refReader) skip(words string) {
	for {
		r.rest = strings.TrimLeft(r.rest, " \t\r\n,/&+;")
		word := refWord(r.rest)
		after := r.rest[len(word):]
		if word == "" || !strings.Contains(words, " "+strings.ToLower(word)+" ") || after != "" && !unicode.IsSpace(rune(after[0])) {
			return
		}
		r.rest = after
	}
}

// next takes one reference, or the two ends of a range with what lies between.
func (r *refReader) next() bool {
	if id, agent, round, found := cutRefSecond(r.rest); found {
		r.add(MarkerRef{Agent: agent, Round: round, ID: id})
		r.rest = r.rest[len(id):]
		return true
	}
	ref, rest, found := cutRef(r.rest)
	if word := refWord(r.rest); !found && isGlobalID(word) {
		ref, rest, found = MarkerRef{Round: -1, ID: word}, r.rest[len(word):], true
	}
	if !found {
		agent, after, sure := cutRefAgent(r.rest)
		if agent == "" {
			return false
		}
		if ref, rest, found = cutRef(after); !found || r.prose && !sure && ref.Round < 0 {
			return false
		}
		ref.Agent = agent
	}
	r.add(ref)
	r.rest = rest
	r.span(ref)
	return true
}

// span takes the end of a range that begins with ref, as in "T01-T07", with all
// between them.
func (r *refReader) span(ref MarkerRef) {
	after := strings.TrimLeft(r.rest, " ")
	for _, dash := range []string{"-", "–", ".."} {
		end, joined := strings.CutPrefix(after, dash)
		last, rest, found := cutRef(strings.TrimLeft(end, " "))
		if !joined || !found || last.Round >= 0 || len(last.ID) != len(ref.ID) || last.ID[0] != ref.ID[0] || last.ID <= ref.ID {
			continue
		}
		low, _ := strconv.Atoi(ref.ID[1:]) // two or four digits each
		high, _ := strconv.Atoi(last.ID[1:])
		for n := low + 1; n <= min(high, low+maxRefs); n++ {
			ref.ID = fmt.Sprintf("%c%0*d", ref.ID[0], len(last.ID)-1, n)
			r.add(ref)
		}
		r.rest = rest
		return
	}
}

func (r *refReader) add(ref MarkerRef) {
	if !slices.Contains(r.refs, ref) {
		r.refs = append(r.refs, ref)
	}
}

// refWord returns the letters, digits and "_" that text begins with.
func refWord(text string) string { return leading(text, isWordRune) }

func isWordRune(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// cutRefAgent takes the name of an agent that stands before an id: "Muffin's
// T01", "MUFFIN R1-T01", "Strudel on T01", "muffin/T01". It is sure of one that
// owns the id, or is joined to it.
func cutRefAgent(text string) (agent, rest string, sure bool) {
	word := refWord(text)
	first, _ := utf8.DecodeRuneInString(word)
	rest = text[len(word):]
	for _, own := range []string{"'s ", "’s "} {
		if after, found := strings.CutPrefix(rest, own); found && word != "" {
			return strings.ToLower(word), strings.TrimLeft(after, " "), true
		}
	}
	if word == "" || rest == "" {
		return "", "", false
	}
	capitals := leading(word, isAgentCapital) == word
	switch {
	case rest[0] == '/' || capitals && (rest[0] == '-' || rest[0] == '.'):
		return strings.ToLower(word), rest[1:], true
	case !unicode.IsUpper(first) || rest[0] != ' ':
		return "", "", false
	}
	rest = strings.TrimLeft(rest, " ")
	if after, found := strings.CutPrefix(rest, "on "); found {
		return strings.ToLower(word), strings.TrimLeft(after, " "), true
	}
	return strings.ToLower(word), rest, false
}

// cutRef takes an id of the first generation, with its round before or behind
// it: "T01", "R0.T03", "R1-T01", "T01-R1", "T1.1". What else is joined to the id
// with a hyphen, as in "T01-RESPONSE", is dropped.
func cutRef(text string) (ref MarkerRef, rest string, found bool) {
	ref.Round = -1
	if round, after, found := cutRefRound(text); found {
		ref.Round, text = round, strings.TrimLeft(after, "-.:/ ")
	}
	word := refWord(text)
	if word == "" {
		return ref, "", false
	}
	id, found := normalMarkerID(word, word[0])
	if !found || word[0] != 'T' && word[0] != 'P' {
		return ref, "", false
	}
	ref.ID, rest = id, text[len(word):]
	if sub, joined := strings.CutPrefix(rest, "."); joined && isDigits(refWord(sub)) {
		ref.ID += "." + refWord(sub)
		rest = sub[len(refWord(sub)):]
	}
	if suffix, joined := strings.CutPrefix(rest, "-"); joined && refWord(suffix) != "" {
		if round, after, isRound := cutRefRound(suffix); isRound {
			ref.Round, rest = round, after
		} else if _, _, isRange := cutRef(suffix); !isRange {
			rest = suffix[len(refWord(suffix)):]
		}
	}
	return ref, rest, true
}

// cutRefRound takes the "R1" or "round 1" that text begins with.
func cutRefRound(text string) (round int, rest string, found bool) {
	word := refWord(text)
	if strings.EqualFold(word, "round") {
		text = strings.TrimLeft(text[len(word):], " -")
		word = "R" + refWord(text)
		text = "R" + text
	}
	digits, found := strings.CutPrefix(word, "R")
	if !found || !isDigits(digits) || len(digits) > 4 {
		return 0, "", false
	}
	round, _ = strconv.Atoi(digits) // at most four digits
	return round, text[len(word):], true
}

// cutRefSecond takes an id of the second generation: MUFFIN-T0101 is the first
// tension of muffin in round 1.
func cutRefSecond(text string) (id, agent string, round int, found bool) {
	text = leading(text, isNameCapital)
	cut := strings.LastIndexByte(text, '-')
	if cut <= 0 || !isGlobalID(text[cut+1:]) || isGlobalID(text[:cut]) {
		return "", "", 0, false
	}
	round, _ = strconv.Atoi(text[cut+2 : cut+4])
	return text, strings.ToLower(text[:cut]), round, true
}

// isGlobalID reports whether an id is one of the second generation without an agent.
func isGlobalID(id string) bool {
	return len(id) == len("T0001") && secondKind(id[0]) != "" && isDigits(id[1:])
}

// isAgentCapital reports whether c may stand in the name of an agent that is
// written in capitals.
func isAgentCapital(c rune) bool { return c == '_' || unicode.IsDigit(c) || unicode.IsUpper(c) }

func isNameCapital(c rune) bool { return c == '-' || isAgentCapital(c) }
