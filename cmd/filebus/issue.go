package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
)

// issueCommands are the commands of the issue queue.
func issueCommands() []command {
	fields := layout.IssueFields()
	inputs := entryFlags[layout.Issue]{fields: fields.Inputs()}
	filters := factFlags[layout.Issue]{fields: fields.Filters()}
	all := []command{
		plain("add [SUMMARY]", &issueAdd{entryFlags: inputs}),
		existing("edit ID", &issueEdit{entryFlags: inputs}).completed(completeNames),
		fresh("list", &issueList{factFlags: filters, MaxTokens: 1000}),
		fresh("show ID", &issueShow{MaxTokens: issueTokens}).completed(completeNames),
		fresh("next", &issueNext{factFlags: filters}),
		fresh("wait", &issueWait{waitFlags: usualWait()}),
	}
	for _, v := range issueVerbs() {
		all = append(all, existing(v.use, &v).completed(completeNames))
	}
	return all
}

// queueWait is how long adding an issue waits for the index, at most: what is not
// indexed by then is not looked at for duplicates.
const queueWait = 2 * time.Second

// queue returns the issue queue of a workspace.
func (w *workspace) queue() *issue.Queue {
	return issue.New(w.Workspace, w.reader(w.Store, query.Options{MaxWait: queueWait}), w.now)
}

// freshQueue returns the queue with what was written to its file just now.
func (w *workspace) freshQueue(ctx context.Context) (*issue.Queue, error) {
	q := w.queue()
	if w.global.noSync {
		return q, nil
	}
	if err := q.Import(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.note("the file of the queue was not looked at: %v", err)
	}
	return q, nil
}

// actor returns who acts: the flag, FILEBUS_AGENT, or the session.
func (e *environ) actor(flag string) string {
	return e.or(flag, append([]string{"FILEBUS_AGENT"}, sessionVariables()...)...)
}

// shownProblems is how many problems of a file are named.
const shownProblems = 3

// noteProblems says, in one line, what keeps entries of the queue's files from
// being issues.
func (e *environ) noteProblems(ctx context.Context, q *issue.Queue) {
	problems, err := q.Problems(ctx)
	if err != nil || len(problems) == 0 {
		return // the command has read what there is
	}
	named := markdown.Each(problems[:min(shownProblems, len(problems))], (*layout.SyntaxError).Error)
	if more := len(problems) - len(named); more > 0 {
		named = append(named, plural(more, "more problem")+", which filebus sync --problems lists")
	}
	e.note("%s; nothing is lost: edit the file", oneLine(strings.Join(named, "; ")))
}

// issueHolder shows who has claimed an issue and for how long.
func (e *environ) issueHolder(i issue.Issue) string {
	switch {
	case i.Agent == "":
		return "-"
	case !i.Status.IsOpen() || i.Until.IsZero():
		return i.Agent
	case i.Expired:
		return i.Agent + " (expired)"
	}
	return i.Agent + " until " + e.minute(i.Until)
}

// issueRow returns the row of an issue in a table.
func (e *environ) issueRow(i issue.Issue) []string {
	summary := markdown.Clip(i.Summary, issueSummary)
	if i.DuplicateOf != "" {
		summary = "(of " + i.DuplicateOf + ") " + summary
	}
	return []string{i.ID, string(i.Status), cmp.Or(i.Priority, "-"), cmp.Or(i.Type, "-"), e.issueHolder(i), summary}
}

// issueSummary is how many characters of a summary a table shows.
const issueSummary = 100

// printIssueLine prints an issue that was changed, in one line.
func (e *environ) printIssueLine(i issue.Issue) error {
	line := i.ID + "  " + string(i.Status)
	switch holder := e.issueHolder(i); {
	case i.DuplicateOf != "":
		line += "  of " + i.DuplicateOf
	case holder != "-":
		line += "  " + holder
	}
	return e.print(i.Brief(), "%s\n", oneLine(line))
}
