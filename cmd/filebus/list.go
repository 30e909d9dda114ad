package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"filebus/query"
	"filebus/store"
)

type listOptions struct {
	filterFlags
	asOf          string
	limit, offset int
}

func newListCommand(env *environ) *cobra.Command {
	var opts listOptions
	cmd := newCommand("list [flags] [KIND...]", nil, func(ctx context.Context, args []string) error {
		*opts.values["kind"] = append(*opts.values["kind"], args...)
		return runList(ctx, env, opts)
	})
	opts.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&opts.asOf, "as-of", "", "")
	flags.IntVar(&opts.limit, "limit", 50, "")
	flags.IntVar(&opts.offset, "offset", 0, "")
	return cmd
}

func (o *listOptions) request(env *environ) (request query.ListRequest, err error) {
	request = query.ListRequest{Limit: o.limit, Offset: o.offset}
	if o.limit < 0 || o.offset < 0 {
		return request, usageError("--limit %d --offset %d: there is no such page", o.limit, o.offset)
	}
	request.Filter, err = o.filter(env)
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
	request.At, err = s.position(ctx, opts.asOf)
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
func (w *workspace) position(ctx context.Context, text string) (position uint64, err error) {
	if text == "" {
		return 0, nil
	}
	if text[0] == '@' {
		if position, err = strconv.ParseUint(text[1:], 10, 63); err != nil {
			return 0, usageError("%q is no log position: write @ and a number", text)
		}
		return position, nil
	}
	at, err := parseTime(text, w.now())
	if err != nil {
		return 0, err
	}
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		position, err = tx.AsOf(at)
		return err
	})
	return position, err
}

func printListing(env *environ, listing query.Listing, offset int) error {
	if env.global.json {
		return env.printJSON(listing)
	}
	var rows [][]string
	for _, e := range listing.Entries {
		rows = append(rows, []string{
			e.Name.String(), e.Ref.String(), strconv.Itoa(e.Tokens), orDash(e.Status), orDash(e.Agent),
			env.minute(e.Time), e.Title,
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
