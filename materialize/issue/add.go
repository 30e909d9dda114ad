package issue

import (
	"context"
	"fmt"
	"slices"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// Add adds an issue to the queue, pending, with an id that none has or had. With
// strict set one that is likely to be known is refused with ErrKnown: as one of those
// that Likely has found, or by what is in the file by now.
func (q *Queue) Add(ctx context.Context, d Draft, strict bool, known ...Likeness) (added Issue, err error) {
	q.fields.Complete((*layout.Issue)(&d))
	d, fields, err := d.checkNew(q.fields)
	if err != nil {
		return Issue{}, err
	}
	if strict && len(known) > 0 {
		return Issue{}, errKnown(known)
	}
	err = q.work.EditEntries(ctx, record.KindIssue, "", record.SourcePut, func(e *materialize.Entries) error {
		if like := d.among(q.issuesIn(e)); strict && len(like) > 0 {
			return errKnown(like)
		}
		now := q.now().UTC()
		id, err := e.NextID(record.KindIssue, "ISSUE-"+now.Format("20060102")+"-")
		if err != nil {
			return err
		}
		fields.ID, fields.Status, fields.Created = id, string(pending), formatTime(now)
		text := q.fields.Append(nil, fields)
		e.Add(record.KindIssue, id, text)
		added = q.issue(record.Name{Kind: record.KindIssue, ID: id}, e.Path, text)
		return nil
	})
	return added, err
}

// Merge adds what a draft says to the issue with an id, in place of a new one: the
// priority is raised to the higher one, criteria and files are joined, and the
// draft's text becomes an additional report below the details. The issue must be
// open.
func (q *Queue) Merge(ctx context.Context, id string, d Draft) (Issue, error) {
	_, report, err := d.checkNew(q.fields)
	if err != nil {
		return Issue{}, err
	}
	return q.change(ctx, id, func(i Issue) ([]byte, error) {
		if !i.Status.IsOpen() {
			err := record.Conflict.Errorf("%s is %s: a report is added to an open issue only", i.ID, i.Status)
			return nil, err.Because(ErrStatus, string(Reopen), i.ID)
		}
		return q.merge(i, report)
	})
}

// merge returns the text of an issue with what a draft says.
func (q *Queue) merge(i Issue, d layout.Issue) ([]byte, error) {
	text := i.Text
	if d.Priority != "" && urgency(d.Priority) < urgency(i.Priority) {
		text = q.fields.Set(text, "Priority", d.Priority)
	}
	by := formatTime(q.now())
	if agent := extra(d, reporter); agent != "" {
		by += ", " + agent
	}
	report := paragraphs(fmt.Sprintf("**Additional report** (%s): %s", by, d.Summary), d.Details)
	text = q.fields.Set(text, "Details", paragraphs(i.Details, report))
	if all := union(i.Criteria, d.Criteria); len(all) > len(i.Criteria) {
		text = q.fields.Set(text, "Acceptance Criteria", all...)
	}
	if all := union(i.Files, d.Files); len(all) > len(i.Files) {
		text = q.fields.Set(text, "Files", all...)
	}
	if len(text) > 4*maxText {
		return nil, errTooLong(len(text))
	}
	return text, nil
}

// union returns a list with the items of another that it lacks.
func union(list, more []string) []string {
	all := slices.Clone(list)
	for _, item := range more {
		if !slices.Contains(all, item) {
			all = append(all, item)
		}
	}
	return all
}

// Edit sets fields of the issue with an id to what a draft says. The fields are
// named as their flags are. A field whose value is empty is taken away.
func (q *Queue) Edit(ctx context.Context, id string, d Draft, flags []string) (Issue, error) {
	values, err := d.check(q.fields)
	if err != nil {
		return Issue{}, err
	}
	fields := slices.DeleteFunc(q.fields.Inputs(), func(f layout.Field[layout.Issue]) bool {
		return !slices.Contains(flags, f.Flag)
	})
	for _, f := range fields {
		if f.Needed && len(f.Get(&values)) == 0 {
			return Issue{}, errField(f, "", "it cannot be taken away")
		}
	}
	return q.change(ctx, id, func(i Issue) ([]byte, error) {
		text := i.Text
		for _, lists := range []bool{false, true} { // in this order they are added
			for _, f := range fields {
				if isList, _ := f.IsList(); isList == lists {
					text = q.fields.Set(text, f.Name, f.Get(&values)...)
				}
			}
		}
		return text, nil
	})
}
