package layout

import "strings"

// A Marker is what an agent marks in its turn of a dialogue, by the grammar
// that the RFC on file-based subagent output relies on:
//
//	[PERSPECTIVE P01: label]   [TENSION T01: label]
//	[REFINEMENT: text]         [CONCESSION: text]
//	[RESOLVED T01]             [RESOLVED T01: text]
//
// or by that of the second generation, in which ids name an agent, a type, a
// round and a number, and other markers refer to them:
//
//	[MUFFIN-P0101: label]      [RE:SUPPORT MUFFIN-P0101, SCONE-T0102: text]
//	[MOVE:CONVERGE]            [VERDICT:text]            [DISSENT: text]
//
// Agents bend both in many ways. A marker whose first word is known is kept
// whatever follows; Exact tells whether it follows the grammar.
type Marker struct {
	Kind  MarkerKind
	ID    string // P01, T01: a letter and at least two digits; MUFFIN-P0101; "" when the marker has none
	Label string // behind the colon; without one, all that follows the kind
	Body  string // the text up to the next marker, a rule or the end
	Line  int    // counted from 1
	Raw   string // as written, from bracket to bracket
	Exact bool

	// Whose marker it is, and of which round, by an id of the second generation;
	// without one, Agent is empty and Round means nothing.
	Agent string // lower case
	Round int

	Refs []MarkerRef // what it speaks of, in the order in which it names them
}

// Move returns what a marker MOVE says that its agent does, such as CONVERGE.
// It is "" for all other markers.
func (m Marker) Move() string {
	if m.Kind != markerMove {
		return ""
	}
	if rest, found := strings.CutPrefix(m.Label, "CONVERGENCE CONFIRMED"); found && (rest == "" || rest[0] == ':') {
		return "CONVERGE"
	}
	return moveWord(m.Label)
}

// A MarkerKind is the word that a marker begins with, in capitals, or that the
// type in an id of the second generation stands for.
type MarkerKind string

// The kinds of markers. Those of the second generation follow the first five,
// which ids can stand for as well.
const (
	MarkerPerspective MarkerKind = "PERSPECTIVE" // P
	MarkerTension     MarkerKind = "TENSION"     // T
	MarkerRefinement  MarkerKind = "REFINEMENT"
	MarkerConcession  MarkerKind = "CONCESSION"
	MarkerResolved    MarkerKind = "RESOLVED"

	markerRecommendation MarkerKind = "RECOMMENDATION" // R
	markerEvidence       MarkerKind = "EVIDENCE"       // E
	markerClaim          MarkerKind = "CLAIM"          // C
	markerStance         MarkerKind = "STANCE"         // S
	markerRe             MarkerKind = "RE"             // says something of other markers: see MarkerRef.Verb
	markerMove           MarkerKind = "MOVE"
	markerVerdict        MarkerKind = "VERDICT"
	MarkerDissent        MarkerKind = "DISSENT"

	// MarkerOther is any other word in capitals that begins a line and stands
	// before the id of a tension: [ACKNOWLEDGED T01: label]. It is never exact.
	MarkerOther MarkerKind = "OTHER"
)

// MarkerKinds returns every kind, in the order in which they are counted.
func MarkerKinds() (kinds []MarkerKind) {
	for _, rule := range markerRules {
		kinds = append(kinds, rule.kind)
	}
	return kinds
}

// markerRules say how each kind is written: the letter that its ids begin with, and
// the type in the ids of the second generation that stands for it, 0 if there is none;
// and whether its word stands between a bracket and a space or a colon.
var markerRules = [...]struct {
	kind          MarkerKind
	first, second byte
	isWord        bool
}{
	{MarkerPerspective, 'P', 'P', true}, {MarkerTension, 'T', 'T', true}, {MarkerRefinement, 0, 0, true},
	{MarkerConcession, 0, 0, true}, {MarkerResolved, 'T', 0, true}, {markerRecommendation, 0, 'R', false},
	{markerEvidence, 0, 'E', false}, {markerClaim, 0, 'C', false}, {markerStance, 0, 'S', false},
	{markerRe, 0, 0, false}, {markerMove, 0, 0, false}, {markerVerdict, 0, 0, true}, {MarkerDissent, 0, 0, true},
	{MarkerOther, 0, 0, false},
}

// letter returns what the ids of a kind begin with, 0 if it has none.
func (k MarkerKind) letter() byte {
	for _, rule := range markerRules {
		if rule.kind == k {
			return rule.first
		}
	}
	return 0
}

// secondKind returns the kind that a type in the ids of the second generation
// stands for, "" if it is none.
func secondKind(letter string) MarkerKind {
	for _, rule := range markerRules {
		if string(rule.second) == letter {
			return rule.kind
		}
	}
	return ""
}
