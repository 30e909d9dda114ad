package main

import (
	"context"
	"fmt"
	"strings"

	"filebus/materialize"
	"filebus/materialize/result"
	"filebus/materialize/task"
)

// An execTask is the task of a command that is run; the zero value is none.
type execTask struct {
	board *task.Board
	id    task.ID
}

// beginTask opens the journal of the task that --task names, unless it is open.
// FILEBUS_TASK alone says only whose output it is: whoever set it ends the task.
func (o *execCommand) beginTask(ctx context.Context, w *workspace) (job execTask, err error) {
	if o.Task == "" {
		return job, nil
	}
	if job.id, err = task.ParseID(o.Task); err != nil {
		return job, err
	}
	job.board = w.board()
	_, err = job.board.Begin(ctx, job.id, task.StartRequest{
		Agent: w.or(o.Agent, "FILEBUS_AGENT"), Run: w.or(o.Run, "FILEBUS_RUN"),
	})
	return job, err
}

// end writes the marker of the task, and the handoff if the command has left none.
// The command may not have run.
func (j execTask) end(ctx context.Context, env *environ, run *result.Execution, err error) error {
	if j.board == nil {
		return nil
	}
	f, endErr := j.board.End(ctx, j.id, outcomeOf(run, err))
	if endErr != nil {
		return fmt.Errorf("ending %s: %w", j.id, endErr)
	}
	env.note("%s  %s  %s", j.id, f.Status, oneLine(f.Marker))
	return nil
}

// exitTemporary is what sysexits(3) calls EX_TEMPFAIL: the command could do
// nothing now, and may do so later.
const exitTemporary = 75

// maxRunSummary is how much of an output becomes the summary of a handoff, in
// bytes.
const maxRunSummary = 300

// outcomeOf says how a command has ended, in the words of a handoff: what could
// not begin is blocked.
func outcomeOf(run *result.Execution, err error) task.Run {
	switch {
	case run == nil:
		return task.Run{Outcome: task.Blocked, Summary: "The command was not run.", Problem: message(err)}
	case run.Stored == nil:
		r := task.Run{Outcome: task.Failed, Summary: "The command's output could not be stored.", NextStep: "filebus list result"}
		if err != nil {
			r.Problem = message(err)
		}
		return r
	}
	get := "filebus get " + run.Ref.Short()
	summary := shortened(oneLine(run.Description.Preview), maxRunSummary)
	if strings.TrimSpace(summary) == "" {
		summary = "The command printed nothing."
	}
	r := task.Run{Outcome: task.Completed, Summary: summary + " (" + get + ")"}
	switch {
	case run.Status == materialize.StatusTimeout:
		r.Outcome, r.Problem = task.Failed, "its time was over"
	case run.Exit == exitTemporary:
		r.Outcome, r.Problem = task.Blocked, fmt.Sprintf("exit code %d: try again later", run.Exit)
	case run.Exit != 0:
		r.Outcome, r.Problem = task.Failed, fmt.Sprintf("%s with exit code %d", run.Status, run.Exit)
	case len(run.Problems) > 0:
		r.Outcome, r.Problem = task.Partial, "the output does not fit its schema: "+run.Problems[0]
	}
	r.NextStep = "read the output, " + get + ", and run it again"
	return r
}
