package issue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A Change says who does something to an issue, and what there is to say of it.
type Change struct {
	Agent     string        // who acts; a claim needs one
	Force     bool          // also where another agent holds the issue
	Lease     time.Duration // of a claim; 0: DefaultLease
	Task      string        // the task that is made of the issue; empty: as it was
	Rationale string        // why; added to what the issue says already
	Of        string        // the issue that it is a duplicate of
}

// Do applies an action to the issue with an id and returns the issue as it is
// then. What an action may not do is an error with ErrStatus, ErrTaken or ErrHeld;
// nothing is changed then.
func (q *Queue) Do(ctx context.Context, a Action, id string, c Change) (Issue, error) {
	if a == Claim && c.Agent == "" {
		return Issue{}, errNoAgent()
	}
	if a == MarkDuplicate {
		of, err := q.original(ctx, c.Of)
		if err != nil {
			return Issue{}, err
		}
		c.Of = of
	}
	return q.change(ctx, id, func(i Issue) ([]byte, error) { return q.apply(c, a, i) })
}

// maxChain bounds how many duplicates of duplicates are followed.
const maxChain = 100

// original returns the id of the issue that an issue is a duplicate of in the
// end, or its own.
func (q *Queue) original(ctx context.Context, id string) (string, error) {
	i, err := q.Get(ctx, id)
	for n := 0; err == nil && i.Status == Duplicate && i.DuplicateOf != "" && n < maxChain; n++ {
		next, nextErr := q.Get(ctx, plain(i.DuplicateOf))
		if errors.Is(nextErr, ErrNoIssue) {
			break
		}
		i, err = next, nextErr
	}
	return i.ID, err
}

// apply returns the text of an issue after an action.
func (q *Queue) apply(c Change, a Action, i Issue) ([]byte, error) {
	t := transition(a)
	switch same := i.Status == t.To; {
	case a == MarkDuplicate && c.Of == i.ID:
		return nil, errCircle(i.ID, c.Of)
	case same && a == MarkDuplicate && plain(i.DuplicateOf) != c.Of:
		return nil, errStatus(i, a)
	case same && a != Claim && (a != Release || i.Hold.Agent == ""):
		return i.Text, nil
	case !t.allows(i.Status) && !same:
		return nil, errStatus(i, a)
	case a != Accept && a != Reopen && !c.Force && i.isKeptFrom(c.Agent):
		return nil, errHeld(i, a, c.Agent)
	}
	text := i.Text
	if i.Status != t.To {
		text = q.fields.Set(text, "Status", string(t.To))
	}
	if c.Task != "" {
		text = q.fields.Set(text, "Task Ref", taskRef(c.Task))
	}
	if c.Rationale != "" {
		text = q.fields.Set(text, "Rationale", paragraphs(i.Rationale, markdown.CleanText(c.Rationale)))
	}
	return q.setHold(text, c, a, i), nil
}

// setHold sets the rows of the claim to what an action makes of them.
func (q *Queue) setHold(text []byte, c Change, a Action, i Issue) []byte {
	now := q.now()
	switch a {
	case Claim:
		if !sameAgent(assigneeOf(i.Issue), c.Agent) {
			text = q.fields.Set(text, "Assignee")
		}
		text = q.fields.Set(text, "Claimed By", markdown.OneLine(c.Agent))
		text = q.fields.Set(text, "Claimed At", formatTime(now))
		return q.fields.Set(text, "Lease Until", formatTime(now.Add(cmp.Or(c.Lease, DefaultLease))))
	case Finish: // who did it stays
		if i.Hold.Agent != "" && c.Agent != "" && !sameAgent(i.Hold.Agent, c.Agent) {
			text = q.fields.Set(text, "Claimed By", markdown.OneLine(c.Agent))
		}
		return q.fields.Set(text, "Lease Until")
	case MarkDuplicate:
		text = q.fields.Set(text, "Duplicate Of", c.Of)
	case Reopen:
		text = q.fields.Set(text, "Duplicate Of")
	case Accept:
		return text
	}
	for _, field := range []string{"Claimed By", "Claimed At", "Lease Until", "Assignee"} {
		text = q.fields.Set(text, field)
	}
	return text
}

// taskRef returns the id of a task as it is stored: 003 is task-003.
func taskRef(id string) string { return layout.TaskID(markdown.OneLine(id)) }

// paragraphs joins two texts with a blank line between.
func paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// Next returns the issue to work on next of those that pass a filter: the first
// in the order of List that nobody holds, or that was assigned to the agent. It
// reports whether there is one.
func (q *Queue) Next(ctx context.Context, f Filter, agent string) (Issue, bool, error) {
	f.Open = true
	all, err := q.List(ctx, f)
	if at := slices.IndexFunc(all, func(i Issue) bool { return i.isFree(agent) }); at >= 0 {
		return all[at], err == nil, err
	}
	return Issue{}, false, err
}

// ClaimNext claims the issue that Next returns. However many agents do so at
// once, each gets another one.
func (q *Queue) ClaimNext(ctx context.Context, f Filter, c Change) (claimed Issue, found bool, err error) {
	if c.Agent == "" {
		return Issue{}, false, errNoAgent()
	}
	f.Open = true
	all, err := q.List(ctx, f)
	if err != nil {
		return Issue{}, false, err
	}
	// One file at a time, the one with the most urgent issue first.
	paths, err := q.pathsOf(all)
	for _, path := range paths {
		claimed, found, err = q.claimIn(ctx, path, f, c)
		if found || err != nil {
			break
		}
	}
	return claimed, found, err
}

// claimIn claims the next issue of a file.
func (q *Queue) claimIn(ctx context.Context, path string, f Filter, c Change) (claimed Issue, found bool, err error) {
	err = q.work.EditEntriesIn(ctx, path, record.SourcePut, func(e *materialize.Entries) error {
		found = false
		free := slices.DeleteFunc(q.issuesIn(e), func(i Issue) bool { return !f.accepts(i) || !i.isFree(c.Agent) })
		if len(free) == 0 {
			return nil
		}
		sortIssues(free)
		text, err := q.apply(c, Claim, free[0])
		if err != nil {
			return err
		}
		e.Set(free[0].Name, text)
		claimed, found = q.issue(free[0].Name, path, text), true
		return nil
	})
	return claimed, found && err == nil, err
}
