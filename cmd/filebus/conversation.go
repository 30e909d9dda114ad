package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/result"
	"filebus/store/record"
)

func newConversationCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "conversation",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConversationListCommand(env), newConversationShowCommand(env))
	return cmd
}

type conversationListOptions struct {
	filterFlags
	limit, offset int
}

func newConversationListCommand(env *environ) *cobra.Command {
	var opts conversationListOptions
	cmd := &cobra.Command{
		Use:               "list",
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runConversationList(cmd.Context(), env, opts) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	opts.add(cmd, "tree", "agent", "since")
	flags := cmd.Flags()
	flags.IntVar(&opts.limit, "limit", 50, "")
	flags.IntVar(&opts.offset, "offset", 0, "")
	return cmd
}

func runConversationList(ctx context.Context, env *environ, opts conversationListOptions) error {
	request := result.ConversationsRequest{Limit: opts.limit, Offset: opts.offset}
	if opts.limit < 0 || opts.offset < 0 {
		return usageError("--limit %d --offset %d: there is no such page", opts.limit, opts.offset)
	}
	var err error
	if request.Filter, err = opts.filter(env); err != nil {
		return err
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	page, more, err := result.Conversations(ctx, w.read, request)
	if err != nil {
		return err
	}
	return printConversations(env, page, more, opts.offset)
}

type conversationsJSON struct {
	Conversations []conversationJSON `json:"conversations"`
	More          bool               `json:"more,omitempty"`
}

// A conversationJSON is what a conversation amounts to.
type conversationJSON struct {
	Conversation string      `json:"conversation"`
	Tree         record.Tree `json:"tree,omitempty"`
	Results      int         `json:"results"`
	Agents       []string    `json:"agents"`
	Words        int         `json:"words"`
	Tokens       int         `json:"tokens"`
	First        time.Time   `json:"first"`
	Last         time.Time   `json:"last"`
}

func toConversationJSON(c result.Conversation) conversationJSON {
	return conversationJSON{c.ID, c.Tree, c.Results, append([]string{}, c.Agents...), c.Words, c.Tokens, c.First, c.Last}
}

func printConversations(env *environ, page []result.Conversation, more bool, offset int) error {
	if env.global.json {
		value := conversationsJSON{Conversations: []conversationJSON{}, More: more}
		for _, c := range page {
			value.Conversations = append(value.Conversations, toConversationJSON(c))
		}
		return env.printJSON(value)
	}
	var rows [][]string
	for _, c := range page {
		rows = append(rows, []string{
			c.String(), plural(c.Results, "result"), plural(c.Words, "word"), tokenText(c.Tokens),
			env.minute(c.First), env.minute(c.Last), orDash(strings.Join(c.Agents, ", ")),
		})
	}
	env.printTable(rows)
	switch {
	case len(rows) == 0:
		env.note("no conversations")
	case more:
		env.note("there are more; go on with --offset %d", offset+len(rows))
	}
	return nil
}

type conversationShowOptions struct {
	format        string
	limit, offset int
}

// The forms in which the results of a conversation are printed.
const (
	formatLines      = "lines"
	formatReferences = "references"
)

func newConversationShowCommand(env *environ) *cobra.Command {
	var opts conversationShowOptions
	cmd := &cobra.Command{
		Use:  "show ID",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runConversationShow(cmd.Context(), env, opts, args[0])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.format, "format", formatLines, "")
	flags.IntVar(&opts.limit, "limit", 50, "")
	flags.IntVar(&opts.offset, "offset", 0, "")
	return cmd
}

func runConversationShow(ctx context.Context, env *environ, opts conversationShowOptions, id string) error {
	if opts.limit < 0 || opts.offset < 0 {
		return usageError("--limit %d --offset %d: there is no such page", opts.limit, opts.offset)
	}
	if opts.format != formatLines && opts.format != formatReferences {
		return usageError("unknown format %q: results are printed as lines or as references", opts.format)
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	c, calls, err := result.Calls(ctx, w.Workspace, w.read, id)
	if err != nil {
		return err
	}
	from := min(opts.offset, len(calls))
	page := calls[from:]
	if opts.limit > 0 {
		page = page[:min(opts.limit, len(page))]
	}
	left := len(calls) - from - len(page)
	switch {
	case env.global.json:
		err = printCallsJSON(env, c, page, left)
	case opts.format == formatReferences:
		err = printReferences(env, page)
	default:
		printCalls(env, c, page)
	}
	if err == nil && left > 0 {
		env.note("%d more; go on with --offset %d", left, from+len(page))
	}
	return err
}

// A callJSON is a result of a conversation: its reference, and what else is known.
type callJSON struct {
	record.Reference
	Name   record.Name `json:"name"`
	Ref    string      `json:"ref"`
	Tokens int         `json:"tokens"`
	Time   time.Time   `json:"time"`
	Status string      `json:"status,omitempty"`
	Exit   *int        `json:"exit,omitempty"`
}

type callsJSON struct {
	conversationJSON
	Calls []callJSON `json:"calls"`
	More  int        `json:"more,omitempty"`
}

func printCallsJSON(env *environ, c result.Conversation, calls []result.StoredCall, left int) error {
	value := callsJSON{conversationJSON: toConversationJSON(c), Calls: []callJSON{}, More: left}
	for i := range calls {
		r := calls[i].Record
		value.Calls = append(value.Calls, callJSON{
			calls[i].Reference, r.Name, calls[i].Ref.Short(), calls[i].Tokens, calls[i].Time, r.Status, r.Exit,
		})
	}
	return env.printJSON(value)
}

func printReferences(env *environ, calls []result.StoredCall) error {
	for i := range calls {
		if err := env.printJSON(calls[i].Reference); err != nil {
			return err
		}
	}
	return nil
}

// callPreview is how much of a preview the line of a result shows, in bytes.
const callPreview = 100

func printCalls(env *environ, c result.Conversation, calls []result.StoredCall) {
	env.printf("%s  %s, %s, %s, %s to %s\n", env.bold(oneLine(c.String())), plural(c.Results, "result"), plural(c.Words, "word"),
		tokenText(c.Tokens), env.minute(c.First), env.minute(c.Last))
	var rows [][]string
	for i := range calls {
		r, d := calls[i].Record, calls[i].Description
		call := strings.TrimPrefix(r.Name.ID, c.ID+"/")
		rows = append(rows, []string{
			call, calls[i].Ref.Short(), orDash(r.Agent), strconv.Itoa(d.Words) + "w", orDash(statusText(r)),
			shortened(oneLine(d.Preview), callPreview),
		})
	}
	env.printTable(rows)
}

// statusText shows how the command of a result has ended, if one was run.
func statusText(r *record.Record) string {
	if r.Exit != nil && *r.Exit != 0 {
		return fmt.Sprintf("%s, exit %d", r.Status, *r.Exit)
	}
	return r.Status
}
