package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/markdown"
)

// A Scoreboard is what a judge makes of a dialogue in numbers: scoreboard.md, or
// the section of an assembled document.
type Scoreboard struct {
	Rounds    []RoundScore
	Agents    []AgentScore
	Total     int  // ALIGNMENT, of all rounds and agents
	HasTotal  bool // whether a text says the total
	TotalLine int  // where it was read, counted from 1
}

// Marks are the four numbers that a judge gives, each 0 or more.
type Marks struct {
	Wisdom        int `json:"wisdom"`
	Consistency   int `json:"consistency"`
	Truth         int `json:"truth"`
	Relationships int `json:"relationships"`
}

// Sum returns the ALIGNMENT of marks.
func (m Marks) Sum() int { return m.Wisdom + m.Consistency + m.Truth + m.Relationships }

// Plus returns the sums of the four numbers.
func (m Marks) Plus(o Marks) Marks {
	return Marks{m.Wisdom + o.Wisdom, m.Consistency + o.Consistency, m.Truth + o.Truth, m.Relationships + o.Relationships}
}

// A RoundScore is the row of a round.
type RoundScore struct {
	Round           int  `json:"round"`
	Marks                // of all its agents
	Judged          bool `json:"-"`                // else there are no marks
	Score           int  `json:"score"`            // their sum
	Cumulative      int  `json:"cumulative"`       // of this round and those before it
	OpenTensions    int  `json:"open_tensions"`    // at the end of the round
	NewPerspectives int  `json:"new_perspectives"` // of this round
	Velocity        int  `json:"velocity"`         // open tensions and new perspectives
	Converge        int  `json:"converge"`         // how many of a hundred agents have signalled it
	Line            int  `json:"-"`                // where it was read, counted from 1
}

// An AgentScore is the row of an agent.
type AgentScore struct {
	Agent  string       `json:"agent"` // as in the table: Muffin, 🧁 Muffin
	Marks               // of all rounds
	Rounds []AgentRound `json:"-"` // in their order; a round in which the agent was absent is not there
	Total  int          `json:"total"`
	Line   int          `json:"-"` // where it was read, counted from 1
}

// An AgentRound is what an agent got in a round.
type AgentRound struct {
	Round, Score int
}

// AppendScoreboard appends a scoreboard as it stands in a file of its own: a table
// of the rounds, one of the agents by round, and the total. The marks of agents are
// not written: those stand in an assembled document.
func AppendScoreboard(dst []byte, b Scoreboard) []byte {
	dst = appendRoundScores(dst, b.Rounds)
	if len(b.Agents) > 0 {
		dst = append(dst, "\n## Per-Agent Scores\n\n"...)
		dst = appendAgentRounds(dst, b.Agents)
	}
	return appendTotal(dst, b.Total)
}

// Cells returns the row of a round, with none in place of marks that there are not.
func (r RoundScore) Cells(none string) []string {
	marks := []string{none, none, none, none, none}
	if r.Judged {
		m := r.Marks
		for i, n := range []int{m.Wisdom, m.Consistency, m.Truth, m.Relationships, r.Score} {
			marks[i] = strconv.Itoa(n)
		}
	}
	cells := append([]string{strconv.Itoa(r.Round)}, marks...)
	for _, n := range []int{r.Cumulative, r.OpenTensions, r.NewPerspectives, r.Velocity} {
		cells = append(cells, strconv.Itoa(n))
	}
	return append(cells, strconv.Itoa(r.Converge)+"%")
}

// appendAgentRounds appends the table of agents by round.
func appendAgentRounds(dst []byte, agents []AgentScore) []byte {
	var rounds []int
	for _, a := range agents {
		for _, r := range a.Rounds {
			if at, found := slices.BinarySearch(rounds, r.Round); !found {
				rounds = slices.Insert(rounds, at, r.Round)
			}
		}
	}
	columns := []string{"Agent"}
	for _, n := range rounds {
		columns = append(columns, "R"+strconv.Itoa(n))
	}
	dst = markdown.AppendHead(dst, append(columns, "Total")...)
	for _, a := range agents {
		cells := []string{a.Agent}
		for _, n := range rounds {
			cells = append(cells, a.cell(n))
		}
		total := bold(a.Total)
		if len(a.Rounds) == 0 {
			total = markdown.NoCell // never scored
		}
		dst = markdown.AppendRow(dst, append(cells, total)...)
	}
	return dst
}

