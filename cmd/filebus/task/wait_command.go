package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

type waitCommand struct {
	cli.WaitFlags
	All    bool          `flag:"all" not:"any"`
	Any    bool          `flag:"any"`
	MaxAge time.Duration `flag:"max-age" least:"0"`
}

// WaitJSON is what a command prints with --json.
type WaitJSON struct {
	Tasks   []Ending      `json:"tasks"`
	Waiting []pendingJSON `json:"waiting,omitempty"`
	Resume  string        `json:"resume,omitempty"` // the command that goes on
}

// A pendingJSON is a task that was waited for and has not ended.
type pendingJSON struct {
	Name string `json:"task"`
	Say  string `json:"say"` // how far it is, such as "in_progress, journal changed 3m ago"
}

func (o *waitCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	r := WaitRequest{Waiter: o.Waiter(w), MaxAge: o.MaxAge}
	r.Any = o.Any
	r.Ended = func(e Ending) {
		if !w.Global.JSON { // there it is printed with the others
			w.Printf("%s", waitLine(e))
		}
	}
	var endings []Ending
	for _, text := range args {
		b, id, err := FindTask(ctx, w, text)
		if over := b.endedEntry(ctx, text, id); over != nil {
			r.Ended(*over)
			endings = append(endings, *over)
		} else if err != nil {
			return err
		} else {
			r.IDs = append(r.IDs, id)
		}
	}
	if len(r.IDs) == 0 || r.Any && len(endings) > 0 {
		return o.report(w.Environ, endings, nil)
	}
	defer w.Waited(strings.Join(args, " "), w.Now())
	others, err := Of(w).Wait(ctx, r)
	endings = append(endings, others...)
	w.Settle(context.WithoutCancel(ctx), w)
	if err != nil && !errors.Is(err, mirror.ErrLate) {
		return err
	}
	return o.report(w.Environ, endings, err)
}

// report ends a wait as its tasks did: one that failed outranks the time that
// was up.
func (o *waitCommand) report(env *cli.Environ, endings []Ending, late error) error {
	failed := false
	view := WaitJSON{}
	for _, e := range endings {
		failed = failed || e.Failed()
		e.Summary = markdown.Clip(cli.OneLine(e.Summary), maxWaitSummary)
		view.Tasks = append(view.Tasks, e)
	}
	if late != nil {
		missing, _ := record.Detail[[]mirror.Missing](late)
		view.Waiting = markdown.Each(missing, func(m mirror.Missing) pendingJSON { return pendingJSON(m) })
		view.Resume = o.Resume("filebus wait", markdown.Each(missing, func(m mirror.Missing) string { return m.Name })...)
	}
	if env.Global.JSON {
		if err := env.PrintJSON(view); err != nil {
			return err
		}
	}
	switch {
	case failed && late != nil:
		env.NoteTry(view.Resume, "%s", cli.OneLine(late.Error()))
	case late != nil:
		return cli.Coded(record.Timeout, view.Resume, late)
	}
	if failed {
		return cli.SilentError(record.TaskFailed)
	}
	return nil
}

const maxWaitLine = 160 // bytes, 40 tokens: task show says the rest

const (
	maxWaitSummary = 300 // characters, in JSON
)

// waitLine says how a task has ended, in one line.
func waitLine(e Ending) string {
	line := fmt.Sprintf("%s  %s", e.ID, cmp.Or(e.Status, "complete"))
	if !e.HasHandoff {
		line += " (no handoff)"
	}
	if e.Seconds != nil {
		line += " (marker " + cli.DurationText(time.Duration(*e.Seconds)*time.Second) + " old)"
	}
	if e.Summary != "" {
		line += "  " + e.Summary
	}
	return cli.Shortened(cli.OneLine(line), maxWaitLine) + "\n"
}
