package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"filebus/materialize/result"
	"filebus/store"
	"filebus/store/record"
)

type combineOptions struct {
	callOptions
	separator string
	expected  int
	output    string
	force     bool
}

func newCombineCommand(env *environ) *cobra.Command {
	var opts combineOptions
	cmd := &cobra.Command{
		Use:  "combine [flags] INPUT...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("expected-count") && opts.expected < 1 {
				return usageError("--expected-count %d: there is at least one text", opts.expected)
			}
			return runCombine(cmd.Context(), env, opts, args)
		},
	}
	opts.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&opts.separator, "separator", `\n\n`, "")
	flags.IntVar(&opts.expected, "expected-count", 0, "")
	flags.StringVarP(&opts.output, "output", "o", "", "")
	flags.BoolVar(&opts.force, "force", false, "")
	return cmd
}

func runCombine(ctx context.Context, env *environ, opts combineOptions, inputs []string) error {
	if slices.Contains(inputs, "-") {
		return usageError("standard input is no input of combine; filebus put - stores it first")
	}
	call, err := opts.resolve(env)
	if err != nil {
		return err
	}
	call.Agent = opts.agent // FILEBUS_AGENT says who calls the tool
	w, err := env.openFresh(ctx)
	if errors.Is(err, store.ErrNoStore) {
		w, err = env.create(ctx)
	}
	if err != nil {
		return err
	}
	if call.From, err = w.resolveAll(ctx, opts.from); err != nil {
		return err
	}
	request := result.CombineRequest{
		Call: call, Inputs: inputs, Dir: env.dir, Separator: result.ParseSeparator(opts.separator),
		Expected: opts.expected, Force: opts.force,
	}
	if opts.output != "" {
		request.Output = env.abs(opts.output)
	}
	combined, err := result.Combine(ctx, w.Workspace, w.read, request)
	if err != nil {
		return err
	}
	return opts.printCombined(env, combined)
}

// printCombined prints the reference, and on stderr what it is not made from.
func (o *combineOptions) printCombined(env *environ, c *result.Combined) error {
	for _, file := range c.Differs {
		env.note("%s holds another text than is stored; it was read from disk", oneLine(file))
	}
	for _, unread := range c.Unread {
		env.note("%s", oneLine(unread.Error()))
	}
	if err := env.printReference(o.format, c.Ref, c.Reference()); err != nil {
		return err
	}
	if len(c.Unread) > 0 {
		env.note("%s combined, %d left out", plural(c.Texts, "text"), len(c.Unread))
		return silentError(record.Partly)
	}
	return nil
}
