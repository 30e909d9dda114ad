package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/result"
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
	cmd := newCommand("list", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runConversationList(ctx, env, opts)
	})
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
	Conversations []result.Conversation `json:"conversations"`
	More          bool                  `json:"more,omitempty"`
}

func printConversations(env *environ, page []result.Conversation, more bool, offset int) error {
	if env.global.json {
		return env.printJSON(conversationsJSON{page, more})
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
	cmd := newCommand("show ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runConversationShow(ctx, env, opts, args[0])
	})
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
		err = env.printJSON(callsJSON{c, page, left})
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

type callsJSON struct {
	result.Conversation
	Calls []result.StoredCall `json:"calls"`
	More  int                 `json:"more,omitempty"`
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
	for _, call := range calls {
		status := call.Status
		if call.Exit != nil && *call.Exit != 0 {
			status += fmt.Sprintf(", exit %d", *call.Exit)
		}
		rows = append(rows, []string{
			strings.TrimPrefix(call.Name.ID, c.ID+"/"), call.Ref.String(), orDash(call.Agent),
			strconv.Itoa(call.WordCount) + "w", orDash(status), shortened(oneLine(call.Preview), callPreview),
		})
	}
	env.printTable(rows)
}
