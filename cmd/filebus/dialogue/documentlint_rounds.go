package dialogue

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// rounds checks that there are rounds with turns.
func (l *linter) rounds() {
	const mend = "filebus dialogue assemble SLUG writes every turn of a dialogue"
	if len(l.doc.Rounds) == 0 {
		l.add(rule.Note, 1, mend, `there is no round: no heading "## Round N: LABEL"`)
	}
	for _, r := range l.doc.Rounds {
		var awaited []string
		first, agents := 0, 0
		for _, t := range l.agents {
			if t.round != r.Number {
				continue
			}
			if agents++; t.Edited {
				l.addIn(t.file, rule.Note, t.Line, mend,
					"the turn of %s in round %d was changed after it was assembled", t.Label, t.round)
			}
			if t.Absent == "" && isPlaceholder(t.Text) {
				awaited, first = append(awaited, t.Label), cmp.Or(first, t.Line)
			}
		}
		switch {
		case agents == 0 && r.File != "":
			l.add(rule.Must, r.Line, mend, "the file %s, which has the turns of round %d, is not there or has none",
				r.File, r.Number)
		case agents == 0:
			l.add(rule.Note, r.Line, `put each turn below a heading "### NAME 🧁"`,
				"round %d has no turn of an agent", r.Number)
		case len(awaited) > 0:
			const wait = "write them below their headings; filebus dialogue wait SLUG %d waits for those of a dialogue"
			l.addIn(l.fileOf(r), rule.Should, first, fmt.Sprintf(wait, r.Number),
				"round %d has no text of %s", r.Number, strings.Join(awaited, ", "))
		}
	}
}

// sequence checks that rounds follow each other from 0 or 1 on.
func (l *linter) sequence() {
	const mend = "check whether a round is missing, or has the number of another"
	for i, r := range l.doc.Rounds {
		before := l.doc.Rounds[max(0, i-1)].Number
		switch {
		case i == 0 && (r.Number <= 1 || l.isPart()) || i > 0 && r.Number == before+1:
		case i == 0:
			l.add(rule.Should, r.Line, mend, "the first round is round %d", r.Number)
		case r.Number == before:
			l.add(rule.Should, r.Line, mend, "round %d is there twice", r.Number)
		default:
			l.add(rule.Should, r.Line, mend, "round %d follows round %d", r.Number, before)
		}
	}
}

// markers checks that markers follow the grammar. One that names tensions by their full
// ids is as clear; one that names them in other ways is still understood. What stands in a
// block is an agent's text, which is kept as it is.
func (l *linter) markers() {
	for _, t := range l.turns {
		for _, m := range t.markers {
			isPart := func(r layout.MarkerRef) bool { return r.Agent == "" || r.Round < 0 }
			if m.Exact || len(m.Refs) > 0 && !slices.ContainsFunc(m.Refs, isPart) {
				continue
			}
			level := rule.Should
			if len(m.Refs) > 0 || t.Exact || t.Edited {
				level = rule.Note
			}
			mend := "leave the turn as it is, and ask for [TENSION T01: label], [RESOLVED T01: text], not "
			l.addIn(t.file, level, m.Line, mend+markdown.Clip(markdown.OneLine(m.Raw), 60), "a marker departs from the grammar")
		}
	}
}

// ids checks that an agent uses an id once in a round, and has one block in it.
func (l *linter) ids() {
	seen := map[listedID]bool{}
	isTwice := func(k listedID) bool {
		was := seen[k]
		seen[k] = true
		return was
	}
	for _, t := range l.agents {
		agent := layout.Slug(t.Label)
		if isTwice(listedID{agent: agent, round: t.round}) {
			l.addIn(t.file, rule.Should, t.Line, "give each agent its own name, or join blocks that are one turn",
				"%s has two blocks in round %d", t.Label, t.round)
		}
		level, mend := rule.Should, "give it the next number"
		if t.Exact {
			level, mend = rule.Note, "leave the turn as it is, and ask for ids that are used once"
		}
		for _, m := range t.markers {
			if m.ID != "" && m.Kind != layout.MarkerResolved && m.Exact && isTwice(listedID{id: m.ID, agent: agent, round: t.round}) {
				l.addIn(t.file, level, m.Line, mend, "%s uses %s twice in round %d", t.Label, m.ID, t.round)
			}
		}
	}
	clear(seen)
	for _, p := range l.doc.Perspectives {
		if p.ID != "" && isTwice(listedID{id: p.ID, agent: layout.Slug(p.Agent), round: roundInCells(p.Round)}) {
			l.add(rule.Should, p.Line, "give it the next number", "the inventory has %s of %s twice", p.ID, p.Agent)
		}
	}
}

// numbering checks that ids have two digits.
func (l *linter) numbering() {
	for _, t := range l.agents {
		for _, m := range t.markers {
			if id, isShort := normalID(m.ID); isShort && m.Exact && !strings.Contains(m.Raw, id) {
				l.addIn(t.file, rule.Note, m.Line, "write ids with two digits: T01", "an id does not have two digits")
			}
		}
	}
}

