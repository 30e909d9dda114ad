package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	"filebus/materialize/task"
	"filebus/store/record"
)

// handoffOptions are the flags that say what a task hands over.
type handoffOptions struct {
	outcome, summary              string
	files, created, modified      []string
	blockers, patterns, gotchas   []string
	nextSteps, questions, depends []string
	jsonInput, yaml               string // files

}

// add gives cmd the flags; without the one for the outcome where the command says it
// itself.
func (o *handoffOptions) add(cmd *cobra.Command, withOutcome bool) {
	flags := cmd.Flags()
	if withOutcome {
		flags.StringVar(&o.outcome, "outcome", "", "")
	}
	flags.StringVar(&o.summary, "summary", "", "")
	flags.StringSliceVar(&o.files, "files", nil, "")
	flags.StringSliceVar(&o.created, "created", nil, "")
	flags.StringSliceVar(&o.modified, "modified", nil, "")
	flags.StringArrayVar(&o.blockers, "blocker", nil, "")
	flags.StringArrayVar(&o.patterns, "pattern", nil, "")
	flags.StringArrayVar(&o.gotchas, "gotcha", nil, "")
	flags.StringArrayVar(&o.nextSteps, "next", nil, "")
	flags.StringArrayVar(&o.questions, "question", nil, "")
	flags.StringArrayVar(&o.depends, "depends", nil, "")
	flags.StringVar(&o.jsonInput, "json-input", "", "")
	flags.StringVar(&o.yaml, "yaml", "", "")
	cmd.MarkFlagsMutuallyExclusive("json-input", "yaml")
}

// maxHandoff is how large a handoff may be that is read, in bytes.
const maxHandoff = 256 << 10

// read returns the handoff that the flags describe: what a file says, with the
// other flags in place of its fields.
func (o *handoffOptions) read(env *environ) (layout.Handoff, error) {
	var h layout.Handoff
	name := o.jsonInput + o.yaml
	if name != "" {
		text, err := readAtMost(env, name, maxHandoff)
		if err != nil {
			return h, err
		}
		if o.jsonInput != "" {
			h, err = layout.ParseHandoffJSON(text)
		} else {
			h, err = parseHandoffText(name, text)
		}
		if err != nil {
			return h, coded(record.Usage, "", err)
		}
		for _, extra := range h.Extra {
			env.note("%s: %q is no field of a handoff; it is kept as it is, and nothing reads it", name, extra.Key)
		}
	}
	return task.Merge(h, o.fields()), nil
}

func parseHandoffText(name string, text []byte) (layout.Handoff, error) {
	h, problems := layout.ParseHandoff(text)
	if len(problems) > 0 {
		problems[0].File = name
		return h, fmt.Errorf("reading the handoff: %w", problems[0])
	}
	return h, nil
}

// fields returns what the flags say that are no files.
func (o *handoffOptions) fields() layout.Handoff {
	h := layout.Handoff{
		Outcome: o.outcome, Summary: strings.TrimSpace(o.summary), Blockers: filled(o.blockers), Dependencies: filled(o.depends), NextSteps: filled(o.nextSteps),
	}
	for _, given := range []struct {
		change string
		paths  []string
	}{{"", o.files}, {"created", o.created}, {"modified", o.modified}} {
		for _, p := range filled(given.paths) {
			h.Files = append(h.Files, layout.HandoffFile{Path: p, Change: given.change})
		}
	}
	for _, p := range filled(o.patterns) {
		h.Patterns = append(h.Patterns, layout.HandoffPattern{Pattern: p})
	}
	for _, g := range filled(o.gotchas) {
		h.Gotchas = append(h.Gotchas, layout.HandoffGotcha{Issue: g})
	}
	for _, q := range filled(o.questions) {
		h.Questions = append(h.Questions, layout.HandoffQuestion{Question: q})
	}
	return h
}

// filled returns the texts that say something.
func filled(texts []string) []string {
	var all []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// readAtMost reads a small file, or standard input.
func readAtMost(env *environ, name string, limit int64) ([]byte, error) {
	in := env.in
	if name != "-" {
		f, err := os.Open(env.abs(name))
		if err != nil {
			return nil, fmt.Errorf("reading the handoff: %w", err)
		}
		defer func() { _ = f.Close() }() // only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if int64(len(text)) > limit {
		return nil, usageError("%s has more than %d bytes: a handoff names results, it does not hold them", name, limit)
	}
	return text, nil
}

func newTaskHandoffCommand(env *environ) *cobra.Command {
	var opts handoffOptions
	cmd := newCommand("handoff ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runTaskEnd(ctx, env, &opts, args[0], (*task.Board).HandOver)
	})
	opts.add(cmd, true)
	return cmd
}

// newTaskVerbCommand returns a command that ends a task; without an outcome it is the
// flag's, else completed.
func newTaskVerbCommand(env *environ, use, outcome string) *cobra.Command {
	var opts handoffOptions
	cmd := newCommand(use, cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		if outcome != "" {
			opts.outcome = outcome
		} else if err := checkDone(opts.outcome); err != nil {
			return err
		}
		return runTaskEnd(ctx, env, &opts, args[0], (*task.Board).Finish)
	})
	opts.add(cmd, outcome == "")
	return cmd
}

// checkDone refuses an outcome that has a command of its own.
func checkDone(outcome string) error {
	switch layout.NormalizeStatus(outcome) {
	case layout.StatusFailed:
		return coded(record.Usage, "filebus task fail ID --summary TEXT --next TEXT",
			errors.New("a task that failed is not done"))
	case layout.StatusBlocked:
		return coded(record.Usage, "filebus task block ID --summary TEXT --blocker TEXT",
			errors.New("a task that is blocked is not done"))
	}
	return nil
}

// A taskEnd is a rule that ends a task.
type taskEnd func(*task.Board, context.Context, task.ID, layout.Handoff) (*task.Finished, error)

func runTaskEnd(ctx context.Context, env *environ, opts *handoffOptions, text string, end taskEnd) error {
	h, err := opts.read(env)
	if err != nil {
		return err
	}
	b, id, err := env.openBoard(ctx, text)
	if err != nil {
		return err
	}
	f, err := end(b, ctx, id, h)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(f)
	}
	line := fmt.Sprintf("%s  %s  %s", id, f.Status, f.Ref)
	if f.Marker != "" {
		line += "  " + f.Marker
	}
	env.printf("%s\n", oneLine(line))
	return nil
}
