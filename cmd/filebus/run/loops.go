package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A StartRequest says which run begins.
type StartRequest struct {
	ID    string // empty: the day's next
	Focus string
	Loops int // planned; 0: not said
	// End ends a run that is going on before. New leaves it as it is, and begins another; Restart
	// does so with its focus and number of loops. Without any an open run is refused.
	End, New, Restart bool
	By                string // who begins it, if that is known
}

// Start begins a run with its first loop. The state of the run before stays a
// version of the file.
func (b *Runs) Start(ctx context.Context, r StartRequest) (*Outcome, error) {
	if err := b.checkStart(ctx, r); err != nil {
		return nil, err
	}
	if r.End {
		if _, err := b.End(ctx); err != nil && !errors.Is(err, errNoRun) {
			return nil, err
		}
	}
	out, err := b.change(ctx, func(now layout.State, _ *store.Version) (c layout.StateChange, err error) {
		if isOpen(now) && !r.New && !r.Restart {
			return c, record.Conflict.Errorf("the run %s has not ended: --end ends it first, --new leaves it and begins another, "+
				"--restart begins again with its focus and number of loops", now.RunID).Try("filebus run show; it may be another's")
		}
		id, focus, loops := r.ID, r.Focus, r.Loops
		if isOpen(now) && r.Restart {
			_, planned := now.LoopNumber()
			focus, loops = cmp.Or(focus, now.Focus), cmp.Or(max(loops, 0), planned)
		}
		if id == "" {
			id, err = b.freeID(ctx, b.now())
		}
		return layout.StateChange{Clear: true, Set: []layout.Property{
			{Key: "Run ID", Value: id}, {Key: "Started", Value: b.now().Format(time.RFC3339)},
			{Key: "Loop", Value: loopText(1, loops)}, {Key: "Focus", Value: focus}, {Key: "Ended"},
		}}, err
	})
	if err != nil {
		return nil, err
	}
	return b.beginLoop(ctx, out, layout.LoopStart{Run: out.State.RunID, Loop: 1, By: r.By}, nil)
}

// checkStart refuses a run that cannot begin, whatever the state says.
func (b *Runs) checkStart(ctx context.Context, r StartRequest) error {
	if err := checkField("the focus", r.Focus, "", ""); err != nil || r.ID == "" {
		return err
	}
	if err := checkID("id of a run", r.ID); err != nil {
		return err
	}
	used, err := b.wasUsed(ctx, r.ID)
	if err == nil && used {
		err = record.Conflict.Errorf("there was a run %s before", r.ID).Try("filebus run start, for the next free id")
	}
	return err
}

// loopText is how a state says its loop.
func loopText(loop, planned int) string {
	if planned == 0 {
		return strconv.Itoa(loop)
	}
	return fmt.Sprintf("%d of %d", loop, planned)
}

// beginLoop notes from where on a loop's changes count. It is done after the state
// says that the loop has begun, so that two processes never begin the same one.
func (b *Runs) beginLoop(ctx context.Context, out *Outcome, start layout.LoopStart, before []layout.SnapshotFile) (*Outcome, error) {
	var err error
	start.Time = b.now().Format(time.RFC3339)
	start.SnapshotPoint, start.Files, start.LeftOut, err = b.note(ctx, start.Run, before)
	if err == nil {
		start.Position, err = query.Position(ctx, b.w.Store)
	}
	if err != nil {
		return out, fmt.Errorf("noting the beginning of loop %d: %w", start.Loop, err)
	}
	out.LeftOut = start.LeftOut
	return out, b.keep(ctx, start.Run, start.Loop, layout.SnapshotStart, layout.AppendLoopStart(nil, start))
}

// keep puts a file of a loop's snapshot. It is written once.
func (b *Runs) keep(ctx context.Context, id string, loop int, file string, text []byte) error {
	_, err := b.w.Put(ctx, materialize.PutRequest{
		Kind: record.KindSnapshot, ID: snapshotName(id, loop, file).ID, Text: bytes.NewReader(text), Source: record.SourcePut,
	})
	return err
}

// snapshotName returns the name of a file of a loop's snapshot.
func snapshotName(id string, loop int, file string) record.Name {
	return record.Name{Kind: record.KindSnapshot, ID: fmt.Sprintf("%s/loop-%d/%s", id, loop, file)}
}

