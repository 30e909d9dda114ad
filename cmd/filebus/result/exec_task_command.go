package result

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/task"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// An execTask is the task of a command that is run; the zero value is none.
type execTask struct {
	board *task.Tasks
	id    task.ID
	begun *task.Journal // as it was before the command
}

// beginTask opens the journal of the task that --task names, unless it is open.
// FILEBUS_TASK alone says only whose output it is: whoever set it ends the task.
// A command that is missing leaves a task that has ended as it is.
func (o *execCommand) beginTask(ctx context.Context, w *cli.Work, missing error) (job execTask, err error) {
	if o.Task == "" || missing != nil && o.taskEnded(ctx, w) {
		return job, nil
	}
	job.board, job.id = task.Of(w), task.ID(o.Checked.Task)
	w.Settle(ctx, w) // how it ended before: its marker goes
	err = job.board.Begin(ctx, job.id, task.StartRequest{
		Agent: w.Or(o.Agent, "FILEBUS_AGENT"), Run: o.Checked.Run,
	})
	if err == nil {
		w.Settle(ctx, w, job.id.String())
		job.begun, err = job.board.Look(ctx, job.id)
	}
	return job, err
}

// end writes the marker of the task, and the handoff if the command has left none.
// The command may not have run.
func (j execTask) end(ctx context.Context, w *cli.Work, run *Execution, err error) error {
	if j.board == nil {
		return nil
	}
	if now, err := j.board.Look(ctx, j.id); err == nil && now.Version.Record.Name != j.begun.Version.Record.Name {
		w.Note("%s was started again meanwhile, and is not ended by this run", j.id)
		return nil
	}
	f, endErr := j.board.End(ctx, j.id, outcomeOf(run, err))
	if endErr != nil {
		return fmt.Errorf("ending %s: %w", j.id, endErr)
	}
	w.Settle(ctx, w)
	w.Note("%s  %s  %s", j.id, f.Status, cli.OneLine(f.Marker))
	return nil
}

// endReused ends the task of a call that is there, unless it has ended.
func (o *execCommand) endReused(ctx context.Context, w *cli.Work, there *Stored) error {
	if o.Task == "" || o.taskEnded(ctx, w) {
		return nil
	}
	job, err := o.beginTask(ctx, w, nil)
	if err == nil {
		err = job.end(ctx, w, &Execution{Stored: there, Status: materialize.StatusDone}, nil)
	}
	return err
}

func (o *execCommand) taskEnded(ctx context.Context, w *cli.Work) bool {
	j, err := task.Of(w).Look(ctx, task.ID(o.Checked.Task))
	return err == nil && layout.HasEnded(j.State())
}

// exitTemporary is what sysexits(3) calls EX_TEMPFAIL: the command could do
// nothing now, and may do so later.
const exitTemporary = 75

// outcomeOf says how a command has ended, in the words of a handoff: what could
// not begin is blocked.
func outcomeOf(run *Execution, err error) task.Run {
	switch {
	case run == nil:
		return task.Run{Outcome: layout.StatusBlocked, Summary: "The command was not run.", Problem: cli.Message(err)}
	case run.Stored == nil && !errors.Is(err, store.ErrBarred):
		r := task.Run{Outcome: layout.StatusFailed, Summary: "The command's output could not be stored.", NextStep: "filebus list result"}
		if err != nil {
			r.Problem = cli.Message(err)
		}
		return r
	}
	r, next := task.Run{Outcome: layout.StatusComplete, Summary: "The output was destroyed before, and stays out."}, "run it again"
	if run.Stored != nil {
		get := "filebus get " + run.Ref.Short()
		const maxRunSummary = 300 // how much of an output becomes the summary of a handoff, in bytes
		summary := cli.Shortened(cli.OneLine(run.Description.Preview), maxRunSummary)
		if strings.TrimSpace(summary) == "" {
			summary = "The command printed nothing."
		}
		r.Summary, next = summary+" ("+get+")", "read the output, "+get+", and "+next
	}
	switch {
	case run.Status == materialize.StatusTimeout:
		r.Outcome, r.Problem = layout.StatusFailed, "its time ran out"
	case run.Exit == exitTemporary:
		r.Outcome, r.Problem = layout.StatusBlocked, fmt.Sprintf("exit code %d: try again later", run.Exit)
	case run.Status != materialize.StatusDone: // its output may say so
		r.Outcome, r.Problem = layout.StatusFailed, fmt.Sprintf("%s with exit code %d", run.Status, run.Exit)
	case run.Stored != nil && len(run.Problems) > 0:
		r.Outcome, r.Problem = layout.StatusPartial, "the output does not fit its schema: "+run.Problems[0]
	}
	r.NextStep = next
	return r
}

