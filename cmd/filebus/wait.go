package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/materialize/markdown"
	"filebus/materialize/task"
	"filebus/store/record"
)

type waitCommand struct {
	given
	All    bool          `flag:"all" not:"any"`
	Any    bool          `flag:"any"`
	Limit  time.Duration `flag:"limit" least:"0"`
	MaxAge time.Duration `flag:"max-age" least:"0"`
}

// defaultWait is short enough for the ten minutes that most agents give a command.
const defaultWait = 570 * time.Second

type waitJSON struct {
	Tasks   []task.Ending  `json:"tasks"`
	Waiting []task.Pending `json:"waiting,omitempty"`
	Resume  string         `json:"resume,omitempty"` // the command that goes on
}

func (o *waitCommand) run(ctx context.Context, w *workspace, args []string) error {
	r := task.WaitRequest{
		Any: o.Any, Limit: o.Limit, MaxAge: o.MaxAge,
		Say: func(line string) { w.note("%s", oneLine(line)) },
	}
	for _, text := range args {
		_, id, err := w.findTask(text)
		if err != nil {
			return err
		}
		r.IDs = append(r.IDs, id)
	}
	defer w.waited(strings.Join(args, " "), w.now())
	r.Ended = func(e task.Ending) {
		if !w.global.json { // there it is printed with the others
			w.printf("%s", waitLine(e))
		}
	}
	endings, err := w.board().Wait(ctx, r)
	w.tell(w.book().Settle(context.WithoutCancel(ctx)))
	if err != nil && !errors.Is(err, task.ErrLate) {
		return err
	}
	return o.report(w.environ, endings, err)
}

// report ends a wait as its tasks did: one that failed outranks the time that
// was up.
func (o *waitCommand) report(env *environ, endings []task.Ending, late error) error {
	failed := false
	view := waitJSON{}
	for _, e := range endings {
		failed = failed || e.Failed()
		e.Summary = markdown.Clip(oneLine(e.Summary), maxWaitSummary)
		view.Tasks = append(view.Tasks, e)
	}
	if late != nil {
		view.Waiting, _ = record.Detail[[]task.Pending](late)
		view.Resume = strings.Join(slices.Concat([]string{"filebus wait"}, markdown.Each(view.Waiting,
			func(p task.Pending) string { return record.ShellWord(p.ID.String()) }), o.words("json")), " ")
	}
	if env.global.json {
		if err := env.printJSON(view); err != nil {
			return err
		}
	}
	switch {
	case failed && late != nil:
		env.noteTry(view.Resume, "%s", oneLine(late.Error()))
	case late != nil:
		return coded(record.Timeout, view.Resume, late)
	}
	if failed {
		return silentError(record.TaskFailed)
	}
	return nil
}

// durationText writes a duration without the parts that are zero.
func durationText(d time.Duration) string { return shortDuration(d.String()) }

func shortDuration(text string) string {
	return strings.Replace(strings.Replace(text, "m0s", "m", 1), "h0m", "h", 1)
}

const (
	maxWaitLine    = 160 // bytes, 40 tokens: task show says the rest
	maxWaitSummary = 300 // characters, in JSON
)

// waitLine says how a task has ended, in one line.
func waitLine(e task.Ending) string {
	line := fmt.Sprintf("%s  %s", e.ID, cmp.Or(e.Status, "complete"))
	if !e.HasHandoff {
		line += " (no handoff)"
	}
	if e.Seconds != nil {
		line += " (marker " + durationText(time.Duration(*e.Seconds)*time.Second) + " old)"
	}
	if e.Summary != "" {
		line += "  " + e.Summary
	}
	return shortened(oneLine(line), maxWaitLine) + "\n"
}
