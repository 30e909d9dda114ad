package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"filebus/store"
)

func newTagCommand(env *environ) *cobra.Command {
	cmd := newCommand("tag", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runTagList(ctx, env, "")
	})
	cmd.AddCommand(
		&cobra.Command{
			Use: "list [PREFIX]", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return runTagList(cmd.Context(), env, append(args, "")[0])
			},
		},
		&cobra.Command{
			Use: "add NAME TAG...", Args: cobra.MinimumNArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return runTagEdit(cmd.Context(), env, args[0], args[1:], nil)
			},
		},
		&cobra.Command{
			Use: "remove NAME TAG...", Args: cobra.MinimumNArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return runTagEdit(cmd.Context(), env, args[0], nil, args[1:])
			},
		},
	)
	return cmd
}

func runTagList(ctx context.Context, env *environ, prefix string) error {
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	counts, err := w.read.TagCounts(ctx, prefix)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(counts)
	}
	var rows [][]string
	for _, c := range counts {
		rows = append(rows, []string{strconv.Itoa(c.Count), c.Tag})
	}
	env.printTable(rows)
	return nil
}

// maxTagTries bounds how often tags are set anew because another process was
// faster. Tags do not get in each other's way, so nobody has to decide.
const maxTagTries = 100

func runTagEdit(ctx context.Context, env *environ, text string, add, remove []string) error {
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	v, err := w.resolve(ctx, text)
	if err != nil {
		return err
	}
	result, err := w.Tag(ctx, v.Record.Name, add, remove)
	for tries := 1; tries < maxTagTries && errors.Is(err, store.ErrConflict); tries++ {
		result, err = w.Tag(ctx, v.Record.Name, add, remove)
	}
	if err != nil {
		return err
	}
	return printStored(env, result)
}
