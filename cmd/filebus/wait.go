package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/markdown"
	"filebus/materialize/task"
	"filebus/store/record"
)

type waitOptions struct {
	all, any      bool
	limit, maxAge time.Duration
}

// defaultWait is short enough for the ten minutes that most agents give a command.
const defaultWait = 570 * time.Second

func newWaitCommand(env *environ) *cobra.Command {
	var opts waitOptions
	cmd := newCommand("wait TASK...", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) error {
		return runWait(ctx, env, opts, args)
	})
	flags := cmd.Flags()
	flags.BoolVar(&opts.all, "all", false, "")
	flags.BoolVar(&opts.any, "any", false, "")
	flags.DurationVar(&opts.limit, "limit", defaultWait, "")
	flags.DurationVar(&opts.maxAge, "max-age", 0, "")
	cmd.MarkFlagsMutuallyExclusive("all", "any")
	return cmd
}

// A waitJSON is how tasks have ended, in JSON.
type waitJSON struct {
	Tasks   []task.Ending  `json:"tasks"`
	Waiting []task.Pending `json:"waiting,omitempty"`
	Resume  string         `json:"resume,omitempty"` // the command that goes on
}

func runWait(ctx context.Context, env *environ, opts waitOptions, args []string) error {
	if opts.limit < 0 || opts.maxAge < 0 {
		return usageError("--limit %v and --max-age %v: a time is not negative", opts.limit, opts.maxAge)
	}
	r := task.WaitRequest{
		Any: opts.any, Limit: opts.limit, MaxAge: opts.maxAge,
		Say: func(line string) { env.note("%s", oneLine(line)) },
	}
	for _, text := range args {
		id, err := task.ParseID(text)
		if err != nil {
			return err
		}
		r.IDs = append(r.IDs, id)
	}
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	begun := env.now()
	r.Ended = func(e task.Ending) {
		line := []byte(waitLine(e))
		if !env.global.json {
			env.printf("%s", line)
		} else if text, err := json.Marshal(inJSON(e)); err == nil {
			line = text // it is printed with the others
		}
		s.logWait("wait", string(e.ID), record.EstimateTokens(int64(len(line))), env.now().Sub(begun))
	}
	endings, err := s.board().Wait(ctx, r)
	if err != nil && !errors.Is(err, task.ErrLate) {
		return err
	}
	return reportWait(env, opts, endings, err)
}

// reportWait ends a wait as its tasks did: one that failed outranks the time that
// was up.
func reportWait(env *environ, opts waitOptions, endings []task.Ending, late error) error {
	failed := false
	view := waitJSON{}
	for _, e := range endings {
		failed = failed || e.Failed()
		view.Tasks = append(view.Tasks, inJSON(e))
	}
	if late != nil {
		view.Waiting, _ = record.Detail[[]task.Pending](late)
		view.Resume = waitHint(view.Waiting, opts)
	}
	if env.global.json {
		if err := env.printJSON(view); err != nil {
			return err
		}
	}
	switch {
	case failed && late != nil:
		env.note("%s", oneLine(late.Error()))
		fmt.Fprintf(env.err, "  try: %s\n", view.Resume)
	case late != nil:
		return coded(record.Timeout, view.Resume, late)
	}
	if failed {
		return silentError(record.TaskFailed)
	}
	return nil
}

// waitHint is how to go on with a wait whose time was up.
func waitHint(waiting []task.Pending, opts waitOptions) string {
	line := "filebus wait"
	for _, p := range waiting {
		line += " " + quote(string(p.ID))
	}
	if opts.any {
		line += " --any"
	}
	if opts.limit != defaultWait {
		line += " --limit " + durationText(opts.limit)
	}
	if opts.maxAge > 0 {
		line += " --max-age " + durationText(opts.maxAge)
	}
	return line
}

// durationText writes a duration without the parts that are zero.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// inJSON returns an ending without what is too long of its summary.
func inJSON(e task.Ending) task.Ending {
	e.Summary = markdown.Clip(oneLine(e.Summary), maxWaitSummary)
	return e
}

const (
	maxWaitLine    = 380 // bytes: less than 100 tokens
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
