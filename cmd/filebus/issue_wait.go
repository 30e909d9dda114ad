package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/issue"
)

type issueWaitOptions struct {
	since string
	limit time.Duration
}

// defaultIssueWait is short enough for the ten minutes that most agents give a
// command.
const defaultIssueWait = 570 * time.Second

func newIssueWaitCommand(env *environ) *cobra.Command {
	var opts issueWaitOptions
	cmd := &cobra.Command{
		Use:  "wait",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runIssueWait(cmd.Context(), env, opts) },
	}
	cmd.Flags().StringVar(&opts.since, "since", "", "")
	cmd.Flags().DurationVar(&opts.limit, "limit", defaultIssueWait, "")
	return cmd
}

func runIssueWait(ctx context.Context, env *environ, opts issueWaitOptions) error {
	if opts.limit < 0 {
		return usageError("--limit %v is negative", opts.limit)
	}
	s, q, err := env.openQueue(ctx)
	if err != nil {
		return err
	}
	request := issue.WaitOptions{Limit: opts.limit, Taking: !env.global.noSync}
	if opts.since != "" {
		request.From, err = env.position(ctx, s, opts.since)
	} else {
		request.From, err = q.Position(ctx, time.Time{})
	}
	if err != nil {
		return err
	}
	found, err := q.Wait(ctx, request)
	if err != nil {
		return err
	}
	return printIssues(env, s, "issue wait", found, issueTokens)
}
