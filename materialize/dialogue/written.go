package dialogue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/layout"
	"filebus/store"
)

// A word is a file that the judge has written by hand.
type word struct {
	path  string // below the dialogue's folder
	round int    // -1: it is of the whole dialogue
	text  []byte
}

// wordFile finds the files in which a judge writes.
var wordFile = layout.Pattern(`(?i)^(?:round-(\d{1,4})[./])?(scoreboard|tensions|summary|convergence|verdict)(?:\.md)?$`)

// addWord keeps a file of the judge that was not computed.
func (f *Forum) addWord(ctx context.Context, d *Dialogue, v store.Version, path string) error {
	m := wordFile().FindStringSubmatch(path)
	if m == nil {
		return nil
	}
	round, err := strconv.Atoi(m[1])
	if err != nil {
		round = -1
	}
	text, err := f.text(ctx, v)
	if err == nil && !isDerived(text) {
		d.words = append(d.words, word{path, round, text})
	}
	return err
}

// A listedRow is a tension of the judge's list.
type listedRow struct {
	layout.TensionRow
	id             string
	raised, closed int // -1: it is not said
}

// listed returns the judge's list of tensions: tensions.md, or else what the tables of
// his other files say, the last one of each tension.
func (d *Dialogue) listed() (list []listedRow) {
	isOwn := func(w word) bool { return w.path == tensionsFile }
	for _, w := range d.words {
		if slices.ContainsFunc(d.words, isOwn) != isOwn(w) {
			continue
		}
		for _, row := range layout.ParseTensions(w.text) {
			id, isID := layout.TensionID(row.ID)
			if !isID && !keyForm().MatchString(row.ID) && !secondForm().MatchString(row.ID) || !isOwn(w) && row.Status == "" {
				continue
			}
			next := listedRow{row, cmp.Or(id, row.ID), cellRound(row.Raised), cellRound(row.Resolved, row.Status)}
			if w.round >= 0 && next.raised < 0 {
				next.raised = w.round
			}
			if w.round >= 0 && next.closed < 0 && !row.IsOpen() {
				next.closed = w.round
			}
			at := slices.IndexFunc(list, func(old listedRow) bool { return old.id == next.id && !isOwn(w) })
			if at < 0 {
				list = append(list, next)
				continue
			}
			if list[at].State() == next.State() {
				next.closed = list[at].closed
			}
			next.raised, next.Raised = list[at].raised, cmp.Or(list[at].Raised, next.Raised)
			list[at] = next
		}
	}
	return list
}

// A Difference is a number that the judge has written, and that turns and scores have
// otherwise.
type Difference struct {
	Round    int    `json:"round"`
	Number   string `json:"number"` // as JSON calls it
	Judge    int    `json:"judge"`
	Computed int    `json:"computed"`
}

// String says both numbers.
func (d Difference) String() string {
	number := strings.ReplaceAll(d.Number, "_", " ")
	return fmt.Sprintf("round %d: %s: the judge wrote %d, and %d is computed", d.Round, number, d.Judge, d.Computed)
}

// written reads the scoreboards that the judge has written by hand.
func (d *Dialogue) written() (w layout.Written) {
	for _, word := range d.words {
		w.Read(word.path, word.text, word.round)
	}
	return w
}

// allRounds returns the rounds, and those of which only the judge has written.
func (d *Dialogue) allRounds(w layout.Written) []*Round {
	rounds := slices.Clone(d.Rounds)
	for n := range w.Said {
		if d.Round(n) == nil {
			rounds = append(rounds, &Round{Number: n, Panel: &layout.Panel{}})
		}
	}
	slices.SortFunc(rounds, func(a, b *Round) int { return cmp.Compare(a.Number, b.Number) })
	return rounds
}

// settle puts the judge's numbers in the place of those that were computed. Marks that
// scores.json has stand. Of numbers that differ both are kept.
func (b *Board) settle(row *layout.RoundScore, said map[string]int, hasTurns, hasScores bool) {
	before := row.Cumulative
	for i, n := range row.Numbers() {
		isMark, known := i <= 4, hasTurns // the marks, and their sum
		switch n.Name {
		case "score":
			*n.N = cmp.Or(*n.N, row.Marks.Sum())
			known = *n.N > 0
		case "cumulative":
			*n.N = before + row.Score
			known = row.Judged
		case "open_tensions":
			known = known || len(b.Tensions) > 0
		case "velocity":
			*n.N = row.OpenTensions + row.NewPerspectives
			_, isSaid := said["new_perspectives"]
			known = known || isSaid
		}
		judge, isSaid := said[n.Name]
		if isSaid && judge != *n.N && (known && !isMark || isMark && *n.N > 0) {
			b.Differences = append(b.Differences, Difference{row.Round, n.Name, judge, *n.N})
		}
		if isSaid && !(isMark && hasScores) {
			*n.N = judge
			row.Judged = row.Judged || isMark
		}
	}
}

// addWritten adds what the judge has written of agents to what scores.json has.
func (b *Board) addWritten(agents *agentRows, written []layout.AgentScore) {
	for _, a := range written {
		name := layout.AgentName(a.Agent)
		at := slices.IndexFunc(agents.names, func(n string) bool { return n == name || layout.AgentName(b.label(n)) == name })
		if at >= 0 {
			name = agents.names[at]
		}
		row := agents.row(name, a.Agent)
		isNew := len(row.Rounds) == 0
		for _, r := range a.Rounds {
			if _, has := row.In(r.Round); !has {
				row.Rounds = append(row.Rounds, r)
				row.Total, row.Marks = row.Total+r.Score, row.Marks.Plus(r.Marks)
			}
		}
		if isNew && (len(a.Rounds) != 1 || row.Total == 0) {
			row.Total, row.Marks = a.Total, a.Marks
		}
	}
}
