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

// add gives cmd the flags; outcomes are those that --outcome may name, and empty
// where the command says the outcome itself.
func (o *handoffOptions) add(cmd *cobra.Command, outcomes string) {
	flags := cmd.Flags()
	if outcomes != "" {
		flags.StringVar(&o.outcome, "outcome", "", "`how` it ended: "+outcomes)
	}
	flags.StringVar(&o.summary, "summary", "", "what was done, in a sentence or two")
	flags.StringSliceVar(&o.files, "files", nil, "a `path` that was changed (may be repeated, or separated by commas)")
	flags.StringSliceVar(&o.created, "created", nil, "a `path` that is new (may be repeated)")
	flags.StringSliceVar(&o.modified, "modified", nil, "a `path` that is not new (may be repeated)")
	flags.StringArrayVar(&o.blockers, "blocker", nil, "a `text`: what stands in the way (may be repeated)")
	flags.StringArrayVar(&o.patterns, "pattern", nil, "a `text`: a way of doing things worth repeating (may be repeated)")
	flags.StringArrayVar(&o.gotchas, "gotcha", nil, "a `text`: a trap that others should know (may be repeated)")
	flags.StringArrayVar(&o.nextSteps, "next", nil, "a `text`: a suggested next step, or how to resolve the failure (may be repeated)")
	flags.StringArrayVar(&o.questions, "question", nil, "a `text`: what could not be decided (may be repeated)")
	flags.StringArrayVar(&o.depends, "depends", nil, "a `text`: what later tasks need (may be repeated)")
	flags.StringVar(&o.jsonInput, "json-input", "", "read the handoff from a JSON `file`, or from standard input (-)")
	flags.StringVar(&o.yaml, "yaml", "", "read the handoff, as YAML or as the table, from a `file` or standard input (-)")
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
	cmd := &cobra.Command{
		Use:   "handoff ID",
		Short: "Write the handoff of a task and close its journal, without the marker",
		Example: "  filebus task handoff 003 --outcome partial --summary 'Half of the tables' --blocker 'the others are locked'\n" +
			"  filebus task handoff 003 --json-input handoff.json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTaskEnd(cmd.Context(), env, &opts, args[0], (*task.Board).HandOver)
		},
	}
	opts.add(cmd, "completed, partial, failed or blocked")
	return cmd
}

// A taskVerb is a command that ends a task.
type taskVerb struct {
	use, short string
	example    string
	outcome    string // "": the flag's, else completed
	outcomes   string // of the flag
}

func taskVerbs() []taskVerb {
	return []taskVerb{
		{"done ID", "End a task: handoff, journal and marker in one call", "done 003 --summary 'All replicas count in one table' --files internal/limit/bucket.go", "", "completed (default) or partial"},
		{"fail ID", "End a task that failed", "fail 003 --summary 'The migration deadlocks' --next 'run it in batches'", task.Failed, ""},
		{"block ID", "End a task that is blocked", "block 003 --summary 'The schema is ready' --blocker 'no access to the copy of production'", task.Blocked, ""},
	}
}

func newTaskVerbCommand(env *environ, verb taskVerb) *cobra.Command {
	var opts handoffOptions
	cmd := &cobra.Command{
		Use:     verb.use,
		Short:   verb.short,
		Example: "  filebus task " + verb.example,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if verb.outcome != "" {
				opts.outcome = verb.outcome
			} else if err := checkDone(opts.outcome); err != nil {
				return err
			}
			return runTaskEnd(cmd.Context(), env, &opts, args[0], (*task.Board).Finish)
		},
	}
	opts.add(cmd, verb.outcomes)
	return cmd
}

// checkDone refuses an outcome that has a command of its own.
func checkDone(outcome string) error {
	switch layout.NormalizeStatus(outcome) {
	case layout.StatusFailed:
		return coded(record.Usage, "filebus task fail ID --summary TEXT --next TEXT", errors.New("a task that failed is not done"))
	case layout.StatusBlocked:
		return coded(record.Usage, "filebus task block ID --summary TEXT --blocker TEXT", errors.New("a task that is blocked is not done"))
	}
	return nil
}

// A taskEndJSON is a task that has handed over, in JSON.
type taskEndJSON struct {
	Task      string `json:"task"`
	Status    string `json:"status"`
	Name      string `json:"name"`
	Ref       string `json:"ref"`
	Marker    string `json:"marker,omitempty"` // absolute
	Unchanged bool   `json:"unchanged,omitempty"`
}

// A taskEnd is a rule that ends a task.
type taskEnd func(*task.Board, context.Context, task.ID, layout.Handoff) (*task.Finished, error)

func runTaskEnd(ctx context.Context, env *environ, opts *handoffOptions, text string, end taskEnd) error {
	h, err := opts.read(env)
	if err != nil {
		return err
	}
	b, id, err := env.openBoard(text)
	if err != nil {
		return err
	}
	f, err := end(b, ctx, id, h)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(taskEndJSON{
			string(id), f.Status, f.Name.String(), f.Ref.Short(), validText(f.Marker), f.Unchanged,
		})
	}
	line := fmt.Sprintf("%s  %s  %s", id, f.Status, f.Ref.Short())
	if f.Marker != "" {
		line += "  " + f.Marker
	}
	env.printf("%s\n", oneLine(line))
	return nil
}
