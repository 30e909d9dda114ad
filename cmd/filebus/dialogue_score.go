package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type dialogueScoreOptions struct {
	force, dryRun bool
}

func newDialogueScoreCommand(env *environ) *cobra.Command {
	var opts dialogueScoreOptions
	cmd := &cobra.Command{
		Use:  "score SLUG",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDialogueScore(cmd.Context(), env, opts, args[0])
		},
	}
	cmd.Flags().BoolVar(&opts.force, "force", false, "")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "")
	return cmd
}

// A dialogueScoreJSON is a dialogue in numbers, in JSON.
type dialogueScoreJSON struct {
	Dialogue  string           `json:"dialogue"`
	Converged bool             `json:"converged"`
	Total     int              `json:"total"`
	Rounds    []roundScoreJSON `json:"rounds"`
	Agents    []agentScoreJSON `json:"agents"`
	Tensions  []tensionJSON    `json:"tensions"`
	Written   []string         `json:"written,omitempty"` // absolute
	Kept      []string         `json:"kept,omitempty"`    // written by hand
}

// A roundScoreJSON is a round in numbers.
type roundScoreJSON struct {
	Round         int      `json:"round"`
	Wisdom        int      `json:"wisdom"`
	Consistency   int      `json:"consistency"`
	Truth         int      `json:"truth"`
	Relationships int      `json:"relationships"`
	Score         int      `json:"score"`
	Cumulative    int      `json:"cumulative"`
	Open          int      `json:"open_tensions"`
	Perspectives  int      `json:"new_perspectives"`
	Velocity      int      `json:"velocity"`
	Converge      int      `json:"converge"` // per cent
	Given         []string `json:"given"`
	Absent        []string `json:"absent,omitempty"`
	Unjudged      []string `json:"unjudged,omitempty"`
}

// An agentScoreJSON is an agent in numbers.
type agentScoreJSON struct {
	Agent         string `json:"agent"` // as people call it
	Wisdom        int    `json:"wisdom"`
	Consistency   int    `json:"consistency"`
	Truth         int    `json:"truth"`
	Relationships int    `json:"relationships"`
	Total         int    `json:"total"`
}

// A tensionJSON is a tension with what became of it.
type tensionJSON struct {
	ID       string `json:"id"`
	Tension  string `json:"tension"`
	Status   string `json:"status"`
	Raised   string `json:"raised"`
	Resolved string `json:"resolved,omitempty"`
}

func runDialogueScore(ctx context.Context, env *environ, opts dialogueScoreOptions, slug string) error {
	s, f, d, err := env.openDialogue(ctx, slug)
	if err != nil {
		return err
	}
	board := dialogue.NewBoard(d)
	var files []dialogue.DerivedFile
	if d.Key.IsOwn() && !opts.dryRun {
		if files, err = f.WriteDerived(ctx, board, opts.force); err != nil {
			return err
		}
	}
	if env.global.json {
		return env.printRead(s, "dialogue score", d.Key.String(), scoreView(board, files))
	}
	env.printScore(s, board)
	env.noteScore(board, files)
	return nil
}

func scoreView(b *dialogue.Board, files []dialogue.DerivedFile) dialogueScoreJSON {
	view := dialogueScoreJSON{
		Dialogue: b.Dialogue.Key.String(), Converged: b.Converged, Total: b.Total,
		Rounds: []roundScoreJSON{}, Agents: []agentScoreJSON{}, Tensions: []tensionJSON{},
	}
	for i, r := range b.Rounds {
		p := b.Presence[i]
		row := roundScoreJSON{
			r.Round, r.Marks.Wisdom, r.Marks.Consistency, r.Marks.Truth, r.Marks.Relationships, r.Score, r.Cumulative,
			r.OpenTensions, r.NewPerspectives, r.Velocity, r.Converge, append([]string{}, p.Given...), nil, p.Unjudged,
		}
		for _, a := range p.Absent {
			row.Absent = append(row.Absent, a.Agent)
		}
		view.Rounds = append(view.Rounds, row)
	}
	for _, a := range b.Agents {
		view.Agents = append(view.Agents, agentScoreJSON{a.Agent, a.Marks.Wisdom, a.Marks.Consistency, a.Marks.Truth, a.Marks.Relationships, a.Total})
	}
	for _, t := range b.TensionRows() {
		view.Tensions = append(view.Tensions, tensionJSON{t.ID, validText(t.Tension), t.Status, t.Raised, t.Resolved})
	}
	for _, file := range files {
		if file.Kept {
			view.Kept = append(view.Kept, file.Path)
		} else {
			view.Written = append(view.Written, validText(file.File))
		}
	}
	return view
}

