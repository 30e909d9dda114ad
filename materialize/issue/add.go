package issue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Add adds an issue to the queue, pending, with an id that none has or had. With
// strict set one that is likely to be known is refused with ErrKnown: as one of those
// that Likely has found, or by what is in the file by now.
func (q *Queue) Add(ctx context.Context, d Draft, strict bool, known ...Likeness) (added Issue, err error) {
	d.Priority, d.Source = cmp.Or(d.Priority, "medium"), cmp.Or(d.Source, "generated")
	d.Complexity = cmp.Or(d.Complexity, "normal")
	if err := d.Check(); err != nil {
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
		text := layout.AppendIssue(nil, d.entry(id, now))
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
	if err := d.Check(); err != nil {
		return Issue{}, err
	}
	return q.change(ctx, id, func(i Issue) ([]byte, error) {
		if !i.Status.IsOpen() {
			err := record.Conflict.Errorf("%s is %s: a report is added to an open issue only", i.ID, i.Status)
			return nil, err.Because(ErrStatus, string(Reopen), i.ID)
		}
		return d.mergeInto(i, q.now())
	})
}

// mergeInto returns the text of an issue with a draft merged into it.
func (d Draft) mergeInto(i Issue, now time.Time) ([]byte, error) {
	text := i.Text
	if p := word(d.Priority); p != "" && urgency(p) < urgency(i.Priority) {
		text = layout.SetIssueField(text, "Priority", p)
	}
	by := formatTime(now)
	if agent := markdown.OneLine(d.Agent); agent != "" {
		by += ", " + agent
	}
	report := fmt.Sprintf("**Additional report** (%s): %s", by, markdown.OneLine(d.Summary))
	report = paragraphs(report, markdown.CleanText(d.Details))
	text = layout.SetIssueField(text, "Details", paragraphs(i.Details, report))
	if all := union(i.Criteria, d.Criteria); len(all) > len(i.Criteria) {
		text = layout.SetIssueCriteria(text, all)
	}
	if all := union(i.Files, d.Files); len(all) > len(i.Files) {
		text = layout.SetIssueFiles(text, all)
	}
	if len(text) > 4*maxText {
		return nil, errTooLong(len(text))
	}
	return text, nil
}

// union returns a list with the items of another that it lacks.
func union(list, more []string) []string {
	all := slices.Clone(list)
	for _, item := range cleanList(more) {
		if !slices.Contains(all, item) {
			all = append(all, item)
		}
	}
	return all
}

// Edit sets fields of the issue with an id to what a draft says. The fields are
// named in lower case, as in Draft: summary, criteria, files and so on. A field
// whose value is empty is taken away.
func (q *Queue) Edit(ctx context.Context, id string, d Draft, fields []string) (Issue, error) {
	if err := d.check(); err != nil {
		return Issue{}, err
	}
	for _, f := range d.fields() {
		if f.value == "" && slices.Contains(fields, f.name) && slices.Contains([]string{"summary", "type", "priority"},
			f.name) {
			return Issue{}, errField(f.name, "", "it cannot be taken away")
		}
	}
	return q.change(ctx, id, func(i Issue) ([]byte, error) {
		text := i.Text
		for _, f := range d.fields() {
			if slices.Contains(fields, f.name) {
				text = setOrDrop(text, f.label, f.value)
			}
		}
		if criteria := cleanList(d.Criteria); slices.Contains(fields, "criteria") {
			text = setListOrDrop(text, layout.SetIssueCriteria, criteria, "Acceptance Criteria", "Criteria")
		}
		if files := cleanList(d.Files); slices.Contains(fields, "files") {
			text = setListOrDrop(text, layout.SetIssueFiles, files, "Files")
		}
		return text, nil
	})
}

func setOrDrop(text []byte, label, value string) []byte {
	if value == "" {
		return layout.DropIssueField(text, label)
	}
	return layout.SetIssueField(text, label, value)
}

func setListOrDrop(text []byte, set func([]byte, []string) []byte, items []string, labels ...string) []byte {
	if len(items) > 0 {
		return set(text, items)
	}
	for _, label := range labels {
		text = layout.DropIssueField(text, label)
	}
	return text
}
