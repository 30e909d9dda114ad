package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/issue"
	"filebus/query"
)

// defaultIssueWait is short enough for the ten minutes that most agents give a
// command.
const defaultIssueWait = 570 * time.Second

func newIssueWaitCommand(env *environ) *cobra.Command {
	var since string
	var limit time.Duration
	cmd := newCommand("wait", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if limit < 0 {
			return usageError("--limit %v is negative", limit)
		}
		s, q, err := env.openQueue(ctx)
		if err != nil {
			return err
		}
		request := issue.WaitOptions{Limit: limit, Taking: !env.global.noSync}
		if since != "" {
			request.From, err = s.position(ctx, since)
		} else {
			request.From, err = query.Position(ctx, s.Store)
		}
		if err != nil {
			return err
		}
		found, err := q.Wait(ctx, request)
		if err != nil {
			return err
		}
		return printIssues(env, s, "issue wait", found, issueTokens)
	})
	cmd.Flags().StringVar(&since, "since", "", "")
	cmd.Flags().DurationVar(&limit, "limit", defaultIssueWait, "")
	return cmd
}
