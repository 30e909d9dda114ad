package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// Settle moves those at work whose tasks have ended to those that have ended. Tasks that
// a command has started or ended just now count also if the state does not know them.
// Without a run that goes on, or for one of another run, nothing happens.
func (b *Runs) Settle(ctx context.Context, tasks ...string) error {
	p, err := b.w.RecordPath(record.KindState, stateID)
	if err == nil {
		err = b.w.Import(ctx, p) // by hand, a run may have begun or ended
	}
	if err != nil {
		return err
	}
	_, text, err := b.stored(ctx, stateName())
	s, _ := layout.ParseState(text)
	if errors.Is(err, store.ErrNotFound) || err == nil && !isOpen(s) {
		return nil
	}
	var c layout.StateChange
	if err == nil {
		_, c, err = b.settled(ctx, s, tasks...)
	}
	if err == nil && len(c.Start)+len(c.Done) > 0 {
		_, err = b.change(ctx, func(now layout.State, _ *store.Version) (layout.StateChange, error) {
			_, c, err := b.settled(ctx, now, tasks...)
			return c, err
		})
	}
	return err
}

// settled returns a state after the change that settles it. See Settle.
func (b *Runs) settled(ctx context.Context, s layout.State, tasks ...string) (_ layout.State, c layout.StateChange, err error) {
	all := slices.Clone(s.Running)
	for _, task := range tasks {
		if !slices.ContainsFunc(all, func(a layout.Agent) bool { return sameTask(a.Task, task) }) {
			all = append(all, layout.Agent{Task: task})
		}
	}
	s.Running = nil
	for _, a := range all {
		t, err := b.opts.Standing(ctx, a.Task)
		if err != nil {
			return s, c, err
		}
		isNew, agent := a.ID == "", markdown.SingleSpaced(t.Agent)
		if markdown.IsNothing(agent) {
			agent = a.Task
		}
		a.ID = cmp.Or(a.ID, agent)
		switch {
		case isNew && (t.Run != "" && t.Run != s.RunID || isSaid(s, a.Task, t.Outcome)):
		case t.Outcome != "" && b.isOf(a, s.Started, t):
			c.Done = append(c.Done, ended(a, s.Started, t))
		case t.Going && (isNew || a.ID == a.Task && agent != a.ID):
			a.ID, a.Started = agent, cmp.Or(a.Started, clockText(s.Started, b.now()))
			c.Start, s.Running = append(c.Start, a), append(s.Running, a)
		case !isNew:
			s.Running = append(s.Running, a)
		}
	}
	s.Completed = slices.Concat(s.Completed, c.Done)
	return s, c, nil
}

// isSaid reports whether a task ended last as the state says.
func isSaid(s layout.State, task, outcome string) bool {
	said := ""
	for _, a := range s.Completed {
		if sameTask(a.Task, task) {
			said = a.Outcome
		}
	}
	return outcome != "" && layout.NormalizeStatus(said) == layout.NormalizeStatus(outcome)
}

// ended returns the row of an agent whose task has ended.
func ended(a layout.Agent, run string, t layout.Standing) layout.Agent {
	row := layout.Agent{ID: a.ID, Task: a.Task, Outcome: t.Outcome}
	if took, known := Since(a.Started, run, t.Ended); !t.Started.IsZero() {
		row.Duration = layout.DurationText(max(t.Ended.Sub(t.Started), 0))
	} else if known {
		row.Duration = layout.DurationText(took)
	}
	return row
}

// isOf reports whether a task ended after an agent began on it: it may have ended before.
// States have times of day, so one that seems to have begun later than it ended began a
// day before, if its journal says so.
func (b *Runs) isOf(a layout.Agent, run string, t layout.Standing) bool {
	const slack = 2 * time.Second // states have whole seconds, as some disks have
	took, known := Since(a.Started, run, b.now())
	if !known || !t.Ended.Before(b.now().Add(-took-slack)) {
		return true
	}
	apart, _ := Since(a.Started, run, t.Started.Add(time.Hour)) // so it is told from one a little later
	return !t.Started.IsZero() && (apart-time.Hour).Abs() <= slack
}

// sameTask reports whether two texts name one task.
func sameTask(a, b string) bool {
	return a != "" && b != "" && layout.JournalID(a) == layout.JournalID(b)
}
