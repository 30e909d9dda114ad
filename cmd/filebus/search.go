package main

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"filebus/query"
	"filebus/store/record"
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
		ValidArgsFunction: cobra.NoFileCompletions,
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
	case opts.everywhere:
		return runSearchEverywhere(ctx, env, opts, request, text)
	}
	s, err := env.openSearched(ctx)
	if err != nil {
		return err
	}
	show, clear := env.progress("indexing")
	answer, err := env.reader(s.Store, query.Options{MaxWait: max(opts.maxWait, 1), Progress: show}).Search(ctx, request)
	clear()
	if err != nil {
		return err
	}
	opts.noteScan(env, &request, &answer)
	p := hitPage{env: env, answer: &answer, opts: &opts.answerOptions, limit: opts.limit, offset: request.Offset, marks: request.Marks}
	if p.more = len(answer.Hits) > opts.limit; p.more {
		answer.Hits = answer.Hits[:opts.limit]
	}
	for _, h := range answer.Hits {
		if h.Damaged {
			env.note("the body of %s is damaged; run filebus verify", h.Name)
		}
	}
	if !opts.noGit {
		countCommits(ctx, env, s.Root, &answer)
	}
	size, err := p.print(ctx, func(*query.Hit) *query.Reader { return s.read })
	opts.noteRead(env, &request)
	opts.noteMissed(env, &answer, text)
	env.logRead(s, "search", text, record.EstimateTokens(int64(size)))
	return err
}

func inPart(incomplete bool) string {
	if incomplete {
		return " in part; run the search again, or filebus reindex"
	}
	return ""
}
