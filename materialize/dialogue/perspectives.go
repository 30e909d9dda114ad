package dialogue

import (
	"slices"
	"strings"

	"filebus/materialize/layout"
)

// A Perspective is one that an agent has raised.
type Perspective struct {
	Round int
	Agent string
	ID    string // P01; "" if it has none
	Label string
	Line  int
}

// given returns the turns of a round that hold something: those of agents that were
// there. Of two files for one agent the one in lower case counts.
func (r *Round) given() []*Turn {
	var turns []*Turn
	for _, t := range r.Turns {
		if !t.IsStub && !t.IsEmpty() && r.Turn(t.Agent) == t {
			turns = append(turns, t)
		}
	}
	return turns
}

// fileName returns the name of a turn's file, in the letter case that it has.
func (t *Turn) fileName() string {
	id := t.Version.Record.Name.ID
	return strings.TrimSuffix(id[strings.LastIndexByte(id, '/')+1:], ".md") + ".md"
}

// hasConverged reports whether an agent signals in its turn that there is nothing to
// add.
func (t *Turn) hasConverged() bool {
	return slices.ContainsFunc(t.Markers, func(m layout.Marker) bool { return strings.EqualFold(m.Move(), "CONVERGE") })
}

// perspectives returns what an agent raises in a turn. An id that it uses twice
// counts once.
func (t *Turn) perspectives() []Perspective {
	var all []Perspective
	seen := map[string]bool{}
	for _, m := range t.Markers {
		if m.Kind != layout.MarkerPerspective || m.ID != "" && seen[m.ID] {
			continue
		}
		seen[m.ID] = true
		all = append(all, Perspective{t.Round, t.Agent, m.ID, m.Label, m.Line})
	}
	return all
}
