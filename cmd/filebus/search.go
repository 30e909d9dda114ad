package main

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"filebus/query"
)

type searchCommand struct {
	filterFlags
	answerFlags
	page
	NotSessions []string      `flag:"not-session"`
	History     bool          `flag:"history"`
	Literal     bool          `flag:"literal"`
	Everywhere  bool          `flag:"everywhere"`
	Interactive bool          `flag:"interactive,i"`
	MaxWait     time.Duration `flag:"max-wait"`

	given, operators []string // flags, and what of the text was read as such
	cmd              *cobra.Command
}

func (o *searchCommand) prepare(cmd *cobra.Command) {
	o.cmd = cmd
	o.filterFlags.prepare(cmd)
	cmd.Flags().Lookup("recent").NoOptDefVal = usualRecent
	cmd.SetFlagErrorFunc(searchFlagError)
}

func (o *searchCommand) check(*environ, []string) error {
	o.given = givenFlags(o.cmd)
	if o.Limit < 0 || o.Limit == 0 && len(o.Facets) == 0 || o.Offset < 0 {
		return usageError("--limit %d --offset %d: there is no such page", o.Limit, o.Offset)
	}
	return nil
}

func (o *searchCommand) request(env *environ, text string) (request query.SearchRequest, err error) {
	request = query.SearchRequest{Query: text, NotSessions: o.NotSessions, Offset: o.Offset, History: o.History}
	request.Limit = min(o.Limit, math.MaxInt32) + 1 // one more tells whether there are others
	if err := o.ask(&request); err != nil {
		return request, err
	}
	if request.Filter, err = o.read(env); err != nil {
		return request, err
	}
	if o.Literal {
		request.Literal(text)
	} else {
		o.operators = request.Parse(text)
	}
	return request, nil
}

func (o *searchCommand) run(ctx context.Context, w *workspace, args []string) error {
	env, text := w.environ, searchText(args)
	request, err := o.request(env, text)
	switch {
	case err != nil:
		return err
	case o.Interactive:
		return o.find(ctx, env, text)
	}
	show, clear := env.progress("indexing")
	wait := max(o.MaxWait, 1)
	set, err := env.openStores(ctx, o.Everywhere, query.Options{MaxWait: wait, Progress: show})
	if err != nil {
		return err
	}
	answer, err := set.search(ctx, request, wait)
	clear()
	if err == nil && o.Everywhere {
		err = set.report(env, answer.Stores)
	}
	if err != nil {
		return err
	}
	if !o.Everywhere {
		o.noteScan(env, &request, &answer.SearchAnswer)
	}
	p := hitPage{
		env: env, answer: answer.SearchAnswer, opts: &o.answerFlags, fields: request.Facets, limit: o.Limit,
		offset: request.Offset, marks: request.Marks,
	}
	if p.more = len(answer.Hits) > o.Limit; p.more {
		p.answer.Hits = answer.Hits[:o.Limit]
	}
	if !o.NoGit {
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
	o.noteRead(env, &request)
	o.noteMissed(env, &answer.SearchAnswer, text)
	return err
}

func inPart(incomplete bool) string {
	if incomplete {
		return " in part; run the search again, or filebus reindex"
	}
	return ""
}