// scoreBytes is how long the numbers of a dialogue are at most: about 400 tokens.
const scoreBytes = 1600

// printScore prints the rounds and the tensions that are open.
func (e *environ) printScore(s *session, b *dialogue.Board) {
	var out strings.Builder
	widths := []int(nil)
	rows := [][]string{{"round", "W", "C", "T", "R", "score", "S", "open", "new", "velocity", "converge"}}
	for _, r := range b.Rounds {
		rows = append(rows, roundRow(r))
	}
	if e.outTerminal {
		widths = columnWidths(rows)
	}
	const shownRounds = 12 // the last ones
	for i, row := range rows {
		if i == 0 || i >= len(rows)-shownRounds {
			writeRow(&out, row, widths)
		}
	}
	fmt.Fprintf(&out, "ALIGNMENT %d  %s\n", b.Total, boardState(b))
	left := 0
	for _, t := range b.TensionRows() {
		line := oneLine(fmt.Sprintf("%s %s: %s", strings.ToLower(t.Status), t.ID, layout.Clip(t.Tension, 70))) + "\n"
		switch {
		case !t.IsOpen():
		case out.Len()+len(line) > scoreBytes-40:
			left++
		default:
			out.WriteString(line)
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "and %d more open tensions\n", left)
	}
	e.printf("%s", out.String())
	e.logRead(s, "dialogue score", b.Dialogue.Key.String(), record.EstimateTokens(int64(out.Len())))
}

func roundRow(r layout.RoundScore) []string {
	row := []string{strconv.Itoa(r.Round), "-", "-", "-", "-", "-"}
	if r.Judged {
		m := r.Marks
		row = row[:1]
		for _, n := range []int{m.Wisdom, m.Consistency, m.Truth, m.Relationships, r.Score} {
			row = append(row, strconv.Itoa(n))
		}
	}
	for _, n := range []int{r.Cumulative, r.OpenTensions, r.NewPerspectives, r.Velocity} {
		row = append(row, strconv.Itoa(n))
	}
	return append(row, strconv.Itoa(r.Converge)+"%")
}

// boardState says how far a dialogue is.
func boardState(b *dialogue.Board) string {
	switch {
	case len(b.Rounds) == 0:
		return "no round yet"
	case b.Converged:
		return "converged"
	}
	return "not converged"
}

// noteScore says what is missing from the numbers, and what was not written.
func (e *environ) noteScore(b *dialogue.Board, files []dialogue.DerivedFile) {
	for _, p := range b.Presence {
		switch {
		case len(p.Unjudged) == 0:
		case len(p.Unjudged) == len(p.Given):
			e.note("round %d: nobody is judged yet", p.Round)
		default:
			e.note("round %d: not judged: %s", p.Round, layout.Clip(strings.Join(p.Unjudged, ", "), 200))
		}
		if len(p.Discarded) > 0 {
			e.note("round %d: judged and absent, so not counted: %s", p.Round, layout.Clip(strings.Join(p.Discarded, ", "), 200))
		}
	}
	var kept []string
	for _, file := range files {
		if file.Kept {
			kept = append(kept, file.Path)
		}
	}
	if len(kept) > 0 {
		e.note("written by hand, and left alone: %s; --force replaces them", strings.Join(kept, ", "))
	}
	if n := len(b.Unclear); n > 0 {
		e.note("%s cannot be told: filebus dialogue check %s", plural(n, "reference"), quote(b.Dialogue.Key.String()))
	}
}
