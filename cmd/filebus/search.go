package main

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"filebus/query"
)

type searchOptions struct {
	filterFlags
	answerOptions
	notSessions             []string
	limit, offset           int
	history, literal        bool
	everywhere, interactive bool
	maxWait                 time.Duration
	given, operators        []string // flags, and what of the text was read as such
}

func newSearchCommand(env *environ) *cobra.Command {
	var opts searchOptions
	cmd := &cobra.Command{
		Use: "search [flags] [WORD...]",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.given = givenFlags(cmd)
			return runSearch(cmd.Context(), env, opts, searchText(args))
		},
	}
	opts.filterFlags.add(cmd)
	opts.answerOptions.addTo(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.notSessions, "not-session", nil, "")
	flags.IntVar(&opts.limit, "limit", query.DefaultLimit, "")
	flags.IntVar(&opts.offset, "offset", 0, "")
	flags.BoolVar(&opts.history, "history", false, "")
	flags.BoolVar(&opts.literal, "literal", false, "")
	flags.BoolVar(&opts.everywhere, "everywhere", false, "")
	flags.BoolVarP(&opts.interactive, "interactive", "i", false, "")
	flags.DurationVar(&opts.maxWait, "max-wait", query.DefaultMaxWait, "")
	cmd.SetFlagErrorFunc(searchFlagError)
	return cmd
}

func (o *searchOptions) request(env *environ, text string) (request query.SearchRequest, err error) {
	request = query.SearchRequest{Query: text, NotSessions: o.notSessions, Offset: o.offset, History: o.history}
	if o.limit < 0 || o.limit == 0 && len(o.facets) == 0 || o.offset < 0 {
		return request, usageError("--limit %d --offset %d: there is no such page", o.limit, o.offset)
	}
	request.Limit = min(o.limit, math.MaxInt32) + 1 // one more tells whether there are others
	if err := o.ask(&request); err != nil {
		return request, err
	}
	if request.Filter, err = o.filter(env); err != nil {
		return request, err
	}
	if o.literal {
		request.Literal(text)
	} else {
		o.operators = request.Parse(text)
	}
	return request, nil
}

func runSearch(ctx context.Context, env *environ, opts searchOptions, text string) error {
	request, err := opts.request(env, text)
	switch {
	case err != nil:
		return err
	case opts.interactive:
		return runFinder(ctx, env, opts, text)
	}
	show, clear := env.progress("indexing")
	wait := max(opts.maxWait, 1)
	set, err := env.openStores(ctx, opts.everywhere, query.Options{MaxWait: wait, Progress: show})
	if err != nil {
		return err
	}
	answer, err := set.search(ctx, request, wait)
	clear()
	if err == nil && opts.everywhere {
		err = set.report(env, answer.Stores)
	}
	if err != nil {
		return err
	}
	if !opts.everywhere {
		opts.noteScan(env, &request, &answer.SearchAnswer)
	}
	p := hitPage{
		env: env, answer: answer.SearchAnswer, opts: &opts.answerOptions, fields: request.Facets, limit: opts.limit,
		offset: request.Offset, marks: request.Marks,
	}
	if p.more = len(answer.Hits) > opts.limit; p.more {
		p.answer.Hits = answer.Hits[:opts.limit]
	}
	if !opts.noGit {
		set.countCommits(ctx, env, p.answer.Hits)
	}
	if !env.global.json {
		set.unnameOwn(p.answer.Hits)
	}
	for _, h := range p.answer.Hits {
		if h.Damaged {
			env.note("the body of %s is damaged; run filebus verify%s", h.Name, env.storeFlag(h.Store))
		}
	}
	err = p.print(ctx, set, text)
	opts.noteRead(env, &request)
	opts.noteMissed(env, &answer.SearchAnswer, text)
	return err
}

func inPart(incomplete bool) string {
	if incomplete {
		return " in part; run the search again, or filebus reindex"
	}
	return ""
}
