package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A Board is a dialogue in numbers.
type Board struct {
	Dialogue *Dialogue
	*tracking
	layout.Scoreboard
	Presence []Presence // of each round, in their order
	// Converged: the last round has no velocity, nobody owes a file in it, and all who
	// wrote in it signal converge.
	Converged   bool
	Differences []Difference
	Says        []string // what the judge says of the whole
	IsWritten   bool     // the judge has written numbers by hand
	hasScores   bool     // of one round at least, in scores.json
	Notes       []string // what the judge has written and is not understood, or contradicts itself
	names       []string // of the agents that take part, as their files have them, in the order of Agents
}

// A Presence is who was there in a round.
type Presence struct {
	Round     int           `json:"-"`
	Given     []string      `json:"given"` // agents that gave a turn
	Absent    []absentAgent `json:"absent,omitempty"`
	Converge  []string      `json:"-"`                  // who signals converge, or does by the judge's word
	Unjudged  []string      `json:"unjudged,omitempty"` // who gave a turn that nobody has judged
	Changed   []string      `json:"changed,omitempty"`  // whose turn has changed since it was judged
	Discarded []string      `json:"-"`                  // who was judged and gave no turn
}

// An absentAgent is an agent that was launched and gave no turn.
type absentAgent struct {
	Agent  string
	Reason string // its state: missing, empty or stub
	Stub   string // why there is a stub
}

// MarshalText returns the agent's name.
func (a absentAgent) MarshalText() ([]byte, error) { return []byte(a.Agent), nil }

// NewBoard returns the numbers of a dialogue: what the judge has recorded for agents
// that gave a turn, or has written by hand, and where neither is there what the turns
// themselves say. The same records give the same numbers.
func NewBoard(d *Dialogue) *Board {
	b := &Board{Dialogue: d, Says: d.says(), tracking: track(d)}
	for _, r := range d.Rounds {
		b.addAgents(r)
	}
	w := layout.HandNumbers{Said: map[layout.Said]int{}, Scoreboard: layout.Scoreboard{Agents: b.Agents}}
	for _, word := range d.judgeFiles {
		said := len(w.Said)
		if !w.Read(word.path, word.text, word.round) && len(w.Said) == said && strings.Contains(strings.ToLower(word.path), "scoreboard") {
			w.Notes = append(w.Notes, word.path+": no number in it is understood")
		}
	}
	b.IsWritten = len(w.Said) > 0 || w.HasTotal || len(w.Agents) > len(b.names)
	b.Agents, b.HasTotal, b.Notes = w.Agents, true, append(b.notes, w.Notes...)
	for _, r := range d.Rounds {
		b.addRound(r, &w)
	}
	if !slices.ContainsFunc(b.Rounds, func(r layout.RoundScore) bool { return r.Judged }) {
		for _, a := range b.Agents {
			b.Total += a.Total // which the judge has written alone
		}
	}
	if w.HasTotal && w.Total != b.Total && len(b.Rounds) > 0 {
		b.Differences = append(b.Differences, Difference{d.Last().Number, "total", w.Total, b.Total})
	}
	if w.HasTotal && !b.hasScores {
		b.Total = w.Total
	}
	return b
}

// addRound adds the numbers of a round.
func (b *Board) addRound(r *Round, w *layout.HandNumbers) {
	p := b.Dialogue.presence(r)
	row := layout.RoundScore{Round: r.Number, Cumulative: b.Total, OpenTensions: len(b.Open(r.Number))}
	for _, a := range b.Agents {
		for _, in := range a.Rounds {
			if in.Round == r.Number {
				row.Marks, row.Score, row.Judged = row.Marks.Plus(in.Marks), row.Score+in.Score, true
			}
		}
	}
	for _, v := range b.Perspectives {
		if v.Round == r.Number && !v.isMarked(r.Number) {
			row.NewPerspectives++
		}
	}
	if n := len(p.Given); n > 0 {
		row.Converge = 100 * len(p.Converge) / n
	}
	hasScores := len(p.Unjudged) < len(p.Given)
	b.hasScores = b.hasScores || hasScores
	if b.settle(&row, w.Said, len(p.Given) > 0, hasScores); row.Judged && !hasScores {
		p.Unjudged = nil // the judge's scoreboard has the round
	}
	b.Total = row.Cumulative
	b.Rounds, b.Presence = append(b.Rounds, row), append(b.Presence, p)
	isAwaited := slices.ContainsFunc(p.Absent, func(a absentAgent) bool { return a.Reason == stateMissing || a.Reason == stateAstray })
	b.Converged = row.Velocity == 0 && len(p.Given) > 0 && row.Converge >= 100 && !isAwaited &&
		b.Dialogue.unknown(r) == nil
}

// HasTurns reports whether anybody gave a turn: else there is nothing to reckon.
func (b *Board) HasTurns() bool {
	return slices.ContainsFunc(b.Presence, func(p Presence) bool { return len(p.Given) > 0 })
}

