package dialogue

import (
	"cmp"
	"fmt"
	"slices"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A Board is a dialogue in numbers.
type Board struct {
	Dialogue *Dialogue
	*Tracking
	layout.Scoreboard
	Presence []Presence // of each round, in their order
	// Converged: the last round has no velocity, nobody owes a file in it, and all who
	// wrote in it signal converge.
	Converged bool
	labels    map[string]string
}

// A Presence is who was there in a round.
type Presence struct {
	Round     int           `json:"-"`
	Given     []string      `json:"given"` // agents that gave a turn
	Absent    []AbsentAgent `json:"absent,omitempty"`
	Converge  []string      `json:"-"`                  // who signals converge, or does by the judge's word
	Unjudged  []string      `json:"unjudged,omitempty"` // who gave a turn that nobody has judged
	Discarded []string      `json:"-"`                  // who was judged and gave no turn
}

// An AbsentAgent is an agent that was launched and gave no turn.
type AbsentAgent struct {
	Agent  string
	Reason Absence
	Stub   string // why there is a stub
}

// MarshalText returns the agent's name.
func (a AbsentAgent) MarshalText() ([]byte, error) { return []byte(a.Agent), nil }

// NewBoard computes the numbers of a dialogue: what the judge has recorded for agents
// that gave a turn, and what the turns themselves say. The same records give the same
// numbers.
func NewBoard(d *Dialogue) *Board {
	b := &Board{Dialogue: d, Tracking: Track(d), labels: d.labelsOf()}
	agents := b.agents()
	sum := 0
	for _, r := range d.Rounds {
		p := d.presence(r)
		row := layout.RoundScore{Round: r.Number}
		for _, j := range r.judgedOf(p.Given) {
			row.Judged = true
			row.Marks = row.Marks.Plus(j.Marks())
			agents.add(j, r.Number)
		}
		row.Score = row.Marks.Sum()
		sum += row.Score
		row.Cumulative = sum
		row.OpenTensions, row.NewPerspectives = len(b.Open(r.Number)), b.newPerspectives(r.Number)
		row.Velocity = row.OpenTensions + row.NewPerspectives
		if n := len(p.Given); n > 0 {
			row.Converge = 100 * len(p.Converge) / n
		}
		b.Rounds, b.Presence = append(b.Rounds, row), append(b.Presence, p)
		b.Converged = row.Velocity == 0 && len(p.Given) > 0 && len(p.Converge) == len(p.Given) && !p.isAwaited()
	}
	b.Agents, b.Total, b.HasTotal = agents.rows, sum, true
	return b
}

// isAwaited reports whether an agent has neither a turn nor a stub yet.
func (p Presence) isAwaited() bool {
	return slices.ContainsFunc(p.Absent, func(a AbsentAgent) bool { return a.Reason == AbsentMissing })
}

// presence says who was there in a round.
func (d *Dialogue) presence(r *Round) Presence {
	p := Presence{Round: r.Number}
	for _, t := range r.given() {
		p.Given = append(p.Given, t.Agent)
		j, judged := r.scores().Find(t.Agent)
		if !judged {
			p.Unjudged = append(p.Unjudged, t.Agent)
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
	for _, j := range r.scores().Agents {
		if _, isAbsent := r.absence(j.Agent); isAbsent {
			p.Discarded = append(p.Discarded, j.Agent)
		}
	}
	return p
}

// scores returns what the judge has given in a round.
func (r *Round) scores() layout.Scores {
	if r.Scores == nil {
		return layout.Scores{}
	}
	return *r.Scores
}

// judgedOf returns what some agents were given in a round.
func (r *Round) judgedOf(agents []string) []layout.JudgedTurn {
	var all []layout.JudgedTurn
	for _, agent := range agents {
		if j, found := r.scores().Find(agent); found {
			all = append(all, j)
		}
	}
	return all
}

// owingNames returns the names of those who owe a file in a round, each once, and of those
// who left a stub.
func (d *Dialogue) owingNames(r *Round) []string {
	wanting := slices.DeleteFunc(slices.Clone(r.Turns), func(t *Turn) bool { return !t.IsStub && !t.IsEmpty() })
	return names(folded(slices.Concat(d.Launched(r), writers(wanting))))
}

// newPerspectives counts the perspectives of a round.
func (t *Tracking) newPerspectives(round int) (n int) {
	for _, p := range t.Perspectives {
		if p.Round == round {
			n++
		}
	}
	return n
}

// agentRows are the rows of agents, in the order in which they take part.
type agentRows struct {
	names []string
	rows  []layout.AgentScore
}

// agents returns the rows of all who were launched or wrote, without numbers.
func (b *Board) agents() *agentRows {
	a := &agentRows{}
	for _, r := range b.Dialogue.Rounds {
		for _, e := range b.Dialogue.Launched(r) {
			a.row(foldExpert(e.Name), e.Label)
		}
		for _, t := range r.given() {
			a.row(t.Agent, "")
		}
	}
	return a
}

// row returns the row of an agent.
func (a *agentRows) row(name, label string) *layout.AgentScore {
	at := slices.Index(a.names, name)
	if at < 0 {
		at = len(a.names)
		a.names = append(a.names, name)
		a.rows = append(a.rows, layout.AgentScore{Agent: cmp.Or(label, Label(name))})
	}
	return &a.rows[at]
}

// add adds what an agent was given in a round.
func (a *agentRows) add(j layout.JudgedTurn, round int) {
	row := a.row(j.Agent, "")
	row.Marks = row.Marks.Plus(j.Marks())
	row.Rounds = append(row.Rounds, layout.AgentRound{Round: round, Score: j.Marks().Sum()})
	row.Total += j.Marks().Sum()
}

// label returns what people call an agent.
func (b *Board) label(agent string) string { return cmp.Or(b.labels[agent], Label(agent)) }

// labelsOf returns what panels and pool call agents, by name.
func (d *Dialogue) labelsOf() map[string]string {
	labels := map[string]string{}
	for _, r := range d.Rounds {
		for _, e := range d.Launched(r) {
			if name := foldExpert(e.Name); labels[name] == "" {
				labels[name] = e.Label
			}
		}
	}
	return labels
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
			ID: t.String(), Tension: markdown.Clip(t.Label, maxLabel), Status: string(status), Raised: b.who(t.Agent, t.Round),
		}
		if by != nil && !status.IsOpen() {
			row.Resolved = b.who(by.Agent, by.Round)
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

// scoreboardText returns scoreboard.md.
func (b *Board) scoreboardText() []byte {
	body := fmt.Appendf(nil, "# Scoreboard — %s\n\n", oneSpaced(b.Dialogue.Pool.Title))
	return derived(layout.AppendScoreboard(body, b.Scoreboard))
}

// tensionsText returns tensions.md.
func (b *Board) tensionsText() []byte {
	body := fmt.Appendf(nil, "# Tensions — %s\n\n", oneSpaced(b.Dialogue.Pool.Title))
	rows := b.TensionRows()
	body = layout.AppendTensions(body, rows)
	if len(rows) > 0 {
		body = fmt.Appendf(body, "\nTo speak of one, give its whole id: [RESOLVED %s].\n", rows[0].ID)
	}
	return derived(body)
}
