package layout

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// PropertyEnded is the property of a state whose run has ended, with the time.
const PropertyEnded = "Ended"

// A StateChange is what a command does to a session state: of its parts those
// that are set, in this order.
type StateChange struct {
	// Clear takes all agents and loops away, for a new run.
	Clear bool
	// Set gives properties of the run another value, or none: "Run ID",
	// "Started", "Loop", "Focus", or one without a field of its own.
	Set []Property
	// Start adds agents at work.
	Start []RunningAgent
	// Done adds agents that have ended; those at work with the same id leave.
	Done []CompletedAgent
	// History adds lines, one for a loop.
	History []string
}

// Apply returns the text with the change made in the form that the text is
// written in: tables, YAML lists or plain lines. All other bytes stay. A text
// of another form than these is written anew from what was read of it; kept is
// false then.
func (c StateChange) Apply(text []byte) (edited []byte, kept bool) {
	old, _ := ParseState(text)
	want := old.with(c)
	if len(bytes.TrimSpace(text)) == 0 {
		return AppendState(nil, want), true
	}
	t := newStateText(text)
	if c.Clear {
		t.clear()
	}
	for _, p := range c.Set {
		t.set(p.Key, p.Value)
	}
	for _, a := range c.Start {
		t.add(listRunning, agentRow{"id": a.ID, "task": a.Task, "model": a.Model, "started": a.Started})
	}
	for _, a := range c.Done {
		t.remove(listRunning, a.ID)
		t.add(listCompleted, agentRow{"id": a.ID, "task": a.Task, "outcome": a.Outcome, "duration": a.Duration})
	}
	for _, line := range c.History {
		t.add(listHistory, agentRow{"id": line})
	}
	edited = t.bytes()
	if got, _ := ParseState(edited); got.holds(want) {
		return edited, true
	}
	return AppendState(nil, want), false
}

// with returns the state after a change.
func (s State) with(c StateChange) State {
	if c.Clear {
		s.Running, s.Completed, s.History = nil, nil, nil
	}
	s.Extra = slices.Clone(s.Extra)
	for _, p := range c.Set {
		s.replace(p.Key, singleSpaced(p.Value))
	}
	s.Running = append(slices.Clone(s.Running), c.Start...)
	s.Completed = append(slices.Clone(s.Completed), c.Done...)
	for _, done := range c.Done {
		s.Running = slices.DeleteFunc(s.Running, func(a RunningAgent) bool { return a.ID == done.ID })
	}
	s.History = append(slices.Clone(s.History), c.History...)
	return s
}

// replace is set for a property that may be there already.
func (s *State) replace(key, value string) {
	if isStateField(key) {
		s.set(key, value)
		return
	}
	s.Extra = slices.DeleteFunc(s.Extra, func(p Property) bool { return fold(p.Key) == fold(key) })
	if value != "" {
		s.Extra = append(s.Extra, Property{key, value})
	}
}

// Property returns the value of a property without a field of its own, or "".
func (s State) Property(key string) string {
	for _, p := range s.Extra {
		if fold(p.Key) == fold(key) {
			return p.Value
		}
	}
	return ""
}

// stateFields returns the ways, folded, to write the key of each property that a
// state has a field for.
func stateFields() [][]string {
	return [][]string{
		{"run_id", "run"}, {"started", "started_at", "start_time"},
		{"loop", "current_loop", "loop_number", "loop_count"}, {"focus"},
	}
}

// stateKeys returns the ways, folded, to write the key of a property.
func stateKeys(key string) []string {
	for _, names := range stateFields() {
		if slices.Contains(names, fold(key)) {
			return names
		}
	}
	return []string{fold(key)}
}

// isStateField reports whether a property has a field of its own.
func isStateField(key string) bool {
	return slices.ContainsFunc(stateFields(), func(names []string) bool { return slices.Contains(names, fold(key)) })
}

// holds reports whether s says what want does. A list whose form has no place
// for a value may do without it, so long as every agent is there.
func (s State) holds(want State) bool {
	same := func(got, want string) bool { return got == want }
	fits := func(got, want string) bool { return got == "" || got == want }
	if !same(s.RunID, want.RunID) || !same(s.Started, want.Started) || !same(s.Loop, want.Loop) || !same(s.Focus, want.Focus) {
		return false
	}
	extras := func(state State) (list []string) {
		for _, p := range state.Extra {
			list = append(list, fold(p.Key)+": "+p.Value)
		}
		slices.Sort(list)
		return list
	}
	return slices.Equal(extras(s), extras(want)) && slices.Equal(s.History, want.History) &&
		slices.EqualFunc(s.Running, want.Running, func(a, b RunningAgent) bool {
			return a.ID == b.ID && fits(a.Task, b.Task) && fits(a.Model, b.Model) && fits(a.Started, b.Started)
		}) &&
		slices.EqualFunc(s.Completed, want.Completed, func(a, b CompletedAgent) bool {
			return a.ID == b.ID && fits(a.Task, b.Task) && fits(a.Outcome, b.Outcome) && fits(a.Duration, b.Duration)
		})
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
