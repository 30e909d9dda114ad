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

// HandNumbers are what a judge has written by hand of a dialogue in numbers, in one file or
// in several. Of a number that stands twice the first one counts.
type HandNumbers struct {
	Scoreboard
	Said  map[Said]int
	Notes []string // cells without a number, and numbers that stand twice and differ
}

// Said is a number of a round, by the name that JSON has.
type Said struct {
	Round int
	Name  string
}

// ParseScoreboard reads a scoreboard in each of its forms: its tables are told by
// their columns, and may stand anywhere in the text. Cells without a number are 0.
// Any text is accepted; found says whether there was a table of rounds or of agents.
func ParseScoreboard(text []byte) (b Scoreboard, found bool) {
	w := HandNumbers{Said: map[Said]int{}}
	found = w.Read("", text, -1)
	return w.Scoreboard, found
}

// Numbers returns the numbers of a round by the names that JSON has.
func (r *RoundScore) Numbers() []Number {
	return append(r.Marks.each(), Number{"score", &r.Score}, Number{"cumulative", &r.Cumulative},
		Number{"open_tensions", &r.OpenTensions}, Number{"new_perspectives", &r.NewPerspectives},
		Number{"velocity", &r.Velocity}, Number{"converge", &r.Converge})
}

// numberWords are what judges call the numbers, in columns and in lines. An s and a total
// may be the score or the sum so far.
var numberWords = [...]string{
	"wisdom w", "consistency c", "truth t", "relationships relationship rel r",
	"score σ sum points round_score round_total round_alignment",
	"cumulative cumulative_total cumulative_score running_total", "alignment total_alignment alignment_total",
	"open_tensions open_t open", "new_perspectives new_p new",
	"velocity v", "converge convergence converge_signals convergence_signals converged", "s", "total",
	"agent expert agent_name name panelist member", "round",
}

// numberName returns the name of the number that a column or a line means: converge for
// "Convergence (%)"; "" if it means none.
func numberName(text string) string {
	text, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(text, "∑", "σ")), "(")
	isMark := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	text = strings.Join(strings.FieldsFunc(text, isMark), "_")
	for _, words := range numberWords {
		if all := strings.Fields(words); slices.Contains(all, text) {
			return all[0]
		}
	}
	return ""
}

// columnNames returns the numbers that the columns of a table mean; isScores is false for
// a table of something else.
func columnNames(t markdown.Table) (names []string, isScores bool) {
	names = markdown.Each(t.Columns, numberName)
	at := func(name string) int { return slices.Index(names, name) }
	for _, other := range []string{"alignment", "total", "s"} {
		if i := at(other); i >= 0 && at("score") < 0 {
			names[i] = "score"
		} else if i >= 0 {
			names[i] = "cumulative"
		}
	}
	isNumber := func(n Number) bool { return at(n.Name) >= 0 }
	isScores = slices.ContainsFunc(new(RoundScore).Numbers()[:5], isNumber)
	return names, at("agent") >= 0 && isScores || at("round") >= 0 && (isScores || at("velocity") >= 0)
}

// Read adds what a file says: one of a round, or with -1 one of the whole dialogue, in
// which headings say the round. It reports whether there is a table of numbers.
func (w *HandNumbers) Read(file string, text []byte, round int) (found bool) {
	var rounds []int // of each line, -1 for none
	r := speakerReader{now: speaker{Round: round}}
	lines := markdown.Lines(text)
	for _, l := range lines {
		if l.Level > 0 && !l.Quiet && round < 0 {
			r.heading(l.Level, string(l.Text))
		}
		rounds = append(rounds, r.now.Round)
		for part := range strings.SplitSeq(strings.NewReplacer("*", "", "`", "", "_", " ").Replace(string(l.Text)), "|") {
			if m := labelled().FindStringSubmatch(part); m != nil && (file != "" || !l.Quiet) {
				w.addLine(file, l.Number, r.now.Round, m)
			}
		}
	}
	for _, t := range markdown.Tables(lines) {
		names, isScores := columnNames(t)
		found = found || isScores
		for i := 0; isScores && i < len(t.Rows); i++ {
			w.readRow(file, t, i, names, rounds[t.Rows[i].Line-1])
		}
	}
	return found
}

