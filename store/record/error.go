package record

import (
	"errors"
	"fmt"
	"strings"
)

// A Code says what kind of failure an error is. Its text is what users see in
// JSON: add codes, never rename one. A Code is an error, so that errors.Is finds it
// in an *Error and in what wraps the Code itself.
type Code string

// The codes, each with those that are more exact than it.
const (
	Failed      Code = "failed" // for a reason that no other code stands for
	NewerStore  Code = "newer_store"
	UnsafeFS    Code = "unsafe_fs"
	Untrusted   Code = "untrusted" // the store may be somebody else's
	Usage       Code = "usage"     // what was asked for makes no sense
	Ambiguous   Code = "ambiguous"
	NotFound    Code = "not_found"
	NoStore     Code = "no_store"
	Dropped     Code = "dropped"     // it was destroyed on purpose
	Barred      Code = "barred"      // the text was destroyed on purpose, and stays out
	Conflict    Code = "conflict"    // the place is taken, or another was faster
	Busy        Code = "busy"        // others are at work: the same later can succeed
	Timeout     Code = "timeout"     // the time of a wait is over
	TaskFailed  Code = "task_failed" // what was waited for has failed
	Damaged     Code = "damaged"     // stored bytes are not what they were
	Wanting     Code = "wanting"     // it was checked and found incomplete
	Partly      Code = "partly"      // done, but something was left out
	Interrupted Code = "interrupted"
	Pipe        Code = "pipe" // the reader of the output has gone away
)

// Codes returns every code. Where an error can be of several, the first one counts.
func Codes() []Code {
	return []Code{
		Untrusted, Damaged, Busy, Usage, Barred, Conflict, NoStore, Dropped, NotFound, UnsafeFS, NewerStore, Ambiguous, Timeout,
		TaskFailed,
		Wanting, Partly, Interrupted, Pipe, Failed,
	}
}

func (c Code) Error() string {
	if c == UnsafeFS {
		return "unsafe file system"
	}
	return strings.ReplaceAll(string(c), "_", " ")
}

// Errorf returns an error of a code, with a message as of fmt.Errorf.
func (c Code) Errorf(format string, args ...any) *Error {
	return &Error{Code: c, Err: fmt.Errorf(format, args...)}
}

// A Reason names one way in which something fails, such as "task running". It is an
// error so that callers can look for it with errors.Is. The program knows by it what
// helps.
type Reason string

func (r Reason) Error() string { return string(r) }

// An Error is what went wrong, for callers and for users. Packages whose callers
// branch on more than the code give it a reason of theirs.
type Error struct {
	Code   Code
	Reason Reason   // "": the code says it all
	Names  []string // what the way out names, such as the id of the task; as the reason says
	Hint   string   // the command that helps, as Try has it; "": the reason stands for it
	Detail any      // what callers need besides, as the reason says; nil for most
	Err    error    // what is said of it; nil: it was said already
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Code.Error()
	}
	return e.Err.Error()
}

// Unwrap returns what the error was made of.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's code or its reason.
func (e *Error) Is(target error) bool {
	return target == e.Code || e.Reason != "" && target == e.Reason
}

// Because gives the error a reason, and the names that the way out is made of.
func (e *Error) Because(reason Reason, names ...string) *Error {
	e.Reason, e.Names = reason, append(e.Names, names...)
	return e
}

// Try gives the error the command that helps. {1}, {2}, … in it stand for names, as
// a shell takes them. Of a text with {each} there is a line for each name.
func (e *Error) Try(hint string, names ...string) *Error {
	e.Hint, e.Names = hint, append(e.Names, names...)
	return e
}

// With gives the error what callers need besides its words.
func (e *Error) With(detail any) *Error {
	e.Detail = detail
	return e
}

// Detail returns the detail of the first error in the chain of err that has one of
// the type T.
func Detail[T any](err error) (detail T, found bool) {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if detail, found = e.Detail.(T); found {
			return detail, true
		}
	}
	return detail, false
}

// ShellWord returns text as a shell takes it for one word, for the commands that
// help.
func ShellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:~@%+=,-#"
	if text != "" && text[0] != '#' && text[0] != '~' && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
