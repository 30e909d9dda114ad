package issue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// A Queue is the issues of a workspace's own tree.
type Queue struct{ noun.Collection[layout.Issue] }

// New returns the queue of a workspace. The reader, of the same store, looks for
// duplicates; now is the clock of ids, dates and leases.
func New(w *materialize.Workspace, r *query.Reader, now func() time.Time) *Queue {
	return &Queue{noun.Collection[layout.Issue]{Type: typeOf(layout.IssueFields()), Work: w, Read: r, Now: now}}
}

// made returns the issue that an entry is.
func (q *Queue) made(e noun.Entry[layout.Issue], err error) (Issue, error) {
	if err != nil {
		return Issue{}, err
	}
	return q.Issue(e), nil
}

// Get returns the issue that a user's id means.
func (q *Queue) Get(ctx context.Context, id string) (Issue, error) {
	return q.made(q.Collection.Get(ctx, id))
}

// List returns the issues that pass a filter, the one to be done next first.
func (q *Queue) List(ctx context.Context, f Filter) ([]Issue, error) {
	entries, err := q.Collection.List(ctx)
	all := markdown.Each(entries, q.Issue)
	setBlocked(all)
	all = slices.DeleteFunc(all, func(i Issue) bool { return !q.accepts(f, i) })
	sortIssues(all)
	return all, err
}

// Do applies an action to the issue with an id and returns the issue as it is
// then. What an action may not do is an error, and changes nothing.
func (q *Queue) Do(ctx context.Context, action, id string, a noun.Act) (i Issue, err error) {
	v, isLocal, name := q.Verb(action), false, record.Name{Kind: record.KindIssue, ID: id}
	switch v.Name {
	case "claim":
		if a, err = q.terms(ctx, a); err == nil {
			isLocal, err = q.Work.Claim(ctx, name, a.Lease)
		}
		if a.Force && errors.Is(err, materialize.ErrElsewhere) {
			err = nil
		}
	case "duplicate":
		a.Of, err = q.original(ctx, a.Of)
	}
	if err != nil {
		return i, err
	}
	if i, err = q.made(q.Collection.Do(ctx, v, id, a)); err == nil && v.Name != "claim" {
		q.Work.GiveUp(ctx, name)
	}
	i.Local = isLocal && err == nil
	return i, err
}

// terms returns a claim with its lease. It needs an agent.
func (q *Queue) terms(ctx context.Context, a noun.Act) (noun.Act, error) {
	if a.Agent == "" {
		return a, record.Usage.Errorf("a claim needs an agent").Try("run it again with --agent NAME, or with FILEBUS_AGENT set")
	}
	lane, err := q.Work.Lane(ctx)
	if a.Lease == 0 {
		a.Lease = noun.DefaultLease
		if lane != "" {
			a.Lease = sharedLease
		}
	}
	return a, err
}

// original returns the id of the issue that an issue is a duplicate of in the
// end, or its own.
func (q *Queue) original(ctx context.Context, id string) (string, error) {
	i, err := q.Get(ctx, id)
	const maxChain = 100 // bounds how many duplicates of duplicates are followed
	for n := 0; err == nil && i.Status == duplicate && i.DuplicateOf != "" && n < maxChain; n++ {
		next, nextErr := q.Get(ctx, plain(i.DuplicateOf))
		if errors.Is(nextErr, noun.ErrAbsent) {
			break
		}
		i, err = next, nextErr
	}
	return i.ID, err
}

// Next returns the issue to work on next of those that pass a filter: the first
// in the order of List that nobody holds, or that was assigned to the agent. It
// reports whether there is one.
func (q *Queue) Next(ctx context.Context, f Filter, agent string) (Issue, bool, error) {
	f.Open = true
	all, err := q.List(ctx, f)
	i, found := First(all, agent)
	return i, found && err == nil, err
}

// First returns the first of some issues that an agent may work on, and whether there is one.
func First(all []Issue, agent string) (Issue, bool) {
	if at := slices.IndexFunc(all, func(i Issue) bool { return i.IsFree(agent) }); at >= 0 {
		return all[at], true
	}
	return Issue{}, false
}

// ClaimNext claims the issue that Next returns. However many agents do so at
// once, each gets another one.
func (q *Queue) ClaimNext(ctx context.Context, f Filter, a noun.Act) (claimed Issue, found bool, err error) {
	a, err = q.terms(ctx, a)
	if err != nil {
		return claimed, false, err
	}
	f.Open = true
	all, err := q.List(ctx, f)
	if err != nil {
		return claimed, false, err
	}
	own := slices.DeleteFunc(slices.Clone(all), func(i Issue) bool { return i.IsForeign })
	if q.Work.Arbiter != nil {
		claimed, found, err = q.claimAmong(ctx, own, a)
	} else {
		claimed, found, err = q.claimHere(ctx, own, f, a)
	}
	if next, isFree := First(all, a.Agent); isFree && next.IsForeign && !found && err == nil {
		err = q.ErrForeign(next.ID, next.Path)
	}
	return claimed, found, err
}

