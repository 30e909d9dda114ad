package dialogue

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"filebus/materialize/layout"
)

// A LintLevel says how much a finding takes of the points of its check.
type LintLevel string

// The levels of findings.
const (
	LintMust   LintLevel = "must"   // all: what the document says is wrong, or not there at all
	LintShould LintLevel = "should" // half: something is missing or does not agree
	LintNote   LintLevel = "note"   // a quarter: another form, such as that of older documents
)

// rank orders levels, the gravest first.
func (l LintLevel) rank() int {
	return slices.Index([]LintLevel{LintMust, LintShould, LintNote}, l)
}

// A lintFinding is one thing that departs from the form of a document.
type lintFinding struct {
	Check   string    `json:"check"`
	Level   LintLevel `json:"level"`
	File    string    `json:"file"`
	Line    int       `json:"line"` // counted from 1
	Message string    `json:"message"`
	Remedy  string    `json:"remedy"`
}

// A lintCheck is what a document got for one check.
type lintCheck struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"` // the weights of all add up to 100
	Points int    `json:"points"`
}

// A LintReport is what was found in one document.
type LintReport struct {
	File     string        `json:"file"`
	Score    int           `json:"score"` // 0 to 100: the points of all checks
	Checks   []lintCheck   `json:"checks"`
	Findings []lintFinding `json:"findings"` // the gravest first, then by line
}

// Count returns how many findings have a level.
func (r *LintReport) Count(level LintLevel) int {
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
	rounds bool // looks at rounds alone: where there are none, it gives no points
}

// lintRules returns the twelve checks, in the order of a document.
func lintRules() []lintRule {
	return []lintRule{
		{"header", 8, (*linter).header, false},
		{"panel", 8, (*linter).panel, false},
		{"emoji", 4, (*linter).emoji, false},
		{"scoreboard", 8, (*linter).scoreboard, false},
		{"arithmetic", 12, (*linter).arithmetic, false},
		{"inventories", 8, (*linter).inventories, false},
		{"gate", 12, (*linter).gate, false},
		{"rounds", 12, (*linter).rounds, false},
		{"sequence", 8, (*linter).sequence, true},
		{"markers", 8, (*linter).markers, true},
		{"ids", 8, (*linter).ids, true},
		{"numbering", 4, (*linter).numbering, true},
	}
}

// LintDocument checks a document that ReadDocument has read: what it says against
// itself, and its form against the one that Assemble writes. What documents of
// another generation do not have is a note; the emoji of an agent may stand before
// or behind its name.
func LintDocument(file string, doc *layout.DialogueDocument, found bool) *LintReport {
	l := &linter{file: file, doc: doc, found: found}
	l.readTurns()
	report := &LintReport{File: file, Findings: []lintFinding{}}
	for _, rule := range lintRules() {
		l.check, l.findings = rule.name, nil
		if found || rule.name == "header" { // without a title nothing else is read
			rule.run(l)
		}
		points := rule.weight
		if !found || rule.rounds && len(doc.Rounds) == 0 {
			points = 0
		}
		for _, f := range l.findings {
			switch f.Level {
			case LintMust:
				points = 0
			case LintShould:
				points = min(points, rule.weight/2)
			case LintNote:
				points = min(points, rule.weight*3/4)
			}
		}
		report.Checks = append(report.Checks, lintCheck{rule.name, rule.weight, points})
		report.Score += points
		report.Findings = append(report.Findings, l.findings...)
	}
	slices.SortStableFunc(report.Findings, func(a, b lintFinding) int {
		return cmp.Or(cmp.Compare(a.Level.rank(), b.Level.rank()), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return report
}

// A linter runs the checks over one document.
type linter struct {
	file     string
	doc      *layout.DialogueDocument
	found    bool
	turns    []lintTurn
	check    string // that is running
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
func (l *linter) add(level LintLevel, line int, remedy, format string, args ...any) {
	l.addIn(l.file, level, line, remedy, format, args...)
}

// addIn adds a finding at a line of a file.
func (l *linter) addIn(file string, level LintLevel, line int, remedy, format string, args ...any) {
	l.findings = append(l.findings, lintFinding{
		Check: l.check, Level: level, File: file, Line: max(line, 1), Message: fmt.Sprintf(format, args...), Remedy: remedy,
	})
}

// readTurns collects the blocks of all rounds.
func (l *linter) readTurns() {
	for _, r := range l.doc.Rounds {
		for _, t := range r.Turns {
			turn := lintTurn{DocumentTurn: t, round: r.Number, file: l.fileOf(r)}
			if t.Absent == "" && !isPlaceholder(t.Text) && len(t.Text) <= MaxTurn { // as in the dialogue itself
				turn.markers = layout.ParseMarkers([]byte(t.Text))
				for i := range turn.markers {
					turn.markers[i].Line += t.TextLine - 1
				}
			}
			l.turns = append(l.turns, turn)
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

// agentTurns returns the blocks of agents, those who were absent included.
func (l *linter) agentTurns() []*lintTurn {
	var turns []*lintTurn
	for i := range l.turns {
		if !l.turns[i].IsJudge() {
			turns = append(turns, &l.turns[i])
		}
	}
	return turns
}

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
var shortID = layout.Pattern(`^([PT])0*(\d{1,9})(?:-[A-Z])?$`)

// normalID returns an id with two digits at least.
func normalID(text string) (id string, found bool) {
	m := shortID().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", false
	}
	n, _ := strconv.Atoi(m[2]) // at most nine digits
	return fmt.Sprintf("%s%02d", m[1], n), true
}

// lintRound is a round as cells name it: 0, R1, "Muffin R2".
var lintRound = layout.Pattern(`(?:^|[^A-Za-z0-9])R?(\d{1,4})(?:[^A-Za-z0-9.]|$)`)

// roundInCell returns the round that a cell names.
func roundInCell(cell string) (round int, found bool) {
	m := lintRound().FindStringSubmatch(cell)
	if m == nil {
		return 0, false
	}
	round, _ = strconv.Atoi(m[1]) // at most four digits
	return round, true
}
