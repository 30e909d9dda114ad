package main

import (
	"context"

	"github.com/spf13/cobra"

	"filebus/store/record"
)

func newRmCommand(env *environ) *cobra.Command {
	var restore bool
	cmd := &cobra.Command{
		Use:   "rm NAME...",
		Short: "Hide names; their versions stay and can be restored",
		Long: "Hide names: they are found no more and their files go. Nothing is destroyed: every version can\n" +
			"be read by its ref, and --restore makes the last one current again.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runRm(cmd.Context(), env, restore, args) },
	}
	cmd.Flags().BoolVar(&restore, "restore", false, "make the last version of a hidden name current again")
	return cmd
}

func runRm(ctx context.Context, env *environ, restore bool, args []string) error {
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	for _, arg := range args {
		if restore {
			name, err := record.ParseName(arg)
			if err != nil {
				return coded(exitUsage, "", err)
			}
			result, err := w.Restore(ctx, name)
			if err != nil {
				return err
			}
			if err := printStored(env, result); err != nil {
				return err
			}
			continue
		}
		v, err := env.resolve(ctx, w, arg)
		if err != nil {
			return err
		}
		if err := w.Remove(ctx, v.Record.Name); err != nil {
			return err
		}
		env.note("%s is hidden; filebus rm --restore %s brings it back", v.Record.Name, v.Record.Name)
	}
	return nil
}
