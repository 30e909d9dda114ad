package main

import (
	"errors"
	"fmt"

	"filebus/materialize/dialogue"
)

// explainTurn explains what is refused of turns.
func explainTurn(f *failure, err error) bool {
	var round *dialogue.NoRoundError
	var launched *dialogue.NotLaunchedError
	var nobody *dialogue.NobodyError
	var taken *dialogue.OccupiedError
	var empty *dialogue.EmptyError
	var size *dialogue.SizeError
	var late *lateRoundError
	switch {
	case errors.As(err, &round):
		f.Exit, f.Hint = exitNotFound, roundHintOf(round)
	case errors.As(err, &launched):
		f.Exit, f.Hint = exitNotFound, launchHint(launched)
	case errors.As(err, &nobody):
		f.Exit, f.Hint = exitNotFound, "the same with --agents NAME,NAME"
	case errors.As(err, &taken):
		f.Exit, f.Hint = exitConflict, "filebus get "+taken.Ref.Short()+", or the same with --force"
	case errors.As(err, &empty):
		s := empty.Seat
		f.Exit = exitWanting
		f.Hint = fmt.Sprintf("filebus dialogue put %s %d %s --stub 'WHY THERE IS NONE'", quote(s.Key.String()), s.Round, quote(s.Agent))
	case errors.As(err, &size):
		f.Exit, f.Hint = exitUsage, "filebus put FILE, and a turn that refers to it"
	case errors.As(err, &late):
		f.Exit, f.Hint, f.Code, f.Retryable = exitBusy, late.resume, "timeout", true
		return true
	default:
		return false
	}
	f.Code = wordOf(f.Exit)
	return true
}

// roundHintOf says how to go on after a round that is not there.
func roundHintOf(e *dialogue.NoRoundError) string {
	if !e.Key.IsOwn() || e.Round < 0 || len(e.Has) > 0 && e.Round < e.Has[len(e.Has)-1] {
		return "the same with one of its rounds"
	}
	next := 0
	if n := len(e.Has); n > 0 {
		next = e.Has[n-1] + 1
	}
	return fmt.Sprintf("filebus dialogue prompt %s %d --all", quote(e.Key.String()), next)
}

// launchHint says how an agent comes to owe a file.
func launchHint(e *dialogue.NotLaunchedError) string {
	if e.InPool {
		return fmt.Sprintf("filebus dialogue prompt %s %d %s", quote(e.Key.String()), e.Round, quote(e.Agent))
	}
	return "the same for one of them"
}
