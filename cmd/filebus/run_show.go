package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
	"filebus/store"
	"filebus/store/record"
)

// stateTokens is what the commands that an orchestrator repeats print at most.
const stateTokens = 300

func newRunShowCommand(env *environ) *cobra.Command {
	maxTokens := stateTokens
	cmd := &cobra.Command{
		Use:  "show",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRunShow(cmd.Context(), env, maxTokens) },
	}
	cmd.Flags().IntVar(&maxTokens, "max-tokens", stateTokens, "")
	return cmd
}

// A runShowJSON is a session state in JSON. The lists are their last entries.
type runShowJSON struct {
	Run       string      `json:"run,omitempty"`
	Started   string      `json:"started,omitempty"`
	Ended     string      `json:"ended,omitempty"`
	Loop      int         `json:"loop"`
	Loops     int         `json:"loops,omitempty"`
	Focus     string      `json:"focus,omitempty"`
	Running   []agentJSON `json:"running"`
	Completed []agentJSON `json:"completed"`
	History   []string    `json:"history"`
	Left      int         `json:"left,omitempty"` // entries that are not listed
	Ref       string      `json:"ref"`
	File      string      `json:"file"`
	Tokens    int         `json:"tokens"` // of the file
}

func runRunShow(ctx context.Context, env *environ, maxTokens int) error {
	if maxTokens < 50 {
		return usageError("--max-tokens %d: a run takes 50 tokens at least", maxTokens)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	env.takeInNew(ctx, s, record.KindState, "session_state")
	view, err := env.book(s).View(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return record.NotFound.Errorf("no run is going on").Because(runs.ErrNoRun)
	}
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printRead(s, "run show", "state/session_state", toRunShow(view, maxTokens))
	}
	text := fitLines(runLines(view), maxTokens)
	env.printf("%s", text)
	env.logRead(s, "run show", "state/session_state", record.EstimateTokens(int64(len(text))))
	return nil
}

// toRunShow returns a state in JSON with as many entries as there is room for: those
// at work first, then the last of the others.
func toRunShow(view *runs.View, maxTokens int) runShowJSON {
	shown := runShowJSON{
		Run: cutText(view.RunID), Started: cutText(view.Started), Ended: cutText(view.Ended), Focus: cutText(view.Focus),
		Running: []agentJSON{}, Completed: []agentJSON{}, History: []string{},
		Ref: view.Ref.Short(), File: view.File, Tokens: view.Tokens,
	}
	shown.Loop, shown.Loops = view.LoopNumber()
	room := maxTokens - 80 - record.EstimateTokens(int64(len(view.File)+len(shown.Focus)))
	take := func(size int) bool {
		if room -= record.EstimateTokens(int64(size)); room < 0 {
			shown.Left++
		}
		return room >= 0
	}
	for _, a := range view.Running {
		if a := (agentJSON{ID: cutText(a.ID), Task: cutText(a.Task), Model: cutText(a.Model), Started: a.Started}); take(60 + len(a.ID+a.Task+a.Model)) {
			shown.Running = append(shown.Running, a)
		}
	}
	for i := len(view.History) - 1; i >= 0; i-- {
		if line := cutText(view.History[i]); take(4 + len(line)) {
			shown.History = append([]string{line}, shown.History...)
		}
	}
	for i := len(view.Completed) - 1; i >= 0; i-- {
		a := view.Completed[i]
		if a := (agentJSON{ID: cutText(a.ID), Task: cutText(a.Task), Outcome: cutText(a.Outcome), Duration: a.Duration}); take(60 + len(a.ID+a.Task+a.Outcome)) {
			shown.Completed = append([]agentJSON{a}, shown.Completed...)
		}
	}
	return shown
}

// runLines returns a state in lines, what matters most first.
func runLines(view *runs.View) []string {
	head := textOr(view.RunID, "no run id") + "  loop " + textOr(view.Loop, "none")
	if view.Started != "" {
		head += "  since " + view.Started
	}
	if ended := view.Ended; ended != "" {
		head += "  ended " + ended
	}
	lines := []string{head}
	if view.Focus != "" {
		lines = append(lines, "focus  "+view.Focus)
	}
	lines = append(lines, fmt.Sprintf("agents  %d at work, %d ended", len(view.Running), len(view.Completed)))
	for _, a := range view.Running {
		line := strings.Join(strings.Fields("  "+a.ID+" "+a.Task+" "+a.Model), " ")
		if took, known := runs.Since(a.Started, view.Now); known {
			line += "  " + runs.DurationText(took)
		}
		lines = append(lines, "  "+line)
	}
	for i := len(view.History) - 1; i >= 0 && i >= len(view.History)-3; i-- {
		lines = append(lines, "loops  "+view.History[i])
	}
	for i := len(view.Completed) - 1; i >= 0; i-- {
		a := view.Completed[i]
		lines = append(lines, "  ended  "+strings.Join(strings.Fields(a.ID+" "+a.Task+" "+a.Outcome+" "+a.Duration), " "))
	}
	return lines
}

func textOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// maxCell is how many characters of one value a bounded output shows.
const maxCell = 120

// cutText cuts a text that somebody else has written.
func cutText(text string) string { return layout.Clip(oneLine(text), maxCell) }

// fitLines joins as many lines as n tokens have room for, each cut where it is
// much too long, and says how many are missing.
func fitLines(lines []string, n int) string {
	const notice = 24 // bytes of the last line
	var out strings.Builder
	for i, line := range lines {
		line = layout.Clip(oneLine(line), 2*maxCell)
		rest := 0
		if i < len(lines)-1 {
			rest = notice
		}
		if out.Len()+len(line)+1+rest > 4*n {
			fmt.Fprintf(&out, "… %s\n", plural(len(lines)-i, "line")+" more")
			break
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}
