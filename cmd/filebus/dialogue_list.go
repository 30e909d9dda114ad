package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
	"filebus/store/record"
)

// dialoguesListed is how many dialogues a list has.
const dialoguesListed = 20

func newDialogueListCommand(env *environ) *cobra.Command {
	limit := dialoguesListed
	cmd := &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDialogueList(cmd.Context(), env, limit) },
	}
	cmd.Flags().IntVar(&limit, "limit", dialoguesListed, "")
	return cmd
}

// A dialogueListJSON is a list of dialogues in JSON.
type dialogueListJSON struct {
	Dialogues []dialogueItemJSON `json:"dialogues"`
	More      int                `json:"more,omitempty"` // that were left out
}

// A dialogueItemJSON is a dialogue in a list.
type dialogueItemJSON struct {
	Dialogue string    `json:"dialogue"`
	Title    string    `json:"title"`
	Rounds   int       `json:"rounds"`
	Last     *int      `json:"last,omitempty"` // the number of the last round
	Turns    int       `json:"turns"`          // in the last round
	Owed     int       `json:"owed,omitempty"` // in the last round
	Agents   []string  `json:"agents,omitempty"`
	Status   string    `json:"status,omitempty"`
	Time     time.Time `json:"time"`
}

func runDialogueList(ctx context.Context, env *environ, limit int) error {
	if limit < 0 {
		return usageError("--limit %d is negative", limit)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	items, total, err := env.forum(s).List(ctx, limit)
	if err != nil {
		return err
	}
	if env.global.json {
		view := dialogueListJSON{Dialogues: []dialogueItemJSON{}, More: total - len(items)}
		for _, i := range items {
			view.Dialogues = append(view.Dialogues, toDialogueItemJSON(i))
		}
		return env.printRead(s, "dialogue list", "", view)
	}
	var rows [][]string
	size := 0
	for _, i := range items {
		rows = append(rows, []string{
			i.Key.String(), lastRound(i), plural(len(i.Agents), "agent"), textOr(i.Status, "-"), env.minute(i.Time), cutText(i.Title),
		})
		for _, cell := range rows[len(rows)-1] {
			size += len(cell) + 1
		}
	}
	env.printTable(rows)
	env.logRead(s, "dialogue list", "", record.EstimateTokens(int64(size)))
	if left := total - len(items); left > 0 {
		env.note("and %s; --limit 0 lists all", plural(left, "more dialogue"))
	}
	return nil
}

// lastRound says how far a dialogue is.
func lastRound(i dialogue.Item) string {
	switch {
	case i.Last < 0:
		return "no round"
	case i.Owed > 0:
		return fmt.Sprintf("round %d: %d/%d turns", i.Last, i.Turns, i.Owed)
	}
	return "round " + strconv.Itoa(i.Last) + ": " + plural(i.Turns, "turn")
}

func toDialogueItemJSON(i dialogue.Item) dialogueItemJSON {
	view := dialogueItemJSON{
		Dialogue: i.Key.String(), Title: cutText(i.Title), Rounds: i.Rounds, Turns: i.Turns, Owed: i.Owed, Agents: i.Agents, Status: i.Status,
		Time: i.Time.UTC(),
	}
	if i.Last >= 0 {
		view.Last = &i.Last
	}
	return view
}
