package layout

import (
	"fmt"
	"strconv"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A State is an orchestrator's view of its run: who is at work, who is done,
// never what they wrote.
type State struct {
	RunID     string
	Started   string
	Loop      string // a number, or "2 of 5"
	Focus     string
	Ended     string // when the run ended; "" while it goes on
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
	about = append(about, fmt.Sprintf("%s running, %d completed", markdown.CountOf(len(s.Running), "agent"),
		len(s.Completed)))
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

// LoopNumber returns the number of the loop that the state is in, and the
// number of loops that were planned; 0 for one that it does not say.
func (s State) LoopNumber() (loop, planned int) {
	for _, between := range []string{" of ", "/"} {
		if first, rest, found := strings.Cut(s.Loop, between); found {
			return leadingNumber(first), leadingNumber(rest)
		}
	}
	return leadingNumber(s.Loop), 0
}

// leadingNumber returns the number that a text begins with, or 0.
func leadingNumber(text string) int {
	n, err := strconv.Atoi(firstNumber(strings.TrimSpace(text)))
	if err != nil {
		return 0 // no digits, or more than a loop ever has
	}
	return n
}

// ParseState reads the three forms in which states are written: Markdown
// sections with a list and tables, the same sections with YAML lists, and
// plain "key: value" lines. The errors have lines and no file.
func ParseState(text []byte) (State, []*SyntaxError) {
	t := readState(text)
	return t.state(), t.problems
}

// AppendState appends s in the form of the file-based communication document.
func AppendState(dst []byte, s State) []byte {
	t := readState([]byte(emptyState))
	for i, value := range []string{s.RunID, s.Started, s.Loop, s.Focus, s.Ended} {
		t.fields[i] = markdown.SingleSpaced(value)
	}
	t.change(StateChange{Done: s.Completed, History: s.History})
	t.change(StateChange{Start: s.Running}) // last: who has ended before may be at work again
	return append(dst, t.bytes()...)
}

// emptyState is the state before the first run.
const emptyState = "# Session State\n\n## Current Run\n\n## Running Agents\n\n## Completed Agents\n\n## Loop History\n"