// noRound is the number of a round that was not given.
const noRound = -1

// An execTurn is the turn of a dialogue that the output of a command becomes; the
// zero value is none.
type execTurn struct {
	dialogues *dialogue.Dialogues
	slot      dialogue.Slot
}

// beginTurn finds the place of the turn that --dialogue names. One that is there
// already is refused before anything is run.
func (o *execCommand) beginTurn(ctx context.Context, w *cli.Work) (t execTurn, err error) {
	if o.Dialogue == "" {
		return t, nil
	}
	agent := w.Or(o.Agent, "FILEBUS_AGENT")
	if agent == "" {
		return t, cli.UsageError("--dialogue needs --agent: whose turn is it?")
	}
	dialogues := dialogue.Of(w)
	key, err := dialogues.Find(ctx, o.Dialogue)
	if err != nil {
		return t, err
	}
	if t.slot, err = dialogues.Slot(ctx, key, o.Round, agent); err != nil {
		return t, err
	}
	t.dialogues = dialogues
	return t, dialogues.CheckFree(ctx, t.slot)
}

// end makes the output of the command the turn. A command that has failed or has put
// out nothing gets a stub. A turn that its agent has written by itself stands. It
// returns what then is the turn; nil if none was asked for.
func (t execTurn) end(
	ctx context.Context, w *cli.Work, run *Execution, err error,
) (*materialize.PutResult, error) {
	if t.dialogues == nil {
		return nil, nil
	}
	c := dialogue.Contribution{Origin: dialogue.TurnOrigin(w.Environ, record.SourceExec)}
	output := ""
	if run != nil && run.Stored != nil {
		c.Origin.From = []record.Ref{run.Ref}
		output = "The output is filebus get " + run.Ref.Short()
	}
	text, reason, endErr := turnOf(ctx, w, run, err)
	if c.Text = text; reason != "" {
		c.Text = layout.StubText(reason, output)
	}
	var put *materialize.PutResult
	if endErr == nil {
		put, endErr = t.dialogues.Put(ctx, t.slot, c)
	}
	if errors.Is(endErr, dialogue.ErrOccupied) {
		w.Note("%s wrote its turn itself, and that one is kept. %s", t.slot.Agent, output)
		put, endErr = t.dialogues.Current(ctx, t.slot)
	} else if reason != "" && endErr == nil {
		w.Note("a stub for %s: %s", t.slot.Agent, reason)
	}
	if endErr != nil {
		return nil, fmt.Errorf("writing the turn of %s: %w", t.slot.Agent, endErr)
	}
	return put, nil
}

// turnOf returns the output of a command, or the reason why it is no turn.
func turnOf(
	ctx context.Context, w *cli.Work, run *Execution, err error,
) (text []byte, reason string, readErr error) {
	switch {
	case run == nil:
		return nil, "the command was not run: " + cli.Message(err), nil
	case run.Stored == nil:
		return nil, "the output of the command could not be stored", nil
	case run.Status != materialize.StatusDone:
		return nil, fmt.Sprintf("%s with exit code %d", run.Status, run.Exit), nil
	case run.Record.Size > dialogue.MaxTurn:
		return nil, fmt.Sprintf("the command printed %s, more than a turn may have", cli.ByteSize(run.Record.Size)), nil
	}
	text, err = w.TextOf(ctx, store.Version{Ref: run.Ref, Record: run.Record})
	if err == nil && strings.TrimSpace(string(text)) == "" {
		return nil, fmt.Sprintf("the command printed nothing, with exit code %d", run.Exit), nil
	}
	return text, "", err
}

// shown returns what the reference is of that exec prints: the turn, if there is one.
func shown(run *Execution, turn *materialize.PutResult) *Stored {
	if turn == nil {
		return run.Stored
	}
	return &Stored{PutResult: turn, Problems: run.Problems}
}
