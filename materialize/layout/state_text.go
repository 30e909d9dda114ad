package layout

import (
	"bytes"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// A stateText is a session state as it stands in a file: what is understood of
// it, and in its parts the bytes of all the rest.
type stateText struct {
	mark, eol          string
	parts              []statePart
	fields             [len(stateFields)]string // of the run
	sources            [len(stateFields)]stateSource
	elsewhere          [len(stateFields)]string // the same, as sections of no known title say it
	running, completed agentTable
	standing           []string // the loops that stay where they stand
	loops              []string // the other ones
	problems           []*SyntaxError
}

// A statePart is a section without its subsections, or what stands before the
// first heading.
type statePart struct {
	kind          statePartKind
	heading       string // with its line ending
	before, after string // what stays before and behind what filebus writes
	cleared       string // before, without the loops
	body          *stateBody
	isNew         bool // the text does not have it yet
}

// A statePartKind says what a part is about.
type statePartKind int

const (
	partOther statePartKind = iota
	partTitle               // what a state begins with; it may hold all the others as "key: value"
	partRun
	partRunning
	partCompleted
	partHistory
)

// partTitles are the headings or keys that the parts can have, the usual one first.
var partTitles = [...][]string{
	partRun:       {"Current Run", "Run"},
	partRunning:   {"Running Agents", "Running", "Active Agents"},
	partCompleted: {"Completed Agents", "Completed"},
	partHistory:   {"Loop History", "History"},
}

func statePartOf(title string) statePartKind {
	i := slices.IndexFunc(partTitles[:], func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return markdown.Fold(name) == title })
	})
	return statePartKind(max(0, i))
}

// A stateField is a property of the run: its usual key, and the ways to write it,
// folded.
type stateField struct {
	name string
	keys []string
}

var stateFields = [...]stateField{
	{"Run ID", []string{"run_id", "run"}},
	{"Started", []string{"started", "started_at", "start_time"}},
	{"Loop", []string{"loop", "current_loop", "loop_number", "loop_count"}},
	{"Focus", []string{"focus"}},
	{"Ended", []string{"ended"}},
}

// stateFieldOf returns the index of the field with a key, or -1.
func stateFieldOf(key string) int {
	return slices.IndexFunc(stateFields[:],
		func(f stateField) bool { return slices.Contains(f.keys, markdown.Fold(key)) })
}

// readState reads a state, and takes it apart so that no byte is lost.
func readState(text []byte) *stateText {
	t := &stateText{eol: markdown.LineEnding(text)}
	t.running.own = []string{"ID", "Task", "Model", "Started"}
	t.completed.own = []string{"ID", "Task", "Outcome", "Duration"}
	if rest, marked := bytes.CutPrefix(text, []byte(markdown.ByteOrderMark)); marked {
		t.mark, text = markdown.ByteOrderMark, rest
	}
	sections := markdown.Outline(text)
	// In a state of "key: value" lines, comments look like headings of the first level.
	plain := !slices.ContainsFunc(sections, func(s markdown.Section) bool { return s.Level > 1 })
	head := len(text)
	if len(sections) > 0 {
		head = sections[0].Start
	}
	t.readPart(statePart{kind: partTitle}, text[:head], 1)
	for i, s := range sections {
		s.End = len(text)
		if i+1 < len(sections) {
			s.End = sections[i+1].Start
		}
		body := markdown.SectionBody(text, s)
		heading := text[s.Start : s.End-len(body)]
		p := statePart{kind: statePartOf(markdown.Fold(s.Title)), heading: string(heading)}
		if p.kind == partOther && s.Level == 1 && (i == 0 || plain) {
			p.kind = partTitle
		}
		t.readPart(p, body, s.Line+bytes.Count(heading, []byte("\n")))
	}
	for i := range t.parts { // only now is it known which lines count
		if p := &t.parts[i]; p.body != nil {
			p.before, p.after = p.body.rest(t.eol)
		}
	}
	return t
}

// readPart reads a part whose text begins at line.
func (t *stateText) readPart(p statePart, text []byte, line int) {
	b := newStateBody(text, line)
	switch p.kind {
	case partRunning:
		b.readAgents(&t.running)
	case partCompleted:
		b.readAgents(&t.completed)
	case partHistory:
		p.before, p.cleared, p.after = b.readLoops(t)
		t.parts = append(t.parts, p)
		return
	default:
		t.readRun(b, p.kind)
	}
	t.problems = append(t.problems, b.problems...)
	p.body = b
	t.parts = append(t.parts, p)
}