// presence says who was there in a round.
func (d *Dialogue) presence(r *Round) Presence {
	p := Presence{Round: r.Number}
	for _, t := range r.given() {
		p.Given = append(p.Given, t.Agent)
		j, judged := r.Scores.Find(t.Agent)
		if !judged {
			p.Unjudged = append(p.Unjudged, t.Agent)
		}
		if t.isChanged(j) {
			p.Changed = append(p.Changed, t.Agent)
		}
		if t.hasConverged() || j.Converge {
			p.Converge = append(p.Converge, t.Agent)
		}
	}
	for _, name := range d.owingNames(r) {
		if a, isAbsent := r.absence(name); isAbsent {
			p.Absent = append(p.Absent, a)
		}
	}
	for _, j := range r.Scores.Agents {
		if _, isAbsent := r.absence(j.Agent); isAbsent {
			p.Discarded = append(p.Discarded, j.Agent)
		}
	}
	return p
}

// owingNames returns the names of those who owe a file in a round, each once, and of those
// who left a stub.
func (d *Dialogue) owingNames(r *Round) []string {
	wanting := slices.DeleteFunc(slices.Clone(r.Turns), func(t *Turn) bool { return t.state() == stateTurn })
	return names(folded(slices.Concat(d.Launched(r), writers(wanting))))
}

// addAgents adds the rows of those who take part in a round, in this order, and to them
// what the judge gave for their turns.
func (b *Board) addAgents(r *Round) {
	for _, e := range folded(slices.Concat(b.Dialogue.Launched(r), writers(r.given()))) {
		at := slices.Index(b.names, e.Name)
		if at < 0 {
			at = len(b.names)
			b.names = append(b.names, e.Name)
			b.Agents = append(b.Agents, layout.AgentScore{Agent: labelOf(e.Name)})
		}
		if e.Label != "" && b.Agents[at].Agent == labelOf(e.Name) { // an earlier round may not tell it
			b.Agents[at].Agent = e.Label
		}
		j, judged := r.Scores.Find(e.Name)
		if _, isAbsent := r.absence(e.Name); judged && !isAbsent {
			row := &b.Agents[at]
			row.Marks, row.Total = row.Marks.Plus(j.Marks), row.Total+j.Marks.Sum()
			row.Rounds = append(row.Rounds, layout.AgentRound{Round: r.Number, Score: j.Marks.Sum(), Marks: j.Marks})
		}
	}
}

// label returns what people call an agent.
func (b *Board) label(agent string) string {
	if at := slices.Index(b.names, agent); at >= 0 {
		return b.Agents[at].Agent
	}
	return labelOf(agent)
}

// TensionRows returns the table of the tensions at the end of the last round: those
// that count.
func (b *Board) TensionRows() []layout.TensionRow {
	last := b.Dialogue.Last()
	if last == nil {
		return nil
	}
	var rows []layout.TensionRow
	for _, t := range b.Tensions {
		if !t.counts() {
			continue
		}
		status, by := t.At(last.Number)
		row := layout.TensionRow{
			ID: t.String(), Tension: markdown.Clip(t.Label, maxLabel), Status: string(status), Raised: b.who(t.Agent,
				t.Round), RaisedRound: t.Round,
		}
		if by != nil && !status.isOpen() {
			row.Resolved = b.who(by.Agent, by.Round)
		}
		if status, by := t.At(math.MaxInt); by != nil && !status.isOpen() { // the judge may name rounds to come
			row.ResolvedRound = &by.Round
		}
		if t.row != nil && t.mark == nil && (by == nil || by.Agent == "") { // no agent has done more since
			row.Status, row.Resolved = cmp.Or(t.row.Status, row.Status), t.row.Resolved
			row.Raised = cmp.Or(t.row.Raised, row.Raised)
		}
		rows = append(rows, row)
	}
	return rows
}

// maxLabel is how many characters of a label tables show.
const maxLabel = 120

// who says by whom something was done, and in which round.
func (b *Board) who(agent string, round int) string {
	if agent == "" {
		return fmt.Sprintf("R%d", round)
	}
	return fmt.Sprintf("%s R%d", b.label(agent), round)
}

// titled returns the heading of a file that is computed.
func (b *Board) titled(what string) []byte {
	return fmt.Appendf(nil, "# %s — %s\n\n", what, markdown.OneLine(b.Dialogue.Pool.Title))
}

// tensionsText returns tensions.md.
func (b *Board) tensionsText() []byte {
	rows := b.TensionRows()
	body := layout.AppendTensions(b.titled("Tensions"), rows)
	if len(rows) > 0 {
		body = fmt.Appendf(body, "\nTo speak of one, give its whole id: [RESOLVED %s].\n", rows[0].ID)
	}
	return derived(body)
}

