package main

import (
	"fmt"
	"testing"
	"time"

	"filebus/materialize/issue"
)

func TestExplainIssue(t *testing.T) {
	held := issue.Hold{Agent: "agent 7"}
	like := []issue.Likeness{{Issue: issue.Issue{ID: "ISSUE-1", Summary: "s"}}}
	for _, c := range []struct {
		err       error
		exit      int
		code      string
		hint      string
		retryable bool
	}{
		{&issue.NotFoundError{ID: "x"}, 3, "not_found", "filebus issue list --open", false},
		{&issue.StatusError{ID: "ISSUE-1", Action: issue.Accept, Status: issue.Complete}, 4, "conflict", "filebus issue reopen ISSUE-1", false},
		{&issue.StatusError{ID: "ISSUE-1", Action: issue.Accept, Status: issue.InProgress}, 4, "conflict", "filebus issue release ISSUE-1", false},
		{&issue.StatusError{ID: "ISSUE-1", Action: issue.Release, Status: issue.Pending}, 4, "conflict", "filebus issue accept ISSUE-1", false},
		{&issue.StatusError{ID: "ISSUE-1", Action: issue.Reopen, Status: issue.Accepted}, 4, "conflict", "filebus issue show ISSUE-1", false},
		{&issue.ClosedError{ID: "ISSUE-1", Status: issue.WontFix}, 4, "conflict", "filebus issue reopen ISSUE-1", false},
		{&issue.ClaimError{ID: "ISSUE-1", Action: issue.Claim, Holder: held}, 4, "conflict", "filebus issue next --claim, or the same with --force", false},
		{&issue.ClaimError{ID: "ISSUE-1", Action: issue.Finish, Holder: held}, 4, "conflict", "the same with --agent 'agent 7' if that is you, else with --force", false},
		{&issue.ClaimError{ID: "ISSUE-1", Action: issue.Finish, Holder: held, Agent: "b"}, 4, "conflict", "the same with --force", false},
		{&issue.DuplicateError{Like: like}, 4, "conflict", "the same with --merge ISSUE-1, or filebus issue show ISSUE-1", false},
		{&issue.CircleError{ID: "ISSUE-1", Of: "ISSUE-2"}, 2, "usage", "filebus issue show ISSUE-2", false},
		{&issue.FieldError{Field: "type"}, 2, "usage", "the same with --type bug", false},
		{&issue.FieldError{Field: "summary"}, 2, "usage", "the same with --summary TEXT", false},
		{&issue.SizeError{Bytes: 1}, 2, "usage", "filebus put FILE", false},
		{&issue.WaitError{Limit: time.Second, From: 42}, 5, "timeout", "filebus issue wait --since @42", true},
		{issue.ErrNoAgent, 2, "usage", "the same with --agent NAME, or with FILEBUS_AGENT set", false},
	} {
		got := explain(fmt.Errorf("doing it: %w", c.err))
		want := failure{c.exit, c.code, got.Message, c.hint, c.retryable}
		if got != want {
			t.Errorf("explain(%v) = %+v; want %+v", c.err, got, want)
		}
	}
}