// claimAmong claims the first of the issues that nobody else holds, on no machine.
func (q *Queue) claimAmong(ctx context.Context, all []Issue, a noun.Act) (claimed Issue, found bool, err error) {
	for _, i := range slices.DeleteFunc(all, func(i Issue) bool { return !i.IsFree(a.Agent) }) {
		claimed, err = q.Do(ctx, "claim", i.ID, a)
		if !errors.Is(err, record.Conflict) { // else another one was faster
			return claimed, err == nil, err
		}
	}
	return Issue{}, false, nil
}

// claimHere claims an issue where nobody decides for other machines: one file at a time, the one with
// the most urgent issue first, and at last the one that new issues go to.
func (q *Queue) claimHere(ctx context.Context, all []Issue, f Filter, a noun.Act) (claimed Issue, found bool, err error) {
	own, err := q.Work.Settings.Profile.Path(record.KindIssue, "new")
	paths := noun.With(nil, append(markdown.Each(all, func(i Issue) string { return i.Path }), own)...)
	for n := 0; n < len(paths) && !found && err == nil; n++ {
		claimed, found, err = q.claimIn(ctx, paths[n], f, a)
	}
	if found && err == nil { // it says how far that holds
		claimed.Local, err = q.Work.Claim(ctx, claimed.Name, a.Lease)
	}
	return claimed, found, err
}

// claimIn claims the next issue of a file.
func (q *Queue) claimIn(ctx context.Context, path string, f Filter, a noun.Act) (claimed Issue, found bool, err error) {
	err = q.Work.EditEntriesIn(ctx, path, record.SourcePut, func(file *materialize.Entries) error {
		found = false
		free := slices.DeleteFunc(markdown.Each(q.In(file), q.Issue), func(i Issue) bool { return !q.accepts(f, i) || !i.IsFree(a.Agent) })
		if len(free) == 0 {
			return nil
		}
		sortIssues(free)
		claimed, err = q.made(q.DoIn(file, q.Verb("claim"), free[0].ID, a))
		found = err == nil
		return err
	})
	return claimed, found && err == nil, err
}

// Merge adds what a draft says to the issue with an id, in place of a new one: the
// priority is raised to the higher one, criteria and files are joined, and the
// draft's text becomes an additional report below the details. The issue must be
// open.
func (q *Queue) Merge(ctx context.Context, id string, d layout.Issue) (Issue, error) {
	return q.made(q.Change(ctx, id, func(f layout.EntryForm[layout.Issue], e noun.Entry[layout.Issue]) ([]byte, error) {
		if err := q.Check(f, &d); err != nil {
			return nil, err
		}
		if i := q.Issue(e); !i.Open {
			err := record.Conflict.Errorf("%s is %s: a report is added to an open issue only", i.ID, i.Status)
			return nil, err.Try("filebus issue {1} {2}", "reopen", i.ID)
		}
		text, now := e.Text, e.Fields
		if d.Priority != "" && urgency(d.Priority) < urgency(e.Facts.Attributes[record.AttributePriority]) {
			text = f.Set(text, "Priority", d.Priority)
		}
		by := formatTime(q.Now())
		if agent := layout.ExtraValue(d.Extra, reporter); agent != "" {
			by += ", " + agent
		}
		report := paragraphs(fmt.Sprintf("**Additional report** (%s): %s", by, d.Summary), d.Details)
		text = f.Set(text, "Details", paragraphs(now.Details, report))
		text = setMore(f, text, "Acceptance Criteria", now.Criteria, d.Criteria)
		text = setMore(f, text, "Files", now.Files, d.Files)
		if len(text) > 4*q.Max {
			return nil, q.ErrTooLong(len(text))
		}
		return text, nil
	}))
}

// setMore adds the items to a field that it lacks.
func setMore(f layout.EntryForm[layout.Issue], text []byte, field string, have, more []string) []byte {
	all := noun.With(have, more...)
	if len(all) == len(have) {
		return text
	}
	return f.Set(text, field, all...)
}

// reporter is the further field that says who has reported an issue.
const reporter = "Reported By"

// Reported returns a draft as one that an agent reports.
func Reported(d layout.Issue, agent string) layout.Issue {
	if agent = markdown.OneLine(agent); agent != "" {
		d.Extra = append(slices.Clone(d.Extra), layout.Property{Key: reporter, Value: agent})
	}
	return d
}
