package main

import (
	"context"
	"fmt"
	"strconv"

	"filebus/materialize/dialogue"
)

type dialogueList struct {
	Limit int `flag:"limit" least:"0"`
}

// A dialogueListJSON is a list of dialogues in JSON.
type dialogueListJSON struct {
	Dialogues []dialogue.Item `json:"dialogues"`
	More      int             `json:"more,omitempty"` // that were left out
}

func (o *dialogueList) run(ctx context.Context, w *workspace, _ []string) error {
	items, total, err := w.forum().List(ctx, o.Limit)
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
			i.Key.String(), lastRound(i), plural(len(i.Agents), "agent"), textOr(i.Status, "-"), w.minute(i.Time),
			i.Title,
		})
	}
	return w.presentTable(rows, presentation{
		op: "dialogue list", json: func(int) any { return dialogueListJSON{items, left} },
		left: left, rest: "and %s; --limit 0 lists all", noun: "more dialogue",
	})
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
