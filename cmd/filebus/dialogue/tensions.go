package dialogue

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/layout"
)

// A status is how far a tension is, or what an agent did about it.
type status string

// The statuses of tensions, and what an agent does that addresses one.
const (
	statusOpen      status = "Open"
	statusAddressed status = "Addressed"
	statusResolved  status = "Resolved"
	statusReopened  status = "Reopened"
	statusDeferred  status = "Deferred" // by the judge's word alone
	statusUnclear   status = "Unclear"  // the judge's word is not known

	refined   status = "refined"
	conceded  status = "conceded"
	responded status = "responded"
	noStatus  status = ""
)

// made returns what something that was done makes of a tension.
func (s status) made() status {
	if s == refined || s == conceded || s == responded {
		return statusAddressed
	}
	return s
}

// isOpen reports whether a tension with this status still counts.
func (s status) isOpen() bool {
	return s == statusOpen || s == statusAddressed || s == statusReopened
}

// A tension is one that an agent has raised, or that the judge has listed; a perspective
// has the same form. Its reference
// tells it from all others, as agents count from T01 each, and anew in each round; that
// of the judge's list names no agent.
type tension struct {
	layout.MarkerRef
	Label  string
	Line   int  // in the turn, or in tensions.md
	Listed bool // of the judge's own list, or covered by it
	row    *listedRow
	mark   *itemMark
	Events []event // by round; in a round: addressed, resolved, reopened
}

// String returns the id by which a marker means this tension alone.
func (t *tension) String() string {
	if t.Agent == "" {
		return t.ID
	}
	return refText(t.MarkerRef)
}

// isSecond reports whether an id names agent and round itself, as those of the second
// generation do: MUFFIN-T0101.
func isSecond(id string) bool { return strings.Contains(id, "-") }

// An event is what an agent did about a tension.
type event struct {
	Round int
	Agent string // "" for the judge's list
	Line  int
	Kind  status
}

// At returns the status of a tension at the end of a round, and the event that made
// it so, nil if none did. Agents write a round at the same time: of what they do in
// one, reopening counts most, then resolving. What is done about a tension that is
// resolved leaves it so, but for reopening.
func (t *tension) At(round int) (status, *event) {
	if t.isMarked(round) {
		return status(t.mark.String()), &event{Round: t.mark.round}
	}
	status, by := statusOpen, (*event)(nil)
	for i, e := range t.Events {
		next := e.Kind.made()
		if e.Round > round {
			break
		}
		if next == statusAddressed && (!status.isOpen() || status == statusReopened) || next == statusReopened &&
			status.isOpen() {
			continue
		}
		if next == statusResolved && status == statusResolved {
			continue // the first one did it
		}
		status, by = next, &t.Events[i]
	}
	return status, by
}

// A reference is a marker that speaks of a tension, but not of one alone.
type reference struct {
	Round   int
	Agent   string // whose turn
	Line    int
	Text    string     // the reference, as read
	Matches []*tension // the first of several; none if there is no such tension
	Count   int        // of all that match
}

// A tracking is what agents have raised in a dialogue, and what became of it.
type tracking struct {
	Tensions     []*tension // the judge's list, then by round, agent and line
	Perspectives []*tension
	Unclear      []reference // unknown and ambiguous, by round, agent and line
	notes        []string    // what the judge has written and is not understood
	listedUpTo   int         // the round up to which the judge's list speaks for all; -1 without one
	byID         map[string][]*tension
}

// track follows the tensions and perspectives of a dialogue through its rounds. A
// reference to an id means the one earlier tension that has it, whoever raised it;
// where several do, it resolves none unless it names agent or round. A list of
// tensions that the judge has written by hand speaks for all that was raised in the
// rounds that it covers, and ids alone mean its rows.
func track(d *Dialogue) *tracking {
	t := &tracking{listedUpTo: -1, byID: map[string][]*tension{}}
	t.addListed(d)
	for _, r := range d.Rounds {
		turns := r.given()
		for _, turn := range turns {
			t.Perspectives = append(t.Perspectives, turn.perspectives()...)
			t.raise(turn)
		}
		for _, turn := range turns {
			t.follow(turn)
		}
	}
	t.readMarks(d)
	rank := map[status]int{statusAddressed: 0, statusResolved: 1, statusDeferred: 1, statusReopened: 2}
	for _, tension := range t.Tensions {
		slices.SortStableFunc(tension.Events, func(a, b event) int {
			return cmp.Or(a.Round-b.Round, rank[a.Kind.made()]-rank[b.Kind.made()])
		})
	}
	return t
}

