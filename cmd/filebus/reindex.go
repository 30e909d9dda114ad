package main

import (
	"context"

	"github.com/spf13/cobra"

	"filebus/query"
)

func newReindexCommand(env *environ) *cobra.Command {
	return newCommand("reindex", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runReindex(ctx, env)
	})
}

func runReindex(ctx context.Context, env *environ) error {
	s, err := env.open(ctx)
	if err != nil {
		return err
	}
	var entries uint64
	show, clear := env.progress("indexing")
	err = env.reader(s.Store, query.Options{Progress: func(done, total uint64) {
		entries = done
		show(done, total)
	}}).Reindex(ctx)
	clear()
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(map[string]uint64{"position": entries})
	}
	env.printf("indexed up to log entry %d\n", entries)
	return nil
}