// cell returns what an agent got in a round.
func (a AgentScore) cell(round int) string {
	for _, r := range a.Rounds {
		if r.Round == round {
			return strconv.Itoa(r.Score)
		}
	}
	return markdown.NoCell
}

func bold(n int) string { return fmt.Sprintf("**%d**", n) }

func appendTotal(dst []byte, total int) []byte {
	return fmt.Appendf(dst, "\n**Total ALIGNMENT**: %d\n", total)
}

// ParseScoreboard reads a scoreboard in each of its forms: its tables are told by
// their columns, and may stand anywhere in the text. Cells without a number are 0.
// Any text is accepted; found says whether there was a table of rounds or of agents.
func ParseScoreboard(text []byte) (b Scoreboard, found bool) {
	for _, s := range markdown.Tables(text) {
		switch agent := s.Column("agent", "expert"); {
		case s.Column("round") >= 0 && s.Column("w") >= 0:
			found = true
			b.addRounds(s)
		case agent >= 0 && s.Column("total", "alignment") >= 0:
			found = true
			b.addAgents(s, agent)
		}
	}
	b.readTotal(text)
	return b, found
}

// addRounds takes in a table of rounds.
func (b *Scoreboard) addRounds(s markdown.Table) {
	for _, row := range s.Rows {
		round, isRound := row.Number(s.Column("round"))
		if !isRound {
			continue // a sum
		}
		r := RoundScore{Round: round, Line: row.Line}
		r.Marks.Wisdom, r.Judged = row.Number(s.Column("w"))
		for _, field := range []struct {
			to   *int
			name string
		}{
			{&r.Marks.Consistency, "c"}, {&r.Marks.Truth, "t"}, {&r.Marks.Relationships, "r"}, {&r.Score, "score"},
			{&r.Cumulative, "s"}, {&r.OpenTensions, "open_t"}, {&r.NewPerspectives, "new_p"},
			{&r.Velocity, "velocity"}, {&r.Converge, "converge_%"},
		} {
			*field.to, _ = row.Number(s.Column(field.name)) // 0 where there is none
		}
		b.Rounds = append(b.Rounds, r)
	}
}

// addAgents takes in a table of agents, with a column for each round or for each
// of the four numbers.
func (b *Scoreboard) addAgents(s markdown.Table, agent int) {
	for _, row := range s.Rows {
		a := AgentScore{Agent: row.Cell(agent), Line: row.Line}
		if markdown.IsNoCell(a.Agent) || markdown.Fold(a.Agent) == "total" {
			continue
		}
		for _, field := range []struct {
			to    *int
			names []string
		}{
			{&a.Marks.Wisdom, []string{"wisdom", "w"}}, {&a.Marks.Consistency, []string{"consistency", "c"}},
			{&a.Marks.Truth, []string{"truth", "t"}}, {&a.Marks.Relationships, []string{"relationships", "r"}},
			{&a.Total, []string{"total", "alignment"}},
		} {
			*field.to, _ = row.Number(s.Column(field.names...)) // 0 where there is none
		}
		for i, column := range s.Columns {
			digits, isRound := number(column, "r")
			score, isScore := row.Number(i)
			if n, err := strconv.Atoi(digits); isRound && isScore && err == nil && n <= markdown.MaxNumber {
				a.Rounds = append(a.Rounds, AgentRound{n, score})
			}
		}
		slices.SortStableFunc(a.Rounds, func(a, b AgentRound) int { return cmp.Compare(a.Round, b.Round) })
		b.Agents = append(b.Agents, a)
	}
}

// readTotal finds "Total ALIGNMENT", with emphasis or without, and what is behind
// it.
func (b *Scoreboard) readTotal(text []byte) {
	const name = "Total ALIGNMENT"
	for _, l := range markdown.Lines(text) {
		_, rest, isTotal := strings.Cut(string(l.Text), name)
		if !isTotal || l.Quiet {
			continue
		}
		if n, isNumber := markdown.CellNumber(strings.TrimLeft(rest, ":* ")); isNumber {
			b.Total, b.HasTotal, b.TotalLine = n, true, l.Number
			return
		}
	}
}
