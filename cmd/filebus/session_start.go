package main

import (
	"context"

	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
)

func newSessionStartCommand(env *environ) *cobra.Command {
	name := ""
	cmd := &cobra.Command{
		Use:  "start TYPE",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSessionStart(cmd.Context(), env, args[0], name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "")
	return cmd
}

func runSessionStart(ctx context.Context, env *environ, kind, name string) error {
	if err := sessions.CheckType(kind); err != nil {
		return err // before a store is made for it
	}
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	started, err := env.registry(s).Start(ctx, kind, name)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(started)
	}
	env.printf("%s\n", started.ID)
	return nil
}
