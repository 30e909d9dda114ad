package main

import (
	"errors"

	"filebus/materialize/issue"
)

// explainIssue explains what the rules of the issue queue refuse.
func explainIssue(f *failure, err error) bool {
	var missing *issue.NotFoundError
	var status *issue.StatusError
	var closed *issue.ClosedError
	var claim *issue.ClaimError
	var known *issue.DuplicateError
	var circle *issue.CircleError
	var field *issue.FieldError
	var size *issue.SizeError
	var late *issue.WaitError
	switch {
	case errors.As(err, &missing):
		f.Exit, f.Code, f.Hint = exitNotFound, "not_found", "filebus issue list --open"
	case errors.As(err, &status):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", statusHint(status)
	case errors.As(err, &closed):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "filebus issue reopen "+quote(closed.ID)
	case errors.As(err, &claim):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", claimHint(claim)
	case errors.As(err, &known):
		id := quote(known.Like[0].Issue.ID)
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "the same with --merge "+id+", or filebus issue show "+id
	case errors.As(err, &circle):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "filebus issue show "+quote(circle.Of)
	case errors.As(err, &field):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "the same with --"+field.Field+" "+exampleOf(field.Field)
	case errors.As(err, &size):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "filebus put FILE"
	case errors.As(err, &late):
		f.Exit, f.Code, f.Hint, f.Retryable = exitBusy, "timeout", issueWaitHint(late), true
	case errors.Is(err, issue.ErrNoAgent):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "the same with --agent NAME, or with FILEBUS_AGENT set"
	default:
		return false
	}
	return true
}

// exampleOf returns a value of an issue's field.
func exampleOf(field string) string {
	switch field {
	case "type":
		return "bug"
	case "priority":
		return "medium"
	case "source":
		return "user"
	case "complexity":
		return "normal"
	case "loop":
		return "2"
	}
	return "TEXT"
}

// statusHint returns what makes the action possible.
func statusHint(e *issue.StatusError) string {
	id := quote(e.ID)
	switch {
	case !e.Status.IsOpen():
		return "filebus issue reopen " + id
	case e.Status == issue.InProgress:
		return "filebus issue release " + id
	case e.Action == issue.Release:
		return "filebus issue accept " + id
	}
	return "filebus issue show " + id
}

// claimHint returns how to act in spite of another's claim.
func claimHint(e *issue.ClaimError) string {
	if e.Action == issue.Claim {
		return "filebus issue next --claim, or the same with --force"
	}
	if e.Agent == "" {
		return "the same with --agent " + quote(e.Holder.Agent) + " if that is you, else with --force"
	}
	return "the same with --force"
}
