package main

import (
	"errors"
	"fmt"
	"strings"

	sessions "filebus/materialize/session"
)

// explainSession explains what the rules of sessions refuse.
func explainSession(f *failure, err error) bool {
	var unset *sessions.UnsetError
	var word *sessions.WordError
	var missing *sessions.NotFoundError
	var ambiguous *sessions.AmbiguousError
	var taken *sessions.TakenError
	var captured *sessions.CapturedError
	var summary *sessions.SummaryError
	var empty *sessions.EmptyError
	var open *sessions.OpenError
	var file *sessions.FileTakenError
	switch {
	case errors.As(err, &unset):
		f.Exit, f.Hint = exitUsage, "filebus session list"
	case errors.As(err, &word):
		f.Exit, f.Hint = exitUsage, "filebus session --help"
	case errors.As(err, &missing):
		f.Exit, f.Hint = exitNotFound, nearSessions(missing)
	case errors.As(err, &ambiguous):
		f.Exit, f.Hint = exitUsage, showSessions(ambiguous.Keys)
	case errors.As(err, &taken):
		f.Exit, f.Hint = exitConflict, "filebus session show "+quote(taken.Key.String())
	case errors.As(err, &captured):
		f.Exit, f.Hint = exitConflict, "filebus materialize --tree "+quote(string(captured.Key.Tree))+" --to DIR"
	case errors.As(err, &summary):
		f.Exit, f.Hint = exitWanting, fmt.Sprintf("the same with a summary of at most %d words", sessions.MaxSummary)
	case errors.As(err, &empty):
		f.Exit, f.Hint = exitWanting, "the same with a text"
	case errors.As(err, &open):
		f.Exit, f.Hint = exitConflict, "filebus session end "+quote(open.Key.String())
	case errors.As(err, &file):
		f.Exit, f.Hint = exitConflict, "the same with another --to"
	default:
		return false
	}
	f.Code = wordOf(f.Exit)
	if ambiguous != nil {
		f.Code = "ambiguous"
	}
	return true
}

func nearSessions(e *sessions.NotFoundError) string {
	if len(e.Near) == 0 {
		return "filebus session list, or filebus session start TYPE"
	}
	return showSessions(e.Near)
}

// showSessions returns a command line for each of the first sessions.
func showSessions(keys []sessions.Key) string {
	var lines []string
	for _, k := range keys[:min(len(keys), 5)] {
		lines = append(lines, "filebus session show "+quote(k.String()))
	}
	return strings.Join(lines, "\n       ")
}
