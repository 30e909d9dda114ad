package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"filebus/index"
	"filebus/materialize"
	"filebus/materialize/result"
	"filebus/query"
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

// An exitError gives an error the exit code, the word and the hint that no
// error of the packages below stands for.
type exitError struct {
	exit int
	word string // for it in JSON
	hint string
	err  error // nil: everything was said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.exit)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// coded gives err an exit code and a hint, which may be empty.
func coded(exit int, hint string, err error) error {
	return &exitError{exit, exitWord(exit), hint, err}
}

// silentError ends a command that has said everything with an exit code.
func silentError(exit int) error { return &exitError{exit: exit, word: exitWord(exit)} }

// usageError returns the error of a command line that makes no sense.
func usageError(format string, args ...any) error {
	return coded(exitUsage, "", fmt.Errorf(format, args...))
}

func exitWord(exit int) string {
	switch exit {
	case exitUsage:
		return "usage"
	case exitNotFound:
		return "not_found"
	case exitConflict:
		return "conflict"
	case exitBusy:
		return "busy"
	case exitTaskFailed:
		return "task_failed"
	case exitDamaged:
		return "damaged"
	case exitWanting:
		return "wanting"
	case exitPartly:
		return "partly"
	case exitInterrupted:
		return "interrupted"
	}
	return "failed"
}

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
	case e.global.json:
		line, jsonErr := json.Marshal(map[string]failure{"error": f})
		if jsonErr != nil {
			return exitFailed // strings and a bool have a JSON form
		}
		fmt.Fprintf(e.err, "%s\n", line)
	case f.Exit != exitInterrupted:
		e.note("%s", f.Message)
		if f.Hint != "" {
			fmt.Fprintf(e.err, "  try: %s\n", f.Hint)
		}
	}
	return f.Exit
}

// explain maps an error to its exit code, its word and the command that helps.
// The message is empty if everything was said already.
func explain(err error) failure {
	f := failure{Exit: exitFailed, Code: exitWord(exitFailed), Message: message(err)}
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		f.Exit, f.Code, f.Hint = exit.exit, exit.word, exit.hint
		if exit.err == nil {
			f.Message = ""
		}
		return f
	case explainData(&f, err):
		return f
	}
	for _, s := range sentinels() {
		if errors.Is(err, s.err) {
			f.Exit, f.Code, f.Hint, f.Retryable = s.exit, s.code, s.hint, s.exit == exitBusy
			return f
		}
	}
	return f
}

// message puts an error on one line.
func message(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// explainData explains the errors whose data give a better hint than their kind.
func explainData(f *failure, err error) bool {
	if explainIssue(f, err) || explainTask(f, err) || explainRun(f, err) || explainKnowledge(f, err) || explainTurn(f, err) ||
		explainDialogue(f, err) || explainScore(f, err) || explainDocument(f, err) || explainSession(f, err) {
		return true
	}
	var notFound *query.NotFoundError
	var ambiguousName *query.AmbiguousNameError
	var ambiguousRef *store.AmbiguousError
	var section *query.SectionError
	var lines *query.RangeError
	var schema *store.SchemaError
	var tree *materialize.TreeTakenError
	var conflict *store.ConflictError
	switch {
	case errors.As(err, &notFound):
		f.Exit, f.Code, f.Hint = exitNotFound, "not_found", hintNear(notFound)
	case errors.As(err, &ambiguousName):
		f.Exit, f.Code, f.Hint = exitUsage, "ambiguous", "filebus show "+quote(ambiguousName.Candidates[0].String())
	case errors.As(err, &ambiguousRef):
		f.Exit, f.Code, f.Hint = exitUsage, "ambiguous", "filebus show "+ambiguousRef.Candidates[0].String()[:2*record.ShortRefLength]
	case errors.As(err, &section):
		f.Exit, f.Code, f.Hint = exitNotFound, "not_found", "filebus show "+quote(section.Name.String())
	case errors.As(err, &lines):
		f.Exit, f.Code, f.Hint = exitNotFound, "not_found", "filebus show "+quote(lines.Name.String())
	case errors.As(err, &tree):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "the same with another --tree"
	case errors.As(err, &conflict) && conflict.WriteOnce:
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "filebus get "+conflict.Actual.Short()+", or another id"
	case errors.As(err, &conflict):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "filebus show "+quote(conflict.Name.String())
	case errors.As(err, &schema):
		f.Code, f.Hint = "newer_store", "a newer filebus"
	case explainGathered(f, err):
	default:
		return false
	}
	return true
}

func hintNear(e *query.NotFoundError) string {
	switch {
	case e.Retired.Record != nil:
		return "filebus get " + e.Retired.Ref.Short()
	case len(e.Near) > 0:
		var names []string
		for _, n := range e.Near {
			names = append(names, "filebus get "+quote(n.String()))
		}
		return strings.Join(names, "\n       ")
	case e.Text == "":
		return "filebus list"
	case strings.HasPrefix(e.Text, "handoff/"):
		return "filebus task list"
	case strings.HasPrefix(e.Text, "knowledge/"):
		return "filebus knowledge list"
	}
	return "filebus search " + quote(e.Text)
}

// quote returns text as a shell takes it for one word.
func quote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:~@%+=,-#") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

type sentinel struct {
	err  error
	exit int
	code string
	hint string
}

// sentinels lists what is known of errors without data, in the order in which
// they are looked for.
func sentinels() []sentinel {
	return []sentinel{
		{syscall.EPIPE, exitPipe, "pipe", ""},
		{context.Canceled, exitInterrupted, "interrupted", ""},
		{store.ErrDamaged, exitDamaged, "damaged", "filebus verify"},
		{index.ErrDamaged, exitDamaged, "damaged", "filebus reindex"},
		{turnstile.ErrBusy, exitBusy, "busy", "the same again, with a longer --wait"},
		{index.ErrBusy, exitBusy, "busy", "the same again, with a longer --wait"},
		{context.DeadlineExceeded, exitBusy, "timeout", ""},
		{query.ErrMalformed, exitUsage, "usage", ""},
		{result.ErrCall, exitUsage, "usage", ""},
		{materialize.ErrProtected, exitUsage, "usage", ""},
		{materialize.ErrForeignFolder, exitConflict, "conflict", "the same with a new or empty folder"},
		{store.ErrConflict, exitConflict, "conflict", "filebus conflicts"},
		{store.ErrNoStore, exitNotFound, "no_store", "filebus init, or --store FOLDER"},
		{store.ErrDropped, exitNotFound, "dropped", ""},
		{store.ErrNotFound, exitNotFound, "not_found", ""},
		{fs.ErrNotExist, exitNotFound, "not_found", ""},
		{store.ErrUnsafeFS, exitFailed, "unsafe_fs", "--store FOLDER on a local disk, or --allow-unsafe-fs"},
	}
}
