package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/task"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

// waitFlags are the flags of every wait.
type waitFlags struct {
	given
	Timeout time.Duration `flag:"timeout" least:"0" was:"limit for"`
}

// usualWait is short enough for the ten minutes that most agents give a command.
func usualWait() waitFlags { return waitFlags{Timeout: 570 * time.Second} }

// waiter returns the wait that the flags ask for.
func (o *waitFlags) waiter(w *workspace) mirror.Waiter {
	return mirror.Waiter{Limit: o.Timeout, Say: func(line string) { w.note("%s", oneLine(line)) }}
}

// resume returns the command that goes on with a wait.
func (o *waitFlags) resume(command string, args ...string) string {
	return strings.Join(slices.Concat([]string{command}, markdown.Each(args, record.ShellWord), o.words("json")), " ")
}

type waitCommand struct {
	waitFlags
	All    bool          `flag:"all" not:"any"`
	Any    bool          `flag:"any"`
	MaxAge time.Duration `flag:"max-age" least:"0"`
}

type waitJSON struct {
	Tasks   []task.Ending `json:"tasks"`
	Waiting []pendingJSON `json:"waiting,omitempty"`
	Resume  string        `json:"resume,omitempty"` // the command that goes on
}

// A pendingJSON is a task that was waited for and has not ended.
type pendingJSON struct {
	Name string `json:"task"`
	Say  string `json:"say"` // how far it is, such as "in_progress, journal changed 3m ago"
}

func (o *waitCommand) run(ctx context.Context, w *workspace, args []string) error {
	r := task.WaitRequest{Waiter: o.waiter(w), MaxAge: o.MaxAge}
	r.Any = o.Any
	for _, text := range args {
		_, id, err := w.findTask(ctx, text)
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
	w.settle(context.WithoutCancel(ctx), w)
	if err != nil && !errors.Is(err, mirror.ErrLate) {
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
		missing, _ := record.Detail[[]mirror.Missing](late)
		view.Waiting = markdown.Each(missing, func(m mirror.Missing) pendingJSON { return pendingJSON(m) })
		view.Resume = o.resume("filebus wait", markdown.Each(missing, func(m mirror.Missing) string { return m.Name })...)
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
