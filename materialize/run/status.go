package run

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"filebus/index"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// A Status is what an orchestrator looks at again and again.
type Status struct {
	View      *View  // the run; nil without a session state
	Tasks     []Work // at work, the oldest first
	Issues    IssueCount
	Results   []query.Summary // the last three
	Conflicts int
	// Behind is how many log entries the index lacks; -1: nobody knows, as
	// somebody is writing it, or it is damaged.
	Behind int64
}

// A Work is an agent of the session state, or a task whose journal is in
// progress and that has left no marker, or both.
type Work struct {
	Agent string
	Task  string
	Model string
	For   time.Duration // since it began
	Known bool          // whether For is known
	// Quiet is how long ago its journal changed, if it has one.
	Quiet   time.Duration
	Journal bool
	Late    bool
}

// An IssueCount counts the issues that are not done.
type IssueCount struct {
	Open     int
	Priority []PriorityCount // those that there are, the most urgent first
	Working  int             // of the open ones: in progress
	Next     *query.Summary  // accepted or pending: the most urgent, the oldest of these
}

// A PriorityCount is the number of open issues with a priority.
type PriorityCount struct {
	Priority string
	Count    int
}

// lastResults is how many results a status names.
const lastResults = 3

// Status returns the status. Work is late when it began longer ago than late; a
// journal that has changed since then does not make it less so.
func (b *Book) Status(ctx context.Context, late time.Duration) (*Status, error) {
	s := &Status{}
	var err error
	if s.View, err = b.View(ctx); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err := b.work(ctx, s, late); err != nil {
		return nil, err
	}
	if err := b.countIssues(ctx, &s.Issues); err != nil {
		return nil, err
	}
	results, err := b.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindResult}}, Limit: lastResults})
	if err != nil {
		return nil, err
	}
	s.Results = results.Entries
	conflicts, err := b.w.Conflicts(ctx, record.Name{})
	if err != nil {
		return nil, err
	}
	s.Conflicts = len(conflicts)
	s.Behind, err = b.behind(ctx)
	return s, err
}

// behind returns how far the index is behind, or -1.
func (b *Book) behind(ctx context.Context) (int64, error) {
	n, err := b.read.Behind(ctx)
	for _, unknown := range []error{index.ErrBusy, index.ErrDamaged, turnstile.ErrBusy, fs.ErrPermission} {
		if errors.Is(err, unknown) {
			return -1, nil
		}
	}
	return int64(n), err
}

// work lists the agents of the run that goes on and the journals in progress.
func (b *Book) work(ctx context.Context, s *Status, late time.Duration) error {
	if s.View != nil && IsOpen(s.View.State) {
		for _, a := range s.View.Running {
			w := Work{Agent: a.ID, Task: a.Task, Model: a.Model}
			w.For, w.Known = Since(a.Started, b.now())
			s.Tasks = append(s.Tasks, w)
		}
	}
	journals, err := b.read.List(ctx, query.ListRequest{
		Filter: record.Filter{Kinds: []record.Kind{record.KindHandoff}, Trees: []record.Tree{""}, Statuses: record.Any(layout.StatusInProgress)},
	})
	if err != nil {
		return err
	}
	markers, err := b.markers(ctx)
	if err != nil {
		return err
	}
	for _, j := range journals.Entries {
		if !hasLeft(j, markers) {
			b.addJournal(s, j)
		}
	}
	for i := range s.Tasks {
		s.Tasks[i].Late = s.Tasks[i].Known && s.Tasks[i].For >= late
	}
	slices.SortStableFunc(s.Tasks, func(a, b Work) int { return int(b.For.Seconds()) - int(a.For.Seconds()) })
	return nil
}

// markers returns when the tasks that have a marker left it.
func (b *Book) markers(ctx context.Context) (map[string]time.Time, error) {
	listing, err := b.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindMarker}, Trees: []record.Tree{""}}})
	if err != nil {
		return nil, err
	}
	left := map[string]time.Time{}
	for _, m := range listing.Entries { // the newest first
		if r := m.Version.Record; left[r.Task].IsZero() {
			left[r.Task] = r.Time
		}
	}
	return left, nil
}

// hasLeft reports whether the task of a journal has left its marker since it
// began: an agent may end so and leave its journal as it was.
func hasLeft(j query.Summary, markers map[string]time.Time) bool {
	left, found := markers[j.Version.Record.Task]
	started, err := time.Parse(time.RFC3339, j.Description.Attributes[layout.AttributeStarted])
	return found && (err != nil || !left.Before(started))
}

// addJournal adds a journal in progress to the work of its agent, or as work of
// its own.
func (b *Book) addJournal(s *Status, j query.Summary) {
	r := j.Version.Record
	quiet := max(b.now().Sub(r.Time), 0)
	for i := range s.Tasks {
		if w := &s.Tasks[i]; w.Task != "" && (layout.TaskID(w.Task) == r.Task || w.Task == r.Task) {
			w.Quiet, w.Journal = quiet, true
			return
		}
	}
	w := Work{Agent: r.Agent, Task: textOr(r.Task, r.Name.ID), Quiet: quiet, Journal: true}
	if w.For, w.Known = Since(j.Description.Attributes[layout.AttributeStarted], b.now()); !w.Known {
		w.For, w.Known = quiet, true
	}
	s.Tasks = append(s.Tasks, w)
}

// countIssues counts the open issues of the own tree.
func (b *Book) countIssues(ctx context.Context, c *IssueCount) error {
	all, err := b.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindIssue}, Trees: []record.Tree{""}}})
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, issue := range slices.Backward(all.Entries) { // the oldest first
		r := issue.Version.Record
		switch r.Status {
		case "complete", "duplicate", "wont_fix":
			continue
		case "in_progress":
			c.Working++
		case "pending", "accepted", "":
			if c.Next == nil || isBefore(issue, *c.Next) {
				c.Next = &issue
			}
		}
		c.Open++
		counts[priorityOf(issue)]++
	}
	for _, p := range append(priorities(), "") {
		if counts[p] > 0 {
			c.Priority = append(c.Priority, PriorityCount{textOr(p, "other"), counts[p]})
		}
	}
	return nil
}

// priorities returns the priorities, the most urgent first.
func priorities() []string { return []string{"critical", "high", "medium", "low"} }

// priorityOf returns the priority of an issue, or "" for one that is not known.
func priorityOf(issue query.Summary) string {
	p := strings.ToLower(issue.Description.Attributes[record.AttributePriority])
	if slices.Contains(priorities(), p) {
		return p
	}
	return ""
}

// isBefore reports whether an issue comes before another one: accepted ones do,
// then the more urgent, then those with the lower id, which are older.
func isBefore(a, b query.Summary) bool {
	rank := func(s query.Summary) int {
		i := slices.Index(priorities(), priorityOf(s))
		if i < 0 {
			i = len(priorities())
		}
		if s.Version.Record.Status != "accepted" {
			i += len(priorities()) + 1
		}
		return i
	}
	if rank(a) != rank(b) {
		return rank(a) < rank(b)
	}
	return a.Version.Record.Name.ID < b.Version.Record.Name.ID
}