// Open returns the tensions that are open at the end of a round.
func (t *tracking) Open(round int) []*tension {
	return slices.DeleteFunc(slices.Clone(t.Tensions), func(tension *tension) bool {
		status, _ := tension.At(round)
		return tension.Round > round || !tension.counts() || !status.isOpen()
	})
}

// counts reports whether a tension is one of those to be resolved: not if a row of
// the judge's list stands for it.
func (t *tension) counts() bool { return !t.Listed || t.Agent == "" }

// raise adds the tensions of a turn.
func (t *tracking) raise(turn *Turn) {
	for _, m := range turn.Markers {
		if m.Kind != layout.MarkerTension {
			continue
		}
		id, label := m.ID, m.Label
		if id == "" { // an answer to a tension, unless there is none yet
			for _, ref := range m.Refs {
				if len(t.match(ref, turn.Round, turn.Agent, m.Line)) == 0 && id == "" {
					id = ref.ID
				}
			}
		}
		key := layout.MarkerRef{Agent: turn.Agent, Round: turn.Round, ID: id}
		if id == "" || t.has(key) {
			continue
		}
		if _, after, found := strings.Cut(label, ":"); found && m.ID == "" {
			label = strings.TrimSpace(after)
		}
		t.add(&tension{MarkerRef: key, Label: label, Line: m.Line, Listed: turn.Round <= t.listedUpTo})
	}
}

func (t *tracking) add(tension *tension) {
	t.Tensions = append(t.Tensions, tension)
	t.byID[tension.ID] = append(t.byID[tension.ID], tension)
}

func (t *tracking) has(key layout.MarkerRef) bool {
	return slices.ContainsFunc(t.byID[key.ID], func(of *tension) bool { return of.MarkerRef == key })
}

// follow reads what a turn does about tensions.
func (t *tracking) follow(turn *Turn) {
	for _, m := range turn.Markers {
		kind := eventOf(m)
		for _, ref := range t.refsOf(m) {
			what := verbOf(ref, kind)
			isTension := strings.HasPrefix(ref.ID[strings.LastIndexByte(ref.ID, '-')+1:], "T") // T01, MUFFIN-T0101
			if what == noStatus || !isTension || m.Kind == layout.MarkerTension &&
				t.has(layout.MarkerRef{Agent: turn.Agent, Round: turn.Round, ID: ref.ID}) {
				continue
			}
			t.refer(ref, what, turn, m.Line)
		}
	}
}

// refer adds an event to the tension that a reference means.
func (t *tracking) refer(ref layout.MarkerRef, kind status, turn *Turn, line int) {
	found := t.match(ref, turn.Round, turn.Agent, line)
	if len(found) == 0 && kind == conceded && ref.Agent != "" { // "to Strudel on T01" may be another's
		anybody := ref
		anybody.Agent = ""
		found = t.match(anybody, turn.Round, turn.Agent, line)
	}
	if base, _, isPart := strings.Cut(ref.ID, "."); isPart && len(found) == 0 {
		whole := ref
		whole.ID = base
		if found = t.match(whole, turn.Round, turn.Agent, line); kind == statusResolved {
			kind = responded // a part of it
		}
	}
	const maxMatches = 3 // how many of the tensions are kept that a reference may mean
	if len(found) != 1 {
		first := slices.Clone(found[:min(maxMatches, len(found))])
		t.Unclear = append(t.Unclear, reference{turn.Round, turn.Agent, line, refText(ref), first, len(found)})
		return
	}
	tension := found[0]
	if row := t.byID[tension.String()]; tension.Listed && len(row) == 1 {
		tension = row[0] // which stands for it
	}
	if tension.Listed && turn.Round <= t.listedUpTo {
		return // the list says what came of it
	}
	tension.Events = append(tension.Events, event{turn.Round, turn.Agent, line, kind})
}

// match returns the tensions that a reference may mean: those with its id that were
// raised before, in an earlier round or further up in the same turn. One that names
// agent and round may speak of its own round.
func (t *tracking) match(ref layout.MarkerRef, round int, agent string, line int) []*tension {
	var found []*tension
	var row *tension
	for _, tension := range t.byID[ref.ID] {
		if tension.Agent == "" {
			if ref.Round < 0 || ref.Round == tension.Round {
				row = tension
			}
			continue
		}
		exact := ref.Agent != "" && ref.Round >= 0 || isSecond(ref.ID)
		isEarlier := tension.Round < round || tension.Round == round && (exact || tension.Agent == agent && tension.Line < line)
		names := isSecond(ref.ID) || (ref.Agent == "" || ref.Agent == tension.Agent) && (ref.Round < 0 || ref.Round == tension.Round)
		if isEarlier && names {
			found = append(found, tension)
		}
	}
	if row != nil && (len(found) == 0 || ref.Agent == "" && (ref.Round < 0 || len(found) > 1)) {
		return []*tension{row} // an agent that is named may be the one who is answered
	}
	return found
}

