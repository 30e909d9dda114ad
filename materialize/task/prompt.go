package task

import (
	"fmt"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A Prompt is what the agent of a task is told.
type Prompt struct {
	Task    ID     `json:"task"`
	Journal string `json:"journal"` // absolute, as is the marker
	Marker  string `json:"marker"`
	Text    string `json:"prompt"`
}

// Prompt returns what the agent of a task is told: where its journal and its
// marker are, how to note progress and how to hand over, by command and by hand.
// It has about 250 tokens at most beside the paths.
func (b *Board) Prompt(id ID, title string) Prompt {
	r := Prompt{Task: id, Journal: b.JournalFile(id), Marker: b.MarkerFile(id, layout.StatusComplete)}
	var p strings.Builder
	fmt.Fprintf(&p, "Task %s", id)
	if title != "" && title != string(id) {
		fmt.Fprintf(&p, ": %s", markdown.Clip(strings.Join(strings.Fields(title), " "), maxTitle))
	}
	fmt.Fprintf(&p, "\nJournal: %s\nMarker: %s\n", r.Journal, r.Marker)
	fmt.Fprintf(&p, "Note each step: filebus task note %s TEXT\n", id)
	fmt.Fprintf(&p, "At the end: filebus task done %s --summary TEXT --files A,B [--pattern P] [--gotcha G]\n", id)
	fmt.Fprintf(&p, "or: task fail %s --summary S --next STEP; task block %s --summary S --blocker B\n", id, id)
	p.WriteString(byHand)
	if failed := b.MarkerFile(id, layout.StatusFailed); failed != r.Marker {
		fmt.Fprintf(&p, "If it failed or is blocked, the marker is %s\n", failed)
	}
	r.Text = p.String()
	return r
}

// maxTitle is how much of a title a prompt shows, in characters.
const maxTitle = 100

// byHand is the handoff form for agents that have no filebus.
const byHand = "By hand: add `- [time] text` lines to \"## Progress Log\"; at the end set Status and Completed, add the\n" +
	"table below, and only then write `done` to the marker, last of all.\n" +
	"## Handoff\n\n" +
	"| Field | Value |\n|-------|-------|\n" +
	"| Outcome | completed, partial, failed or blocked |\n" +
	"| Summary | |\n| Files Changed | |\n| Blockers | None |\n| Patterns Discovered | None |\n| Gotchas | None |\n"
