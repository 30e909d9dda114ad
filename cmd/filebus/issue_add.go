package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// maxDetails is how much of standard input is read, in bytes: an issue that has
// as much is refused.
const maxDetails = 1 << 20

type issueAdd struct {
	entryFlags[layout.Issue]
	Agent        string `flag:"agent"`
	NoDuplicates bool   `flag:"no-duplicates" not:"merge"`
	Merge        string `flag:"merge"`
}

type issueAddedJSON struct {
	ID         string           `json:"id"`
	Status     issue.Status     `json:"status"`
	Priority   string           `json:"priority"`
	File       string           `json:"file"` // absolute
	Merged     bool             `json:"merged,omitempty"`
	Duplicates []issue.Likeness `json:"duplicates,omitempty"`
}

func (o *issueAdd) run(ctx context.Context, w *workspace, args []string) error {
	var draft issue.Draft
	o.read((*layout.Issue)(&draft))
	if len(args) > 0 && draft.Summary != "" {
		return usageError("the summary is given twice, as %q and as --summary", args[0])
	}
	draft.Summary += strings.Join(args, "")
	if err := w.readText("summary", &draft.Summary, maxDetails); err != nil {
		return err
	}
	draft.Summary = strings.TrimSuffix(draft.Summary, "\n")
	d := draft.By(w.or(o.Agent, "FILEBUS_AGENT"))
	if err := w.readText("details", &d.Details, maxDetails); err != nil {
		return err
	}
	// Before a store is made for it.
	if err := cmp.Or(checkUTF8("issue", d.Summary+d.Details), d.Check(layout.IssueFields())); err != nil {
		return err
	}
	w, err := w.create(ctx)
	if err != nil {
		return err
	}
	q := w.queue()
	if o.Merge != "" {
		i, err := q.Merge(ctx, o.Merge, d)
		if err != nil {
			return err
		}
		return w.printAdded(i, true, nil)
	}
	like, err := q.Likely(ctx, d)
	if err != nil { // the issue is not lost because the index is
		w.note("not looked at for duplicates: %v", err)
	}
	added, err := q.Add(ctx, d, o.NoDuplicates, like...)
	if known, is := record.Detail[[]issue.Likeness](err); is {
		w.noteDuplicates(known)
	}
	if err != nil {
		return err
	}
	like = slices.DeleteFunc(like, func(l issue.Likeness) bool { return l.ID == added.ID })
	w.noteDuplicates(like)
	if len(like) > 0 {
		w.note("if it is the same: filebus issue duplicate %s %s", added.ID, like[0].ID)
	}
	w.noteProblems(ctx, q)
	return w.printAdded(added, false, like)
}

// shownDuplicates is how many likely duplicates are named.
const shownDuplicates = 3

func (e *environ) noteDuplicates(like []issue.Likeness) {
	for _, l := range like[:min(shownDuplicates, len(like))] {
		files := ""
		if l.Files {
			files = ", same files"
		}
		e.note("likely duplicate: %s (%s, %.0f %% of the words%s): %s", l.ID, l.Status, 100*l.Shared, files,
			markdown.Clip(l.Summary, issueSummary))
	}
}

func (e *environ) printAdded(i issue.Issue, merged bool, like []issue.Likeness) error {
	like = like[:min(shownDuplicates, len(like))]
	return e.print(issueAddedJSON{i.ID, i.Status, i.Priority, i.File, merged, like}, "%s\n", i.ID)
}

type issueEdit struct{ entryFlags[layout.Issue] }

func (o *issueEdit) run(ctx context.Context, w *workspace, args []string) error {
	var d issue.Draft
	fields := o.read((*layout.Issue)(&d))
	if len(fields) == 0 {
		hint := "filebus issue edit " + record.ShellWord(args[0]) + " --priority high"
		return coded(record.Usage, hint, usageError("nothing to change was given"))
	}
	if err := w.readText("details", &d.Details, maxDetails); err != nil {
		return err
	}
	if err := checkUTF8("issue", d.Summary+d.Details); err != nil {
		return err
	}
	i, err := w.queue().Edit(ctx, args[0], d, fields)
	if err != nil {
		return err
	}
	return w.printIssueLine(i)
}
