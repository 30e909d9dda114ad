package dialogue

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// The levels of findings, which say how much one takes of the points of its check.
const (
	lintMust   = "must"   // all: what the document says is wrong, or not there at all
	lintShould = "should" // half: something is missing or does not agree
	lintNote   = "note"   // a quarter: another form, such as that of older documents
)

// LintLevels returns the levels of findings, the gravest first.
func LintLevels() []string { return []string{lintMust, lintShould, lintNote} }

// A lintFinding is one thing that departs from the form of a document.
type lintFinding struct {
	Check   string `json:"check"`
	Level   string `json:"level"`
	File    string `json:"file"`
	Line    int    `json:"line"` // counted from 1
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
	More    int    `json:"more,omitempty"` // how often the same is to be said of the file besides
}

// A lintCheck is what a document got for one check.
type lintCheck struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"` // the weights of all add up to 100
	Points int    `json:"points"`
}

// A LintReport is what was found in one document.
type LintReport struct {
	File       string        `json:"file"`
	Score      int           `json:"score"`                // 0 to 100: the points of all checks
	Incomplete bool          `json:"incomplete,omitempty"` // no turn of an agent was found
	Checks     []lintCheck   `json:"checks"`
	Findings   []lintFinding `json:"findings"` // the gravest first, then by line
}

// Count returns how many findings have a level.
func (r *LintReport) Count(level string) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// lintRule is one check.
type lintRule struct {
	name   string
	weight int
	run    func(*linter)
	turns  bool // looks at turns: where there are none, it gives no points
	whole  bool // not of the file of one round, which has neither tables nor metadata of its own
}