// state returns what the text says.
func (t *stateText) state() State {
	value := func(i int) string {
		if t.fields[i] != "" {
			return t.fields[i]
		}
		return t.elsewhere[i]
	}
	s := State{RunID: value(0), Started: value(1), Loop: value(2), Focus: value(3), Ended: t.fields[4]}
	s.History = slices.Concat(t.standing, t.loops)
	for _, r := range t.running.rows {
		s.Running = append(s.Running, Agent{ID: r["id"], Task: r["task"], Model: r["model"], Started: r["started"]})
	}
	for _, r := range t.completed.rows {
		s.Completed = append(s.Completed, Agent{ID: r["id"], Task: r["task"], Outcome: r["outcome"], Duration: r["duration"]})
	}
	return s
}

// bytes returns the text: what is understood in its canonical form, all else as
// it was.
func (t *stateText) bytes() []byte {
	out := stateWriter{[]byte(t.mark), t.eol}
	isOpen := false // what comes next would belong to a list or table
	parts := t.withMissing()
	at := places(parts)
	for i, p := range parts {
		if isOpen || p.isNew {
			out.apart(p.heading)
		}
		out.text = append(append(out.text, p.heading...), p.before...)
		if at[p.kind] == i {
			if lines := t.canonical(p.kind); len(lines) > 0 {
				out.lines(lines)
				out.apart(p.after)
				isOpen = true
			}
		}
		isOpen = isOpen && p.after == ""
		out.text = append(out.text, p.after...)
	}
	return out.text
}

// places returns which part filebus writes in, of each kind: the first. New loops
// follow those of the last.
func places(parts []statePart) (at [len(partTitles)]int) {
	for i, p := range slices.Backward(parts) {
		if p.kind != partHistory || at[partHistory] == 0 {
			at[p.kind] = i
		}
	}
	return at
}

// withMissing returns the parts, with those that the text has no heading for and
// that have something to say.
func (t *stateText) withMissing() []statePart {
	parts := slices.Clone(t.parts)
	add := func(at int, heading string) {
		kind := statePartOf(markdown.Fold(strings.TrimLeft(heading, "# ")))
		parts = slices.Insert(parts, at, statePart{kind: kind, heading: heading + t.eol, isNew: true})
	}
	if len(parts) == 1 {
		add(1, "# Session State")
	}
	said := [...]int{
		partRun: len(t.canonical(partRun)), partRunning: len(t.running.rows), partCompleted: len(t.completed.rows),
		partHistory: len(t.loops),
	}
	for kind := partRun; kind <= partHistory; kind++ {
		is := func(p statePart) bool { return p.kind == kind }
		if slices.ContainsFunc(parts, is) || said[kind] == 0 {
			continue
		}
		at := len(parts)
		first := slices.IndexFunc(parts, func(p statePart) bool { return p.kind > partRun })
		if kind == partRun && first > 0 {
			at = first
		}
		add(at, "## "+partTitles[kind][0])
	}
	return parts
}

// canonical returns the lines that filebus writes in a part.
func (t *stateText) canonical(kind statePartKind) (lines []string) {
	switch kind {
	case partRun:
		for i, f := range stateFields {
			if t.fields[i] != "" {
				lines = append(lines, "- "+f.name+": "+t.fields[i])
			}
		}
	case partRunning:
		return t.running.lines()
	case partCompleted:
		return t.completed.lines()
	case partHistory:
		return markdown.Each(t.loops, func(loop string) string { return "- " + loop })
	}
	return lines
}

// A stateWriter holds a text that grows by lines.
type stateWriter struct {
	text []byte
	eol  string
}

// lines appends lines; a last one without an ending gets it.
func (w *stateWriter) lines(lines []string) {
	if n := len(w.text); n > 0 && w.text[n-1] != '\n' && string(w.text) != markdown.ByteOrderMark {
		w.text = append(w.text, w.eol...)
	}
	for _, line := range lines {
		w.text = append(append(w.text, line...), w.eol...)
	}
}