// absence returns an agent that counts as absent from a round; found is false for one
// that gave a turn.
func (r *Round) absence(agent string) (a absentAgent, found bool) {
	t := r.Turn(agent)
	a.Agent, a.Reason = agent, t.state()
	if a.Reason == stateStub {
		a.Stub = t.Stub
	}
	return a, a.Reason != stateTurn
}

// require returns a round, or what noRound says.
func (d *Dialogue) require(number int) (*Round, error) {
	if r := d.Round(number); r != nil {
		return r, nil
	}
	return nil, d.noRound(number)
}

// A Judgement is what was recorded of a judge's word.
type Judgement struct {
	Dialogue  Key               `json:"dialogue"`
	Round     int               `json:"round"`
	Agents    []judgedTurn      `json:"agents,omitempty"` // as recorded, in the order given
	Marks     []layout.ItemMark `json:"marks,omitempty"`
	File      string            `json:"file"` // absolute
	Unchanged bool              `json:"unchanged"`
}

// A judgedTurn is what one agent was given.
type judgedTurn struct {
	Agent string `json:"agent"`
	layout.Marks
	Score    int    `json:"score"` // their sum
	Converge bool   `json:"converge,omitempty"`
	Note     string `json:"note,omitempty"`
	Judge    string `json:"judge,omitempty"`
}

// Judge records what the judge gives agents of a round, and what he marks in it, all or
// nothing. What an agent or an item was given before is replaced. An agent that gave no
// turn is never judged.
func (f *Dialogues) Judge(
	ctx context.Context, key Key, round int, given []layout.JudgedTurn, marks ...layout.ItemMark,
) (*Judgement, error) {
	d, err := f.readOwn(ctx, key)
	if err != nil {
		return nil, err
	}
	r, err := d.require(round)
	if err != nil {
		return nil, err
	}
	turns, err := d.judged(r, given)
	if err == nil {
		err = track(d).resolveMarks(round, marks)
	}
	if err != nil {
		return nil, err
	}
	name := fileName(key, roundFolder(round)+"/"+scoresFile)
	put, err := f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, judgeEdit(name, round, turns, marks))
	if err != nil {
		return nil, err
	}
	out := &Judgement{Dialogue: key, Round: round, Marks: marks, File: put.File, Unchanged: put.Unchanged}
	for _, j := range turns {
		out.Agents = append(out.Agents, judgedTurn{j.Agent, j.Marks, j.Marks.Sum(), j.Converge, j.Note, j.Judge})
	}
	return out, nil
}

// judged returns what is given with the names of agents as files have them.
func (d *Dialogue) judged(r *Round, given []layout.JudgedTurn) ([]layout.JudgedTurn, error) {
	var turns []layout.JudgedTurn
	seen := map[string]bool{}
	for _, j := range given {
		name, err := FoldName(j.Agent)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, refuse("", "%s is among the agents twice", name)
		}
		if err := j.Check(); err != nil {
			return nil, refuse("", "%s: malformed mark: %w", name, err)
		}
		if a, isAbsent := r.absence(name); isAbsent {
			return nil, d.absent(r, a)
		}
		j.Agent, j.Note, j.Judge, j.Turn = name, markdown.OneLine(j.Note), markdown.OneLine(j.Judge), r.Turn(name).digest()
		seen[name] = true
		turns = append(turns, j)
	}
	return turns, nil
}

// absent returns the error for an agent that gave no turn.
func (d *Dialogue) absent(r *Round, a absentAgent) error {
	why := map[string]string{
		stateMissing: listed(", in which there is one of ", names(writers(r.given()))),
		stateStub:    ", but a stub: " + a.Stub,
		stateEmpty:   ": its file is empty",
	}[a.Reason]
	if a.Reason == stateAstray {
		why = ": of its file, " + r.Turn(a.Agent).Astray
	}
	const text = "%s gave no turn in round %d of %s%s; an absent agent is never scored"
	err := record.Conflict.Errorf(text, a.Agent, r.Number, d.Key, why)
	return err.Try("filebus dialogue check {1} {2}", d.Key.String(), strconv.Itoa(r.Number))
}

// judgeEdit returns the edit that puts judged turns and marks into the text of scores.
func judgeEdit(
	name record.Name, round int, turns []layout.JudgedTurn, marks []layout.ItemMark,
) materialize.TextEdit {
	return func(old []byte, _ *store.Version) ([]byte, error) {
		scores := layout.Scores{Round: round}
		if !isBlank(old) {
			var problem *layout.SyntaxError
			if scores, problem = layout.ParseScores(old); problem != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", name.ID, problem.Err)
			}
		}
		scores.Round = round
		before := layout.AppendScores(nil, scores)
		for _, j := range turns {
			scores = scores.Set(j)
		}
		for _, m := range marks {
			scores = scores.Mark(m)
		}
		after := layout.AppendScores(nil, scores)
		if bytes.Equal(before, after) && !isBlank(old) {
			return old, nil
		}
		return after, nil
	}
}
