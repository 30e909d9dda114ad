package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/cmd/filebus/dialogue"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type dialogueScore struct {
	Force  bool `flag:"force"`
	DryRun bool `flag:"dry-run"`
}

type dialogueScoreJSON struct {
	Dialogue  dialogue.Key        `json:"dialogue"`
	Converged bool                `json:"converged"`
	Total     int                 `json:"total"`
	Rounds    []roundScore        `json:"rounds"`
	Agents    []layout.AgentScore `json:"agents"`
	Tensions  []layout.TensionRow `json:"tensions"`

	Differences []dialogue.Difference `json:"differences,omitempty"`
	Says        []string              `json:"says,omitempty"`    // the judge, of the whole
	Notes       []string              `json:"notes,omitempty"`   // marks, and what is not understood
	Written     []string              `json:"written,omitempty"` // absolute
	Kept        []string              `json:"kept,omitempty"`    // written by hand
}

// A roundScore is a round in numbers, and who was there.
type roundScore struct {
	layout.RoundScore
	dialogue.Presence
}

func (o *dialogueScore) run(ctx context.Context, w *workspace, args []string) error {
	w, f, d, err := w.openDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	board := dialogue.NewBoard(d)
	var files []dialogue.DerivedFile
	if d.Key.IsOwn() && !o.DryRun {
		if files, err = f.WriteDerived(ctx, board, o.Force); err != nil {
			return err
		}
	}
	view := scoreView(board, files)
	open := slices.DeleteFunc(slices.Clone(view.Tensions), func(t layout.TensionRow) bool { return !t.IsOpen() })
	const scoreTokens = 400 // how long the numbers of a dialogue are at most
	_, err = w.present(presentation{
		what: d.Key.String(), entries: len(open), maxTokens: scoreTokens,
		json: func(int) any { return view }, text: func(n int) string { return w.scoreText(board, open, n) },
	})
	if err == nil && !w.global.json {
		w.noteScore(board, view.Kept)
	}
	return err
}

func scoreView(b *dialogue.Board, files []dialogue.DerivedFile) dialogueScoreJSON {
	view := dialogueScoreJSON{
		Dialogue: b.Dialogue.Key, Converged: b.Converged, Total: b.Total, Agents: b.Agents, Tensions: b.TensionRows(),
		Differences: b.Differences, Says: b.Says, Notes: b.Notes,
	}
	for i, r := range b.Rounds {
		view.Rounds = append(view.Rounds, roundScore{r, b.Presence[i]})
	}
	for _, file := range files {
		if file.Kept {
			view.Kept = append(view.Kept, file.Path)
		} else {
			view.Written = append(view.Written, file.File)
		}
	}
	return view
}

// scoreText returns the rounds and the first tensions that are open.
func (e *environ) scoreText(b *dialogue.Board, open []layout.TensionRow, shown int) string {
	const shownRounds = 12 // the last ones
	rows := [][]string{{"round", "W", "C", "T", "R", "score", "S", "open", "new", "velocity", "converge"}}
	for _, r := range b.Rounds[max(0, len(b.Rounds)-shownRounds):] {
		rows = append(rows, r.Cells("-"))
	}
	total := strconv.Itoa(b.Total)
	if !b.HasTurns() && !b.IsWritten {
		rows, total = nil, "-"
	}
	text := fmt.Sprintf("%sALIGNMENT %s  %s\n", e.table(rows), total, boardState(b))
	for _, line := range b.Says {
		text += oneLine("the judge: "+line) + "\n"
	}
	for _, t := range open[:shown] {
		text += oneLine(fmt.Sprintf("%s %s: %s", strings.ToLower(t.Status), t.ID, markdown.Clip(t.Tension, 70))) + "\n"
	}
	if left := len(open) - shown; left > 0 {
		text += e.rest(left, "filebus dialogue score "+record.ShellWord(b.Dialogue.Key.String())+" --json") + "\n"
	}
	return text
}

// boardState says how far a dialogue is.
func boardState(b *dialogue.Board) string {
	switch {
	case len(b.Rounds) == 0:
		return "no round yet"
	case !b.HasTurns():
		return "no turns"
	case b.Converged:
		return "converged"
	}
	return "not converged"
}

// noteScore says what is missing from the numbers, and what was not written.
func (e *environ) noteScore(b *dialogue.Board, kept []string) {
	for _, p := range b.Presence {
		switch {
		case len(p.Unjudged) == 0:
		case len(p.Unjudged) == len(p.Given):
			e.note("round %d: nobody is judged yet", p.Round)
		default:
			e.note("round %d: not judged: %s", p.Round, markdown.Clip(strings.Join(p.Unjudged, ", "), 200))
		}
		if len(p.Changed) > 0 {
			e.note("round %d: changed after they were judged, so judge them again: %s", p.Round, strings.Join(p.Changed, ", "))
		}
		if len(p.Discarded) > 0 {
			e.note("round %d: judged but absent, so not counted: %s", p.Round,
				markdown.Clip(strings.Join(p.Discarded, ", "), 200))
		}
	}
	for _, d := range b.Differences {
		e.note("%s", d)
	}
	for _, note := range b.Notes {
		e.note("%s", oneLine(note))
	}
	if len(kept) > 0 {
		e.note("written by hand, and left alone: %s", strings.Join(kept, ", "))
	}
	if n := len(b.Unclear); n > 0 {
		e.note("%s cannot be resolved: filebus dialogue check %s",
			plural(n, "reference"), record.ShellWord(b.Dialogue.Key.String()))
	}
}
