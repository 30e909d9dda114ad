package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"filebus/materialize"
	sessions "filebus/materialize/session"
)

type materializeOptions struct {
	filterFlags
	to, asOf  string
	dialogues []string
	closure   bool
	maxTokens int // of the index
}

func newMaterializeCommand(env *environ) *cobra.Command {
	var opts materializeOptions
	cmd := newCommand("materialize --to DIR", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runMaterialize(ctx, env, opts)
	})
	flags := cmd.Flags()
	flags.StringVar(&opts.to, "to", "", "")
	opts.add(cmd)
	flags.StringSliceVar(&opts.dialogues, "dialogue", nil, "")
	flags.StringVar(&opts.asOf, "as-of", "", "")
	flags.BoolVar(&opts.closure, "closure", false, "")
	flags.IntVar(&opts.maxTokens, "max-tokens", sessions.DefaultIndexTokens, "")
	// The flag exists, so marking it cannot fail.
	_ = cmd.MarkFlagRequired("to")
	return cmd
}

func runMaterialize(ctx context.Context, env *environ, opts materializeOptions) error {
	pick, err := opts.selection(env)
	if err != nil {
		return err
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	if len(pick.Sessions) == 1 {
		return materializeSession(ctx, env, w, opts, pick)
	}
	show, clear := env.progress("laying out")
	report, err := w.LayOut(ctx, env.abs(opts.to), pick, counted(show))
	clear()
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(report)
	}
	if report.Files == 0 {
		env.note("nothing was picked; filebus list shows what there is")
	}
	env.printf("%s, %s in %s\n", plural(report.Files, "file"), byteSize(report.Bytes), opts.to)
	noteLeftOut(env, report)
	return nil
}

// noteLeftOut says what was picked and is not laid out.
func noteLeftOut(env *environ, report *materialize.LayOutReport) {
	for _, name := range report.Displaced {
		env.note("%s is not laid out: a newer thing has its place; filebus get %s reads it", name, name)
	}
	if len(report.Missing) > 0 {
		env.note("%s not laid out, as the content was destroyed since: %s", plural(len(report.Missing), "name"), firstNames(report.Missing))
	}
}

func (o materializeOptions) selection(env *environ) (materialize.Selection, error) {
	pick := materialize.Selection{Dialogs: o.dialogues}
	var err error
	if pick.Filter, err = o.filter(env); err != nil {
		return pick, err
	}
	if o.closure && len(pick.Sessions) != 1 {
		return pick, usageError("--closure is of one session: give one --session ID")
	}
	if slices.Contains(pick.Dialogs, "") {
		return pick, usageError("--dialogue is empty: is the variable that holds it set?")
	}
	if err := checkIndexTokens(o.maxTokens); err != nil {
		return pick, err
	}
	if o.asOf != "" {
		pick.AsOf, err = parseTime(o.asOf, env.now())
	}
	return pick, err
}
