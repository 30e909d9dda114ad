package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/materialize/layout"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

type materializeOptions struct {
	to, asOf                                        string
	trees, kinds, tags, agents                      []string
	conversations, tasks, sessions, runs, dialogues []string

	closure   bool
	maxTokens int // of the index
}

func newMaterializeCommand(env *environ) *cobra.Command {
	var opts materializeOptions
	cmd := &cobra.Command{
		Use:   "materialize --to DIR",
		Short: "Lay records out as the files they came from, byte for byte",
		Long: "Lay out everything, or what the filters pick, as files in a new or empty folder. A tree that is\n" +
			"asked for alone stands at the folder's root; else the project's own files do, and each captured\n" +
			"tree in a folder of its name. Of a queue or graph only the picked entries are laid out.\n\n" +
			"One --session gets an INDEX.md that tells an agent what to read, and with --closure also what\n" +
			"its files were made from, link to or cite by path, name or reference, and so on.",
		Example: "  filebus materialize --tree old --to /tmp/old\n" +
			"  filebus materialize --session k7m2p9 --closure --to /tmp/for-agent\n" +
			"  filebus materialize --as-of 2d --to /tmp/before",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			return runMaterialize(cmd.Context(), env, opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.to, "to", "", "the `folder` to lay out in")
	flags.StringSliceVar(&opts.trees, "tree", nil, "only `tree`; . is the project's own (may be repeated)")
	flags.StringSliceVar(&opts.kinds, "kind", nil, "only this `kind` (may be repeated)")
	flags.StringSliceVar(&opts.conversations, "conversation", nil, "only this `conversation` (may be repeated)")
	flags.StringSliceVar(&opts.tasks, "task", nil, "only this `task` (may be repeated)")
	flags.StringSliceVar(&opts.sessions, "session", nil, "only this `session` (may be repeated)")
	flags.StringSliceVar(&opts.runs, "run", nil, "only this `run` (may be repeated)")
	flags.StringSliceVar(&opts.dialogues, "dialogue", nil, "only this `dialogue` (may be repeated)")
	flags.StringSliceVar(&opts.tags, "tag", nil, "only what has this `tag` (may be repeated)")
	flags.StringSliceVar(&opts.agents, "agent", nil, "only what this `agent` wrote (may be repeated)")
	flags.StringVar(&opts.asOf, "as-of", "", "as it was at a `time`: 36h or 2d ago, or a date")
	flags.BoolVar(&opts.closure, "closure", false, "with one --session: also what its records refer to, and so on")
	flags.IntVar(&opts.maxTokens, "max-tokens", sessions.DefaultIndexTokens, "with one --session: INDEX.md has about `n` tokens at most")
	// The flag exists, so marking it cannot fail.
	_ = cmd.MarkFlagRequired("to")
	return cmd
}

func runMaterialize(ctx context.Context, env *environ, opts materializeOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	pick, err := opts.selection(env)
	if err != nil {
		return err
	}
	if len(opts.sessions) == 1 {
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
	pick := materialize.Selection{
		Agents: slugs(o.agents), Conversations: o.conversations, Tasks: o.tasks, Sessions: o.sessions,
		Runs: o.runs, Dialogs: o.dialogues, Tags: record.NormalizeTags(o.tags),
	}
	trees, err := parseTrees(o.trees)
	if err != nil {
		return pick, err
	}
	pick.Trees = trees
	for _, text := range o.kinds {
		kind, err := record.ParseKind(text)
		if err != nil {
			return pick, coded(record.Usage, "", err)
		}
		pick.Kinds = append(pick.Kinds, kind)
	}
	if o.asOf != "" {
		pick.AsOf, err = parseTime(o.asOf, env.now())
	}
	return pick, err
}

func slugs(agents []string) []string {
	var out []string
	for _, agent := range agents {
		out = append(out, layout.Slug(agent))
	}
	return out
}

// refuseEmpty refuses a filter that is given and empty, as by a variable that is not
// set: it would pick everything.
func refuseEmpty(cmd *cobra.Command) error {
	for _, name := range []string{"tree", "kind", "conversation", "task", "session", "run", "dialogue", "tag", "agent"} {
		values, err := cmd.Flags().GetStringSlice(name)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed(name) && (len(values) == 0 || slices.Contains(values, "")) {
			return usageError("--%s is empty: is the variable that holds it set?", name)
		}
	}
	return nil
}
