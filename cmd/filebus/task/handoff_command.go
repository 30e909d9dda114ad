package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// handoffFlags say what a task hands over.
type handoffFlags struct {
	Summary   string    `flag:"summary"`
	Files     []string  `flag:"files"`
	Created   []string  `flag:"created"`
	Modified  []string  `flag:"modified"`
	Blockers  cli.Texts `flag:"blocker"`
	Patterns  cli.Texts `flag:"pattern"`
	Gotchas   cli.Texts `flag:"gotcha"`
	NextSteps cli.Texts `flag:"next"`
	Questions cli.Texts `flag:"question"`
	Depends   cli.Texts `flag:"depends"`
	JSONInput string    `flag:"json-input" not:"yaml"` // a file
	YAML      string    `flag:"yaml"`                  // a file
}

// maxHandoff is how large a handoff may be that is read, in bytes.
const maxHandoff = 256 << 10

// read returns the handoff that the flags describe: what a file says, with the
// other flags in place of its fields.
func (o *handoffFlags) read(env *cli.Environ, outcome string) (layout.Handoff, error) {
	var h layout.Handoff
	name := o.JSONInput + o.YAML
	if name != "" {
		text, err := env.ReadWhole(name, maxHandoff, ": a handoff names results, it does not hold them")
		if err != nil {
			return h, err
		}
		parse := layout.ParseHandoff
		if o.JSONInput != "" {
			parse = layout.ParseHandoffJSON
		}
		read, problems := parse(text)
		if h = read; len(problems) > 0 {
			problems[0].File = name
			return h, cli.Coded(record.Usage, "", fmt.Errorf("reading the handoff: %w", problems[0]))
		}
		for _, extra := range h.Extra {
			env.Note("%s: %q is not a field of a handoff: it is kept, but nothing reads it", name, extra.Key)
		}
	}
	return Merge(h, o.fields(outcome)), nil
}

// fields returns what the flags say that are no files.
func (o *handoffFlags) fields(outcome string) layout.Handoff {
	h := layout.Handoff{
		Outcome: outcome, Summary: strings.TrimSpace(o.Summary), Blockers: filled(o.Blockers),
		Dependencies: filled(o.Depends), NextSteps: filled(o.NextSteps),
	}
	for _, given := range []struct {
		change string
		paths  []string
	}{{"", o.Files}, {"created", o.Created}, {"modified", o.Modified}} {
		for _, p := range filled(given.paths) {
			h.Files = append(h.Files, layout.HandoffFile{Path: p, Change: given.change})
		}
	}
	for _, p := range filled(o.Patterns) {
		h.Patterns = append(h.Patterns, layout.HandoffPattern{Pattern: p})
	}
	for _, g := range filled(o.Gotchas) {
		h.Gotchas = append(h.Gotchas, layout.HandoffGotcha{Issue: g})
	}
	for _, q := range filled(o.Questions) {
		h.Questions = append(h.Questions, layout.HandoffQuestion{Question: q})
	}
	return h
}

// filled returns the texts that say something.
func filled(texts []string) []string {
	return slices.DeleteFunc(markdown.Each(texts, strings.TrimSpace), func(text string) bool { return text == "" })
}

type taskHandoff struct {
	Outcome string `flag:"outcome"`
	handoffFlags
}

func (o *taskHandoff) Do(ctx context.Context, w *cli.Work, args []string) error {
	return o.end(ctx, w, o.Outcome, args[0], "", (*Tasks).HandOver)
}

type taskDone taskHandoff

// Check refuses an outcome that has a command of its own.
func (o *taskDone) Check(*cli.Environ, []string) error {
	switch layout.NormalizeStatus(o.Outcome) {
	case layout.StatusFailed:
		return cli.Coded(record.Usage, "filebus task fail ID --summary TEXT --next TEXT",
			errors.New("a task that failed is not done"))
	case layout.StatusBlocked:
		return cli.Coded(record.Usage, "filebus task block ID --summary TEXT --blocker TEXT",
			errors.New("a task that is blocked is not done"))
	}
	return nil
}

func (o *taskDone) Do(ctx context.Context, w *cli.Work, args []string) error {
	return o.end(ctx, w, o.Outcome, args[0], completed, (*Tasks).Finish)
}

// A taskEnd ends a task with the outcome that its name says.
type taskEnd struct {
	handoffFlags
	outcome string
}

func (o *taskEnd) Do(ctx context.Context, w *cli.Work, args []string) error {
	return o.end(ctx, w, o.outcome, args[0], completed, (*Tasks).Finish)
}

// An endTask is a rule that ends a task.
type endTask func(*Tasks, context.Context, ID, layout.Handoff) (*Finished, error)

func (o *handoffFlags) end(ctx context.Context, w *cli.Work, outcome, text, usual string, end endTask) error {
	h, err := o.read(w.Environ, outcome)
	if err != nil {
		return err
	}
	b := Of(w)
	entry, err := b.meant(ctx, text)
	if err != nil {
		return err
	}
	var id ID
	isOver := false
	if entry == nil {
		b, id, err = FindTask(ctx, w, text)
	} else {
		id, isOver, err = b.endEntry(ctx, w, entry, h, usual)
		if err == nil && isOver {
			return w.Print(entry, "%s  %s\n", entry.Name.ID, layout.StatusComplete)
		}
	}
	if err != nil {
		return err
	}
	for i, f := range h.Files { // as the working directory has it, where the workspace has none
		_, here := os.Stat(w.Abs(f.Path))
		if _, there := os.Stat(filepath.Join(w.Root, f.Path)); here == nil && there != nil {
			h.Files[i].Path = cli.WorkspaceFiles(w, []string{f.Path})[0]
		}
	}
	was, err := b.Standing(ctx, string(id))
	if err != nil {
		return err
	}
	f, err := end(b, ctx, id, h)
	if err != nil {
		return err
	}
	w.Settle(ctx, w, id.String())
	if was.Outcome != "" && f.Unchanged {
		w.Note("%s was %s already, at %s; its journal is as it was", id, was.Outcome, w.Minute(was.Ended))
	} else if was.Outcome != "" {
		w.Note("%s was %s already, at %s; filebus get %s prints its journal of then", id, was.Outcome,
			w.Minute(was.Ended), f.Before)
	}
	line := fmt.Sprintf("%s  %s  %s", id, f.Status, f.Ref)
	if f.Marker != "" {
		line += "  " + f.Marker
	}
	return w.Print(f, "%s\n", cli.OneLine(line))
}

// emptyRow is a row of a handoff that says nothing.
var emptyRow = layout.Pattern(`(?m)^\|[^|\\\n]+\| *(?:None)? *\|(?:\n|\z)`)
