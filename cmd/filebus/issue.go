package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/issue"
	"filebus/materialize/layout"
	"filebus/query"
)

func newIssueCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "issue",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
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
func (e *environ) queue(s *session) *issue.Queue {
	return issue.New(s.Workspace, e.reader(s.Store, query.Options{MaxWait: queueWait}), e.now)
}

// openQueue opens the queue to read it.
func (e *environ) openQueue(ctx context.Context) (*session, *issue.Queue, error) {
	s, err := e.openFresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	q := e.queue(s)
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

// An issueJSON is an issue in JSON. Lists leave out what is long.
type issueJSON struct {
	ID          string     `json:"id"`
	Status      string     `json:"status"`
	Priority    string     `json:"priority,omitempty"`
	Type        string     `json:"type,omitempty"`
	Summary     string     `json:"summary"`
	Agent       string     `json:"agent,omitempty"` // who has claimed it
	LeaseUntil  *time.Time `json:"lease_until,omitempty"`
	Expired     bool       `json:"expired,omitempty"`
	DuplicateOf string     `json:"duplicate_of,omitempty"`
	Task        string     `json:"task,omitempty"`
	Created     *time.Time `json:"created,omitempty"`
	Source      string     `json:"source,omitempty"`
	Loop        string     `json:"loop,omitempty"`
	Complexity  string     `json:"complexity,omitempty"`
	Details     string     `json:"details,omitempty"`
	Criteria    []string   `json:"criteria,omitempty"`
	Files       []string   `json:"files,omitempty"`
	Rationale   string     `json:"rationale,omitempty"`
	File        string     `json:"file,omitempty"` // absolute
}

// issueInList returns what lists have of an issue.
func issueInList(i issue.Issue, now time.Time) issueJSON {
	return issueJSON{
		ID: i.ID, Status: string(i.Status), Priority: i.Priority, Type: i.Type, Summary: i.Summary,
		Agent: i.Hold.Agent, LeaseUntil: timeOrNil(i.Hold.Until), Expired: i.Expired(now),
		DuplicateOf: i.Fields.DuplicateOf, Task: i.Fields.TaskRef,
	}
}

// issueInFull returns all of an issue.
func issueInFull(s *session, i issue.Issue, now time.Time) issueJSON {
	j := issueInList(i, now)
	j.Created, j.Source, j.Loop, j.Complexity = timeOrNil(i.Created), i.Fields.Source, i.Fields.Loop, i.Fields.Complexity
	j.Details, j.Criteria, j.Files, j.Rationale = i.Fields.Details, i.Fields.Criteria, i.Fields.Files, i.Fields.Rationale
	j.File = validText(s.FilePath(i.Path))
	return j
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// issueHolder shows who has claimed an issue and for how long.
func issueHolder(env *environ, i issue.Issue) string {
	switch {
	case i.Hold.Agent == "":
		return "-"
	case !i.Status.IsOpen() || i.Hold.Until.IsZero():
		return i.Hold.Agent
	case i.Expired(env.now()):
		return i.Hold.Agent + " (expired)"
	}
	return i.Hold.Agent + " until " + env.minute(i.Hold.Until)
}

// issueRow returns the row of an issue in a table.
func issueRow(env *environ, i issue.Issue) []string {
	summary := layout.Clip(i.Summary, issueSummary)
	if of := i.Fields.DuplicateOf; of != "" {
		summary = "(of " + of + ") " + summary
	}
	return []string{i.ID, string(i.Status), cmp.Or(i.Priority, "-"), cmp.Or(i.Type, "-"), issueHolder(env, i), summary}
}

// issueSummary is how many characters of a summary a table shows.
const issueSummary = 100

// printIssueLine prints an issue that was changed, in one line.
func printIssueLine(env *environ, s *session, i issue.Issue) error {
	if env.global.json {
		return env.printJSON(issueInList(i, env.now()))
	}
	line := fmt.Sprintf("%s  %s", i.ID, i.Status)
	switch holder := issueHolder(env, i); {
	case i.Fields.DuplicateOf != "":
		line += "  of " + i.Fields.DuplicateOf
	case holder != "-":
		line += "  " + holder
	}
	env.printf("%s\n", oneLine(line))
	return nil
}
