package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	runs "filebus/materialize/run"
	"filebus/store/record"
)

// stateTokens is what the commands that an orchestrator repeats print at most.
const stateTokens = 300

type runShow struct {
	MaxTokens int `flag:"max-tokens"`
}

func (o *runShow) check(*environ, []string) error {
	if o.MaxTokens < 50 {
		return usageError("--max-tokens %d: a run needs at least 50 tokens", o.MaxTokens)
	}
	return nil
}

func (o *runShow) run(ctx context.Context, w *workspace, _ []string) error {
	w.takeInNew(ctx, record.KindState, "session_state")
	view, err := w.book().View(ctx)
	if err != nil {
		return err
	}
	return w.presentLines(runLines(view.State, w.now()), presentation{
		op: "run show", what: "state/session_state", maxTokens: o.MaxTokens,
		entries: view.Entries(), json: func(n int) any { return view.First(n) },
	})
}

// presentLines prints a result whose text is lines, what matters most first. The last
// line says how many are missing.
func (w *workspace) presentLines(lines []string, p presentation) error {
	p.exact = true
	p.text = func(n int) string {
		var out strings.Builder
		for _, line := range lines[:n] {
			out.WriteString(markdown.Clip(oneLine(line), 2*maxCell) + "\n")
		}
		if n < len(lines) {
			fmt.Fprintf(&out, "… %s more\n", plural(len(lines)-n, "line"))
		}
		return out.String()
	}
	if !w.global.json {
		p.entries = len(lines)
	}
	_, err := w.present(p)
	return err
}

// runLines returns a state in lines, what matters most first.
func runLines(s layout.State, now time.Time) []string {
	head := cmp.Or(s.RunID, "no run id") + "  loop " + cmp.Or(s.Loop, "none")
	if s.Started != "" {
		head += "  since " + s.Started
	}
	if s.Ended != "" {
		head += "  ended " + s.Ended
	}
	lines := []string{head}
	if s.Focus != "" {
		lines = append(lines, "focus  "+s.Focus)
	}
	lines = append(lines, fmt.Sprintf("agents  %d at work, %d ended", len(s.Running), len(s.Completed)))
	for _, a := range s.Running {
		line := words(a.ID, a.Task, a.Model)
		if took, known := runs.Since(a.Started, now); known {
			line += "  " + runs.DurationText(took)
		}
		lines = append(lines, "  "+line)
	}
	for _, line := range slices.Backward(s.History[max(len(s.History)-3, 0):]) {
		lines = append(lines, "loops  "+line)
	}
	for _, a := range slices.Backward(s.Completed) {
		lines = append(lines, "  ended  "+words(a.ID, a.Task, a.Outcome, a.Duration))
	}
	return lines
}

// words joins texts with one space between two words.
func words(texts ...string) string {
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

// maxCell is how many characters of one value a bounded output shows.
const maxCell = 120

// cutText cuts a text that somebody else has written.
func cutText(text string) string { return markdown.Clip(oneLine(text), maxCell) }
