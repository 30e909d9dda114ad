package main

import (
	"errors"
	"fmt"
	"strings"

	sessions "filebus/materialize/session"
)

// explainGathered explains the errors of gathering a session.
func explainGathered(f *failure, err error) bool {
	var nothing *sessions.NothingStoredError
	var early *sessions.TooEarlyError
	switch {
	case errors.As(err, &nothing):
		f.Exit, f.Code, f.Hint = exitNotFound, "not_found", "filebus session list"
		var near []string
		for _, id := range nothing.Near {
			near = append(near, "filebus list --session "+quote(id))
		}
		if len(near) > 0 {
			f.Hint = strings.Join(near, "\n       ")
		}
	case errors.As(err, &early):
		f.Exit, f.Code = exitNotFound, "not_found"
		f.Hint = fmt.Sprintf("filebus session replay %s --to DIR --until @%d", quote(early.Session), early.First)
	default:
		return false
	}
	return true
}
