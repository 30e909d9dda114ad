package layout

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Running   []Agent
	Completed []Agent
	History   []string // one line a loop
}

// An Agent is a row of the agents at work, with Model and Started, or of those that have
// ended, with Outcome and Duration. Values are as the state has them.
type Agent struct {
	ID       string `json:"id"`
	Task     string `json:"task,omitempty"`
	Model    string `json:"model,omitempty"`
	Started  string `json:"started,omitempty"`
	Outcome  string `json:"outcome,omitempty"`
	Duration string `json:"duration,omitempty"`
}

// states is the layout of session_state.md.
var states = &single{record.KindState, func(_ string, text []byte) (Facts, []*SyntaxError) {
	s, problems := ParseState(text)
	return s.facts(), problems
}}

// A Standing is how far a task is, as its journal and its marker say.
type Standing struct {
	Agent, Run     string // of the journal
	Going          bool   // it was started and has not ended
	Outcome        string // as handoffs say it; "": it has not ended, or nothing is known of it
	Started, Ended time.Time
}

// TaskOutcomes are tasks by how they have ended, in the words of statuses: those at
// work are in_progress, and the outcome of others may be none.
type TaskOutcomes map[string][]string

// OutcomesOf sorts tasks by how they have ended. Each counts once, as it stands last; an
// agent without a task counts as one.
func OutcomesOf(ended, running []Agent) TaskOutcomes {
	ended = slices.Clip(ended)
	for _, a := range running {
		a.Outcome = StatusInProgress
		ended = append(ended, a)
	}
	all := TaskOutcomes{}
	for i, a := range ended {
		isSame := func(later Agent) bool { return JournalID(later.Task) == JournalID(a.Task) }
		if a.Task == "" || !slices.ContainsFunc(ended[i+1:], isSame) {
			status := NormalizeStatus(a.Outcome)
			all[status] = append(all[status], cmp.Or(a.Task, a.ID))
		}
	}
	return all
}

// String returns "3/5 tasks completed, 1 failed".
func (o TaskOutcomes) String() string {
	total, others := 0, ""
	for _, status := range slices.Sorted(maps.Keys(o)) {
		n := len(o[status])
		if total += n; status != StatusComplete && HasEnded(status) {
			others += fmt.Sprintf(", %d %s", n, status)
		}
	}
	return fmt.Sprintf("%d/%d tasks completed%s", len(o[StatusComplete]), total, others)
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

// emptyState is the state before the first run.
const emptyState = "# Session State\n\n## Current Run\n\n## Running Agents\n\n## Completed Agents\n\n## Loop History\n"

// A StateChange is what a command does to a session state: of its parts those
// that are set, in this order.
type StateChange struct {
	// Clear takes all agents and loops away, for a new run.
	Clear bool
	// Set gives properties of the run another value, or none: "Run ID",
	// "Started", "Loop", "Focus" or "Ended".
	Set []Property
	// Done adds agents that have ended; those at work with the same id leave, unless
	// both say a task and not the same one.
	Done []Agent
	// Start adds agents at work, in place of those that are only known by the same task.
	Start []Agent
	// History adds lines, one for a loop.
	History []string
}

// Apply returns the text with the change made; all that it says besides stays as it is. A text in
// which the result would not be read as it should stands as it was behind a new state; kept is false
// then.
func (c StateChange) Apply(text []byte) (edited []byte, kept bool) {
	eol := markdown.LineEnding(text)
	switch {
	case isBlankText(text):
		text = []byte(emptyState)
	case text[len(text)-1] != '\n':
		text = append(slices.Clip(text), eol...)
	}
	mark, rest := []byte(nil), text
	if cut, marked := bytes.CutPrefix(text, []byte(markdown.ByteOrderMark)); marked {
		mark, rest = []byte(markdown.ByteOrderMark), cut
	}
	s, _ := ParseState(rest)
	s = c.of(s)
	edited = slices.Concat(mark, writeState(rest, s))
	if again, _ := ParseState(edited); fmt.Sprintf("%q", again) == fmt.Sprintf("%q", s) {
		return edited, true
	}
	fence := "```"
	for bytes.Contains(text, []byte(fence)) {
		fence += "`"
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	edited = writeState([]byte(emptyState), s)
	return fmt.Appendf(edited, "\n## Earlier Text\n\n%stext\n%s\n%s\n", fence, text, fence), false
}

// of returns the state that a change makes of another one.
func (c StateChange) of(s State) State {
	if c.Clear {
		s.Running, s.Completed, s.History = nil, nil, nil
	}
	for _, p := range c.Set {
		f := stateRun.field(p.Key)
		f.Put(&s, markdown.SingleSpaced(p.Value))
	}
	s.Running, s.Completed = slices.Clone(s.Running), slices.Clip(s.Completed)
	isSameTask := func(a, b Agent) bool { return JournalID(a.Task) == JournalID(b.Task) }
	for _, a := range c.Done {
		a = a.singleSpaced()
		s.Running = slices.DeleteFunc(s.Running, func(r Agent) bool {
			return r.ID == a.ID && (a.Task == "" || r.Task == "" || isSameTask(r, a))
		})
		s.Completed = append(s.Completed, Agent{ID: a.ID, Task: a.Task, Outcome: a.Outcome, Duration: a.Duration})
	}
	for _, a := range c.Start {
		a = a.singleSpaced()
		s.Running = slices.DeleteFunc(s.Running, func(r Agent) bool {
			return r.ID == r.Task && r.Task != "" && isSameTask(r, a)
		})
		s.Running = append(s.Running, Agent{ID: a.ID, Task: a.Task, Model: a.Model, Started: a.Started})
	}
	for _, line := range c.History {
		if line = markdown.SingleSpaced(line); !markdown.IsNothing(line) {
			s.History = append(slices.Clip(s.History), line)
		}
	}
	return s
}

// singleSpaced returns an agent with values of one line each, as cells have them.
func (a Agent) singleSpaced() Agent {
	for _, p := range []*string{&a.ID, &a.Task, &a.Model, &a.Started, &a.Outcome, &a.Duration} {
		*p = markdown.SingleSpaced(*p)
	}
	return a
}
