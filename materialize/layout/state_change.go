package layout

import (
	"bytes"
	"fmt"
	"reflect"

	"filebus/materialize/markdown"
)

// A StateChange is what a command does to a session state: of its parts those
// that are set, in this order.
type StateChange struct {
	// Clear takes all agents and loops away, for a new run.
	Clear bool
	// Set gives properties of the run another value, or none: "Run ID",
	// "Started", "Loop", "Focus" or "Ended".
	Set []Property
	// Start adds agents at work.
	Start []RunningAgent
	// Done adds agents that have ended; those at work with the same id leave.
	Done []CompletedAgent
	// History adds lines, one for a loop.
	History []string
}

// Apply returns the text with the change made. What is understood of it, in any
// form, is written in the one of AppendState; all other bytes stay where they are.
// A text in which the result would not be read as it should stands as it was behind
// a new state; kept is false then.
func (c StateChange) Apply(text []byte) (edited []byte, kept bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte(emptyState)
	}
	t := readState(text)
	t.change(c)
	want := t.state()
	edited = t.bytes()
	again := readState(edited)
	if reflect.DeepEqual(again.state(), want) && bytes.Equal(again.bytes(), edited) {
		return edited, true
	}
	fence := "```"
	for bytes.Contains(text, []byte(fence)) {
		fence += "`"
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	return fmt.Appendf(AppendState(nil, want), "\n## Earlier Text\n\n%stext\n%s\n%s\n", fence, text, fence), false
}

func (t *stateText) change(c StateChange) {
	if c.Clear {
		t.running.rows, t.completed.rows, t.loops, t.standing = nil, nil, nil, nil
		for i := range t.parts {
			if p := &t.parts[i]; p.kind == partHistory {
				p.before, p.after = "", p.cleared+p.after
			}
		}
	}
	for _, p := range c.Set {
		if i := stateFieldOf(p.Key); i >= 0 {
			t.fields[i] = markdown.SingleSpaced(p.Value)
		}
	}
	for _, a := range c.Start {
		t.running.add([]Property{{"ID", a.ID}, {"Task", a.Task}, {"Model", a.Model}, {"Started", a.Started}})
	}
	for _, a := range c.Done {
		t.running.remove(markdown.SingleSpaced(a.ID))
		row := []Property{{"ID", a.ID}, {"Task", a.Task}, {"Outcome", a.Outcome}, {"Duration", a.Duration}}
		t.completed.add(row)
	}
	for _, line := range c.History {
		if line = loopOf(line); !markdown.IsNothing(line) {
			t.loops = append(t.loops, line)
		}
	}
}