// Loop closes the loop that is going on, with a line about its agents, and begins
// the next one. A number of loops that is not 0 becomes the planned one.
func (b *Runs) Loop(ctx context.Context, planned int) (*Outcome, error) {
	var begin layout.LoopStart
	closed := false
	out, start, err := b.closeLoop(ctx, func(now layout.State, head *store.Version) (c layout.StateChange, err error) {
		next, err := b.nextLoop(ctx, now)
		_, plan := now.LoopNumber()
		if planned > 0 {
			plan = planned
		}
		if err == nil && plan > 0 && next > plan {
			err = record.Conflict.Errorf("the run %s has had its %d loops: end it, or plan more with --loops",
				now.RunID, next-1).Try("filebus run end, or filebus run loop --loops {1}", strconv.Itoa(next))
		}
		begin = layout.LoopStart{Run: now.RunID, Loop: next, Completed: len(now.Completed)}
		if head != nil {
			begin.State = head.Ref.String()
		}
		c.Set = []layout.Property{{Key: "Loop", Value: loopText(next, plan)}}
		closed = isClosed(now)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	if closed && start != nil { // who has ended since the loop was closed did so in the next
		if kept, err := b.Find(ctx, fmt.Sprintf("%s/%d", start.Run, start.Loop)); err == nil {
			begin.Completed = start.Completed + kept.Completed
		}
	}
	if start != nil {
		out.closed = start.Loop
	}
	return b.beginLoop(ctx, out, begin, filesOf(start))
}

// CloseLoop closes the loop that is going on and keeps its snapshot. A line or a
// snapshot that is there already stays.
func (b *Runs) CloseLoop(ctx context.Context) (*Outcome, *Snapshot, error) {
	out, start, err := b.closeLoop(ctx, func(layout.State, *store.Version) (c layout.StateChange, err error) { return c, nil })
	if err != nil {
		return nil, nil, err
	}
	out.Tasks = layout.OutcomesOf(endedIn(out.State, start), out.State.Running)
	kept, err := b.Take(ctx, out.Run, out.Loop)
	if errors.Is(err, record.Conflict) { // it was taken before
		kept, err = b.Find(ctx, fmt.Sprintf("%s/%d", out.Run, out.Loop))
	}
	return out, kept, err
}

// End closes the loop that is going on and ends the run.
func (b *Runs) End(ctx context.Context) (*Outcome, error) {
	out, _, err := b.closeLoop(ctx, func(layout.State, *store.Version) (c layout.StateChange, err error) {
		c.Set = []layout.Property{{Key: "Ended", Value: b.now().Format(time.RFC3339)}}
		return c, nil
	})
	return out, err
}

// closeLoop makes a change that closes the loop that is going on, with a line about how
// its tasks have ended, and returns what was noted when it began. What agents have
// written by hand is stored before.
func (b *Runs) closeLoop(ctx context.Context, p plan) (out *Outcome, start *layout.LoopStart, err error) {
	if err := b.importFiles(ctx); err != nil {
		return nil, nil, err
	}
	out, err = b.change(ctx, func(now layout.State, head *store.Version) (c layout.StateChange, err error) {
		if !isOpen(now) {
			return c, noRun(now.RunID)
		}
		loop, _ := now.LoopNumber()
		if start, err = b.loopStart(ctx, now.RunID, loop); err != nil {
			return c, err
		}
		c, err = p(now, head)
		if loop > 0 && !isClosed(now) { // else its line was written by hand
			c.History = []string{fmt.Sprintf("Loop %d: %s", loop, layout.OutcomesOf(endedIn(now, start), now.Running))}
		}
		return c, err
	})
	return out, start, err
}

// nextLoop returns the number of the loop that follows: one that the run has not
// had yet, also when its state was put back to an earlier loop's.
func (b *Runs) nextLoop(ctx context.Context, s layout.State) (int, error) {
	loop, _ := s.LoopNumber()
	for next := loop + 1; ; next++ {
		used, err := b.w.EverStored(ctx, snapshotName(s.RunID, next, layout.SnapshotStart))
		if err != nil || !used {
			return next, err
		}
	}
}

func filesOf(start *layout.LoopStart) []layout.SnapshotFile {
	if start == nil {
		return nil
	}
	return start.Files
}

// importFiles stores what agents have written by hand, and settles who has ended so.
func (b *Runs) importFiles(ctx context.Context) error {
	_, err := b.w.Sync(ctx, b.w.Root, materialize.SyncOptions{CaptureOnly: true, Announced: true})
	if err == nil {
		err = b.Settle(ctx)
	}
	return err
}

// loopStart reads what was noted when a loop began; nil if nothing was.
func (b *Runs) loopStart(ctx context.Context, id string, loop int) (*layout.LoopStart, error) {
	if loop == 0 || checkID("", id) != nil {
		return nil, nil
	}
	_, text, err := b.stored(ctx, snapshotName(id, loop, layout.SnapshotStart))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	start, err := layout.ParseLoopStart(text)
	if err != nil || start.Run != id || start.Loop != loop {
		return nil, nil // somebody else's file of that name
	}
	return &start, nil
}

// isClosed reports whether the history has a line for the loop that a state is in.
func isClosed(s layout.State) bool {
	loop, _ := s.LoopNumber()
	lead := fmt.Sprintf("Loop %d:", loop)
	return slices.ContainsFunc(s.History, func(line string) bool { return strings.HasPrefix(line, lead) })
}

// endedIn returns the agents that ended in the loop that a state is in. Without a
// note of its beginning these are the ones that no line of another loop counts.
func endedIn(s layout.State, start *layout.LoopStart) []layout.Agent {
	before := 0
	loop, _ := s.LoopNumber()
	if start != nil {
		before = start.Completed
	} else {
		for _, line := range s.History {
			var of, done, all int
			if lead, counts, found := strings.Cut(line, ":"); found {
				_, _ = fmt.Sscanf(lead, "Loop %d", &of)
				if n, _ := fmt.Sscanf(strings.TrimSpace(counts), "%d/%d", &done, &all); n == 2 && of != loop {
					before += all
				}
			}
		}
	}
	return s.Completed[min(max(before, 0), len(s.Completed)):]
}

// AgentStart adds an agent to those at work.
func (b *Runs) AgentStart(ctx context.Context, a layout.Agent) (*Outcome, error) {
	for _, f := range [][2]string{{"the id of the agent", a.ID}, {"the task", a.Task}, {"the model", a.Model}} {
		if err := checkField(f[0], f[1], a.ID, a.Task); err != nil {
			return nil, err
		}
	}
	if err := checkID("id of an agent", a.ID); err != nil {
		return nil, err
	}
	return b.change(ctx, func(now layout.State, _ *store.Version) (c layout.StateChange, err error) {
		a.Started = clockText(now.Started, b.now())
		if !isOpen(now) {
			return c, noRun(now.RunID)
		}
		for _, other := range now.Running {
			on := other.Task
			if other.ID == a.ID || sameTask(a.Task, on) && other.ID != on {
				if on != "" {
					on = ", on " + on
				}
				err := record.Conflict.Errorf("the agent %s is at work already%s", other.ID, on)
				return c, err.Try("filebus run show")
			}
		}
		c.Start = []layout.Agent{a}
		return c, nil
	})
}

// AgentDone moves an agent from those at work to those that have ended, with how
// long it took. The outcome is a word or a short text, never what the agent wrote.
func (b *Runs) AgentDone(ctx context.Context, id, outcome string) (*Outcome, error) {
	if err := checkField("the outcome", outcome, id, ""); err != nil {
		return nil, err
	}
	if err := checkID("id of an agent", id); err != nil {
		return nil, err
	}
	return b.change(ctx, func(now layout.State, _ *store.Version) (c layout.StateChange, err error) {
		i := slices.IndexFunc(now.Running, func(a layout.Agent) bool { return a.ID == id })
		if i < 0 {
			return c, noAgent(now, id)
		}
		done := layout.Agent{ID: id, Task: now.Running[i].Task, Outcome: outcome}
		if took, known := Since(now.Running[i].Started, now.Started, b.now()); known {
			done.Duration = layout.DurationText(took)
		}
		c.Done = []layout.Agent{done}
		return c, nil
	})
}

// noAgent says why an agent is not at work.
func noAgent(s layout.State, id string) error {
	running := markdown.Each(s.Running[:min(len(s.Running), 10)], func(a layout.Agent) string { return a.ID })
	at := cmp.Or(strings.Join(running, ", "), "nobody is")
	if slices.ContainsFunc(s.Completed, func(a layout.Agent) bool { return a.ID == id }) {
		return record.Conflict.Errorf("the agent %s has ended already; at work: %s", id, at).Try("filebus run show")
	}
	return record.NotFound.Errorf("no agent %s is at work; at work: %s", id, at).Try("filebus run agent start {1}", id)
}

// clockText is the time of now as a state has it: within a day of the run's start a time of day.
func clockText(run string, now time.Time) string {
	if begun, known := layout.ParseDate(run); known && now.Sub(begun) >= day {
		return record.FormatTime(now.Truncate(time.Second))
	}
	return now.UTC().Format(time.TimeOnly)
}

const day = 24 * time.Hour

// Since returns how long ago an agent was started, from the text that its state
// has: a time in UTC of the day that its run was started on, or a whole timestamp. Where the run has no
// date it is a time of the last 24 hours. A clock that was put back makes no agent a day old.
func Since(started, run string, now time.Time) (took time.Duration, known bool) {
	for _, form := range []string{
		time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04", time.TimeOnly, "15:04", "15:04:05Z", "15:04Z",
	} {
		t, err := time.Parse(form, strings.Trim(started, "` "))
		if err != nil {
			continue
		}
		if t.Year() > 0 {
			return max(now.Sub(t), 0), true
		}
		begun, isDated := layout.ParseDate(run)
		if !isDated {
			begun = now.Add(time.Hour - day)
		}
		t = begun.UTC().Truncate(day).Add(t.Sub(t.Truncate(day)))
		if t.Before(begun) {
			t = t.Add(day)
		}
		return max(now.Sub(t), 0), true
	}
	return 0, false
}
