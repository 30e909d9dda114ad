// Package issue has the rules of the issue queue: what may follow what, who works
// on an issue and for how long, which one comes next, and which new one is likely
// to be known already. docs/issues.md has the table of transitions.
//
// A Queue reads the issues of a workspace's own tree and changes them in their
// file, one change at a time: what an agent has written there by hand is imported
// first, and only the fields that change get other bytes. Ids are allocated, and
// claims are made, within such a change, so that no two processes get the same.
//
// The package keeps no state of its own: a claim is rows of its issue, which file
// readers see too.
package issue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Queue is the issues of a workspace's own tree.
type Queue struct {
	work *materialize.Workspace
	read *query.Reader
	now  func() time.Time
	// fields are those that issues have.
	fields *layout.FieldTable[layout.Issue]
}

// New returns the queue of a workspace. The reader, of the same store, looks for
// duplicates; now is the clock of ids, dates and leases.
func New(w *materialize.Workspace, r *query.Reader, now func() time.Time) *Queue {
	return &Queue{w, r, now, layout.IssueFields()}
}

// Import imports the file that new issues go to, if it was changed just now.
func (q *Queue) Import(ctx context.Context) error {
	return q.work.ImportNew(ctx, record.KindIssue, "new")
}

// List returns the issues that pass a filter, the one to be done next first.
func (q *Queue) List(ctx context.Context, f Filter) (all []Issue, err error) {
	var unread error
	err = q.read.Each(ctx, store.FieldKind, string(record.KindIssue),
		func(tx *store.Tx, v store.Version) (enough bool) {
			if v.Record.Name.Tree != "" {
				return false
			}
			var i Issue
			if i, unread = q.readIssue(tx, v); unread == nil {
				all = append(all, i)
			}
			return unread != nil
		})
	setBlocked(all)
	all = slices.DeleteFunc(all, func(i Issue) bool { return !f.accepts(i) })
	sortIssues(all)
	return all, errors.Join(err, unread)
}

// readIssue reads the text of an issue.
func (q *Queue) readIssue(tx *store.Tx, v store.Version) (Issue, error) {
	content, err := tx.Content(v.Record)
	if err != nil {
		return Issue{}, err
	}
	text, err := content.Bytes()
	if err != nil {
		return Issue{}, fmt.Errorf("reading %s: %w", v.Record.Name, err)
	}
	return q.issue(v.Record.Name, v.Record.Path, text), nil
}

// Get returns the issue with an id. The id may be written without "ISSUE-", and
// with "issue/" before it.
func (q *Queue) Get(ctx context.Context, id string) (i Issue, err error) {
	err = q.work.Store.View(ctx, func(tx *store.Tx) error {
		for _, try := range idForms(id) {
			name, err := record.NewName("", record.KindIssue, try)
			if err != nil {
				continue // of a form that no issue has
			}
			v, err := tx.Head(name)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err == nil {
				i, err = q.readIssue(tx, v)
			}
			return err
		}
		return errNoIssue(id)
	})
	return i, err
}

// idForms returns what a user's id can mean, the literal text first.
func idForms(id string) []string {
	id = strings.TrimPrefix(id, string(record.KindIssue)+"/")
	numbered, lane := layout.CutLane(strings.ToLower(id))
	return []string{id, layout.WithLane(strings.ToUpper(numbered), lane), "ISSUE-" + id}
}

// errAbsent is the reason of an error that an issue is not there.
const errAbsent record.Reason = "no such issue"

func errNoIssue(id string) error {
	return record.NotFound.Errorf("there is no issue %s", id).Try("filebus issue list --open").Because(errAbsent)
}

// issuesIn reads the entries of a file that is being edited.
func (q *Queue) issuesIn(e *materialize.Entries) (all []Issue) {
	for _, entry := range e.List() {
		all = append(all, q.issue(entry.Name, e.Path, entry.Text))
	}
	return all
}

// change replaces the text of one issue by what a rule makes of it, and returns
// the issue as it is then.
func (q *Queue) change(ctx context.Context, id string, rule func(Issue) ([]byte, error)) (changed Issue, err error) {
	at, err := q.Get(ctx, id)
	if errors.Is(err, errAbsent) {
		at.ID = "" // it may have been written by hand just now
	} else if err != nil {
		return Issue{}, err
	} else if q.isForeign(at) {
		return Issue{}, errForeign(at)
	}
	err = q.work.EditEntries(ctx, record.KindIssue, at.ID, record.SourcePut, func(e *materialize.Entries) error {
		entry, found := find(e, id)
		if !found {
			return errNoIssue(id)
		}
		i := q.issue(entry.Name, e.Path, entry.Text)
		text, err := rule(i)
		if err != nil {
			return err
		}
		if string(text) != string(i.Text) {
			e.Set(i.Name, text)
		}
		changed = q.issue(i.Name, e.Path, text)
		return nil
	})
	return changed, err
}

// find returns the entry of a file with a user's id.
func find(e *materialize.Entries, id string) (entry materialize.StoredEntry, found bool) {
	for _, try := range idForms(id) {
		if entry, found = e.Find(try); found && entry.Name.Kind == record.KindIssue {
			return entry, true
		}
	}
	return materialize.StoredEntry{}, false
}

// Problems returns what is wrong with the files of the queue, such as an id that
// is used twice, as far as it keeps an issue from being seen as one. What an
// issue itself lacks is left out: it shows in its fields.
func (q *Queue) Problems(ctx context.Context) ([]*layout.SyntaxError, error) {
	paths, err := q.paths(ctx)
	if err != nil {
		return nil, err
	}
	var problems []*layout.SyntaxError
	for _, p := range paths {
		text, err := os.ReadFile(q.work.FilePath(p))
		if err != nil {
			continue // the store has the issues all the same
		}
		_, errs := q.work.Settings.Profile.Recognize(p).Parse(p, text)
		isOfValue := func(problem *layout.SyntaxError) bool { return errors.Is(problem, layout.ErrValue) }
		problems = append(problems, slices.DeleteFunc(errs, isOfValue)...)
	}
	return problems, nil
}

// paths returns the files that hold issues, and the one that new issues go to.
func (q *Queue) paths(ctx context.Context) ([]string, error) {
	frames, err := q.read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindFrame}})
	if err != nil {
		return nil, err
	}
	var in []Issue
	for _, f := range frames {
		if q.work.Settings.Profile.Recognize(f.Path).Entries == record.KindIssue {
			in = append(in, Issue{Path: f.Path})
		}
	}
	return q.pathsOf(in)
}

// pathsOf returns the files of issues in the order of the issues, and at last the
// one that new issues go to.
func (q *Queue) pathsOf(all []Issue) ([]string, error) {
	own, err := q.work.Settings.Profile.Path(record.KindIssue, "new")
	var paths []string
	for _, i := range append(all, Issue{Path: own}) {
		if i.Path != "" && !slices.Contains(paths, i.Path) {
			paths = append(paths, i.Path)
		}
	}
	return paths, err
}
