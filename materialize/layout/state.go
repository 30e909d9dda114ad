package layout

import (
	"bytes"
	"fmt"
	"strings"

	"filebus/store/record"
)

// A State is an orchestrator's view of its run: who is at work, who is done,
// never what they wrote.
type State struct {
	RunID     string
	Started   string
	Loop      string // a number, or "2 of 5"
	Focus     string
	Extra     []Property // other properties of the run, in order
	Running   []RunningAgent
	Completed []CompletedAgent
	History   []string // one line a loop
}

// A RunningAgent is a row of the agents at work.
type RunningAgent struct{ ID, Task, Model, Started string }

// A CompletedAgent is a row of the agents that have ended.
type CompletedAgent struct{ ID, Task, Outcome, Duration string }

// States is the layout of session_state.md: one record a file.
type States struct{}

// Parse makes the whole file one state record. It reports rows and lines that
// it cannot read.
func (States) Parse(path string, text []byte) (File, []*SyntaxError) {
	s, problems := ParseState(text)
	return single(path, record.KindState, text, s.facts()), inFile(path, problems)
}

// facts returns the run and loop, and one line about who is at work: what an
// orchestrator asks a state for most often.
func (s *State) facts() Facts {
	f := Facts{Title: "Session state", Run: word(s.RunID), Loop: word(firstNumber(s.Loop))}
	f.setFact(AttributeStarted, s.Started)
	var about []string
	for _, p := range []Property{{"run", s.RunID}, {"loop", s.Loop}, {"focus", s.Focus}} {
		if p.Value != "" {
			about = append(about, p.Key+" "+p.Value)
		}
	}
	about = append(about, fmt.Sprintf("%s running, %d completed", counted(len(s.Running), "agent"), len(s.Completed)))
	f.Summary = summaryOf(strings.Join(about, "; "))
	return f
}

// firstNumber returns the digits that a text begins with, without zeros before
// them, else the text.
func firstNumber(text string) string {
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	if n, found := number(digits, ""); found {
		return n
	}
	return text
}

// AppendState appends s in the form of the file-based communication document.
func AppendState(dst []byte, s State) []byte {
	dst = append(dst, "# Session State\n\n## Current Run\n"...)
	for _, p := range append([]Property{{"Run ID", s.RunID}, {"Started", s.Started}, {"Loop", s.Loop}, {"Focus", s.Focus}}, s.Extra...) {
		if p.Value != "" {
			dst = fmt.Appendf(dst, "- %s: %s\n", singleSpaced(p.Key), singleSpaced(p.Value))
		}
	}
	dst = append(dst, "\n## Running Agents\n| ID | Task | Model | Started |\n|----|------|-------|---------|\n"...)
	for _, a := range s.Running {
		dst = appendAgentRow(dst, a.ID, a.Task, a.Model, a.Started)
	}
	dst = append(dst, "\n## Completed Agents\n| ID | Task | Outcome | Duration |\n|----|------|---------|----------|\n"...)
	for _, a := range s.Completed {
		dst = appendAgentRow(dst, a.ID, a.Task, a.Outcome, a.Duration)
	}
	dst = append(dst, "\n## Loop History\n"...)
	for _, line := range s.History {
		dst = fmt.Appendf(dst, "- %s\n", singleSpaced(line))
	}
	return dst
}

// appendAgentRow appends a table's row.
func appendAgentRow(dst []byte, cells ...string) []byte {
	for _, cell := range cells {
		dst = append(append(append(dst, "| "...), escapeCell(cell)...), ' ')
	}
	return append(dst, "|\n"...)
}

// ParseState reads the three forms in which states are written: Markdown
// sections with a list and tables, the same sections with YAML lists, and
// plain "key: value" lines. The errors have lines and no file.
func ParseState(text []byte) (State, []*SyntaxError) {
	var s State
	sections := Outline(text)
	at := len(text)
	if len(sections) > 0 {
		at = sections[0].Start
	}
	head := strings.TrimPrefix(string(text[:at]), byteOrderMark)
	problems := s.readYAML(head, 1) // before the first heading, or all of a plain state
	for i, section := range sections {
		body := section
		// Sections nest; what stands in an inner one is read when its turn comes.
		if i+1 < len(sections) {
			body.End = min(body.End, sections[i+1].Start) // its own text, no subsections
		}
		line := section.Line + bytes.Count(text[section.Start:body.End-len(sectionBody(text, body))], []byte("\n"))
		problems = append(problems, s.readSection(fold(section.Title), string(sectionBody(text, body)), line)...)
	}
	return s, problems
}

