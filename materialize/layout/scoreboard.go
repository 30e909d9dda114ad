package layout

import (
	"cmp"
	"encoding/json"
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

// A mark is one of the four numbers, with the names of its columns.
type mark struct {
	name, letter string
	n            *int
}

func (m *Marks) each() []mark {
	return []mark{
		{"wisdom", "w", &m.Wisdom}, {"consistency", "c", &m.Consistency}, {"truth", "t", &m.Truth},
		{"relationships", "r", &m.Relationships},
	}
}

// cells returns the four numbers as they stand in a row.
func (m Marks) cells() (cells []string) {
	return markdown.Each(m.each(), func(mark mark) string { return strconv.Itoa(*mark.n) })
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
		marks = append(r.Marks.cells(), strconv.Itoa(r.Score))
	}
	cells := append([]string{strconv.Itoa(r.Round)}, marks...)
	cells = append(cells, markdown.Each([]int{r.Cumulative, r.OpenTensions, r.NewPerspectives, r.Velocity}, strconv.Itoa)...)
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
	columns := markdown.Each(rounds, func(n int) string { return "R" + strconv.Itoa(n) })
	dst = markdown.AppendHead(dst, slices.Concat([]string{"Agent"}, columns, []string{"Total"})...)
	for _, a := range agents {
		cells := append([]string{a.Agent}, markdown.Each(rounds, a.cell)...)
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

// addRounds reads a table of rounds.
func (b *Scoreboard) addRounds(s markdown.Table) {
	for _, row := range s.Rows {
		round, isRound := row.Number(s.Column("round"))
		if !isRound {
			continue // a sum
		}
		r := RoundScore{Round: round, Line: row.Line}
		_, r.Judged = row.Number(s.Column("w"))
		for name, n := range map[string]*int{
			"score": &r.Score, "s": &r.Cumulative, "open_t": &r.OpenTensions, "new_p": &r.NewPerspectives,
			"velocity": &r.Velocity, "converge_%": &r.Converge,
		} {
			*n, _ = row.Number(s.Column(name)) // 0 where there is none
		}
		for _, mark := range r.Marks.each() {
			*mark.n, _ = row.Number(s.Column(mark.letter))
		}
		b.Rounds = append(b.Rounds, r)
	}
}

// addAgents reads a table of agents, with a column for each round or for each
// of the four numbers.
func (b *Scoreboard) addAgents(s markdown.Table, agent int) {
	for _, row := range s.Rows {
		a := AgentScore{Agent: row.Cell(agent), Line: row.Line}
		if markdown.IsNoCell(a.Agent) || markdown.Fold(a.Agent) == "total" {
			continue
		}
		for _, mark := range a.Marks.each() {
			*mark.n, _ = row.Number(s.Column(mark.name, mark.letter)) // 0 where there is none
		}
		a.Total, _ = row.Number(s.Column("total", "alignment"))
		for i, column := range s.Columns {
			digits, isRound := number(column, "r")
			score, isScore := row.Number(i)
			if n, isNumber := markdown.CellNumber(digits); isRound && isScore && isNumber {
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

// Scores is round-{n}/scores.json: what the judge gives the agents of a round.
type Scores struct {
	Round  int          `json:"round"`
	Agents []JudgedTurn `json:"agents"` // by agent
}

// A JudgedTurn is what the judge gives one agent in one round.
type JudgedTurn struct {
	Agent         string `json:"agent"` // as the file is called: muffin
	Wisdom        int    `json:"wisdom"`
	Consistency   int    `json:"consistency"`
	Truth         int    `json:"truth"`
	Relationships int    `json:"relationships"`
	Converge      bool   `json:"converge,omitempty"` // the judge's word that the agent has converged
	Note          string `json:"note,omitempty"`
	Judge         string `json:"judge,omitempty"` // who has given them
	Turn          string `json:"turn,omitempty"`  // the digest of the text that was judged, 12 digits
}

// Marks returns the four numbers.
func (j JudgedTurn) Marks() Marks { return Marks{j.Wisdom, j.Consistency, j.Truth, j.Relationships} }

// maxMark is the highest of the numbers that a judge may give. They are unbounded
// in spirit; this keeps their sums numbers.
const maxMark = 1_000_000

// Check returns an error that names a number which is not 0 to MaxMark.
func (j JudgedTurn) Check() error {
	marks := j.Marks()
	for _, mark := range marks.each() {
		if *mark.n < 0 || *mark.n > maxMark {
			return fmt.Errorf("%s %d is not 0 to %d", mark.name, *mark.n, maxMark)
		}
	}
	return nil
}

// Find returns what an agent was given.
func (s Scores) Find(agent string) (JudgedTurn, bool) {
	at := slices.IndexFunc(s.Agents, func(j JudgedTurn) bool { return j.Agent == agent })
	if at < 0 {
		return JudgedTurn{}, false
	}
	return s.Agents[at], true
}

// Set returns scores in which an agent has what is given, and the others what they
// had.
func (s Scores) Set(j JudgedTurn) Scores {
	agents := slices.DeleteFunc(slices.Clone(s.Agents), func(old JudgedTurn) bool { return old.Agent == j.Agent })
	agents = append(agents, j)
	slices.SortFunc(agents, func(a, b JudgedTurn) int { return cmp.Compare(a.Agent, b.Agent) })
	s.Agents = agents
	return s
}

// AppendScores appends the JSON of scores: an agent a line, with a line break at
// the end.
func AppendScores(dst []byte, s Scores) ([]byte, error) {
	dst = fmt.Appendf(dst, "{\n  \"round\": %d,\n  \"agents\": [", s.Round)
	for i, j := range s.Agents {
		line, err := json.Marshal(j)
		if err != nil {
			return dst, err
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, "\n    "...), line...)
	}
	if len(s.Agents) > 0 {
		dst = append(dst, "\n  "...)
	}
	return append(dst, "]\n}\n"...), nil
}

// ParseScores reads scores. Names are folded to lower case; of two entries for one
// agent the last one counts. A number out of range, and an entry without an agent,
// is a problem of the whole file.
func ParseScores(text []byte) (s Scores, problem *SyntaxError) {
	var raw Scores
	if problem = markdown.DecodeJSON(text, &raw); problem != nil {
		return s, problem
	}
	s.Round = raw.Round
	for _, j := range raw.Agents {
		j.Agent = strings.ToLower(strings.TrimSpace(j.Agent))
		if err := j.Check(); err != nil {
			return Scores{}, &SyntaxError{Line: 1, Err: fmt.Errorf("agent %q: %w", j.Agent, err)}
		}
		if j.Agent == "" {
			return Scores{}, &SyntaxError{Line: 1, Err: fmt.Errorf("an entry names no agent")}
		}
		s = s.Set(j)
	}
	return s, nil
}

// A TensionRow is one tension of tensions.md, or of the section of an assembled
// document.
type TensionRow struct {
	ID       string `json:"id"`                 // as in the table: T01, or MUFFIN R0-T01
	Tension  string `json:"tension"`            // what it is about
	Status   string `json:"status"`             // Open, Addressed, Resolved, Reopened, Deferred, ...
	Raised   string `json:"raised"`             // by whom and when: Muffin R0
	Resolved string `json:"resolved,omitempty"` // when and how: R1 — both; "" if it is not
	Line     int    `json:"-"`                  // where it was read, counted from 1
}

// IsOpen reports whether a tension is still to be resolved: its status is neither
// resolved nor deferred.
func (r TensionRow) IsOpen() bool {
	return !r.IsDeferred() && !r.begins("resolved") && !r.begins("closed")
}

// IsDeferred reports whether a tension was put off, and so does not count any more.
func (r TensionRow) IsDeferred() bool { return r.begins("deferred") }

// IsAddressed reports whether something was done about a tension that is open still.
func (r TensionRow) IsAddressed() bool {
	return r.begins("addressed") || r.begins("refined") || r.begins("partial")
}

// begins reports whether the status begins with a word in lower case.
func (r TensionRow) begins(word string) bool {
	return strings.HasPrefix(strings.ToLower(r.Status), word)
}

// TensionID returns an id of a tension as markers have it, two digits at least: T1,
// T01 and T001 are T01.
func TensionID(text string) (string, bool) { return normalMarkerID(text, 'T') }

// AppendTensions appends the table of tensions. The status of one that is not open
// any more is in bold, unless it holds a star.
func AppendTensions(dst []byte, rows []TensionRow) []byte {
	dst = markdown.AppendHead(dst, "ID", "Tension", "Status", "Raised", "Resolved")
	for _, r := range rows {
		status := markdown.SingleSpaced(r.Status)
		if !r.IsOpen() && !strings.Contains(status, "*") {
			status = "**" + status + "**"
		}
		resolved := r.Resolved
		if markdown.SingleSpaced(resolved) == "" {
			resolved = markdown.NoCell
		}
		dst = markdown.AppendRow(dst, r.ID, r.Tension, status, r.Raised, resolved)
	}
	return dst
}

// ParseTensions reads the tables of tensions in a text, in each of their forms:
// with the columns Raised and Resolved, with one for the resolution, or with one
// for who has raised it. A row without an id is none. Any text is accepted.
func ParseTensions(text []byte) (rows []TensionRow) {
	eachRow(text, []string{"id", "tension"}, func(line int, cell func(names ...string) string) {
		r := TensionRow{
			ID: cell("id"), Tension: cell("tension"), Status: cell("status"), Raised: cell("raised", "raised_by"),
			Resolved: value(cell("resolved", "resolved_in", "resolution")), Line: line,
		}
		if !markdown.IsNoCell(r.ID) {
			rows = append(rows, r)
		}
	})
	return rows
}
