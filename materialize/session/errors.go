package session

import (
	"fmt"

	"filebus/store"
)

// An UnsetError says that a text leaves the id of a session out, as a variable does
// that is not set.
type UnsetError struct{ Text string }

func (e *UnsetError) Error() string {
	if e.Text == "" {
		return "the id of the session is empty: is the variable that holds it set?"
	}
	return fmt.Sprintf("the id of the session is missing in %q: is the variable that holds it set?", e.Text)
}

// A WordError says that a text cannot be what it is meant for: a type, the name of a
// session, an artifact.
type WordError struct{ What, Text, Rule string }

func (e *WordError) Error() string { return fmt.Sprintf("%q is no %s: %s", e.Text, e.What, e.Rule) }

// A NotFoundError says that there is no such session, and which come near.
type NotFoundError struct {
	Text string
	Near []Key // at most five
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("there is no session %s", e.Text) }

// Is reports whether target is store.ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == store.ErrNotFound }

// An AmbiguousError says that a text means several sessions.
type AmbiguousError struct {
	Text string
	Keys []Key
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s can be %d sessions", e.Text, len(e.Keys))
}

// A TakenError says that a session is there already.
type TakenError struct{ Key Key }

func (e *TakenError) Error() string { return fmt.Sprintf("the session %s is there already", e.Key) }

// A CapturedError says that a session of a captured tree was to be changed.
type CapturedError struct{ Key Key }

func (e *CapturedError) Error() string {
	return fmt.Sprintf("the session %s is part of the captured tree %s, which does not change", e.Key, e.Key.Tree)
}

// A SummaryError says that a summary is too long.
type SummaryError struct{ Words int }

func (e *SummaryError) Error() string {
	return fmt.Sprintf("the summary has %d words; it has to have fewer than %d, so nothing was stored", e.Words, MaxSummary+1)
}

// An EmptyError says that an artifact was to be stored without a text.
type EmptyError struct{ Artifact string }

func (e *EmptyError) Error() string {
	return fmt.Sprintf("the text of %s is empty, so nothing was stored", e.Artifact)
}

// An OpenError says that a session has to be ended before its files go.
type OpenError struct{ Key Key }

func (e *OpenError) Error() string { return fmt.Sprintf("the session %s has not ended", e.Key) }

// A FileTakenError says that an archive would have to replace a file.
type FileTakenError struct{ File string }

func (e *FileTakenError) Error() string { return e.File + " is there already" }
