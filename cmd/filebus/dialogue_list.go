package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
)

// dialoguesListed is how many dialogues a list has.
const dialoguesListed = 20

func newDialogueListCommand(env *environ) *cobra.Command {
	limit := dialoguesListed
	cmd := newCommand("list", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runDialogueList(ctx, env, limit)
	})
	cmd.Flags().IntVar(&limit, "limit", dialoguesListed, "")
	return cmd
}

// A dialogueList is a list of dialogues in JSON.
type dialogueList struct {
	Dialogues []dialogue.Item `json:"dialogues"`
	More      int             `json:"more,omitempty"` // that were left out
}

func runDialogueList(ctx context.Context, env *environ, limit int) error {
	if limit < 0 {
		return usageError("--limit %d is negative", limit)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	items, total, err := s.forum().List(ctx, limit)
	if err != nil {
		return err
	}
	for i := range items {
		items[i].Title = cutText(items[i].Title)
	}
	left := total - len(items)
	var rows [][]string
	for _, i := range items {
		rows = append(rows, []string{
			i.Key.String(), lastRound(i), plural(len(i.Agents), "agent"), textOr(i.Status, "-"), env.minute(i.Time),
			i.Title,
		})
	}
	_, err = s.present(presentation{
		op: "dialogue list", json: func(int) any { return dialogueList{items, left} },
		text: func(int) string { return env.table(rows) },
	})
	if left > 0 && !env.global.json {
		env.note("and %s; --limit 0 lists all", plural(left, "more dialogue"))
	}
	return err
}

// lastRound says how far a dialogue is.
func lastRound(i dialogue.Item) string {
	switch {
	case i.Last == nil:
		return "no round"
	case i.Owed > 0:
		return fmt.Sprintf("round %d: %d/%d turns", *i.Last, i.Turns, i.Owed)
	}
	return "round " + strconv.Itoa(*i.Last) + ": " + plural(i.Turns, "turn")
}
