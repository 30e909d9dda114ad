package dialogue

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A LintReport is what was found in one document.
type LintReport struct {
	File       string         `json:"file"`
	Incomplete bool           `json:"incomplete,omitempty"` // no turn of an agent was found
	Findings   []rule.Finding `json:"findings"`             // the gravest first, then by line
}

// lintRule is one check.
type lintRule struct {
	name  string
	run   func(*linter)
	whole bool // not of the file of one round, which has neither tables nor metadata of its own
}

// lintRules returns the twelve checks, in the order of a document.
func lintRules() []lintRule {
	return []lintRule{
		{"header", (*linter).header, true},
		{"panel", (*linter).panel, true},
		{"emoji", (*linter).emoji, false},
		{"scoreboard", (*linter).scoreboard, true},
		{"arithmetic", (*linter).arithmetic, false},
		{"inventories", (*linter).inventories, true},
		{"gate", (*linter).gate, false},
		{"rounds", (*linter).rounds, false},
		{"sequence", (*linter).sequence, false},
		{"markers", (*linter).markers, false},
		{"ids", (*linter).ids, false},
		{"numbering", (*linter).numbering, false},
	}
}

// ReadDocument reads a document, with its rounds from the files beside it, which
// open returns by their names. A file that is not there, or is none of its
// document, leaves the round without turns, and its error is returned beside the
// document.
func ReadDocument(text []byte, open func(name string) ([]byte, error)) (doc layout.DialogueDocument, found bool, err error) {
	doc, found = layout.ParseDialogueDocument(text)
	for i, r := range doc.Rounds {
		if r.File == "" {
			continue
		}
		part, partErr := readRound(r, open)
		if partErr != nil {
			err = errors.Join(err, fmt.Errorf("round %d: %w", r.Number, partErr))
			continue
		}
		doc.Rounds[i].Turns = part.Turns
	}
	return doc, found, err
}

