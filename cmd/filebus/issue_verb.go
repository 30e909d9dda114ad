package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
)

// An issueVerb is a command that takes an issue from one status to another.
type issueVerb struct {
	use    string   // its first word is the action
	names  []string // of those of claimFlags that it has
	change issue.Change
}

// issueVerbs returns the commands that docs/issues.md has a row for.
func issueVerbs() []issueVerb {
	return []issueVerb{
		{use: "claim ID", names: []string{"agent", "lease", "task", "force"}},
		{use: "release ID", names: []string{"agent", "force"}},
		{use: "accept ID", names: []string{"task"}},
		{use: "done ID", names: []string{"agent", "force", "task"}},
		{use: "reject ID", names: []string{"agent", "force", "rationale"}},
		{use: "duplicate ID OF", names: []string{"agent", "force"}},
		{use: "reopen ID", names: []string{"rationale"}},
	}
}

// claimFlags gives cmd the flags of these names.
func claimFlags(cmd *cobra.Command, c *issue.Change, names []string) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&c.Agent, "agent", "", "")
	flags.DurationVar(&c.Lease, "lease", issue.DefaultLease, "")
	flags.StringVar(&c.Task, "task", "", "")
	flags.BoolVar(&c.Force, "force", false, "")
	flags.StringVar(&c.Rationale, "rationale", "", "")
	for _, name := range names {
		cmd.Flags().AddFlag(flags.Lookup(name))
	}
}

func (o *issueVerb) prepare(cmd *cobra.Command) { claimFlags(cmd, &o.change, o.names) }

func (o *issueVerb) check(*environ, []string) error { return checkLease(o.change) }

func (o *issueVerb) run(ctx context.Context, w *workspace, args []string) error {
	o.change.Agent = w.actor(o.change.Agent)
	if len(args) > 1 {
		o.change.Of = args[1]
	}
	action, _, _ := strings.Cut(o.use, " ")
	i, err := w.queue().Do(ctx, issue.Action(action), args[0], o.change)
	if err != nil {
		return err
	}
	return w.printIssueLine(i)
}

// checkLease refuses what is no time to work in.
func checkLease(c issue.Change) error {
	if c.Lease < time.Second {
		return usageError("--lease %v: a claim holds for at least a second", c.Lease)
	}
	return nil
}

type issueNext struct {
	factFlags[layout.Issue]
	Claim  bool `flag:"claim"`
	change issue.Change
}

func (o *issueNext) prepare(cmd *cobra.Command) {
	o.factFlags.prepare(cmd)
	claimFlags(cmd, &o.change, []string{"agent", "lease", "task"})
}

func (o *issueNext) check(env *environ, args []string) error {
	return cmp.Or(o.factFlags.check(env, args), checkLease(o.change))
}

func (o *issueNext) run(ctx context.Context, w *workspace, _ []string) error {
	o.change.Agent = w.actor(o.change.Agent)
	q, err := w.freshQueue(ctx)
	if err != nil {
		return err
	}
	w.noteProblems(ctx, q)
	var found bool
	var i issue.Issue
	if filter := (issue.Filter{Facts: o.facts}); o.Claim {
		i, found, err = q.ClaimNext(ctx, filter, o.change)
	} else {
		i, found, err = q.Next(ctx, filter, o.change.Agent)
	}
	switch {
	case err != nil:
		return err
	case found:
		return printIssue(w, i, issueTokens)
	}
	w.note("no issue is waiting")
	return w.print(nil, "")
}
