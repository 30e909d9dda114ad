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

// Written is what a judge has written by hand of a dialogue in numbers, in one file or
// in several. Of a number that stands twice the first one counts.
type Written struct {
	Scoreboard
	Said  map[int]map[string]int // by round, and the name that JSON has
	Notes []string               // cells without a number, and numbers that stand twice and differ
}

// ParseScoreboard reads a scoreboard in each of its forms: its tables are told by
// their columns, and may stand anywhere in the text. Cells without a number are 0.
// Any text is accepted; found says whether there was a table of rounds or of agents.
func ParseScoreboard(text []byte) (b Scoreboard, found bool) {
	var w Written
	w.Read("", text, -1)
	return w.Scoreboard, len(w.Rounds)+len(w.Agents) > 0
}

// Numbers returns the numbers of a round.
func (r *RoundScore) Numbers() []Number {
	return append(r.Marks.each(),
		Number{"score", &r.Score, "score,round score,round total,round alignment,σ,sum,alignment,points,total,s"},
		Number{"cumulative", &r.Cumulative, "s,cumulative,cumulative total,cumulative score,running total,total"},
		Number{"open_tensions", &r.OpenTensions, "open tensions,open t,open"},
		Number{"new_perspectives", &r.NewPerspectives, "new perspectives,new p,new"},
		Number{"velocity", &r.Velocity, "velocity,v"},
		Number{"converge", &r.Converge, "converge,convergence,converge signals,convergence signals,converged"})
}

func (a *AgentScore) numbers() []Number {
	return append(a.Marks.each(), Number{"total", &a.Total, "total,alignment,score,σ,sum,points,s"})
}

// numberName returns what a column or a line calls a number: "converge" for "Converge %".
func numberName(text string) string {
	text, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(text, "∑", "σ")), "(")
	isMark := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.Join(strings.FieldsFunc(text, isMark), " ")
}

// columnsOf returns the column of each number that has one.
func columnsOf(t markdown.Table, numbers []Number) map[string]int {
	names, columns, taken := markdown.Each(t.Columns, numberName), map[string]int{}, map[int]bool{}
	for _, n := range numbers {
		for word := range strings.SplitSeq(n.words, ",") {
			at := slices.Index(names, word)
			if _, has := columns[n.Name]; !has && at >= 0 && !taken[at] {
				columns[n.Name], taken[at] = at, true
			}
		}
	}
	return columns
}

// Read adds what a file says: one of a round, or with -1 one of the whole dialogue, in
// which headings say the round.
func (w *Written) Read(file string, text []byte, round int) {
	rounds := roundsOf(text, round)
	for _, t := range markdown.Tables(text) {
		agent := t.Column("agent", "expert", "agent_name", "name", "panelist", "member")
		of, totals := columnsOf(t, new(RoundScore).Numbers()), columnsOf(t, new(AgentScore).numbers())
		_, hasTotal := totals["total"]
		switch {
		case agent >= 0 && (hasTotal || len(totals) > 1):
			w.addAgents(t, agent, totals, rounds)
		case agent < 0 && t.Column("round") >= 0 && len(of) > 1:
			w.addRounds(file, t, of)
		}
	}
	w.addLines(file, text, rounds)
}

// roundsOf returns for each line of a text the round that it speaks of, -1 for none.
func roundsOf(text []byte, round int) (rounds []int) {
	r := voiceReader{round: roundExpression(), now: voice{Round: round}}
	for _, l := range markdown.Lines(text) {
		if l.Level > 0 && !l.Quiet && round < 0 {
			r.heading(l.Level, string(l.Text))
		}
		rounds = append(rounds, r.now.Round)
	}
	return rounds
}

// say keeps a number of a round.
func (w *Written) say(file string, round int, name string, n int) {
	if w.Said == nil {
		w.Said = map[int]map[string]int{}
	}
	if w.Said[round] == nil {
		w.Said[round] = map[string]int{}
	}
	if old, found := w.Said[round][name]; !found {
		w.Said[round][name] = n
	} else if old != n {
		w.Notes = append(w.Notes, fmt.Sprintf("round %d: %s is %d, but %d in %s", round, name, old, n, file))
	}
}

// How numbers stand in cells and lines.
var (
	wholeNumber = Pattern(`^[*_rR ]*(\d{1,3}(?:,\d{3})+|\d+)(?:\.?(?:[^\d.]|$))`)
	percent     = Pattern(`(\d{1,4})(?:\.\d+)? ?%`)
	partOf      = Pattern(`^(\d{1,6}) ?(?:/|of) ?(\d{1,6})`)
	noNumber    = Pattern(`^(?i:n/?a|none|tbd|[?…—–. -]*)$`)
	labelled    = Pattern(`^[-+>#\s]*((?:(?i:round|r) ?(\d{1,4}) )?[\pL ]{5,24}?) ?(?:\([^)]*\))? ?%? ?[:=]\s*(.+)$`)
)

