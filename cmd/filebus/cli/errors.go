package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"filebus/index"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// The exit codes, as docs/cli.md lists them.
const (
	ExitDone        = 0
	exitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitBusy        = 5
	exitTaskFailed  = 6
	ExitDamaged     = 7
	ExitWanting     = 8
	ExitPartly      = 9
	ExitInterrupted = 130
	ExitPipe        = 141 // as a shell reports a process that died of SIGPIPE
)

// ExitOf returns the exit code that stands for a code.
func ExitOf(code record.Code) int {
	return cmp.Or(map[record.Code]int{
		record.Usage: ExitUsage, record.Ambiguous: ExitUsage, record.Conflict: ExitConflict, record.Barred: ExitConflict,
		record.NotFound: ExitNotFound, record.NoStore: ExitNotFound, record.Dropped: ExitNotFound,
		record.Busy: ExitBusy, record.Timeout: ExitBusy, record.TaskFailed: exitTaskFailed,
		record.Damaged: ExitDamaged, record.Wanting: ExitWanting, record.Partly: ExitPartly,
		record.Interrupted: ExitInterrupted, record.Pipe: ExitPipe,
	}[code], exitFailed)
}

// An ExitError ends the program with the exit code of a command that it has run, or
// one of exec.
type ExitError struct {
	Exit int
	Err  error // nil: everything was said already
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Exit)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Coded gives err a code and a hint, which may be empty.
func Coded(code record.Code, hint string, err error) error {
	return &record.Error{Code: code, Hint: hint, Err: err}
}

// SilentError ends a command that has said everything.
func SilentError(code record.Code) error { return &record.Error{Code: code} }

// UsageError returns the error of a command line that makes no sense.
func UsageError(format string, args ...any) error { return record.Usage.Errorf(format, args...) }

// A Failure is what the user is told of an error.
type Failure struct {
	Exit      int    `json:"-"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"` // the next command to run
	Retryable bool   `json:"retryable"`
}

// Fail prints what an error says and what to do about it, and returns its exit
// code. An interrupt, and a reader that has gone away, need no words.
func (e *Environ) Fail(err error) int {
	f := Explain(err)
	switch {
	case f.Message == "" || f.Exit == ExitPipe:
	case e.Call != nil:
		e.Call.Said = append(e.Call.Said, Failure{f.Exit, f.Code, e.AtStore(f.Message), e.AtStore(f.Hint), f.Retryable})
	case e.Global.JSON:
		f.Message, f.Hint = e.AtStore(f.Message), e.AtStore(f.Hint)
		_ = WriteJSON(e.Err, map[string]Failure{"error": f}) // as of all that is said, nobody hears of a failure
	case f.Exit != ExitInterrupted:
		e.NoteTry(f.Hint, "%s", f.Message)
	}
	return f.Exit
}

// Explain maps an error to its exit code, its word and the command that helps.
// The message is empty if everything was said already.
func Explain(err error) Failure {
	f := Failure{Exit: exitFailed, Code: string(record.Failed), Message: Message(err)}
	var exit *ExitError
	var known *record.Error
	switch {
	case errors.As(err, &exit):
		if exit.Err == nil {
			return Failure{Exit: exit.Exit, Code: f.Code}
		}
		inner := Explain(exit.Err)
		f.Exit, f.Code, f.Hint, f.Retryable = exit.Exit, inner.Code, inner.Hint, inner.Retryable
	case errors.As(err, &known):
		f.setCode(known.Code)
		f.Hint = hintOf(known)
		if known.Err == nil {
			f.Message = ""
		}
	default:
		known = recordError(err)
		f.setCode(known.Code)
		f.Hint = hintOf(known)
	}
	return f
}

// recordError returns the code of an error that has none, and the reason by which the
// table of hints has it.
func recordError(err error) *record.Error {
	var ambiguous *store.AmbiguousError
	var conflict *store.ConflictError
	switch {
	case errors.As(err, &ambiguous):
		longer := ambiguous.Candidates[0].String()[:2*record.ShortRefLength]
		return record.Ambiguous.Errorf("").Because(errAmbiguousRef, longer)
	case errors.As(err, &conflict) && conflict.WriteOnce:
		return record.Conflict.Errorf("").Because(errWriteOnce, conflict.Actual.Short())
	case errors.As(err, &conflict):
		return record.Conflict.Errorf("").Because(errOutdated, conflict.Name.String())
	}
	code, reason := codeOf(err)
	return &record.Error{Code: code, Reason: reason}
}

// The reasons of errors of package store, whose data their hints name.
const (
	errAmbiguousRef record.Reason = "ref ambiguous"   // names a longer ref
	errWriteOnce    record.Reason = "write-once"      // names the ref that is there
	errOutdated     record.Reason = "version changed" // names the record
	ErrNoSpace      record.Reason = "disk full"
)

// codeOf returns the code of what an error wraps, and the reason that goes with it.
func codeOf(err error) (record.Code, record.Reason) {
	switch {
	case errors.Is(err, syscall.EPIPE):
		return record.Pipe, ""
	case errors.Is(err, context.Canceled):
		return record.Interrupted, ""
	}
	for _, code := range record.Codes() {
		if errors.Is(err, code) {
			return code, record.Reason(code)
		}
	}
	switch {
	case errors.Is(err, index.ErrDamaged):
		return record.Damaged, "index damaged"
	case errors.Is(err, turnstile.ErrBusy), errors.Is(err, index.ErrBusy):
		return record.Busy, record.Reason(record.Busy)
	case errors.Is(err, context.DeadlineExceeded):
		return record.Timeout, ""
	case errors.Is(err, fs.ErrNotExist):
		return record.NotFound, ""
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return record.Failed, ErrNoSpace
	}
	return record.Failed, ""
}

func (f *Failure) setCode(code record.Code) {
	f.Exit, f.Code = ExitOf(code), string(code)
	f.Retryable = f.Exit == ExitBusy
}

// Message puts an error on one line.
func Message(err error) string {
	plain := strings.NewReplacer("context canceled", "interrupted", "context deadline exceeded", "the time ran out")
	return plain.Replace(markdown.SingleSpaced(err.Error()))
}
