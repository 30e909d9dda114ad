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
	use   string   // its first word is the action
	names []string // of those of claimFlags that it has
	claimOptions
}

// claimOptions are the flags of commands that change claims.
type claimOptions struct {
	change issue.Change
	lease  *pflag.Flag
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
func (o *claimOptions) claimFlags(cmd *cobra.Command, names []string) {
	flags, c := pflag.NewFlagSet("", pflag.ContinueOnError), &o.change
	flags.StringVar(&c.Agent, "agent", "", "")
	flags.DurationVar(&c.Lease, "lease", issue.DefaultLease, "")
	flags.StringVar(&c.Task, "task", "", "")
	flags.BoolVar(&c.Force, "force", false, "")
	flags.StringVar(&c.Rationale, "rationale", "", "")
	for _, name := range names {
		cmd.Flags().AddFlag(flags.Lookup(name))
	}
	o.lease = flags.Lookup("lease")
}

// asked returns what is asked of an issue.
func (o *claimOptions) asked(e *environ) issue.Change {
	c := o.change
	c.Agent = e.actor(c.Agent)
	if !o.lease.Changed {
		c.Lease = 0 // what is usual here
	}
	return c
}

// remarkLocal says of something that was claimed or begun how far that holds.
func (e *environ) remarkLocal(what string, isLocal bool) {
	if isLocal {
		e.remark("%s on this machine alone, until the others have heard of it", what)
	}
}

func (o *issueVerb) prepare(cmd *cobra.Command) { o.claimFlags(cmd, o.names) }

func (o *issueVerb) check(*environ, []string) error { return checkLease(o.change) }

func (o *issueVerb) run(ctx context.Context, w *workspace, args []string) error {
	change := o.asked(w.environ)
	if len(args) > 1 {
		change.Of = args[1]
	}
	action, _, _ := strings.Cut(o.use, " ")
	i, err := w.queue().Do(ctx, issue.Action(action), args[0], change)
	if err != nil {
		return err
	}
	w.remarkLocal(i.ID+" is claimed", i.Local)
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
	Claim bool `flag:"claim"`
	claimOptions
}

func (o *issueNext) prepare(cmd *cobra.Command) {
	o.factFlags.prepare(cmd)
	o.claimFlags(cmd, []string{"agent", "lease", "task"})
}

func (o *issueNext) check(env *environ, args []string) error {
	return cmp.Or(o.factFlags.check(env, args), checkLease(o.change))
}

func (o *issueNext) run(ctx context.Context, w *workspace, _ []string) error {
	change := o.asked(w.environ)
	q, err := w.freshQueue(ctx)
	if err != nil {
		return err
	}
	w.noteProblems(ctx, q)
	var found bool
	var i issue.Issue
	if filter := (issue.Filter{Facts: o.facts}); o.Claim {
		i, found, err = q.ClaimNext(ctx, filter, change)
	} else {
		i, found, err = q.Next(ctx, filter, change.Agent)
	}
	switch {
	case err != nil:
		return err
	case found:
		w.remarkLocal(i.ID+" is claimed", i.Local)
		return printIssue(w, i, issueTokens)
	}
	w.note("no issue is waiting")
	return w.print(nil, "")
}
