package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
)

// An issueVerb is a command that takes an issue from one status to another.
type issueVerb struct {
	action issue.Action
	use    string
	flags  []string // those of claimFlags that it has
}

// issueVerbs returns the commands that docs/issues.md has a row for.
func issueVerbs() []issueVerb {
	return []issueVerb{
		{issue.Claim, "claim ID", []string{"agent", "lease", "task", "force"}},
		{issue.Release, "release ID", []string{"agent", "force"}},
		{issue.Accept, "accept ID", []string{"task"}},
		{issue.Finish, "done ID", []string{"agent", "force", "task"}},
		{issue.Reject, "reject ID", []string{"agent", "force", "rationale"}},
		{issue.MarkDuplicate, "duplicate ID OF", []string{"agent", "force"}},
		{issue.Reopen, "reopen ID", []string{"rationale"}},
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

func newIssueVerbCommand(env *environ, verb issueVerb) *cobra.Command {
	var change issue.Change
	args := 1
	if verb.action == issue.MarkDuplicate {
		args = 2
	}
	cmd := newCommand(verb.use, cobra.ExactArgs(args), func(ctx context.Context, args []string) error {
		if len(args) > 1 {
			change.Of = args[1]
		}
		return runIssueVerb(ctx, env, verb.action, change, args[0])
	})
	cmd.ValidArgsFunction = completeNames(env)
	claimFlags(cmd, &change, verb.flags)
	return cmd
}

// checkLease refuses what is no time to work in.
func checkLease(action issue.Action, c issue.Change) error {
	if action == issue.Claim && c.Lease < time.Second {
		return usageError("--lease %v: a claim holds for a second at least", c.Lease)
	}
	return nil
}

func runIssueVerb(ctx context.Context, env *environ, action issue.Action, c issue.Change, id string) error {
	if err := checkLease(action, c); err != nil {
		return err
	}
	c.Agent = env.actor(c.Agent)
	s, err := env.open(ctx)
	if err != nil {
		return err
	}
	i, err := s.queue().Do(ctx, action, id, c)
	if err != nil {
		return err
	}
	return printIssueLine(env, i)
}

func newIssueNextCommand(env *environ) *cobra.Command {
	filter := issue.Filter{Facts: map[string][]string{}}
	var readFacts func(map[string][]string) error
	var change issue.Change
	claim := false
	cmd := newCommand("next", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if err := cmp.Or(readFacts(filter.Facts), checkLease(issue.Claim, change)); err != nil {
			return err
		}
		change.Agent = env.actor(change.Agent)
		s, q, err := env.openQueue(ctx)
		if err != nil {
			return err
		}
		env.noteProblems(ctx, q)
		var found bool
		var i issue.Issue
		if claim {
			i, found, err = q.ClaimNext(ctx, filter, change)
		} else {
			i, found, err = q.Next(ctx, filter, change.Agent)
		}
		switch {
		case err != nil:
			return err
		case found:
			return printIssue(env, s, i, issueTokens)
		}
		env.note("no issue is waiting")
		if env.global.json {
			return env.printJSON(nil)
		}
		return nil
	})
	readFacts = addFactFlags(cmd, layout.IssueFields().Filters())
	cmd.Flags().BoolVar(&claim, "claim", false, "")
	claimFlags(cmd, &change, []string{"agent", "lease", "task"})
	return cmd
}