// lintRules returns the twelve checks, in the order of a document.
func lintRules() []lintRule {
	return []lintRule{
		{"header", 8, (*linter).header, false, true},
		{"panel", 8, (*linter).panel, false, true},
		{"emoji", 4, (*linter).emoji, false, false},
		{"scoreboard", 8, (*linter).scoreboard, false, true},
		{"arithmetic", 12, (*linter).arithmetic, false, false},
		{"inventories", 8, (*linter).inventories, true, true},
		{"gate", 12, (*linter).gate, false, false},
		{"rounds", 12, (*linter).rounds, true, false},
		{"sequence", 8, (*linter).sequence, true, false},
		{"markers", 8, (*linter).markers, true, false},
		{"ids", 8, (*linter).ids, true, false},
		{"numbering", 4, (*linter).numbering, true, false},
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
	left := map[string]int{lintMust: 0, lintShould: 2, lintNote: 3} // quarters of the points
	report := &LintReport{File: file, Findings: []lintFinding{}}
	report.Incomplete = found && !slices.ContainsFunc(l.agents, (*lintTurn).given)
	named := layout.ExtraValue(doc.Head.Extra, layout.PropertyFindings)
	for _, rule := range lintRules() {
		l.check, l.findings = rule.name, nil
		if (found || rule.name == "header") && !(rule.whole && l.isPart()) { // without a title nothing else is read
			rule.run(l)
		}
		points := rule.weight
		if !found || rule.turns && report.Incomplete {
			points = 0
		}
		for _, f := range l.findings {
			if f.Level != lintNote && strings.Contains(named, markdown.OneLine(f.Message)) {
				f.Level, f.Remedy = lintNote, "the head names it: it is so in the dialogue"
			}
			points = min(points, rule.weight*left[f.Level]/4)
			report.Findings = append(report.Findings, f)
		}
		report.Checks = append(report.Checks, lintCheck{rule.name, rule.weight, points})
		report.Score += points
	}
	slices.SortStableFunc(report.Findings, func(a, b lintFinding) int {
		return cmp.Or(left[a.Level]-left[b.Level], strings.Compare(a.File, b.File), a.Line-b.Line)
	})
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
	findings []lintFinding
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
func (l *linter) add(level string, line int, remedy, format string, args ...any) {
	l.addIn(l.file, level, line, remedy, format, args...)
}

// addIn adds a finding at a line of a file, or counts what is said of the file already.
func (l *linter) addIn(file string, level string, line int, remedy, format string, args ...any) {
	for i, f := range l.findings {
		if f.File == file && f.Level == level && f.Message == fmt.Sprintf(format, args...) {
			l.findings[i].More++
			return
		}
	}
	l.findings = append(l.findings, lintFinding{
		Check: l.check, Level: level, File: file, Line: max(line, 1), Message: fmt.Sprintf(format, args...), Remedy: remedy,
	})
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

// plainName returns the letters and digits of a name, in lower case, by which
// names are compared.
func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// hasName reports whether a cell such as "Muffin, Scone R0" names an agent, or all.
func hasName(cell, agent string) bool {
	words := strings.FieldsFunc(cell, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	name := plainName(agent)
	for i := range words {
		joined := ""
		for _, word := range words[i:] {
			joined += plainName(word)
			if joined == name {
				return true
			}
			if len(joined) > len(name) {
				break
			}
		}
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{"all", "multiple", "panel"}, strings.ToLower(word)) // it means every agent
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
		l.add(lintMust, 1, `begin with "# Alignment Dialogue: TITLE"`, "the document has no title")
		return
	}
	if strings.TrimSpace(h.Title) == "" {
		l.add(lintShould, line, "write what the dialogue is about", "the title is empty")
	}
	for _, field := range []struct {
		key, value, example string
		level               string
	}{
		{"Status", h.Status, "**Status**: Converged", lintShould},
		{"Date", h.Date, "**Date**: 2026-03-02 09:30Z", lintNote},
		{"Participants", strings.Join(h.Participants, ""), "**Participants**: 💙 Judge, 🧁 Muffin", lintNote},
		{"Draft", h.Draft, "**Draft**: Dialogue 2047", lintNote},
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
	return e.Emoji == layout.JudgeEmoji || plainName(e.Label) == "judge"
}

// panel checks the table of the experts against the rounds.
func (l *linter) panel() {
	if len(l.doc.Panel) == 0 {
		l.add(lintNote, max(l.doc.Found.Panel, 1), `add "## Expert Panel" with a row for each agent`, "there is no table of the expert panel")
		return
	}
	seen := map[string]int{}
	for i, e := range l.doc.Panel {
		name := plainName(e.Label)
		if seen[name] > 0 {
			l.add(lintShould, e.Line, "give each its own name, or join rows that say the same", "%s is in the panel twice", e.Label)
		} else {
			seen[name] = e.Line
		}
		if i > 0 && isJudgeRow(e) {
			l.add(lintNote, e.Line, "put the judge first", "the judge is not the first row of the panel")
		}
		if len(l.agents) > 0 && !isJudgeRow(e) && !hasTurn(l.agents, e.Label) {
			l.add(lintShould, e.Line, "add the turns, or write in the row why there are none", "%s is in the panel and in no round", e.Label)
		}
	}
	if !slices.ContainsFunc(l.doc.Panel, isJudgeRow) {
		l.add(lintNote, l.doc.Found.Panel, `add "| 💙 Judge | Orchestrator | — | — | 💙 |"`, "the panel has no judge")
	}
	for _, t := range l.agents {
		if name := plainName(t.Label); seen[name] == 0 {
			seen[name] = t.Line
			l.addIn(t.file, lintShould, t.Line, "add a row to the panel", "%s has a turn in round %d and is not in the panel", t.Label, t.round)
		}
	}
}

// hasTurn reports whether an agent has a block in some round.
func hasTurn(turns []*lintTurn, label string) bool {
	return slices.ContainsFunc(turns, func(t *lintTurn) bool { return plainName(t.Label) == plainName(label) })
}

// emoji checks that all have one, and the judge alone has the judge's.
func (l *linter) emoji() {
	shown := map[string]string{}
	isShown := slices.ContainsFunc(l.doc.Panel, func(e layout.DocumentExpert) bool { return e.Emoji != "" })
	for _, e := range l.doc.Panel {
		shown[plainName(e.Label)] = e.Emoji
		switch isJudge := plainName(e.Label) == "judge"; {
		case isJudge && e.Emoji != layout.JudgeEmoji:
			l.add(lintShould, e.Line, "give the judge "+layout.JudgeEmoji, "the judge has the emoji %q", e.Emoji)
		case e.Emoji == "" && isShown:
			l.add(lintNote, e.Line, "give it one, such as "+layout.AgentEmoji, "%s has no emoji in the panel", e.Label)
		}
	}
	for _, t := range l.turns {
		switch panel := shown[plainName(t.Label)]; {
		case t.Emoji == "":
			l.addIn(t.file, lintNote, t.Line, "write it before or behind the name", "a turn has no emoji in its heading")
		case panel != "" && panel != t.Emoji:
			level := lintNote
			if t.IsJudge() || panel == layout.JudgeEmoji {
				level = lintShould
			}
			const text = "%s has %s here and %s in the panel"
			l.addIn(t.file, level, t.Line, "give it the emoji of the panel", text, t.Label, t.Emoji, panel)
		}
	}
	if !isShown && len(l.doc.Panel) > 0 {
		l.add(lintNote, l.doc.Found.Panel, "give each one, such as "+layout.AgentEmoji, "the panel has no emojis")
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
		l.add(lintNote, 1, mend, `there is no section "## Alignment Scoreboard"`)
		return
	case len(b.Agents)+len(b.Rounds) == 0:
		l.add(lintShould, l.doc.Found.Scores, mend, "the scoreboard has no table with scores")
		return
	case !b.HasTotal && hasScores(b):
		l.add(lintNote, l.doc.Found.Scores, `add "**Total ALIGNMENT**: N"`, "the scoreboard does not say the total")
	}
	if len(b.Agents) == 0 {
		return
	}
	var missing []string
	for _, t := range l.agents {
		isScored := slices.ContainsFunc(b.Agents, func(a layout.AgentScore) bool { return plainName(a.Agent) == plainName(t.Label) })
		if !isScored && t.given() && !slices.Contains(missing, t.Label) {
			missing = append(missing, t.Label)
		}
	}
	if len(missing) > 0 {
		l.add(lintShould, l.doc.Found.Scores, mend, "no row in the scoreboard for %s", shownFirst(missing))
	}
	spoke := slices.DeleteFunc(slices.Clone(l.agents), func(t *lintTurn) bool { return !t.given() })
	for _, a := range b.Agents {
		if a.Total == 0 || len(spoke) == 0 || hasTurn(spoke, a.Agent) {
			continue
		}
		level := lintShould // of one that never spoke, where others did
		if hasTurn(l.agents, a.Agent) {
			level = lintMust
		}
		l.add(level, a.Line, "add its turn; an absent agent is never scored", "%s has %d points and gave no turn", a.Agent, a.Total)
	}
}

// arithmetic checks the sums of the scoreboard.
func (l *linter) arithmetic() {
	const mend = "look which of the numbers is wrong"
	check := func(line, sum, said int, what string, args ...any) {
		if sum != said {
			l.add(lintMust, line, mend, "%s add up to %d, not %d", fmt.Sprintf(what, args...), sum, said)
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
	for _, t := range l.doc.Tensions {
		level := lintShould // what else the document says may settle it
		if slices.Contains([]string{"open", "unresolved", "reopened"}, plainName(t.Status)) {
			level = lintMust
		}
		if t.IsOpen() && !markdown.IsNoCell(t.Status) {
			l.add(level, t.Line, "write what became of it, or another status of the document",
				"the document has converged, and %s is %s", t.ID, markdown.OneLine(t.Status))
		}
	}
	if n := len(l.doc.Scores.Rounds); n > 0 {
		last := l.doc.Scores.Rounds[n-1]
		const mend = "hold another round, or write another status"
		if last.Velocity != 0 {
			level := lintShould // new perspectives alone are no quarrel
			if last.OpenTensions > 0 {
				level = lintMust
			}
			l.add(level, last.Line, mend, "the document has converged, and round %d has a velocity of %d", last.Round, last.Velocity)
		}
		if last.Converge < 100 {
			l.add(lintShould, last.Line, mend, "the document has converged, and in round %d %d%% of the agents have",
				last.Round, last.Converge)
		}
	}
}