// readNumber reads the number of a cell: behind "14 + 47 =" or "24 →" what comes of it.
func readNumber(name, cell string) (n int, found bool) {
	cell, _, _ = strings.Cut(cell, ". ")
	cell = cell[strings.LastIndexByte(cell, '=')+1:]
	if _, after, isChange := strings.Cut(cell, "→"); isChange {
		cell = after
	}
	cell = strings.TrimSpace(cell)
	if m := percent().FindStringSubmatch(cell); name == "converge" && m != nil {
		return markdown.CellNumber(m[1])
	}
	if m := partOf().FindStringSubmatch(cell); name == "converge" && m != nil {
		part, _ := strconv.Atoi(m[1]) // six digits at most
		whole, _ := strconv.Atoi(m[2])
		return 100 * part / max(whole, 1), whole > 0
	}
	if m := wholeNumber().FindStringSubmatch(cell); m != nil {
		return markdown.CellNumber(strings.ReplaceAll(m[1], ",", ""))
	}
	return 0, false
}

// addRounds reads a table of rounds.
func (w *Written) addRounds(file string, t markdown.Table, columns map[string]int) {
	for _, row := range t.Rows {
		round, isRound := markdown.CellNumber(strings.TrimPrefix(numberName(row.Cell(t.Column("round"))), "round "))
		if !isRound {
			continue // a sum
		}
		r := RoundScore{Round: round, Line: row.Line}
		for i, number := range r.Numbers() {
			column, has := columns[number.Name]
			n, found := readNumber(number.Name, row.Cell(column))
			switch cell := row.Cell(column); {
			case has && found:
				*number.N, r.Judged = n, r.Judged || i <= 4 // one of the marks, or their sum
				w.say(file, round, number.Name, n)
			case has && !noNumber().MatchString(cell):
				const text = "%s:%d: %s %q is no number"
				w.Notes = append(w.Notes, fmt.Sprintf(text, file, row.Line, number.Name, markdown.Clip(cell, 40)))
			}
		}
		w.Rounds = append(w.Rounds, r)
	}
}

// addAgents reads a table of agents, with a column for each round or for each of the
// four numbers. A row that stands in a round is of that round.
func (w *Written) addAgents(t markdown.Table, agent int, columns map[string]int, rounds []int) {
	for _, row := range t.Rows {
		a, round := AgentScore{Agent: row.Cell(agent), Line: row.Line}, rounds[row.Line-1]
		if name := numberName(a.Agent); markdown.IsNoCell(a.Agent) || name == "total" || strings.HasSuffix(name, " total") {
			continue
		}
		for _, number := range a.numbers() {
			if column, has := columns[number.Name]; has {
				*number.N, _ = readNumber("", row.Cell(column)) // 0 where there is none
			}
		}
		a.Total = cmp.Or(a.Total, a.Marks.Sum())
		if n, found := row.Number(t.Column("round")); found {
			round = n
		}
		for i, column := range t.Columns {
			digits, isRound := number(strings.ReplaceAll(column, "round_", "r"), "r")
			score, isScore := readNumber("", row.Cell(i))
			if n, isNumber := markdown.CellNumber(digits); isRound && isScore && isNumber {
				a.Rounds = append(a.Rounds, AgentRound{Round: n, Score: score})
			}
		}
		if round >= 0 && len(a.Rounds) == 0 {
			a.Rounds = []AgentRound{{round, a.Total, a.Marks}}
		}
		slices.SortStableFunc(a.Rounds, func(a, b AgentRound) int { return cmp.Compare(a.Round, b.Round) })
		w.Agents = append(w.Agents, a)
	}
}

// AgentName returns how the files of the agent are called whom a cell names: muffin for
// 🧁 Muffin (Platform).
func AgentName(cell string) string {
	_, name := cutEmoji(cell)
	return voiceName(name)
}

// addLines reads the numbers that stand in lines, and in tables of two columns: "Open
// Tensions: 14", "Round 1 Total = 3".
func (w *Written) addLines(file string, text []byte, rounds []int) {
	plain := strings.NewReplacer("*", "", "`", "", "_", " ")
	for i, l := range markdown.Lines(text) {
		parts := strings.Split(plain.Replace(string(l.Text)), "|")
		if len(parts) == 4 && strings.TrimSpace(parts[0]+parts[3]) == "" {
			parts = []string{strings.TrimSpace(parts[1]) + ":" + parts[2]}
		}
		for _, part := range parts {
			if m := labelled().FindStringSubmatch(part); m != nil && (file != "" || !l.Quiet) {
				w.addLine(file, l.Number, rounds[i], m)
			}
		}
	}
}

// addLine keeps the number of a line, by what was found there.
func (w *Written) addLine(file string, line, round int, m []string) {
	name := numberName(m[1])
	if n, err := strconv.Atoi(m[2]); err == nil {
		round, name = n, "round "+name[strings.LastIndexByte(name, ' ')+1:]
	}
	isTotal := name == "total alignment" || name == "alignment total" || name == "cumulative total"
	if n, found := readNumber("", m[3]); found && isTotal && round < 0 && !w.HasTotal {
		w.Total, w.HasTotal, w.TotalLine = n, true, line
	}
	for _, number := range new(RoundScore).Numbers() {
		isName := name != "total" && slices.Contains(strings.Split(number.words, ","), name)
		if n, found := readNumber(number.Name, m[3]); found && isName && round >= 0 {
			w.say(file, round, number.Name, n)
		}
	}
}
