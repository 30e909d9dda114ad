package result

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
)

type conversationList struct {
	cli.FilterFlags
	cli.Page
}

func (o *conversationList) Do(ctx context.Context, w *cli.Work, _ []string) error {
	list, more, err := Conversations(ctx, w.Workspace, w.Reader, o.Filter, o.Limit, o.Offset)
	if err != nil {
		return err
	}
	w.RemarkStrangers(ctx)
	var rows [][]string
	for _, c := range list {
		rows = append(rows, []string{
			c.String(), cli.Plural(c.Results, "result"), cli.Plural(c.Words, "word"), cli.TokenText(c.Tokens),
			w.Minute(c.First), w.Minute(c.Last), cmp.Or(strings.Join(c.Agents, ", "), "-"),
		})
	}
	return w.PresentTable(rows, cli.Presentation{
		JSON: func(int) any { return ConversationsJSON{list, more} },
		None: "no conversations", Left: more, Rest: o.Next(len(rows)),
	})
}

// ConversationsJSON is what a command prints with --json.
type ConversationsJSON struct {
	Conversations []Conversation `json:"conversations"`
	More          int            `json:"more,omitempty"`
}

type conversationShow struct {
	Format string `flag:"format" of:"lines references"`
	cli.Page
}

func (o *conversationShow) Do(ctx context.Context, w *cli.Work, args []string) error {
	c, calls, err := Calls(ctx, w.Workspace, w.Reader, args[0])
	if err != nil {
		return err
	}
	shown, left := cli.CutPage(o.Page, calls)
	switch {
	case w.Global.JSON:
		err = w.PrintJSON(CallsJSON{c, shown, left})
	case o.Format == "references":
		for i := 0; i < len(shown) && err == nil; i++ {
			err = w.PrintJSON(shown[i].Reference)
		}
	default:
		printCalls(w.Environ, c, shown)
	}
	if err == nil {
		w.NoteRest(left, o.Next(len(shown)))
	}
	return err
}

// CallsJSON is what a command prints with --json.
type CallsJSON struct {
	Conversation
	Calls []StoredCall `json:"calls"`
	More  int          `json:"more,omitempty"`
}

func printCalls(e *cli.Environ, c Conversation, calls []StoredCall) {
	e.Printf("%s  %s, %s, %s, %s to %s\n", e.Bold(cli.OneLine(c.String())), cli.Plural(c.Results, "result"),
		cli.Plural(c.Words, "word"),
		cli.TokenText(c.Tokens), e.Minute(c.First), e.Minute(c.Last))
	var rows [][]string
	const callPreview = 100 // how much of a preview the line of a result shows, in bytes
	for _, call := range calls {
		status := call.Status
		if call.Exit != nil && *call.Exit != 0 {
			status += fmt.Sprintf(", exit %d", *call.Exit)
		}
		rows = append(rows, []string{
			strings.TrimPrefix(call.Name.ID, c.ID+"/"), call.Ref.String(), cmp.Or(call.Agent, "-"),
			strconv.Itoa(call.WordCount) + "w", cmp.Or(status, "-"), cli.Shortened(cli.OneLine(call.Preview), callPreview),
		})
	}
	e.PrintTable(rows)
}
