package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"filebus/cmd/filebus/result"
)

type conversationList struct {
	filterFlags
	page
}

func (o *conversationList) run(ctx context.Context, w *workspace, _ []string) error {
	list, more, err := result.Conversations(ctx, w.read, o.filter, o.Limit, o.Offset)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, c := range list {
		rows = append(rows, []string{
			c.String(), plural(c.Results, "result"), plural(c.Words, "word"), tokenText(c.Tokens),
			w.minute(c.First), w.minute(c.Last), cmp.Or(strings.Join(c.Agents, ", "), "-"),
		})
	}
	return w.presentTable(rows, presentation{
		json: func(int) any { return conversationsJSON{list, more} },
		none: "no conversations", left: more, rest: o.next(len(rows)),
	})
}

type conversationsJSON struct {
	Conversations []result.Conversation `json:"conversations"`
	More          int                   `json:"more,omitempty"`
}

type conversationShow struct {
	Format string `flag:"format" of:"lines references"`
	page
}

func (o *conversationShow) run(ctx context.Context, w *workspace, args []string) error {
	c, calls, err := result.Calls(ctx, w.Workspace, w.read, args[0])
	if err != nil {
		return err
	}
	from := min(o.Offset, len(calls))
	shown := calls[from:]
	if o.Limit > 0 {
		shown = shown[:min(o.Limit, len(shown))]
	}
	left := len(calls) - from - len(shown)
	switch {
	case w.global.json:
		err = w.printJSON(callsJSON{c, shown, left})
	case o.Format == "references":
		for i := 0; i < len(shown) && err == nil; i++ {
			err = w.printJSON(shown[i].Reference)
		}
	default:
		w.printCalls(c, shown)
	}
	if err == nil {
		w.noteRest(left, o.next(len(shown)))
	}
	return err
}

type callsJSON struct {
	result.Conversation
	Calls []result.StoredCall `json:"calls"`
	More  int                 `json:"more,omitempty"`
}

func (e *environ) printCalls(c result.Conversation, calls []result.StoredCall) {
	e.printf("%s  %s, %s, %s, %s to %s\n", e.bold(oneLine(c.String())), plural(c.Results, "result"), plural(c.Words, "word"),
		tokenText(c.Tokens), e.minute(c.First), e.minute(c.Last))
	var rows [][]string
	const callPreview = 100 // how much of a preview the line of a result shows, in bytes
	for _, call := range calls {
		status := call.Status
		if call.Exit != nil && *call.Exit != 0 {
			status += fmt.Sprintf(", exit %d", *call.Exit)
		}
		rows = append(rows, []string{
			strings.TrimPrefix(call.Name.ID, c.ID+"/"), call.Ref.String(), cmp.Or(call.Agent, "-"),
			strconv.Itoa(call.WordCount) + "w", cmp.Or(status, "-"), shortened(oneLine(call.Preview), callPreview),
		})
	}
	e.printTable(rows)
}
