package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
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
	cmd := &cobra.Command{
		Use:  "wait TASK...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runWait(cmd.Context(), env, opts, args) },
	}
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
	Tasks   []endingJSON  `json:"tasks"`
	Waiting []pendingJSON `json:"waiting,omitempty"`
	Resume  string        `json:"resume,omitempty"` // the command that goes on
}

// An endingJSON is how one task has ended. Seconds is the age of its marker where
// nothing is known of its start.
type endingJSON struct {
	Task    string `json:"task"`
	Status  string `json:"status"`
	Summary string `json:"summary,omitempty"`
	Handoff bool   `json:"handoff"`
	Marker  string `json:"marker"`
	Journal string `json:"journal,omitempty"`
	Seconds *int   `json:"seconds,omitempty"`
}

// A pendingJSON is a task that has not ended.
type pendingJSON struct {
	Task string `json:"task"`
	Say  string `json:"say"`
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
		} else if text, err := json.Marshal(toEndingJSON(e)); err == nil {
			line = text // it is printed with the others
		}
		env.logWait(s, "wait", string(e.ID), record.EstimateTokens(int64(len(line))), env.now().Sub(begun))
	}
	endings, err := env.board(s).Wait(ctx, r)
	var late *task.LateError
	if err != nil && !errors.As(err, &late) {
		return err
	}
	return reportWait(env, opts, endings, late)
}

// reportWait ends a wait as its tasks did: one that failed outranks the time that
// was up.
func reportWait(env *environ, opts waitOptions, endings []task.Ending, late *task.LateError) error {
	failed := false
	view := waitJSON{Tasks: []endingJSON{}}
	for _, e := range endings {
		failed = failed || e.Failed()
		view.Tasks = append(view.Tasks, toEndingJSON(e))
	}
	if late != nil {
		view.Resume = waitHint(late, opts)
		for _, p := range late.Waiting {
			view.Waiting = append(view.Waiting, pendingJSON{string(p.ID), p.Say})
		}
	}
	if env.global.json {
		if err := env.printJSON(view); err != nil {
			return err
		}
	}
	switch {
	case failed:
		if late != nil {
			env.note("%s", oneLine(late.Error()))
			fmt.Fprintf(env.err, "  try: %s\n", view.Resume)
		}
		return silentError(record.TaskFailed)
	case late != nil:
		return &lateError{late, view.Resume}
	}
	return nil
}

// A lateError is the end of a wait whose time was up.
type lateError struct {
	*task.LateError
	resume string // the command that goes on
}

func toEndingJSON(e task.Ending) endingJSON {
	j := endingJSON{
		Task: string(e.ID), Status: e.Status, Summary: layout.Clip(oneLine(e.Summary), maxWaitSummary), Handoff: e.HasHandoff,
		Marker: validText(e.Marker), Journal: validText(e.Journal),
	}
	if !e.KnownStart {
		seconds := int(e.Age.Seconds())
		j.Seconds = &seconds
	}
	return j
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
	if !e.KnownStart {
		line += " (marker " + durationText(e.Age.Truncate(time.Second)) + " old)"
	}
	if e.Summary != "" {
		line += "  " + e.Summary
	}
	return shortened(oneLine(line), maxWaitLine) + "\n"
}
