package session

import (
	"fmt"

	"filebus/store/record"
)

// Reasons of errors of this package, with what they name.
const (
	ErrUnset         record.Reason = "session left out" // a text has no id, as where a variable is not set
	ErrWord          record.Reason = "no such word"     // for a type, the name of a session, an artifact
	ErrNoSession     record.Reason = "no such session"  // names those that come near, at most five
	ErrSeveral       record.Reason = "several sessions" // names them, at most five
	ErrTaken         record.Reason = "session taken"    // names it
	ErrCaptured      record.Reason = "session captured" // it does not change; names its tree
	ErrLongSummary   record.Reason = "summary too long"
	ErrEmpty         record.Reason = "artifact empty"
	ErrNotEnded      record.Reason = "session not ended"   // names it
	ErrFileTaken     record.Reason = "archive taken"       // a file stands there
	ErrNothingStored record.Reason = "nothing of session"  // names ids that may have been meant
	ErrTooEarly      record.Reason = "session begun later" // names it and the position of its first step
)

// Unset returns the error that a text leaves the id of a session out.
func Unset(text string) error {
	wrong := "empty"
	if text != "" {
		wrong = fmt.Sprintf("missing in %q", text)
	}
	return record.Usage.Errorf("the id of the session is %s: is the variable that holds it set?",
		wrong).Because(ErrUnset)
}

// noWord returns the error that a text cannot be what it is meant for.
func noWord(what, text, rule string) error {
	return record.Usage.Errorf("%q is no %s: %s", text, what, rule).Because(ErrWord)
}

// TooLong returns the error that a summary has too many words.
func TooLong(words int) error {
	const message = "the summary has %d words; it has to have fewer than %d, so nothing was stored"
	return record.Wanting.Errorf(message, words, MaxSummary+1).Because(ErrLongSummary)
}

// texts returns the first keys as they are typed.
func texts(keys []Key) []string {
	var all []string
	for _, k := range keys[:min(len(keys), 5)] {
		all = append(all, k.String())
	}
	return all
}
