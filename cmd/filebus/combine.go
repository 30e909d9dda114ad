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
		Use:   "combine [flags] INPUT...",
		Short: "Join texts into one result and print its reference",
		Long: `Join texts in the order given, with a separator between them and nothing else, store
the whole as a result that was made from them, and print its reference.

An INPUT is a file, a reference, a name, or a pattern: of the files that it matches, in the
order of their bytes, or of names if there is no such file. What cannot be read is left out and
named, and the exit code is 9; with --expected-count it is an error if the number is another.`,
		Example: `  filebus combine result/c42/intro result/c42/body result/c42/end
  filebus combine 'drafts/section-*.md' --expected-count 5 -o paper.md
  filebus combine 'result/c42/section_*' --separator '\n\n---\n\n'`,
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
	flags.StringVar(&opts.separator, "separator", `\n\n`, "put `text` between two inputs; \\n is a line end, \\t a tab")
	flags.IntVar(&opts.expected, "expected-count", 0, "fail, and store nothing, unless `N` texts can be read")
	flags.StringVarP(&opts.output, "output", "o", "", "write the text to `file` too, which is then the reference's")
	flags.BoolVar(&opts.force, "force", false, "replace another text in the output file")
	flags.Lookup("agent").Usage = "who combined it (default combine_files)"
	flags.Lookup("conversation").Usage = "the `id` of the conversation (FILEBUS_CONVERSATION; else the one all stored inputs share)"
	flags.Lookup("from").Usage = "a further `ref` or name it was made from (may be repeated)"
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
	if call.From, err = resolveAll(ctx, env, w, opts.from); err != nil {
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
		return explainCombine(err)
	}
	return opts.printCombined(env, combined)
}

// explainCombine adds what to do about an output that is taken. That a number is
// wrong is a failure of the whole, whatever kept single inputs from being read.
func explainCombine(err error) error {
	var output *result.OutputError
	var count *result.CountError
	switch {
	case errors.As(err, &output) && output.Exists:
		return coded(record.Conflict, "the same with --force, or another --output", err)
	case errors.As(err, &output):
		return coded(record.Failed, "the same with another --output", err)
	case errors.As(err, &count) && count.Expected > 0:
		return coded(record.Failed, "", err)
	}
	return err
}

// printCombined prints the reference, and on stderr what it is not made from.
func (o *combineOptions) printCombined(env *environ, c *result.Combined) error {
	for _, file := range c.Differs {
		env.note("%s holds another text than is stored; it was read from disk", oneLine(file))
	}
	for _, unread := range c.Unread {
		env.note("%s", oneLine(unread.Error()))
	}
	if err := printReference(env, o.format, c.Ref, c.Reference()); err != nil {
		return err
	}
	if len(c.Unread) > 0 {
		env.note("%s combined, %d left out", plural(c.Texts, "text"), len(c.Unread))
		return silentError(record.Partly)
	}
	return nil
}