// readRow reads the row of a round, or of an agent: it may stand in a round.
func (w *HandNumbers) readRow(file string, t markdown.Table, i int, names []string, round int) {
	row, agent := t.Rows[i], slices.Index(names, "agent")
	r := RoundScore{Round: round, Line: row.Line}
	of, isRound := readNumber("", strings.TrimPrefix(strings.ToLower(row.Cell(slices.Index(names, "round"))), "round "))
	if isRound {
		r.Round = of
	} else if agent < 0 {
		return // a sum
	}
	for i, number := range r.Numbers() {
		column := slices.Index(names, number.Name)
		n, found := readNumber(number.Name, row.Cell(column))
		switch cell := row.Cell(column); {
		case found:
			*number.N, r.Judged = n, r.Judged || i <= 4 // one of the marks, or their sum
			if agent < 0 {
				w.say(file, Said{r.Round, number.Name}, n)
			}
		case !noNumber().MatchString(cell):
			const text = "%s:%d: %s %q is no number"
			w.Notes = append(w.Notes, fmt.Sprintf(text, file, row.Line, number.Name, markdown.Clip(cell, 40)))
		}
	}
	if agent < 0 {
		w.Rounds = append(w.Rounds, r)
		return
	}
	isWanting := func(n Number) bool { return !slices.Contains(names, n.Name) }
	if r.Marks != (Marks{}) && r.Score > r.Marks.Sum() && slices.ContainsFunc(r.Marks.each(), isWanting) {
		const text = "%s:%d: not all of wisdom, consistency, truth and relationships have a column; their sum counts"
		r.Marks, w.Notes = Marks{}, append(w.Notes, fmt.Sprintf(text, file, row.Line))
	}
	a := AgentScore{Agent: row.Cell(agent), Marks: r.Marks, Total: cmp.Or(r.Score, r.Marks.Sum()), Line: row.Line}
	for i, column := range t.Columns {
		digits, isRound := number(strings.ReplaceAll(column, "round_", "r"), "r")
		score, isScore := readNumber("", row.Cell(i))
		if n, isNumber := markdown.CellNumber(digits); isRound && isScore && isNumber {
			a.Rounds = append(a.Rounds, AgentRound{Round: n, Score: score})
		}
	}
	if r.Round >= 0 && len(a.Rounds) == 0 {
		a.Rounds = []AgentRound{{r.Round, a.Total, a.Marks}}
	}
	slices.SortStableFunc(a.Rounds, func(a, b AgentRound) int { return cmp.Compare(a.Round, b.Round) })
	if name := agentName(a.Agent); name != "total" && !markdown.IsNoCell(a.Agent) && !strings.HasSuffix(name, " total") {
		w.addAgent(file, a)
	}
}

// addAgent adds the row of an agent to those that it has in other rounds.
func (w *HandNumbers) addAgent(file string, a AgentScore) {
	isSame := func(b AgentScore) bool { return agentName(b.Agent) == agentName(a.Agent) }
	at := slices.IndexFunc(w.Agents, isSame)
	if at < 0 || file == "" {
		w.Agents = append(w.Agents, a)
		return
	}
	old := &w.Agents[at]
	if len(a.Rounds)+len(old.Rounds) == 0 {
		old.Total, old.Marks = a.Total, a.Marks
	}
	for _, r := range a.Rounds {
		if old.cell(r.Round) == markdown.NoCell {
			old.Rounds, old.Total, old.Marks = append(old.Rounds, r), old.Total+r.Score, old.Marks.Plus(r.Marks)
		}
	}
}

// say keeps a number of a round.
func (w *HandNumbers) say(file string, s Said, n int) {
	if old, found := w.Said[s]; !found {
		w.Said[s] = n
	} else if old != n {
		w.Notes = append(w.Notes, fmt.Sprintf("round %d: %s is %d, but %d in %s", s.Round, s.Name, old, n, file))
	}
}

// How numbers stand in cells and lines.
var (
	wholeNumber = Pattern(`^(?:.*[=→])?[*_rR ]*(\d{1,3}(?:,\d{3})+|\d+)(?:\.?(?:[^\d.]|$))`)
	converging  = Pattern(`^(?:.*?(\d{1,4})(?:\.\d+)? ?%|[* ]*(\d{1,6}) ?(?:/|of) ?(\d{1,6}))`)
	noNumber    = Pattern(`^(?i:n/?a|none|tbd|[?…—–. -]*)$`)
	labelled    = Pattern(`^[-+>#\s]*((?:(?i:round|r) ?(\d{1,4}) )?[\pL ]{5,24}?) ?(?:\([^)]*\))? ?%? ?[:=]\s*(.+)$`)
)

// readNumber reads the number of a cell: behind "14 + 47 =" or "24 →" what comes of it.
func readNumber(name, cell string) (n int, found bool) {
	cell, _, _ = strings.Cut(cell, ". ")
	if m := converging().FindStringSubmatch(cell); name == "converge" && m != nil {
		part, _ := strconv.Atoi(cmp.Or(m[1], m[2])) // six digits at most
		whole, _ := strconv.Atoi(cmp.Or(m[3], "100"))
		return 100 * part / max(whole, 1), whole > 0
	}
	if m := wholeNumber().FindStringSubmatch(cell); m != nil {
		return markdown.CellNumber(strings.ReplaceAll(m[1], ",", ""))
	}
	return 0, false
}

// agentName returns how the files of the agent are called whom a cell names: muffin for
// 🧁 Muffin (Platform).
func agentName(cell string) string {
	_, name := cutEmoji(cell)
	return speakerName(name)
}

// addLine keeps the number of a line: "Open Tensions: 14", "Round 1 Total = 3".
func (w *HandNumbers) addLine(file string, line, round int, m []string) {
	label := m[1]
	if n, err := strconv.Atoi(m[2]); err == nil {
		round, label = n, "round "+label[strings.LastIndexByte(label, ' ')+1:]
	}
	name := numberName(label)
	n, found := readNumber(name, m[3])
	switch {
	case !found || name == "" || name == "total" || name == "round" || name == "agent":
	case round >= 0 && name != "alignment":
		w.say(file, Said{round, name}, n)
	case !w.HasTotal && (name == "alignment" || name == "cumulative"):
		w.Total, w.HasTotal, w.TotalLine = n, true, line
	}
}
