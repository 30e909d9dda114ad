package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

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

// A Number is one of the numbers of a scoreboard.
type Number struct {
	Name string // as JSON has it
	N    *int
}

func (m *Marks) each() []Number {
	return []Number{
		{"wisdom", &m.Wisdom}, {"consistency", &m.Consistency}, {"truth", &m.Truth}, {"relationships", &m.Relationships},
	}
}

// cells returns the four numbers as they stand in a row.
func (m Marks) cells() (cells []string) {
	return markdown.Each(m.each(), func(mark Number) string { return strconv.Itoa(*mark.N) })
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
	Marks        Marks // where a scoreboard of the round has them
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
	if r.Judged && (r.Marks != Marks{} || r.Score == 0) {
		marks = r.Marks.cells()
	}
	if marks = marks[:4]; r.Judged {
		none = strconv.Itoa(r.Score)
	}
	marks = append(marks, none)
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
		if len(a.Rounds) == 0 && a.Total == 0 {
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

// Scores is round-{n}/scores.json: what the judge gives the agents of a round.
type Scores struct {
	Round  int          `json:"round"`
	Agents []JudgedTurn `json:"agents"` // by agent
	Marks  []ItemMark   `json:"marks,omitempty"`
}

// An ItemMark is the judge's word on a perspective or a tension: it counts no more from
// the round of the file on.
type ItemMark struct {
	ID    string `json:"id"`              // the whole id: MUFFIN R0-T01
	Mark  string `json:"mark"`            // not new, merged with, superseded by
	Other string `json:"other,omitempty"` // the whole id of what takes its place
}

// String says what the judge says: merged with SCONE R0-T01.
func (m ItemMark) String() string { return strings.TrimSpace(m.Mark + " " + m.Other) }

// A JudgedTurn is what the judge gives one agent in one round.
type JudgedTurn struct {
	Agent string `json:"agent"` // as the file is called: muffin
	Marks
	Converge bool   `json:"converge,omitempty"` // the judge's word that the agent has converged
	Note     string `json:"note,omitempty"`
	Judge    string `json:"judge,omitempty"` // who has given them
	Turn     string `json:"turn,omitempty"`  // the digest of the text that was judged, 12 digits
}

// maxMark is the highest of the numbers that a judge may give. They are unbounded
// in spirit; this keeps their sums numbers.
const maxMark = 1_000_000

// Check returns an error that names a number which is not 0 to MaxMark.
func (j JudgedTurn) Check() error {
	for _, mark := range j.each() {
		if *mark.N < 0 || *mark.N > maxMark {
			return fmt.Errorf("%s %d is not 0 to %d", mark.Name, *mark.N, maxMark)
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

// Mark returns scores in which an item has a mark; one that says nothing ends it.
func (s Scores) Mark(m ItemMark) Scores {
	s.Marks = slices.DeleteFunc(slices.Clone(s.Marks), func(old ItemMark) bool { return old.ID == m.ID })
	if m.Mark != "" {
		s.Marks = append(s.Marks, m)
	}
	slices.SortFunc(s.Marks, func(a, b ItemMark) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

// AppendScores appends the JSON of scores: an agent a line, with a line break at
// the end.
func AppendScores(dst []byte, s Scores) []byte {
	lines := markdown.Each(s.Agents, func(j JudgedTurn) string { return "\n    " + string(encodeJSON(j, "")) })
	dst = fmt.Appendf(dst, "{\n  \"round\": %d,\n  \"agents\": [%s", s.Round, strings.Join(lines, ","))
	if len(s.Agents) > 0 {
		dst = append(dst, "\n  "...)
	}
	if dst = append(dst, ']'); len(s.Marks) > 0 {
		dst = fmt.Appendf(dst, ",\n  \"marks\": %s", indentNode(encodeJSON(s.Marks, ""), "  "))
	}
	return append(dst, "\n}\n"...)
}

// ParseScores reads scores. Names are folded to lower case; of two entries for one
// agent the last one counts. A number out of range, and an entry without an agent,
// is a problem of the whole file.
func ParseScores(text []byte) (s Scores, problem *SyntaxError) {
	var raw Scores
	if problem = markdown.DecodeJSON(text, &raw); problem != nil {
		return s, problem
	}
	s.Round, s.Marks = raw.Round, raw.Marks
	for _, j := range raw.Agents {
		j.Agent = strings.ToLower(strings.TrimSpace(j.Agent))
		if err := j.Check(); err != nil {
			return Scores{}, wrong(1, "agent %q: %w", j.Agent, err)
		}
		if j.Agent == "" {
			return Scores{}, wrong(1, "an entry names no agent")
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
	// The rounds from which on it counts, and with which it ends; in a table that was read there are none.
	RaisedRound   int  `json:"raised_round"`
	ResolvedRound *int `json:"resolved_round,omitempty"`
}

// tensionStates are the words that the status of a tension begins with, and what they mean.
var tensionStates = [...]struct{ state, words string }{
	{"addressed", "addressed,refined,partial,partly,in progress"},
	{"deferred", "deferred,accepted,parked,postponed,out of scope,won't,wontfix,backlog,future"},
	{"resolved", "resolved,closed,settled,done,fixed,agreed,withdrawn,merged,superseded,not new,duplicate,moot,✅,✓,✔,☑"},
	{"open", "open,new,raised,active,ongoing,pending,unresolved,contested,reopened,conditional,❌,🔴"},
}

// State says what a status means: open, addressed, resolved, deferred (what was accepted
// as it is too), or "" if its words are not known. Without a status a tension is open.
func (r TensionRow) State() string {
	text := strings.ToLower(strings.NewReplacer("*", "", "`", "").Replace(r.Status))
	if _, after, isChange := strings.Cut(text, "→"); isChange {
		text = after
	}
	text = strings.TrimSpace(text)
	plain := strings.TrimLeftFunc(text, func(c rune) bool { return !unicode.IsLetter(c) })
	for _, s := range tensionStates {
		for word := range strings.SplitSeq(s.words, ",") {
			if strings.HasPrefix(text, word) || strings.HasPrefix(plain, word) {
				return s.state
			}
		}
	}
	if markdown.IsNoCell(text) {
		return "open"
	}
	return ""
}

// isState reports whether a text says what becomes of a tension.
func isState(text string) bool { return text != "" && (TensionRow{Status: text}).State() != "" }

// IsOpen reports whether a tension is still to be resolved.
func (r TensionRow) IsOpen() bool { return r.State() == "open" || r.State() == "addressed" }

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
		dst = markdown.AppendRow(dst, r.ID, r.Tension, status, r.Raised, orNone(r.Resolved))
	}
	return dst
}

// ParseTensions reads the tables of tensions in a text, in each of their forms:
// with the columns Raised and Resolved, with one for the resolution, or with one
// for who has raised it; without a table, those in headings and lists. A row without an id
// is none. Any text is accepted.
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
	if len(rows) == 0 {
		rows = parseTensionList(text)
	}
	return rows
}

// How a tension stands in a heading or a list, "### T01 + T02: Label — RESOLVED", and what
// may say its status below: "**Resolved in R1**".
var (
	tensionItem = Pattern(`^(?:#+|[-*+]|\d+[.)]) +[*\[ ]*(T\d+(?:[ ,+&/]+T\d+)*)[*\]:. —–-]*(.*?)(?:(?: [—–-]+ | ?\(|: )[*]*([^()]*?))?[)*]*$`)
	statusLine  = Pattern(`^(?:[-*] )?(?:(?:\*\*)?(Status)[:* ]+|\*\*)(.*)$`)
)

// parseTensionList reads tensions that stand in headings and lists.
func parseTensionList(text []byte) (rows []TensionRow) {
	last := 0 // where the rows of the last heading begin
	for _, l := range markdown.Lines(text) {
		line := strings.TrimSpace(string(l.Text))
		if m := tensionItem().FindStringSubmatch(line); m != nil && !l.Quiet {
			r := TensionRow{Tension: m[2], Status: m[3], Line: l.Number}
			if !isState(r.Status) {
				r.Tension, r.Status = strings.Trim(line[strings.Index(line, m[2]):], "* "), ""
			}
			last = len(rows)
			for _, r.ID = range strings.FieldsFunc(m[1], func(c rune) bool { return strings.ContainsRune(" ,+&/", c) }) {
				rows = append(rows, r)
			}
		} else if m := statusLine().FindStringSubmatch(line); m != nil && (m[1] != "" || isState(m[2])) {
			for i := range rows[last:] {
				rows[last+i].Status = strings.TrimRight(m[2], "*")
			}
		} else if l.Level > 0 {
			last = len(rows)
		}
	}
	return rows
}
