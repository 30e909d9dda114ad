package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/issue"
	"filebus/materialize/markdown"
	"filebus/query"
)

func newIssueCommand(env *environ) *cobra.Command {
	cmd := newGroup("issue",
		newIssueAddCommand(env), newIssueEditCommand(env), newIssueListCommand(env), newIssueShowCommand(env),
		newIssueNextCommand(env), newIssueWaitCommand(env),
	)
	for _, verb := range issueVerbs() {
		cmd.AddCommand(newIssueVerbCommand(env, verb))
	}
	return cmd
}

// queueWait is how long adding an issue waits for the index, at most: what is not
// indexed by then is not looked at for duplicates.
const queueWait = 2 * time.Second

// queue returns the issue queue of a workspace.
func (w *workspace) queue() *issue.Queue {
	return issue.New(w.Workspace, w.reader(w.Store, query.Options{MaxWait: queueWait}), w.now)
}

// openQueue opens the queue to read it.
func (e *environ) openQueue(ctx context.Context) (*workspace, *issue.Queue, error) {
	s, err := e.openFresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	q := s.queue()
	if e.global.noSync {
		return s, q, nil
	}
	if err := q.TakeIn(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		e.note("the file of the queue was not looked at: %v", err)
	}
	return s, q, nil
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
	var named []string
	for _, p := range problems[:min(shownProblems, len(problems))] {
		named = append(named, p.Error())
	}
	if more := len(problems) - len(named); more > 0 {
		named = append(named, plural(more, "more problem")+", which filebus sync --problems lists")
	}
	e.note("%s; nothing is lost: edit the file", oneLine(strings.Join(named, "; ")))
}

// issueHolder shows who has claimed an issue and for how long.
func issueHolder(env *environ, i issue.Issue) string {
	switch {
	case i.Hold.Agent == "":
		return "-"
	case !i.Status.IsOpen() || i.Hold.Until.IsZero():
		return i.Hold.Agent
	case i.Expired:
		return i.Hold.Agent + " (expired)"
	}
	return i.Hold.Agent + " until " + env.minute(i.Hold.Until)
}

// issueRow returns the row of an issue in a table.
func issueRow(env *environ, i issue.Issue) []string {
	summary := markdown.Clip(i.Summary, issueSummary)
	if i.DuplicateOf != "" {
		summary = "(of " + i.DuplicateOf + ") " + summary
	}
	return []string{i.ID, string(i.Status), cmp.Or(i.Priority, "-"), cmp.Or(i.Type, "-"), issueHolder(env, i), summary}
}

// issueSummary is how many characters of a summary a table shows.
const issueSummary = 100

// printIssueLine prints an issue that was changed, in one line.
func printIssueLine(env *environ, i issue.Issue) error {
	if env.global.json {
		return env.printJSON(i.Brief())
	}
	line := i.ID + "  " + string(i.Status)
	switch holder := issueHolder(env, i); {
	case i.DuplicateOf != "":
		line += "  of " + i.DuplicateOf
	case holder != "-":
		line += "  " + holder
	}
	env.printf("%s\n", oneLine(line))
	return nil
}
