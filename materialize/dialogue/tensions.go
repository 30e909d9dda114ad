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

// A status is how far a tension is.
type status string

// The statuses of tensions.
const (
	statusOpen      status = "Open"
	statusAddressed status = "Addressed" // refined, conceded or responded to
	statusResolved  status = "Resolved"
	statusReopened  status = "Reopened"
	statusDeferred  status = "Deferred" // by the judge's word alone
	statusUnclear   status = "Unclear"  // the judge's word is not known
)

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
	Kind  eventKind
}

// An eventKind says what was done about a tension.
type eventKind string

// The kinds of events.
const (
	wasRefined   eventKind = "refined"
	wasConceded  eventKind = "conceded"
	wasResponded eventKind = "responded"
	wasResolved  eventKind = "resolved"
	wasDeferred  eventKind = "deferred"
	wasReopened  eventKind = "reopened"
	wasUnclear   eventKind = "unclear"
	noEvent      eventKind = ""
)

// status returns what an event makes of a tension.
func (k eventKind) status() status {
	switch k {
	case wasResolved:
		return statusResolved
	case wasDeferred:
		return statusDeferred
	case wasReopened:
		return statusReopened
	case wasUnclear:
		return statusUnclear
	}
	return statusAddressed
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
		next := e.Kind.status()
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
	Text    string             // the reference, as read
	Matches []layout.MarkerRef // the first of several; none if there is no such tension
	Count   int                // of all that match
}

// A tracking is what agents have raised in a dialogue, and what became of it.
type tracking struct {
	Tensions     []*tension // the judge's list, then by round, agent and line
	Perspectives []*tension
	Unclear      []reference // unknown and ambiguous, by round, agent and line
	notes        []string    // what the judge has written and is not understood
	listedUpTo   int         // the round up to which the judge's list speaks for all; -1 without one
	byID         map[string][]*tension
	wordy        map[string]*tension // by key, of agents whose names are no single words
}

// track follows the tensions and perspectives of a dialogue through its rounds. A
// reference to an id means the one earlier tension that has it, whoever raised it;
// where several do, it resolves none unless it names agent or round. A list of
// tensions that the judge has written by hand speaks for all that was raised in the
// rounds that it covers, and ids alone mean its rows.
func track(d *Dialogue) *tracking {
	t := &tracking{listedUpTo: -1, byID: map[string][]*tension{}, wordy: map[string]*tension{}}
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
			return cmp.Or(a.Round-b.Round, rank[a.Kind.status()]-rank[b.Kind.status()])
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
		if id == "" || t.find(key) != nil {
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
	if strings.ContainsAny(tension.Agent, "-.") {
		t.wordy[tension.String()] = tension
	}
}

func (t *tracking) find(key layout.MarkerRef) *tension {
	for _, tension := range t.byID[key.ID] {
		if tension.MarkerRef == key {
			return tension
		}
	}
	return nil
}

// follow reads what a turn does about tensions.
func (t *tracking) follow(turn *Turn) {
	for _, m := range turn.Markers {
		kind := eventOf(m)
		for _, ref := range t.refsOf(m) {
			what := verbOf(ref, kind)
			if what == noEvent || !isTensionID(ref.ID) || m.Kind == layout.MarkerTension &&
				t.find(layout.MarkerRef{Agent: turn.Agent, Round: turn.Round, ID: ref.ID}) != nil {
				continue
			}
			t.refer(ref, what, turn, m.Line)
		}
	}
}

// refer adds an event to the tension that a reference means.
func (t *tracking) refer(ref layout.MarkerRef, kind eventKind, turn *Turn, line int) {
	found := t.match(ref, turn.Round, turn.Agent, line)
	if len(found) == 0 && kind == wasConceded && ref.Agent != "" { // "to Strudel on T01" may be another's
		anybody := ref
		anybody.Agent = ""
		found = t.match(anybody, turn.Round, turn.Agent, line)
	}
	if base, _, isPart := strings.Cut(ref.ID, "."); isPart && len(found) == 0 {
		whole := ref
		whole.ID = base
		if found = t.match(whole, turn.Round, turn.Agent, line); kind == wasResolved {
			kind = wasResponded // a part of it
		}
	}
	const maxMatches = 3 // how many of the tensions are kept that a reference may mean
	if len(found) != 1 {
		unclear := reference{Round: turn.Round, Agent: turn.Agent, Line: line, Text: refText(ref), Count: len(found)}
		for _, tension := range found[:min(maxMatches, len(found))] {
			unclear.Matches = append(unclear.Matches, tension.MarkerRef)
		}
		t.Unclear = append(t.Unclear, unclear)
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
	if len(t.wordy) == 0 {
		return m.Refs
	}
	for _, word := range keyIn().FindAllString(strings.ToUpper(m.Raw), -1) {
		if tension := t.wordy[strings.TrimLeft(word, "[(*`\"'")]; tension != nil {
			return []layout.MarkerRef{tension.MarkerRef}
		}
	}
	return m.Refs
}

// keyIn finds what may be the key of a tension.
var keyIn = layout.Pattern(`\S+ R\d+-T\d+`)

// eventOf returns what a marker does about the tensions that it names.
func eventOf(m layout.Marker) eventKind {
	switch m.Kind {
	case layout.MarkerRefinement:
		return wasRefined
	case layout.MarkerConcession:
		return wasConceded
	case layout.MarkerResolved:
		return wasResolved
	case layout.MarkerTension, layout.MarkerDissent, layout.MarkerOther:
		return wasResponded
	}
	return noEvent
}

// verbOf returns what a marker [RE:VERB id] does, else kind.
func verbOf(ref layout.MarkerRef, kind eventKind) eventKind {
	switch ref.Verb {
	case "":
		return kind
	case "RESOLVE":
		return wasResolved
	case "REOPEN":
		return wasReopened
	case "REFINE":
		return wasRefined
	case "DEPEND":
		return noEvent
	}
	return wasResponded // SUPPORT, OPPOSE, ADDRESS, QUESTION
}

// isTensionID reports whether an id is that of a tension: T01, MUFFIN-T0101.
func isTensionID(id string) bool {
	return strings.HasPrefix(id[strings.LastIndexByte(id, '-')+1:], "T")
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

// keyForm is a key as a derived table has it, which the judge may have gone on from.
var keyForm = layout.Pattern(`^\S+ R\d+-T\d+$`)

// cellRound returns the round that the first of some cells names, -1 if none does.
func cellRound(cells ...string) int { return firstRound(roundIn(), cells) }

// firstRound returns the number that a pattern finds in the first of some cells, -1 if it
// finds none.
func firstRound(pattern *regexp.Regexp, cells []string) int {
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
		kinds := map[string]eventKind{"addressed": wasRefined, "resolved": wasResolved, "deferred": wasDeferred, "": wasUnclear}
		if kind := kinds[row.State()]; kind != noEvent {
			if row.closed < 0 {
				row.closed = last
			}
			tension.Events = []event{{Round: max(row.closed, row.raised), Line: row.Line, Kind: kind}}
		}
		if t.find(tension.MarkerRef) == nil {
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