// refsOf returns the tensions that a marker speaks of. Keys of agents whose names
// are no single words are looked for as they are written.
func (t *tracking) refsOf(m layout.Marker) []layout.MarkerRef {
	for _, word := range keyIn().FindAllString(strings.ToUpper(m.Raw), -1) {
		ref, _ := tensionRef(strings.TrimLeft(word, "[(*`\"'"))
		if strings.ContainsAny(ref.Agent, "-.") && t.has(ref) {
			return []layout.MarkerRef{ref}
		}
	}
	return m.Refs
}

// keyIn finds what may be the key of a tension.
var keyIn = layout.Pattern(`\S+ R\d+-T\d+`)

// eventOf returns what a marker does about the tensions that it names.
func eventOf(m layout.Marker) status {
	return map[layout.MarkerKind]status{
		layout.MarkerRefinement: refined, layout.MarkerConcession: conceded, layout.MarkerResolved: statusResolved,
		layout.MarkerTension: responded, layout.MarkerDissent: responded, layout.MarkerOther: responded,
	}[m.Kind]
}

// verbOf returns what a marker [RE:VERB id] does, else kind.
func verbOf(ref layout.MarkerRef, kind status) status {
	verbs := map[string]status{
		"": kind, "RESOLVE": statusResolved, "REOPEN": statusReopened, "REFINE": refined, "DEPEND": noStatus,
		"SUPPORT": responded, "OPPOSE": responded, "ADDRESS": responded, "QUESTION": responded,
	}
	return verbs[ref.Verb]
}

// refText returns a reference as a marker writes it so that no other tension is meant:
// MUFFIN R0-T01.
func refText(ref layout.MarkerRef) string {
	text := ref.ID
	if isSecond(ref.ID) {
		return text
	}
	if ref.Round >= 0 {
		text = fmt.Sprintf("R%d-%s", ref.Round, ref.ID)
	}
	if ref.Agent != "" {
		text = strings.ToUpper(ref.Agent) + " " + text
	}
	return text
}

// roundIn finds a round in a cell: R1, Muffin R0, Resolved R1, muffin, round 0.
var roundIn = layout.Pattern(`\b(?:R|[Rr]ound )(\d{1,4})\b`)

// firstRound returns the number that a pattern finds in the first of some cells, -1 if it
// finds none.
func firstRound(pattern *regexp.Regexp, cells ...string) int {
	for _, cell := range cells {
		if m := pattern.FindStringSubmatch(cell); m != nil {
			n, _ := strconv.Atoi(m[1]) // four digits at most
			return n
		}
	}
	return -1
}

// addListed adds the tensions of the judge's list. It covers the rounds up to the
// last that it names, or else all.
func (t *tracking) addListed(d *Dialogue) {
	last := -1
	if r := d.Last(); r != nil {
		last = r.Number
	}
	list, notes := d.listed()
	t.notes = notes
	for _, row := range list {
		t.listedUpTo = max(t.listedUpTo, row.raised, row.closed)
	}
	first := d.firstNamed()
	kinds := map[string]status{"addressed": refined, "resolved": statusResolved, "deferred": statusDeferred, "": statusUnclear}
	for i := range list {
		row := &list[i]
		if row.raised < 0 {
			row.raised = max(t.listedUpTo, 0) // one that nobody speaks of came up last
			if round, found := first[row.id]; found {
				row.raised = max(round-1, 0)
			}
		}
		tension := &tension{
			MarkerRef: layout.MarkerRef{Round: row.raised, ID: row.id}, Label: row.Tension, Line: row.Line, Listed: true, row: row,
		}
		if kind := kinds[row.State()]; kind != noStatus {
			if row.closed < 0 {
				row.closed = last
			}
			tension.Events = []event{{Round: max(row.closed, row.raised), Line: row.Line, Kind: kind}}
		}
		if !t.has(tension.MarkerRef) {
			t.add(tension)
		}
	}
	if len(t.Tensions) > 0 && t.listedUpTo < 0 {
		t.listedUpTo = last
	}
}

// firstNamed returns for each id, without an agent, the first round whose turns speak
// of it: a tension whose row does not say when it was raised came up in the round before.
func (d *Dialogue) firstNamed() map[string]int {
	first := map[string]int{}
	for _, r := range d.Rounds {
		for _, turn := range r.given() {
			for _, m := range turn.Markers {
				for _, ref := range m.Refs {
					if _, known := first[ref.ID]; !known && ref.Agent == "" {
						first[ref.ID] = r.Number
					}
				}
			}
		}
	}
	return first
}
