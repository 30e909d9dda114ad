package layout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// maxRefs bounds the references of one marker.
const maxRefs = 100

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
		if !joined || !found || last.Round >= 0 || len(last.ID) > 3 || len(ref.ID) > 3 || last.ID[0] != ref.ID[0] || last.ID <= ref.ID {
			continue
		}
		low, _ := strconv.Atoi(ref.ID[1:]) // two digits each
		high, _ := strconv.Atoi(last.ID[1:])
		for n := low + 1; n <= high; n++ {
			ref.ID = fmt.Sprintf("%c%02d", ref.ID[0], n)
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
func refWord(text string) string {
	end := strings.IndexFunc(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	if end < 0 {
		return text
	}
	return text[:end]
}

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
	capitals := strings.IndexFunc(word, func(c rune) bool { return !isAgentCapital(c) }) < 0
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
	end := strings.IndexFunc(text, func(c rune) bool { return !isAgentCapital(c) && c != '-' })
	if end < 0 {
		end = len(text)
	}
	text = text[:end]
	cut := strings.LastIndexByte(text, '-')
	if cut <= 0 || len(text)-cut != len("-T0101") || secondKind(text[cut+1]) == "" || !isDigits(text[cut+2:]) {
		return "", "", 0, false
	}
	round, _ = strconv.Atoi(text[cut+2 : cut+4])
	return text, strings.ToLower(text[:cut]), round, true
}

// isAgentCapital reports whether c may stand in the name of an agent that is
// written in capitals.
func isAgentCapital(c rune) bool { return c == '_' || unicode.IsDigit(c) || unicode.IsUpper(c) }
