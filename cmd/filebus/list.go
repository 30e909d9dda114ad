package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
	"filebus/query"
	"filebus/store"
)

type listOptions struct {
	filterOptions
	task, session, conversation, agent, run, status string
	asOf                                            string
	limit, offset                                   int
}

func newListCommand(env *environ) *cobra.Command {
	var opts listOptions
	cmd := &cobra.Command{
		Use:   "list [flags] [KIND...]",
		Short: "List records, newest first",
		Long: `List the current records that pass all filters, newest first: name, reference,
tokens, status, agent, time and title.`,
		Example: `  filebus list handoff --status blocked
  filebus list --session k7m2p9 --json
  filebus list issue --as-of 2d`,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.kinds = append(opts.kinds, args...)
			if opts.session == "" && cmd.Flags().Changed("session") {
				return &sessions.UnsetError{}
			}
			return runList(cmd.Context(), env, opts)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	opts.addTo(cmd)
	flags := cmd.Flags()
	flags.StringVar(&opts.task, "task", "", "only records of task `id`")
	flags.StringVar(&opts.session, "session", "", "only records of session `id`")
	flags.StringVar(&opts.conversation, "conversation", "", "only records of conversation `id`")
	flags.StringVar(&opts.agent, "agent", "", "only records of `agent`")
	flags.StringVar(&opts.run, "run", "", "only records of run `id`")
	flags.StringVar(&opts.status, "status", "", "only records with `status`")
	flags.StringVar(&opts.asOf, "as-of", "", "list what was current at `time`, or at a log position such as @42")
	flags.IntVar(&opts.limit, "limit", 50, "print `n` records at most; 0: all")
	flags.IntVar(&opts.offset, "offset", 0, "leave out the first `n` records")
	return cmd
}

func (o *listOptions) request(env *environ) (request query.ListRequest, err error) {
	request = query.ListRequest{
		Tags: o.tags, Task: o.task, Session: o.session, Conversation: o.conversation, Agent: o.agent,
		Run: o.run, Status: o.status, Limit: o.limit, Offset: o.offset,
	}
	if o.limit < 0 || o.offset < 0 {
		return request, usageError("--limit %d --offset %d: there is no such page", o.limit, o.offset)
	}
	if request.Kinds, err = parseKinds(o.kinds); err != nil {
		return request, err
	}
	if request.Trees, err = parseTrees(o.trees); err != nil {
		return request, err
	}
	request.Since, request.Until, err = o.period(env)
	return request, err
}

func runList(ctx context.Context, env *environ, opts listOptions) error {
	request, err := opts.request(env)
	if err != nil {
		return err
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	listing := query.Listing{}
	request.At, err = env.position(ctx, s, opts.asOf)
	// Before the first entry there was nothing; position 0 would mean now.
	if err == nil && (opts.asOf == "" || request.At > 0) {
		listing, err = s.read.List(ctx, request)
	}
	if err != nil {
		return err
	}
	return printListing(env, listing, opts.offset)
}

// position returns the log position that a time, or @ and a number, stands for.
func (e *environ) position(ctx context.Context, s *session, text string) (position uint64, err error) {
	if text == "" {
		return 0, nil
	}
	if text[0] == '@' {
		if position, err = strconv.ParseUint(text[1:], 10, 63); err != nil {
			return 0, usageError("%q is no log position: write @ and a number", text)
		}
		return position, nil
	}
	at, err := parseTime(text, e.now())
	if err != nil {
		return 0, err
	}
	err = s.Store.View(ctx, func(tx *store.Tx) error {
		position, err = tx.AsOf(at)
		return err
	})
	return position, err
}

type listJSON struct {
	Records []recordJSON `json:"records"`
	More    bool         `json:"more,omitempty"`
}

func printListing(env *environ, listing query.Listing, offset int) error {
	if env.global.json {
		value := listJSON{Records: []recordJSON{}, More: listing.More}
		for _, e := range listing.Entries {
			value.Records = append(value.Records, summaryJSON(e))
		}
		return env.printJSON(value)
	}
	var rows [][]string
	for _, e := range listing.Entries {
		r := e.Version.Record
		rows = append(rows, []string{
			r.Name.String(), e.Version.Ref.Short(), strconv.Itoa(e.Tokens), orDash(r.Status), orDash(r.Agent), env.minute(r.Time), e.Description.Title,
		})
	}
	env.printTable(rows)
	switch {
	case len(rows) == 0:
		env.note("no records")
	case listing.More:
		env.note("there are more; go on with --offset %d", offset+len(rows))
	}
	return nil
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
