package dialogue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type dialogueScore struct {
	Force  bool `flag:"force"`
	DryRun bool `flag:"dry-run"`
}

// DialogueScoreJSON is what a command prints with --json.
type DialogueScoreJSON struct {
	Dialogue  Key                 `json:"dialogue"`
	Converged bool                `json:"converged"`
	Total     int                 `json:"total"`
	Rounds    []roundScore        `json:"rounds"`
	Agents    []layout.AgentScore `json:"agents"`
	Tensions  []layout.TensionRow `json:"tensions"`

	Differences []Difference `json:"differences,omitempty"`
	Says        []string     `json:"says,omitempty"`    // the judge, of the whole
	Notes       []string     `json:"notes,omitempty"`   // marks, and what is not understood
	Written     []string     `json:"written,omitempty"` // absolute
	Kept        []string     `json:"kept,omitempty"`    // written by hand
}

// A roundScore is a round in numbers, and who was there.
type roundScore struct {
	layout.RoundScore
	Presence
}

func (o *dialogueScore) Do(ctx context.Context, w *cli.Work, args []string) error {
	w, f, d, err := openDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	board := NewBoard(d)
	var files []DerivedFile
	if d.Key.IsOwn() && !o.DryRun {
		if files, err = f.WriteDerived(ctx, board, o.Force); err != nil {
			return err
		}
	}
	view := scoreView(board, files)
	open := slices.DeleteFunc(slices.Clone(view.Tensions), func(t layout.TensionRow) bool { return !t.IsOpen() })
	const scoreTokens = 400 // how long the numbers of a dialogue are at most
	_, err = w.Present(cli.Presentation{
		What: d.Key.String(), Entries: len(open), MaxTokens: scoreTokens,
		JSON: func(int) any { return view }, Text: func(n int) string { return scoreText(w.Environ, board, open, n) },
	})
	if err == nil && !w.Global.JSON {
		noteScore(w.Environ, board, view.Kept)
	}
	return err
}

func scoreView(b *Board, files []DerivedFile) DialogueScoreJSON {
	view := DialogueScoreJSON{
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
func scoreText(e *cli.Environ, b *Board, open []layout.TensionRow, shown int) string {
	const shownRounds = 12 // the last ones
	rows := [][]string{{"round", "W", "C", "T", "R", "score", "S", "open", "new", "velocity", "converge"}}
	for _, r := range b.Rounds[max(0, len(b.Rounds)-shownRounds):] {
		rows = append(rows, r.Cells("-"))
	}
	total := strconv.Itoa(b.Total)
	if !b.HasTurns() && !b.IsWritten {
		rows, total = nil, "-"
	}
	text := fmt.Sprintf("%sALIGNMENT %s  %s\n", e.Table(rows), total, boardState(b))
	for _, line := range b.Says {
		text += cli.OneLine("the judge: "+line) + "\n"
	}
	for _, t := range open[:shown] {
		text += cli.OneLine(fmt.Sprintf("%s %s: %s", strings.ToLower(t.Status), t.ID, markdown.Clip(t.Tension, 70))) + "\n"
	}
	if left := len(open) - shown; left > 0 {
		text += e.Rest(left, "filebus dialogue score "+record.ShellWord(b.Dialogue.Key.String())+" --json") + "\n"
	}
	return text
}

// boardState says how far a dialogue is.
func boardState(b *Board) string {
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
func noteScore(e *cli.Environ, b *Board, kept []string) {
	for _, p := range b.Presence {
		switch {
		case len(p.Unjudged) == 0:
		case len(p.Unjudged) == len(p.Given):
			e.Note("round %d: nobody is judged yet", p.Round)
		default:
			e.Note("round %d: not judged: %s", p.Round, markdown.Clip(strings.Join(p.Unjudged, ", "), 200))
		}
		if len(p.Changed) > 0 {
			e.Note("round %d: changed after they were judged, so judge them again: %s", p.Round, strings.Join(p.Changed, ", "))
		}
		if len(p.Discarded) > 0 {
			e.Note("round %d: judged but absent, so not counted: %s", p.Round,
				markdown.Clip(strings.Join(p.Discarded, ", "), 200))
		}
	}
	for _, d := range b.Differences {
		e.Note("%s", d)
	}
	for _, note := range b.Notes {
		e.Note("%s", cli.OneLine(note))
	}
	if len(kept) > 0 {
		e.Note("written by hand, and left alone: %s", strings.Join(kept, ", "))
	}
	if n := len(b.Unclear); n > 0 {
		e.Note("%s cannot be resolved: filebus dialogue check %s",
			cli.Plural(n, "reference"), record.ShellWord(b.Dialogue.Key.String()))
	}
}
