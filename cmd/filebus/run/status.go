package run

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"filebus/index"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// A Status is what an orchestrator looks at again and again.
type Status struct {
	Run       string        `json:"run,omitempty"`
	Loop      int           `json:"loop,omitempty"`
	Loops     int           `json:"loops,omitempty"` // planned
	Focus     string        `json:"focus,omitempty"`
	Ended     string        `json:"ended,omitempty"`
	Completed int           `json:"completed"` // tasks, or agents without one
	Failed    int           `json:"failed"`    // or blocked
	Working   int           `json:"working"`   // agents and tasks at work
	Late      int           `json:"late"`
	Tasks     []work        `json:"tasks"`  // of those at work the oldest
	Issues    IssueCount    `json:"issues"` // for others to fill in, as Dialogues and Sessions
	Dialogues dialogueCount `json:"dialogues"`
	Sessions  sessionCount  `json:"sessions"`
	Results   []lastResult  `json:"results"`
	Conflicts int           `json:"conflicts"`
	// Behind is how many log entries the index lacks; nil: nobody knows, as
	// somebody is writing it, or it is damaged.
	Behind *int64 `json:"behind"`

	State *layout.State       `json:"-"` // uncut; nil without a session state
	Ends  layout.TaskOutcomes `json:"-"` // of what has ended
}

// A work is an agent of the session state, or a task whose journal is in
// progress and that has left no marker, or both.
type work struct {
	Agent   string        `json:"agent,omitempty"`
	Task    string        `json:"task,omitempty"`
	Seconds int           `json:"seconds"` // since it began
	Late    bool          `json:"late,omitempty"`
	Model   string        `json:"-"`
	Known   bool          `json:"-"` // whether Seconds is known
	Journal bool          `json:"-"` // it has one
	Quiet   time.Duration `json:"-"` // how long ago that changed
}

// An IssueCount counts the issues that are not done.
type IssueCount struct {
	Open     int            `json:"open"`
	Working  int            `json:"working"` // of the open ones: in progress
	Priority map[string]int `json:"priority,omitempty"`
	// Next is the one that issue next gives out.
	Next  string `json:"next,omitempty"`
	Title string `json:"-"` // of the next
}

// A dialogueCount counts open dialogues, with how far the last one is.
type dialogueCount struct {
	Open  int    `json:"open"`
	Last  string `json:"last,omitempty"` // the one that changed last
	Round *int   `json:"round,omitempty"`
	Turns int    `json:"turns,omitempty"`
	Owed  int    `json:"owed,omitempty"`
}

// A sessionCount counts sessions.
type sessionCount struct {
	InProgress int    `json:"in_progress"`
	Last       string `json:"last,omitempty"`
}

// A lastResult is one of the last results.
type lastResult struct {
	Ref    record.ShortRef `json:"ref"`
	Agent  string          `json:"agent,omitempty"`
	Status string          `json:"status,omitempty"`
	Tokens int             `json:"tokens"`
	Title  string          `json:"title,omitempty"` // or its preview
	Age    time.Duration   `json:"-"`
}

// What a status names at most.
const (
	statusTasks   = 5
	statusResults = 3
	statusTitle   = 60 // characters of a result
)

// Status returns the status. Work is late when it began longer ago than late; a
// journal that has changed since then does not make it less so.
func (b *Runs) Status(ctx context.Context, late time.Duration) (*Status, error) {
	s := &Status{}
	state, _, _, err := b.state(ctx)
	switch {
	case err == nil:
		s.Run, s.Focus, s.Ended = clip(state.RunID), clip(state.Focus), clip(state.Ended)
		s.Loop, s.Loops = state.LoopNumber()
		s.State, s.Ends = &state, layout.OutcomesOf(state.Completed, state.Running)
		s.Completed, s.Failed = len(s.Ends[layout.StatusComplete]), len(s.Ends[layout.StatusFailed])+len(s.Ends[layout.StatusBlocked])
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	if err := b.work(ctx, s, late); err != nil {
		return nil, err
	}
	results, err := b.read.List(ctx, query.ListRequest{
		Filter: record.Filter{Kinds: []record.Kind{record.KindResult}}, Limit: statusResults,
	})
	if err != nil {
		return nil, err
	}
	for _, e := range results.Entries {
		title := markdown.Clip(cmp.Or(e.Title, e.Description.Preview), statusTitle)
		s.Results = append(s.Results, lastResult{e.Ref, e.Agent, e.Status, e.Tokens, title,
			max(b.opts.Now().Sub(e.Time), 0)})
	}
	conflicts, err := b.w.Conflicts(ctx)
	if err != nil {
		return nil, err
	}
	s.Conflicts = len(conflicts)
	s.Behind, err = b.behind(ctx)
	return s, err
}

// behind returns how far the index is behind, if that can be known.
func (b *Runs) behind(ctx context.Context) (*int64, error) {
	n, err := b.read.Behind(ctx)
	for _, unknown := range []error{index.ErrBusy, index.ErrDamaged, turnstile.ErrBusy, fs.ErrPermission} {
		if errors.Is(err, unknown) {
			return nil, nil
		}
	}
	return new(int64(n)), err
}

// work lists the agents of the run that goes on and the journals in progress.
func (b *Runs) work(ctx context.Context, s *Status, late time.Duration) error {
	if s.State != nil && isOpen(*s.State) {
		for _, a := range s.State.Running {
			w := work{Agent: a.ID, Task: a.Task, Model: a.Model}
			w.since(a.Started, s.State.Started, b.now())
			s.Tasks = append(s.Tasks, w)
		}
	}
	journals, err := b.read.Own(ctx, record.Filter{
		Kinds: []record.Kind{record.KindHandoff}, Statuses: record.Any(layout.StatusInProgress),
	})
	if err != nil {
		return err
	}
	for _, j := range journals {
		e, err := b.opts.Standing(ctx, j.TaskID())
		if err != nil {
			return err
		}
		if e.Outcome == "" { // an agent may leave its marker, and its journal as it was
			b.addJournal(s, j)
		}
	}
	s.Working = len(s.Tasks)
	for i := range s.Tasks {
		w := &s.Tasks[i]
		if w.Late = w.Known && time.Duration(w.Seconds)*time.Second >= late; w.Late {
			s.Late++
		}
		w.Agent, w.Task = clip(w.Agent), clip(w.Task)
	}
	slices.SortStableFunc(s.Tasks, func(a, b work) int { return b.Seconds - a.Seconds })
	s.Tasks = s.Tasks[:min(len(s.Tasks), statusTasks)]
	return nil
}

// since sets how long ago work was started.
func (w *work) since(started, run string, now time.Time) {
	var took time.Duration
	took, w.Known = Since(started, run, now)
	w.Seconds = int(took.Seconds())
}

// addJournal adds a journal in progress to the work of its agent, or as work of
// its own.
func (b *Runs) addJournal(s *Status, j query.Summary) {
	quiet := max(b.now().Sub(j.Time), 0)
	for i := range s.Tasks {
		if w := &s.Tasks[i]; sameTask(w.Task, j.TaskID()) {
			w.Quiet, w.Journal = quiet, true
			return
		}
	}
	w := work{Agent: j.Agent, Task: j.TaskID(), Quiet: quiet, Journal: true}
	if w.since(j.Attributes[layout.AttributeStarted], "", b.now()); !w.Known {
		w.Seconds, w.Known = int(quiet.Seconds()), true
	}
	s.Tasks = append(s.Tasks, w)
}