// apart appends a blank line if else what comes next, which begins with a line of
// text, would belong to the list or table above.
func (w *stateWriter) apart(next string) {
	first, _, _ := strings.Cut(next, "\n")
	last := w.text[bytes.LastIndexByte(bytes.TrimSuffix(w.text, []byte("\n")), '\n')+1:]
	if strings.TrimSpace(first) == "" || len(bytes.TrimSpace(last)) == 0 || string(last) == markdown.ByteOrderMark {
		return
	}
	w.lines([]string{""})
	if _, isRow := markdown.Row([]byte(strings.TrimSpace(strings.TrimRight(next, "\r\n")))); isRow {
		w.lines([]string{tableEnd})
	}
}

// tableEnd is a line that ends the tables of a part: rows below it are text.
const tableEnd = "<!-- not understood: -->"

// An agentTable is a list of agents.
type agentTable struct {
	own    []string // the columns that filebus knows
	others []string // those of the file, as they are written there
	rows   []agentRow
}

// An agentRow has the values of one agent by their folded column.
type agentRow map[string]string

// agentKeys returns the ways, folded, to write a column that filebus knows.
func agentKeys(column string) []string {
	others := map[string]string{
		"ID": "agent_id agent", "Task": "task_id issue", "Outcome": "status result",
		"Duration": "time", "Started": "started_at",
	}
	return append([]string{markdown.Fold(column)}, strings.Fields(others[column])...)
}

// knows reports whether a column is one of filebus, under any of its names.
func (a *agentTable) knows(name string) bool {
	return slices.ContainsFunc(a.own,
		func(own string) bool { return slices.Contains(agentKeys(own), markdown.Fold(name)) })
}

// head reads the columns of a table's header; nil if filebus knows none of them.
func (a *agentTable) head(cells []markdown.Cell) (columns []string) {
	if !slices.ContainsFunc(cells, func(c markdown.Cell) bool { return a.knows(markdown.UnescapeCell(c.Text)) }) {
		return nil
	}
	for _, cell := range cells {
		columns = append(columns, markdown.UnescapeCell(cell.Text))
		if !a.knows(columns[len(columns)-1]) {
			a.other(columns[len(columns)-1], nil)
		}
	}
	return columns
}

// second returns a name if it is another one of a column that filebus knows.
func (a *agentTable) second(name string) string {
	if a.knows(name) {
		return name
	}
	return ""
}

// add reads an agent, with the values that filebus does not know. It reports
// whether the values are understood: words for nothing alone say that there is no
// agent.
func (a *agentTable) add(values []Property) bool {
	row := agentRow{}
	used := make([]bool, len(values))
	for _, column := range a.own {
		for _, key := range agentKeys(column) {
			i := slices.IndexFunc(values, func(p Property) bool {
				return markdown.Fold(p.Key) == key && strings.TrimSpace(p.Value) != ""
			})
			if i >= 0 && row[markdown.Fold(column)] == "" {
				row[markdown.Fold(column)], used[i] = markdown.SingleSpaced(values[i].Value), true
			}
		}
	}
	said := slices.ContainsFunc(values, func(p Property) bool { return !markdown.IsNothing(p.Value) })
	if id := row["id"]; !said || len(row) == 0 || id != "" && markdown.IsNothing(id) {
		return !said
	}
	for i, p := range values {
		if !used[i] && (strings.TrimSpace(p.Value) != "" || !a.knows(p.Key)) {
			row[a.other(p.Key, row)] = markdown.SingleSpaced(p.Value)
		}
	}
	a.rows = append(a.rows, row)
	return true
}

// other returns the key of a column that filebus does not know. One that a row
// has already is another one.
func (a *agentTable) other(name string, row agentRow) string {
	name = markdown.SingleSpaced(name)
	for _, has := row[markdown.Fold(name)]; has; _, has = row[markdown.Fold(name)] {
		name += "_"
	}
	if !slices.ContainsFunc(a.others, func(other string) bool { return markdown.Fold(other) == markdown.Fold(name) }) {
		a.others = append(a.others, name)
	}
	return markdown.Fold(name)
}

// lines returns the table.
func (a *agentTable) lines() []string {
	// Second names of columns that filebus knows come last: rows decide which they are.
	slices.SortStableFunc(a.others, func(x, y string) int { return strings.Compare(a.second(x), a.second(y)) })
	columns := slices.Concat(a.own, a.others)
	text := markdown.AppendWideHead(nil, columns...)
	for _, row := range a.rows {
		cell := func(column string) string { return row[markdown.Fold(column)] }
		text = markdown.AppendRow(text, markdown.Each(columns, cell)...)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