// inventories checks that the inventories are there and agree with the markers of
// the rounds.
func (l *linter) inventories() {
	perspectives, tensions := l.inventoryRows()
	for _, table := range []struct {
		title string
		line  int
		kind  layout.MarkerKind
		rows  []listedID
	}{
		{"Perspectives Inventory", l.doc.Found.Perspectives, layout.MarkerPerspective, perspectives},
		{"Tensions Tracker", l.doc.Found.Tensions, layout.MarkerTension, tensions},
	} {
		marked := l.marked(table.kind)
		switch {
		case table.line == 0:
			l.add(rule.Note, 1, "filebus dialogue assemble writes one", "there is no section %q", "## "+table.title)
		case len(marked) == 0 && len(table.rows) > 0:
			l.add(rule.Note, table.line, "check that all turns are there",
				"%s has %d rows, and the rounds have no marker of the kind", table.title, len(table.rows))
		case isRenumbered(table.rows, marked):
			l.add(rule.Note, table.line, "compare the rows with the turns by hand: their ids do not match",
				"%s has ids of its own: it counts its %d rows through, while agents count for themselves", table.title, len(table.rows))
		default:
			l.compare(table.title, table.rows, marked)
		}
	}
}

// isRenumbered reports whether a judge has given ids anew: each id stands in one row,
// while several agents use the same one. Such rows cannot be told by their ids.
func isRenumbered(rows []listedID, marked []listedID) bool {
	ids, agents := map[string]bool{}, map[string]string{}
	for _, r := range rows {
		ids[r.id] = true
	}
	isShared := func(m listedID) bool {
		before := cmp.Or(agents[m.id], m.agent)
		agents[m.id] = m.agent
		return before != m.agent
	}
	return len(rows) > 1 && len(ids) == len(rows) && slices.ContainsFunc(marked, isShared)
}

// A listedID is a row of an inventory, or a marker in a round that one lists.
type listedID struct {
	id    string
	agent string // the cell that names agents; "" if none does
	round int    // -1 if none is named
	line  int
	file  string // of a marker
}

// String says the id, whose it is and of which round, as far as that is told.
func (r listedID) String() string {
	text := r.id
	if r.agent != "" {
		text += " of " + markdown.OneLine(r.agent)
	}
	if r.round >= 0 && roundInCells(r.agent) < 0 {
		text += " in round " + strconv.Itoa(r.round)
	}
	return text
}

// marked returns the markers of a kind that have an id. Of one that an agent uses
// twice in a round the first one counts.
func (l *linter) marked(kind layout.MarkerKind) []listedID {
	var all []listedID
	seen := map[listedID]bool{}
	for _, t := range l.agents {
		for _, m := range t.markers {
			id := listedID{id: m.ID, agent: t.Label, file: t.file, round: t.round}
			if m.Kind == kind && m.ID != "" && !seen[id] {
				seen[id] = true
				id.line = m.Line
				all = append(all, id)
			}
		}
	}
	return all
}

// inventoryRows returns the rows that have an id, which may name the agent and the round
// itself: MUFFIN R0-T01. A tension may be raised by what is no name.
func (l *linter) inventoryRows() (perspectives, tensions []listedID) {
	known := func(cell string) string {
		isIn := func(t *lintTurn) bool { return hasName(cell, t.Label) || hasName(cell, t.Name) }
		if slices.ContainsFunc(l.agents, isIn) {
			return cell
		}
		return ""
	}
	add := func(rows []listedID, text string, row listedID) []listedID {
		id, isShort := normalID(text)
		if row.id = id; isShort {
			return append(rows, row)
		}
		ref, isRef := tensionRef(text)
		if !isRef {
			return rows
		}
		if row.id, row.agent = ref.ID, known(ref.Agent); ref.Round >= 0 {
			row.round = ref.Round
		}
		return append(rows, row)
	}
	for _, p := range l.doc.Perspectives {
		perspectives = add(perspectives, p.ID, listedID{"", p.Agent, roundInCells(p.Round, p.Agent), p.Line, ""})
	}
	for _, t := range l.doc.Tensions {
		tensions = add(tensions, t.ID, listedID{"", known(t.Raised), roundInCells(t.Raised), t.Line, ""})
	}
	return perspectives, tensions
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
	for _, m := range layout.ParseMarkers([]byte("[RE:SUPPORT " + text + "]")) {
		if len(m.Refs) == 1 {
			return m.Refs[0], true
		}
	}
	return layout.MarkerRef{}, false
}

// fits reports whether a row lists a marker.
func (r listedID) fits(m listedID) bool {
	return r.id == m.id && (r.round < 0 || r.round == m.round) && (r.agent == "" || hasName(r.agent, m.agent))
}

// compare finds markers that no row lists, and rows that list no marker: those may be the
// judge's own.
func (l *linter) compare(title string, rows []listedID, marked []listedID) {
	isListed := func(m listedID) bool {
		return slices.ContainsFunc(rows, func(r listedID) bool { return r.fits(m) })
	}
	isMarked := func(r listedID) bool { return slices.ContainsFunc(marked, r.fits) }
	missing, own := slices.DeleteFunc(slices.Clone(marked), isListed), slices.DeleteFunc(slices.Clone(rows), isMarked)
	if len(missing) > 0 {
		names := markdown.Each(missing, listedID.String)
		l.addIn(missing[0].file, rule.Should, missing[0].line, "add rows", "%s: no row in %s", shownFirst(names), title)
	}
	if len(own) > 0 {
		names := markdown.Each(own, listedID.String)
		l.add(rule.Note, own[0].line, "check that all turns are there", "%s: no marker in the turns",
			shownFirst(names))
	}
}

// shownFirst joins names, of many the first ones.
func shownFirst(names []string) string {
	const shown = 5
	if n := len(names) - shown; n > 0 {
		names = append(slices.Clone(names[:shown]), fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
