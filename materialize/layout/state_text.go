package layout

import (
	"cmp"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// stateRun are the properties of the run: bullets below "Current Run" or, in a state without that
// section, the lines "key: value" that a file begins with.
var stateRun = newFieldTable(FieldTable[State]{
	noun:  "run %s",
	head:  func(*State) (id, title *string) { return new(string), new(string) },
	cutID: func(heading string) (id, title string) { return "", heading },
	extra: func(*State) *[]Property { return new([]Property) },
	rules: markdown.Rules{Plain: markdown.PlainLines, Form: markdown.BulletForm},
	fields: []Field[State]{
		{Name: "Run ID", text: func(s *State) *string { return &s.RunID }},
		{Name: "Started", text: func(s *State) *string { return &s.Started }},
		{Name: "Loop", also: []string{"loop count"}, text: func(s *State) *string { return &s.Loop }},
		{Name: "Focus", text: func(s *State) *string { return &s.Focus }},
		{Name: "Ended", text: func(s *State) *string { return &s.Ended }},
	},
})

// The tables of agents, and the titles of the other sections.
var (
	runningAgents   = agentTable("Running Agents", "Model", "Started")
	completedAgents = agentTable("Completed Agents", "Outcome", "Duration")
)

const (
	runTitle  = "Current Run"
	loopTitle = "Loop History"
)

// agentTable returns a table of agents with two columns behind ID and Task.
func agentTable(title string, columns ...string) *rowTable[Agent] {
	all := map[string]func(*Agent) *string{
		"ID": func(a *Agent) *string { return &a.ID }, "Task": func(a *Agent) *string { return &a.Task },
		"Model": func(a *Agent) *string { return &a.Model }, "Started": func(a *Agent) *string { return &a.Started },
		"Outcome": func(a *Agent) *string { return &a.Outcome }, "Duration": func(a *Agent) *string { return &a.Duration },
	}
	t := &rowTable[Agent]{title: title, width: 4}
	for _, column := range append([]string{"ID", "Task"}, columns...) {
		t.fields = append(t.fields, Field[Agent]{Name: column, text: all[column]})
	}
	return t
}

// A stateItem is a line of a state that says something: a row or a loop.
type stateItem[T comparable] struct {
	value      T
	start, end int
}

// ParseState reads a state. What it does not understand says nothing; rows and properties among that
// are reported. The errors have lines and no file.
func ParseState(text []byte) (State, []*SyntaxError) {
	lines := markdown.Lines(text)
	s, problems := State{}, []*SyntaxError(nil)
	if from, to, _ := runLines(lines); to > from {
		s, problems = readRun(lines[from:to])
	}
	running, wrongRunning := agentsIn(runningAgents, text)
	completed, wrongCompleted := agentsIn(completedAgents, text)
	for _, a := range running {
		s.Running = append(s.Running, a.value)
	}
	for _, a := range completed {
		s.Completed = append(s.Completed, a.value)
	}
	loops, _ := loopsIn(lines)
	for _, l := range loops {
		s.History = append(s.History, l.value)
	}
	return s, slices.Concat(problems, wrongRunning, wrongCompleted)
}

// runLines returns the lines of the run's section with its heading, else those before the first
// heading.
func runLines(lines []markdown.Line) (from, to int, isSection bool) {
	if section, next := sectionOf(lines, isTitled(runTitle)); section >= 0 {
		return section, next, true
	}
	to = slices.IndexFunc(lines, func(l markdown.Line) bool { return l.Level > 0 })
	if to < 0 {
		to = len(lines)
	}
	return 0, to, false
}

// readRun reads the properties of the run in one line each.
func readRun(lines []markdown.Line) (State, []*SyntaxError) {
	if lines[0].Level == 0 {
		lines = append([]markdown.Line{{Number: 1}}, lines...) // an entry begins with its heading
	}
	s, problems := stateRun.parse(lines)
	for _, f := range stateRun.fields {
		*f.text(&s) = markdown.SingleSpaced(*f.text(&s))
	}
	return s, problems
}

// agentsIn reads the rows of a table. Words for nothing alone say that there is no agent.
func agentsIn(t *rowTable[Agent], text []byte) (all []stateItem[Agent], problems []*SyntaxError) {
	p := t.find(text)
	for _, l := range p.rows() {
		a, cells := t.read(l.Text, p.columns)
		switch {
		case cells != len(p.columns):
			row := markdown.Clip(strings.TrimSpace(string(l.Text)), 60)
			problems = append(problems, wrong(l.Number, "agent row %q has %d cells instead of %d", row, cells, len(p.columns)))
		case !markdown.IsNothing(cmp.Or(a.ID, a.Task)):
			all = append(all, stateItem[Agent]{a, l.Start, l.End})
		}
	}
	isText := func(l markdown.Line) bool { return !markdown.IsNothing(string(l.Text)) }
	if p.section >= 0 && p.header < 0 && slices.ContainsFunc(p.lines[p.section+1:p.next], isText) {
		problems = append(problems, wrong(p.lines[p.section].Number, "%s has no table with a column ID", t.title))
	}
	return all, problems
}

// loopsIn reads the items of the loop history, and returns where the next one belongs: -1 without the
// section.
func loopsIn(lines []markdown.Line) (all []stateItem[string], next int) {
	section, end := sectionOf(lines, isTitled(loopTitle))
	if section < 0 {
		return nil, -1
	}
	next = lines[section].End
	for _, l := range lines[section+1 : end] {
		item, isItem := strings.CutPrefix(string(l.Text), "- ")
		if item = markdown.SingleSpaced(item); isItem && !l.Quiet && !markdown.IsNothing(item) {
			all, next = append(all, stateItem[string]{item, l.Start, l.End}), l.End
		}
	}
	return all, next
}

// writeState returns text with what a state says in the place of what it says now; all other bytes
// stay. The text ends its last line.
func writeState(text []byte, s State) []byte {
	text = writeRun(text, s)
	text = writeAgents(text, runningAgents, s.Running)
	text = writeAgents(text, completedAgents, s.Completed)
	loops, next := loopsIn(markdown.Lines(text))
	if next < 0 && len(s.History) > 0 {
		text = appendSection(text, loopTitle)
		next = len(text)
	}
	return writeItems(text, loops, s.History, next, func(loop string) []byte { return []byte("- " + loop + "\n") })
}

// writeRun sets the properties of the run that are others.
func writeRun(text []byte, s State) []byte {
	lines := markdown.Lines(text)
	from, to, isSection := runLines(lines)
	old := State{}
	if to > from {
		old, _ = readRun(lines[from:to])
	}
	isOther := func(f Field[State]) bool { return *f.text(&old) != *f.text(&s) }
	if !slices.ContainsFunc(stateRun.fields, isOther) {
		return text
	}
	isSaid := func(f Field[State]) bool { return *f.text(&old) != "" }
	if !isSection && !slices.ContainsFunc(stateRun.fields, isSaid) {
		text = appendSection(text, runTitle)
		lines = markdown.Lines(text)
		from, to, isSection = len(lines)-1, len(lines), true
	}
	start, end := 0, len(text)
	if from < len(lines) {
		start = lines[from].Start
	}
	if to < len(lines) {
		end = lines[to].Start
	}
	entry, eol := text[start:end], markdown.LineEnding(text)
	if !isSection {
		entry = append([]byte(eol), entry...)
	}
	for _, f := range stateRun.fields {
		if isOther(f) {
			entry = stateRun.Set(entry, f.Name, f.Get(&s)...)
		}
	}
	if !isSection {
		entry = entry[len(eol):]
	}
	return slices.Concat(text[:start], entry, text[end:])
}

// writeAgents makes the rows of a table those of some agents.
func writeAgents(text []byte, t *rowTable[Agent], agents []Agent) []byte {
	p := t.find(text)
	if p.section < 0 && len(agents) > 0 {
		text = appendSection(text, t.title)
		p = t.find(text)
	}
	if p.header < 0 && len(agents) > 0 {
		at, head := p.lines[p.section].End, markdown.AppendWideHead(nil, t.columns()...)
		if at < len(text) && !isBlankText(p.lines[p.section+1].Text) {
			head = append(head, '\n') // else the text would belong to the table
		}
		text = slices.Concat(text[:at], markdown.WithEnding(head, text), text[at:])
		p = t.find(text)
	}
	for _, f := range t.fields {
		isSaid := func(a Agent) bool { return *f.text(&a) != "" }
		if t.column(p.columns, f.Name) < 0 && slices.ContainsFunc(agents, isSaid) {
			text = t.addColumn(text, f.Name)
			p = t.find(text)
		}
	}
	old, _ := agentsIn(t, text)
	at := len(text)
	if p.header >= 0 {
		at = p.lines[p.end-1].End
	}
	return writeItems(text, old, agents, at, func(a Agent) []byte {
		return markdown.AppendRow(nil, t.cells(a, p.columns)...)
	})
}

// writeItems returns text without the lines that say what is not wanted. What is wanted besides
// follows at an offset behind them all.
func writeItems[T comparable](text []byte, old []stateItem[T], want []T, next int, line func(T) []byte) []byte {
	var out []byte
	at := 0
	for _, item := range old {
		if len(want) > 0 && item.value == want[0] {
			want = want[1:]
			continue
		}
		out = append(out, text[at:item.start]...)
		at = item.end
	}
	if len(want) == 0 {
		return append(out, text[at:]...)
	}
	out = append(out, text[at:next]...)
	for _, value := range want {
		out = append(out, markdown.WithEnding(line(value), text)...)
	}
	return append(out, text[next:]...)
}

// appendSection returns text with a section that has nothing yet at its end.
func appendSection(text []byte, title string) []byte {
	return insertSection(text, len(text), "## "+title+"\n")
}
