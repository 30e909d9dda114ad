package main

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
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitBusy        = 5
	exitTaskFailed  = 6
	exitDamaged     = 7
	exitWanting     = 8
	exitPartly      = 9
	exitInterrupted = 130
	exitPipe        = 141 // as a shell reports a process that died of SIGPIPE
)

// exitOf returns the exit code that stands for a code.
func exitOf(code record.Code) int {
	return cmp.Or(map[record.Code]int{
		record.Usage: exitUsage, record.Ambiguous: exitUsage, record.Conflict: exitConflict,
		record.NotFound: exitNotFound, record.NoStore: exitNotFound, record.Dropped: exitNotFound,
		record.Busy: exitBusy, record.Timeout: exitBusy, record.TaskFailed: exitTaskFailed,
		record.Damaged: exitDamaged, record.Wanting: exitWanting, record.Partly: exitPartly,
		record.Interrupted: exitInterrupted, record.Pipe: exitPipe,
	}[code], exitFailed)
}

// An exitError ends the program with the exit code of a command that it has run, or
// one of exec.
type exitError struct {
	exit int
	err  error // nil: everything was said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.exit)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// coded gives err a code and a hint, which may be empty.
func coded(code record.Code, hint string, err error) error {
	return &record.Error{Code: code, Hint: hint, Err: err}
}

// silentError ends a command that has said everything.
func silentError(code record.Code) error { return &record.Error{Code: code} }

// usageError returns the error of a command line that makes no sense.
func usageError(format string, args ...any) error { return record.Usage.Errorf(format, args...) }

// A failure is what the user is told of an error.
type failure struct {
	Exit      int    `json:"-"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"` // the next command to run
	Retryable bool   `json:"retryable"`
}

// fail prints what an error says and what to do about it, and returns its exit
// code. An interrupt, and a reader that has gone away, need no words.
func (e *environ) fail(err error) int {
	f := explain(err)
	switch {
	case f.Message == "" || f.Exit == exitPipe:
	case e.call != nil:
		e.call.said = append(e.call.said, failure{f.Exit, f.Code, e.atStore(f.Message), e.atStore(f.Hint), f.Retryable})
	case e.global.json:
		f.Message, f.Hint = e.atStore(f.Message), e.atStore(f.Hint)
		_ = writeJSON(e.err, map[string]failure{"error": f}) // as of all that is said, nobody hears of a failure
	case f.Exit != exitInterrupted:
		e.noteTry(f.Hint, "%s", f.Message)
	}
	return f.Exit
}

// explain maps an error to its exit code, its word and the command that helps.
// The message is empty if everything was said already.
func explain(err error) failure {
	f := failure{Exit: exitFailed, Code: string(record.Failed), Message: message(err)}
	var exit *exitError
	var known *record.Error
	switch {
	case errors.As(err, &exit):
		if exit.err == nil {
			return failure{Exit: exit.exit, Code: f.Code}
		}
		inner := explain(exit.err)
		f.Exit, f.Code, f.Hint, f.Retryable = exit.exit, inner.Code, inner.Hint, inner.Retryable
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
	errNoSpace      record.Reason = "disk full"
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
		return record.Failed, errNoSpace
	}
	return record.Failed, ""
}

func (f *failure) setCode(code record.Code) {
	f.Exit, f.Code = exitOf(code), string(code)
	f.Retryable = f.Exit == exitBusy
}

// message puts an error on one line.
func message(err error) string {
	plain := strings.NewReplacer("context canceled", "interrupted", "context deadline exceeded", "the time is over")
	return plain.Replace(markdown.SingleSpaced(err.Error()))
}