// readSection takes in one section whose text begins at line. A section with
// another title is one of the run's, whose properties it may hold.
func (s *State) readSection(title, body string, line int) []*SyntaxError {
	if fence, found := cutYAMLFence(body); found && !hasFieldRow(body) {
		body, line = fence.inside, line+fence.before
	}
	switch title {
	case "running_agents", "running", "active_agents", "completed_agents", "completed":
		add := s.addRunning
		if strings.HasPrefix(title, "completed") {
			add = s.addCompleted
		}
		if hasFieldRow(body) {
			return readAgentTable(body, line, add)
		}
		node, problems := parseYAML(body, line)
		addAgents(node, add)
		return problems
	case "loop_history", "history":
		s.addHistory(body)
		return nil
	}
	return s.readRun(body, line)
}

// readRun takes in the properties of the run: list items or YAML, whichever the
// first line with a property is.
func (s *State) readRun(body string, line int) []*SyntaxError {
	for raw := range strings.Lines(body) {
		if trimmed := strings.TrimSpace(raw); strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "**") {
			if p, found := cutProperty(raw); found {
				s.set(p.Key, p.Value)
			}
			continue
		}
		if key, _, found := cutYAMLKey(strings.TrimSpace(raw)); found && key != "" {
			return s.readYAML(body, line)
		}
	}
	return nil
}

// readYAML takes in "key: value" lines, with lists of agents and loops.
func (s *State) readYAML(text string, line int) []*SyntaxError {
	node, problems := parseYAML(text, line)
	for _, p := range node.pairs {
		switch fold(p.key) {
		case "running_agents", "running", "active_agents":
			addAgents(p.value, s.addRunning)
		case "completed_agents", "completed":
			addAgents(p.value, s.addCompleted)
		case "loop_history", "history":
			s.History = append(s.History, p.value.texts()...)
		case "current_run", "run":
			for _, inner := range p.value.pairs {
				s.set(inner.key, inner.value.text())
			}
			if len(p.value.pairs) == 0 { // "run: run-1", not a map of properties
				s.set(p.key, p.value.text())
			}
		default:
			s.set(p.key, p.value.text())
		}
	}
	return problems
}

// set takes in one property of the run.
func (s *State) set(key, value string) {
	switch fold(key) {
	case "run_id", "run":
		s.RunID = value
	case "started", "started_at", "start_time":
		s.Started = value
	case "loop", "current_loop", "loop_number", "loop_count":
		s.Loop = value
	case "focus":
		s.Focus = value
	default:
		s.Extra = append(s.Extra, Property{key, value})
	}
}

// An agentRow has the values of one agent by their folded column.
type agentRow map[string]string

// first returns the first of the columns that has a value.
func (r agentRow) first(keys ...string) string {
	for _, key := range keys {
		if r[key] != "" {
			return r[key]
		}
	}
	return ""
}

// addRunning takes in a row under any of the names that columns have.
func (s *State) addRunning(r agentRow) {
	s.Running = append(s.Running, RunningAgent{
		r.first("id", "agent_id", "agent"), r.first("task", "task_id", "issue"), r.first("model"), r.first("started", "started_at"),
	})
}

// addCompleted takes in a row under any of the names that columns have.
func (s *State) addCompleted(r agentRow) {
	s.Completed = append(s.Completed, CompletedAgent{
		r.first("id", "agent_id", "agent"), r.first("task", "task_id", "issue"), r.first("outcome", "status", "result"), r.first("duration", "time"),
	})
}

// addAgents takes in a YAML list of agents, maps or ids.
func addAgents(node yamlNode, add func(agentRow)) {
	for _, item := range node.items() {
		row := agentRow{}
		for _, p := range item.pairs {
			row[fold(p.key)] = p.value.text()
		}
		if len(item.pairs) == 0 {
			row["id"] = item.text()
		}
		add(row)
	}
}

// readAgentTable takes in a table whose header names its columns, in any order.
func readAgentTable(body string, line int, add func(agentRow)) (problems []*SyntaxError) {
	var columns []string
	for raw := range strings.Lines(body) {
		cells, isRow := scanRow([]byte(raw))
		switch {
		case !isRow || isTableDelimiter(cells):
		case columns == nil:
			for _, cell := range cells {
				columns = append(columns, fold(cell.text))
			}
		case len(cells) != len(columns):
			problems = append(problems, &SyntaxError{Line: line, Err: fmt.Errorf("agent row %q has %d cells instead of %d", clipLine(strings.TrimSpace(raw), 60), len(cells), len(columns))})
		default:
			row := agentRow{}
			for i, cell := range cells {
				row[columns[i]] = unescapeCell(cell.text)
			}
			if !isNothing(row.first(columns...)) { // a row of "None" or "-" says there is no agent
				add(row)
			}
		}
		line++
	}
	return problems
}

// addHistory takes in the loops: list items, or lines of text.
func (s *State) addHistory(body string) {
	for raw := range strings.Lines(body) {
		line := strings.TrimSpace(raw)
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "- "), "* "))
		if !isNothing(line) {
			s.History = append(s.History, line)
		}
	}
}
