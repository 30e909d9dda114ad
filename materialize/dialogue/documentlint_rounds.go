package dialogue

import (
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// rounds checks that there are rounds with turns.
func (l *linter) rounds() {
	const mend = "filebus dialogue assemble SLUG writes every turn of a dialogue"
	if len(l.doc.Rounds) == 0 {
		l.add(LintMust, 1, mend, `there is no round: no heading "## Round N: LABEL"`)
		return
	}
	for _, r := range l.doc.Rounds {
		switch {
		case r.File != "" && len(r.Turns) == 0:
			l.add(LintMust, r.Line, mend, "the file %s, which has the turns of round %d, is not there or has none", r.File, r.Number)
		case !slices.ContainsFunc(l.agentTurns(), func(t *lintTurn) bool { return t.round == r.Number }):
			l.add(LintNote, r.Line, `put each turn below a heading "### NAME 🧁"`, "round %d has no turn of an agent", r.Number)
		}
	}
	for _, t := range l.agentTurns() {
		if t.Edited {
			l.addIn(t.file, LintNote, t.Line, mend, "the turn of %s in round %d was changed after it was assembled", t.Label, t.round)
		}
	}
	for _, r := range l.doc.Rounds {
		l.awaited(r)
	}
}

// awaited finds the blocks of a round that hold nothing yet.
func (l *linter) awaited(r layout.DocumentRound) {
	var names []string
	line := 0
	for _, t := range l.agentTurns() {
		if t.round == r.Number && t.Absent == "" && isPlaceholder(t.Text) {
			if names = append(names, t.Label); line == 0 {
				line = t.Line
			}
		}
	}
	if len(names) > 0 {
		l.addIn(l.fileOf(r), LintShould, line,
			"filebus dialogue wait SLUG "+strconv.Itoa(r.Number)+", and assemble again",
			"round %d has no text of %s", r.Number, strings.Join(names, ", "))
	}
}

// sequence checks that rounds follow each other from 0 or 1 on.
func (l *linter) sequence() {
	const mend = "number the rounds from 0 on, each once and in order"
	for i, r := range l.doc.Rounds {
		before := l.doc.Rounds[max(0, i-1)].Number
		switch {
		case i == 0 && r.Number > 1:
			l.add(LintMust, r.Line, mend, "the first round is round %d", r.Number)
		case i == 0:
		case r.Number == before:
			l.add(LintMust, r.Line, mend, "round %d is there twice", r.Number)
		case r.Number < before:
			l.add(LintMust, r.Line, mend, "round %d stands behind round %d", r.Number, before)
		case r.Number > before+1:
			l.add(LintMust, r.Line, mend, "round %d follows round %d", r.Number, before)
		}
	}
}

// markers checks that markers follow the grammar. One that names tensions by their
// full ids is as clear; one that names them in other ways is still understood.
func (l *linter) markers() {
	for _, t := range l.turns {
		for _, m := range t.markers {
			level := LintShould
			isPart := func(r layout.MarkerRef) bool { return r.Agent == "" || r.Round < 0 }
			switch {
			case m.Exact, len(m.Refs) > 0 && !slices.ContainsFunc(m.Refs, isPart):
				continue
			case len(m.Refs) > 0:
				level = LintNote
			}
			shown := markdown.Clip(oneSpaced(m.Raw), 60)
			l.addIn(t.file, level, m.Line, "write "+markerForm(m.Kind), "the marker %s departs from the grammar", shown)
		}
	}
}

// markerForm shows how a marker of a kind is written.
func markerForm(kind layout.MarkerKind) string {
	switch kind {
	case layout.MarkerPerspective:
		return "[PERSPECTIVE P01: label]"
	case layout.MarkerTension:
		return "[TENSION T01: label]"
	case layout.MarkerResolved:
		return "[RESOLVED T01: text]"
	case layout.MarkerRefinement, layout.MarkerConcession:
		return "[" + string(kind) + ": text]"
	}
	return "one of [PERSPECTIVE P01: label], [TENSION T01: label], [REFINEMENT: text], [CONCESSION: text], [RESOLVED T01]"
}

// ids checks that an agent uses an id once in a round, and has one block in it.
func (l *linter) ids() {
	type key struct {
		round     int
		agent, id string
	}
	first := map[key]int{}
	// used returns the line that had a key first, 0 for the one itself.
	used := func(k key, line int) int {
		if first[k] == 0 {
			first[k] = line
			return 0
		}
		return first[k]
	}
	for _, t := range l.agentTurns() {
		agent := plainName(t.Label)
		if line := used(key{t.round, agent, ""}, t.Line); line > 0 {
			l.addIn(t.file, LintShould, t.Line, "join the two", "%s has two blocks in round %d, the first in line %d", t.Label, t.round, line)
		}
		for _, m := range t.markers {
			if m.ID == "" || m.Kind == layout.MarkerResolved || !m.Exact {
				continue
			}
			if line := used(key{t.round, agent, m.ID}, m.Line); line > 0 {
				l.addIn(t.file, LintShould, m.Line, "give it the next number",
					"%s uses %s twice in round %d, first in line %d",
					t.Label, m.ID, t.round, line)
			}
		}
	}
	clear(first)
	for _, p := range l.doc.Perspectives {
		round, _ := roundInCell(p.Round)
		if p.ID == "" {
			continue
		}
		if line := used(key{round, plainName(p.Agent), p.ID}, p.Line); line > 0 {
			l.add(LintShould, p.Line, "give it the next number", "the inventory has %s of %s twice, first in line %d", p.ID, p.Agent, line)
		}
	}
}

// numbering checks that ids are counted without gaps, and have two digits.
func (l *linter) numbering() {
	short, line, example, file := 0, 0, "", ""
	for _, t := range l.agentTurns() {
		last := map[layout.MarkerKind]int{}
		for _, m := range t.markers {
			if m.Kind != layout.MarkerPerspective && m.Kind != layout.MarkerTension || !m.Exact {
				continue
			}
			id, isShort := normalID(m.ID)
			if !isShort {
				continue
			}
			n := idNumber(id)
			before := last[m.Kind]
			if before > 0 && n != before+1 && n != before {
				l.addIn(t.file, LintNote, m.Line, "count on without gaps", "in the turn of %s in round %d, %s follows %s%02d", t.Label, t.round, id, id[:1], before)
			}
			last[m.Kind] = n
			if !strings.Contains(m.Raw, id) {
				if short++; short == 1 {
					line, file = m.Line, t.file
					example = oneSpaced(strings.TrimPrefix(strings.SplitN(m.Raw, ":", 2)[0], "["))
				}
			}
		}
	}
	if short > 0 {
		l.addIn(file, LintNote, line, "write ids with two digits: T01", "%d ids have not two digits, such as %s", short, example)
	}
	l.rowNumbers()
}

// rowNumbers checks the numbers of the inventory and the tracker, where they are
// counted for the whole document.
func (l *linter) rowNumbers() {
	var perspectives, tensions []inventoryRow
	for _, p := range l.doc.Perspectives {
		perspectives = append(perspectives, inventoryRow{id: p.ID, line: p.Line})
	}
	for _, t := range l.doc.Tensions {
		tensions = append(tensions, inventoryRow{id: t.ID, line: t.Line})
	}
	l.rowsInOrder("inventory", perspectives)
	l.rowsInOrder("tracker", tensions)
}

// rowsInOrder checks ids that are unique in their table.
func (l *linter) rowsInOrder(table string, rows []inventoryRow) {
	seen := map[string]bool{}
	for _, r := range rows {
		id, isShort := normalID(r.id)
		if !isShort || seen[id] {
			return // counted for each agent
		}
		seen[id] = true
	}
	for i, r := range rows[min(1, len(rows)):] {
		id, _ := normalID(r.id)
		before, _ := normalID(rows[i].id)
		if idNumber(id) != idNumber(before)+1 {
			l.add(LintNote, r.line, "count on without gaps", "in the %s, %s follows %s", table, id, before)
		}
	}
}