// readRound reads the file of a round.
func readRound(r layout.DocumentRound, open func(name string) ([]byte, error)) (layout.DocumentRound, error) {
	if strings.ContainsAny(r.File, `/\`) {
		return r, fmt.Errorf("%q is no file beside the document", r.File)
	}
	text, err := open(r.File)
	if err != nil {
		return r, err
	}
	part, _ := layout.ParseDialogueDocument(text)
	for _, found := range part.Rounds {
		if found.Number == r.Number {
			return found, nil
		}
	}
	return r, fmt.Errorf("%s has no round %d", r.File, r.Number)
}

// LintDocument checks a document that ReadDocument has read: what it says against
// itself, and its form against the one that Assemble writes. What documents of
// another generation do not have is a note; the emoji of an agent may stand before
// or behind its name.
func LintDocument(file string, doc *layout.DialogueDocument, found bool) *LintReport {
	l := &linter{file: file, doc: doc, found: found}
	l.readTurns()
	report := &LintReport{File: file}
	report.Incomplete = found && !slices.ContainsFunc(l.agents, (*lintTurn).given)
	named := layout.ExtraValue(doc.Head.Extra, layout.PropertyFindings)
	for _, check := range lintRules() {
		if (found || check.name == "header") && !(check.whole && l.isPart()) { // without a title nothing else is read
			l.check = check.name
			check.run(l)
		}
	}
	for i := range l.findings {
		if f := &l.findings[i]; f.Level != rule.Note && strings.Contains(named, markdown.OneLine(f.Message)) {
			f.Level, f.Remedy = rule.Note, "the document's head names this: the dialogue has it too"
		}
	}
	slices.SortStableFunc(l.findings, rule.Compare)
	report.Findings = l.findings
	return report
}

// A linter runs the checks over one document.
type linter struct {
	file     string
	doc      *layout.DialogueDocument
	found    bool
	turns    []*lintTurn
	agents   []*lintTurn // those of turns that are not the judge's, of absent agents too
	check    string      // that is running
	findings []rule.Finding
}

// A lintTurn is a block of a round, with its markers; their lines are those of the
// file.
type lintTurn struct {
	layout.DocumentTurn
	round   int
	file    string
	markers []layout.Marker
}

// add adds a finding at a line of the document.
func (l *linter) add(level rule.Level, line int, remedy, format string, args ...any) {
	l.addIn(l.file, level, line, remedy, format, args...)
}

// addIn adds a finding at a line of a file, or counts what is said of the file already.
func (l *linter) addIn(file string, level rule.Level, line int, remedy, format string, args ...any) {
	f := rule.Finding{Rule: l.check, Level: level, File: file, Message: fmt.Sprintf(format, args...)}
	isSame := func(o rule.Finding) bool { return o.Rule == f.Rule && o.File == file && o.Message == f.Message }
	if i := slices.IndexFunc(l.findings, isSame); i >= 0 {
		l.findings[i].More++
		return
	}
	f.Line, f.Remedy = max(line, 1), remedy
	l.findings = append(l.findings, f)
}

// readTurns collects the blocks of all rounds.
func (l *linter) readTurns() {
	for _, r := range l.doc.Rounds {
		for _, t := range r.Turns {
			turn := &lintTurn{DocumentTurn: t, round: r.Number, file: l.fileOf(r)}
			if t.Absent == "" && !isPlaceholder(t.Text) && len(t.Text) <= MaxTurn { // as in the dialogue itself
				turn.markers = layout.ParseMarkers([]byte(t.Text))
				for i := range turn.markers {
					turn.markers[i].Line += t.TextLine - 1
				}
			}
			if l.turns = append(l.turns, turn); !t.IsJudge() {
				l.agents = append(l.agents, turn)
			}
		}
	}
}

// fileOf returns the file that holds the turns of a round.
func (l *linter) fileOf(r layout.DocumentRound) string {
	if r.File == "" {
		return l.file
	}
	return path.Join(path.Dir(l.file), r.File)
}

// given reports whether a block holds what an agent said.
func (t *lintTurn) given() bool { return !t.IsJudge() && t.Absent == "" && !isPlaceholder(t.Text) }

// placeholder is what stands in documents for a turn that is still to come.
var placeholder = layout.Pattern(`(?i)^\[(?:awaiting|pending|to be)[^\]\n]*\]$`)

// isPlaceholder reports whether a turn's text says that there is none yet.
func isPlaceholder(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || placeholder().MatchString(text)
}

// hasName reports whether a cell such as "Muffin, Scone R0" names an agent, or all.
func hasName(cell, agent string) bool {
	cell = "_" + layout.Slug(cell) + "_"
	return slices.ContainsFunc([]string{layout.Slug(agent), "all", "multiple", "panel"}, func(name string) bool {
		return strings.Contains(cell, "_"+name+"_")
	})
}

// shortID is an id as markers and tables have it: P01, T1; some tables add a letter
// for the agent, whom another column names: P01-M.
var shortID = layout.Pattern(`^(([PT])0*(\d{1,9}))(?:-[A-Z])?$`)

// normalID returns an id with two digits at least, one of four as it is.
func normalID(text string) (id string, found bool) {
	m := shortID().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", false
	}
	if len(m[1]) == len("T0001") {
		return m[1], true
	}
	return fmt.Sprintf("%s%02s", m[2], m[3]), true
}

// lintRound is a round as cells name it: 0, R1, "Muffin R2".
var lintRound = layout.Pattern(`(?:^|[^A-Za-z0-9])R?(\d{1,4})(?:[^A-Za-z0-9.]|$)`)

// roundInCells returns the round that the first of some cells names, -1 if none does.
func roundInCells(cells ...string) int { return firstRound(lintRound(), cells...) }

// header checks the title and the metadata below it.
func (l *linter) header() {
	h, line := l.doc.Head, max(l.doc.HeadLine, 1)
	if !l.found {
		l.add(rule.Must, 1, `begin with "# Alignment Dialogue: TITLE"`, "the document has no title")
		return
	}
	if strings.TrimSpace(h.Title) == "" {
		l.add(rule.Should, line, "write what the dialogue is about", "the title is empty")
	}
	for _, field := range []struct {
		key, value, example string
		level               rule.Level
	}{
		{"Status", h.Status, "**Status**: Converged", rule.Should},
		{"Date", h.Date, "**Date**: 2026-03-02 09:30Z", rule.Note},
		{"Participants", strings.Join(h.Participants, ""), "**Participants**: 💙 Judge, 🧁 Muffin", rule.Note},
		{"Draft", h.Draft, "**Draft**: Dialogue 2047", rule.Note},
	} {
		if field.value == "" {
			l.add(field.level, line, `add a line such as "`+field.example+`"`, "the head does not say %s", field.key)
		}
	}
}

// isPart reports whether the document is the file of one round.
func (l *linter) isPart() bool { return layout.ExtraValue(l.doc.Head.Extra, layout.PropertyPart) != "" }

// isJudgeRow reports whether a row of the panel is the judge's.
func isJudgeRow(e layout.DocumentExpert) bool {
	return e.Emoji == layout.JudgeEmoji || layout.Slug(e.Label) == "judge"
}

// panel checks the table of the experts against the rounds.
func (l *linter) panel() {
	if len(l.doc.Panel) == 0 {
		l.add(rule.Note, max(l.doc.Found.Panel, 1), `add "## Expert Panel" with a row for each agent`,
			"there is no table of the expert panel")
		return
	}
	seen := map[string]bool{}
	for _, e := range l.doc.Panel {
		name := layout.Slug(e.Label)
		if seen[name] {
			l.add(rule.Should, e.Line, "give each its own name, or join rows that say the same",
				"%s is in the panel twice", e.Label)
		}
		seen[name] = true
		if len(l.agents) > 0 && !isJudgeRow(e) && !hasTurn(l.agents, e.Label) {
			l.add(rule.Should, e.Line, "add the turns, or write in the row why there are none",
				"%s is in the panel and in no round", e.Label)
		}
	}
	if !slices.ContainsFunc(l.doc.Panel, isJudgeRow) {
		l.add(rule.Note, l.doc.Found.Panel, `add "| 💙 Judge | Orchestrator | — | — | 💙 |"`, "the panel has no judge")
	}
	for _, t := range l.agents {
		if name := layout.Slug(t.Label); !seen[name] {
			seen[name] = true
			l.addIn(t.file, rule.Should, t.Line, "add a row to the panel",
				"%s has a turn in round %d and is not in the panel", t.Label, t.round)
		}
	}
}

// hasTurn reports whether an agent has a block in some round.
func hasTurn(turns []*lintTurn, label string) bool {
	return slices.ContainsFunc(turns, func(t *lintTurn) bool { return layout.Slug(t.Label) == layout.Slug(label) })
}

// emoji checks that the turns have one, and the judge alone has the judge's.
func (l *linter) emoji() {
	shown := map[string]string{}
	for _, e := range l.doc.Panel {
		shown[layout.Slug(e.Label)] = e.Emoji
		if layout.Slug(e.Label) == "judge" && e.Emoji != layout.JudgeEmoji {
			l.add(rule.Should, e.Line, "give the judge "+layout.JudgeEmoji, "the judge has the emoji %q", e.Emoji)
		}
	}
	for _, t := range l.turns {
		if t.Emoji == "" {
			l.addIn(t.file, rule.Note, t.Line, "write an emoji before or behind the name", "a turn has no emoji in its heading")
		} else if panel := cmp.Or(shown[layout.Slug(t.Label)], t.Emoji); panel != t.Emoji {
			const text = "%s has %s here and %s in the panel"
			l.addIn(t.file, rule.Note, t.Line, "give it the emoji of the panel", text, t.Label, t.Emoji, panel)
		}
	}
}

// hasScores reports whether somebody has been judged, so that there is a total.
func hasScores(b layout.Scoreboard) bool {
	return len(b.Agents) > 0 || slices.ContainsFunc(b.Rounds, func(r layout.RoundScore) bool { return r.Judged })
}

// scoreboard checks that the scores are there, for all who spoke and nobody else.
func (l *linter) scoreboard() {
	const mend = "filebus dialogue judge records scores, and assemble writes them"
	b := l.doc.Scores
	switch {
	case l.doc.Found.Scores == 0:
		l.add(rule.Note, 1, mend, `there is no section "## Alignment Scoreboard"`)
		return
	case len(b.Agents)+len(b.Rounds) == 0:
		l.add(rule.Should, l.doc.Found.Scores, mend, "the scoreboard has no table with scores")
		return
	case !b.HasTotal && hasScores(b):
		l.add(rule.Note, l.doc.Found.Scores, `add "**Total ALIGNMENT**: N"`, "the scoreboard does not say the total")
	}
	if len(b.Agents) == 0 {
		return
	}
	spoke := slices.DeleteFunc(slices.Clone(l.agents), func(t *lintTurn) bool { return !t.given() })
	listed, missing := map[string]bool{}, []string(nil)
	for _, a := range b.Agents {
		listed[layout.Slug(a.Agent)] = true
		if a.Total > 0 && len(spoke) > 0 && !hasTurn(spoke, a.Agent) {
			const text = "%s has %d points and gave no turn"
			l.add(rule.Must, a.Line, "add its turn; an absent agent is never scored", text, a.Agent, a.Total)
		}
	}
	for _, t := range spoke {
		if name := layout.Slug(t.Label); !listed[name] {
			listed[name], missing = true, append(missing, t.Label)
		}
	}
	if len(missing) > 0 {
		l.add(rule.Should, l.doc.Found.Scores, mend, "no row in the scoreboard for %s", shownFirst(missing))
	}
}

// arithmetic checks the sums of the scoreboard.
func (l *linter) arithmetic() {
	const mend = "correct the number that is wrong"
	check := func(line, sum, said int, what string, args ...any) {
		if sum != said {
			l.add(rule.Must, line, mend, "%s add up to %d, not %d", fmt.Sprintf(what, args...), sum, said)
		}
	}
	b := l.doc.Scores
	total := 0
	for _, a := range b.Agents {
		total += a.Total
		sum, of := a.Marks.Sum(), "numbers"
		for _, r := range a.Rounds {
			if a.Marks.Sum() == 0 {
				sum, of = sum+r.Score, "rounds"
			}
		}
		if sum > 0 || of == "rounds" {
			check(a.Line, sum, a.Total, "the %s of %s", of, a.Agent)
		}
	}
	if b.HasTotal && len(b.Agents) > 0 && !slices.ContainsFunc(b.Rounds, func(r layout.RoundScore) bool {
		return r.Cumulative == total // the agents' table ends with that round
	}) {
		check(b.TotalLine, total, b.Total, "the totals of the agents")
	}
	before, scores := 0, 0
	for _, r := range b.Rounds {
		scores += r.Score
		if r.Marks.Sum() > 0 { // else the sum alone was given
			check(r.Line, r.Marks.Sum(), r.Score, "W, C, T and R of round %d", r.Round)
		}
		check(r.Line, before+r.Score, r.Cumulative, "the scores up to round %d", r.Round)
		before = r.Cumulative // one slip is one finding
		velocity := r.OpenTensions + r.NewPerspectives
		check(r.Line, velocity, r.Velocity, "open tensions and new perspectives of round %d", r.Round)
	}
	if b.HasTotal && len(b.Rounds) > 0 {
		check(b.TotalLine, scores, b.Total, "the rounds")
	}
}

// gate checks that a document which says that it has converged has.
func (l *linter) gate() {
	status := strings.ToLower(l.doc.Head.Status)
	if !strings.Contains(status, "converged") || strings.Contains(status, "not converged") {
		return
	}
	levels := map[bool]rule.Level{true: rule.Must, false: rule.Should}
	for _, t := range l.doc.Tensions {
		if t.IsOpen() && !markdown.IsNoCell(t.Status) { // what else the document says may settle it
			isSure := slices.Contains([]string{"open", "unresolved", "reopened"}, layout.Slug(t.Status))
			l.add(levels[isSure], t.Line, "write what became of the tension, or change the document's status",
				"the document has converged, and %s is %s", t.ID, markdown.OneLine(t.Status))
		}
	}
	n := len(l.doc.Scores.Rounds)
	if n == 0 {
		return
	}
	last := l.doc.Scores.Rounds[n-1]
	const mend = "hold another round, or change the document's status"
	if last.Velocity != 0 { // new perspectives alone are no quarrel
		l.add(levels[last.OpenTensions > 0], last.Line, mend,
			"the document has converged, and round %d has a velocity of %d", last.Round, last.Velocity)
	}
	if last.Converge < 100 {
		l.add(rule.Should, last.Line, mend, "the document has converged, and in round %d %d%% of the agents have",
			last.Round, last.Converge)
	}
}
