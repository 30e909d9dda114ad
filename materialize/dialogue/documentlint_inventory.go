package dialogue

import (
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/layout"
)

// inventories checks that the inventories are there and agree with the markers of
// the rounds.
func (l *linter) inventories() {
	if l.isPart() {
		return
	}
	for _, table := range []struct {
		title string
		line  int
		kind  layout.MarkerKind
		rows  []inventoryRow
	}{
		{"Perspectives Inventory", l.doc.Found.Perspectives, layout.MarkerPerspective, l.perspectiveRows()},
		{"Tensions Tracker", l.doc.Found.Tensions, layout.MarkerTension, l.tensionRows()},
	} {
		marked := l.marked(table.kind)
		switch {
		case table.line == 0:
			l.add(LintNote, 1, "filebus dialogue assemble writes one", "there is no section %q", "## "+table.title)
		case len(marked) == 0 && len(table.rows) > 0:
			l.add(LintNote, table.line, "mark them in the turns: "+markerForm(table.kind),
				"%s has %d rows, and the rounds have no marker of the kind", table.title, len(table.rows))
		case isRenumbered(table.rows, marked):
			l.add(LintNote, table.line, "filebus dialogue assemble writes the ids of the turns",
				"%s has ids of its own: it counts its %d rows through, while agents count for themselves", table.title, len(table.rows))
		default:
			l.compare(table.title, table.rows, marked)
		}
	}
}

// isRenumbered reports whether a judge has given ids anew: each id stands in one row,
// while several agents use the same one. Such rows cannot be told by their ids.
func isRenumbered(rows []inventoryRow, marked []markedID) bool {
	if len(rows) < 2 {
		return false
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.id] {
			return false
		}
		seen[r.id] = true
	}
	agents := map[string]string{}
	for _, m := range marked {
		if agent := agents[m.id]; agent != "" && agent != m.agent {
			return true
		}
		agents[m.id] = m.agent
	}
	return false
}

// An inventoryRow is a row of an inventory, as it can be compared.
type inventoryRow struct {
	id    string
	cell  string // that names agents; "" if none does
	round int    // -1 if none is named
	line  int
}

// A markedID is a marker in a round that an inventory lists.
type markedID struct {
	id, agent, file string
	round, line     int
}

// marked returns the markers of a kind that have an id. Of one that an agent uses
// twice in a round the first one counts.
func (l *linter) marked(kind layout.MarkerKind) []markedID {
	var all []markedID
	seen := map[markedID]bool{}
	for _, t := range l.agentTurns() {
		for _, m := range t.markers {
			id := markedID{id: m.ID, agent: t.Label, file: t.file, round: t.round}
			if m.Kind == kind && m.ID != "" && !seen[id] {
				seen[id] = true
				id.line = m.Line
				all = append(all, id)
			}
		}
	}
	return all
}

func (l *linter) perspectiveRows() []inventoryRow {
	var rows []inventoryRow
	for _, p := range l.doc.Perspectives {
		row := inventoryRow{cell: p.Agent, round: -1, line: p.Line}
		var found bool
		if row.id, found = normalID(p.ID); !found {
			if row.id = p.ID; !secondForm().MatchString(p.ID) {
				continue
			}
		}
		if round, found := roundInCell(p.Round); found {
			row.round = round
		} else if round, found := roundInCell(p.Agent); found {
			row.round = round
		}
		rows = append(rows, row)
	}
	return rows
}

// secondForm is an id of the second generation: MUFFIN-P0101.
var secondForm = layout.Pattern(`^[\p{Lu}\d_-]+-[A-Z]\d{4}$`)

// tensionRows returns the tracker's rows. An id may name the agent and the round
// itself: MUFFIN R0-T01.
func (l *linter) tensionRows() []inventoryRow {
	var rows []inventoryRow
	for _, t := range l.doc.Tensions {
		row := inventoryRow{cell: t.Raised, round: -1, line: t.Line}
		if round, found := roundInCell(t.Raised); found {
			row.round = round
		}
		if id, found := normalID(t.ID); found {
			row.id = id
		} else if ref, found := tensionRef(t.ID); found {
			row.id, row.cell = ref.ID, ref.Agent
			if ref.Round >= 0 {
				row.round = ref.Round
			}
		} else {
			continue
		}
		if !l.namesAgent(row.cell) {
			row.cell = ""
		}
		rows = append(rows, row)
	}
	return rows
}

// fullID is an id that names the agent and the round: MUFFIN R0-T01.
var fullID = layout.Pattern(`^(.+) R(\d{1,4})-([PT]\d{1,9})$`)

// tensionRef reads an id as a marker would name it.
func tensionRef(text string) (layout.MarkerRef, bool) {
	if m := fullID().FindStringSubmatch(text); m != nil {
		round, _ := strconv.Atoi(m[2]) // at most four digits
		id, _ := normalID(m[3])
		return layout.MarkerRef{Agent: strings.ToLower(m[1]), Round: round, ID: id}, true
	}
	for _, m := range layout.ParseMarkers([]byte("[RESOLVED " + text + "]")) {
		if len(m.Refs) == 1 {
			return m.Refs[0], true
		}
	}
	return layout.MarkerRef{}, false
}

// namesAgent reports whether a cell names somebody who has a turn, or all.
func (l *linter) namesAgent(cell string) bool {
	return slices.ContainsFunc(l.agentTurns(), func(t *lintTurn) bool { return hasName(cell, t.Label) || hasName(cell, t.Name) })
}

// fits reports whether a row lists a marker.
func (r inventoryRow) fits(m markedID) bool {
	return r.id == m.id && (r.round < 0 || r.round == m.round) && (r.cell == "" || hasName(r.cell, m.agent))
}

// compare finds markers that no row lists, and rows that list no marker.
func (l *linter) compare(title string, rows []inventoryRow, marked []markedID) {
	for i := 0; i < len(marked); {
		m := marked[i]
		var ids []string // of one turn
		for ; i < len(marked) && marked[i].agent == m.agent && marked[i].round == m.round; i++ {
			if !slices.ContainsFunc(rows, func(r inventoryRow) bool { return r.fits(marked[i]) }) {
				if len(ids) == 0 {
					m.line = marked[i].line
				}
				ids = append(ids, marked[i].id)
			}
		}
		if len(ids) > 0 {
			l.addIn(m.file, LintShould, m.line, "add a row, or assemble again", "%s of %s in round %d: no row in %s",
				strings.Join(ids, ", "), m.agent, m.round, title)
		}
	}
	for _, r := range rows {
		if !slices.ContainsFunc(marked, r.fits) {
			mend := "mark it in the turn as " + r.id + ", or assemble again"
			l.add(LintShould, r.line, mend, "%s%s is raised by no marker", r.id, r.whose())
		}
	}
}

// whose says to whom a row gives its id, and in which round.
func (r inventoryRow) whose() string {
	text := ""
	if r.cell != "" {
		text = " of " + oneSpaced(r.cell)
	}
	if _, inCell := roundInCell(r.cell); r.round >= 0 && !inCell {
		text += " in round " + strconv.Itoa(r.round)
	}
	return text
}
