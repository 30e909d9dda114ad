package dialogue

import (
	"cmp"
	"strconv"

	"filebus/materialize/layout"
)

// roundIn finds a round in a cell: R1, Muffin R0, Resolved R1, muffin, round 0.
var roundIn = layout.Pattern(`\b(?:R|[Rr]ound )(\d{1,4})\b`)

// keyForm is a key as a derived table has it, which the judge may have gone on from.
var keyForm = layout.Pattern(`^\S+ R\d+-T\d+$`)

// cellRound returns the round that the first of some cells names, -1 if none does.
func cellRound(cells ...string) int {
	for _, cell := range cells {
		if m := roundIn().FindStringSubmatch(cell); m != nil {
			n, _ := strconv.Atoi(m[1]) // four digits at most
			return n
		}
	}
	return -1
}

// addListed adds the tensions of the judge's list. It covers the rounds up to the
// last that it names, or else all.
func (t *Tracking) addListed(d *Dialogue) {
	last := -1
	if r := d.Last(); r != nil {
		last = r.Number
	}
	for _, row := range d.Listed {
		t.listedUpTo = max(t.listedUpTo, cellRound(row.Raised), cellRound(row.Resolved, row.Status))
	}
	var first map[string]int // made when it is needed
	for _, row := range d.Listed {
		id, isID := layout.TensionID(row.ID)
		if !isID && !keyForm().MatchString(row.ID) {
			continue
		}
		id = cmp.Or(id, row.ID)
		raised, closed := cellRound(row.Raised), cellRound(row.Resolved, row.Status)
		if raised < 0 {
			if first == nil {
				first = d.firstNamed()
			}
			raised = max(t.listedUpTo, 0) // one that nobody speaks of came up last
			if round, found := first[id]; found {
				raised = max(round-1, 0)
			}
		}
		tension := &Tension{TensionKey: TensionKey{Round: raised, ID: id}, Label: row.Tension, Line: row.Line, Listed: true}
		if kind := rowEvent(row); kind != noEvent {
			if closed < 0 {
				closed = last
			}
			tension.Events = []Event{{Round: max(closed, raised), Line: row.Line, Kind: kind}}
		}
		if t.find(tension.TensionKey) == nil {
			t.add(tension)
		}
	}
	if len(t.Tensions) > 0 && t.listedUpTo < 0 {
		t.listedUpTo = last
	}
}

// rowEvent returns what the judge says came of a tension.
func rowEvent(row layout.TensionRow) EventKind {
	switch {
	case row.IsAddressed():
		return WasRefined
	case row.IsOpen():
		return noEvent
	case row.IsDeferred():
		return WasDeferred
	}
	return WasResolved
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
