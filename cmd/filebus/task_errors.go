package main

import (
	"errors"
	"strings"
	"time"

	"filebus/materialize/task"
)

// explainTask explains what the rules of tasks refuse.
func explainTask(f *failure, err error) bool {
	var id *task.IDError
	var missing *task.NotStartedError
	var running *task.RunningError
	var incomplete *task.IncompleteError
	var marker *task.MarkerError
	var size *task.SizeError
	var late *lateError
	switch {
	case errors.As(err, &id):
		f.Exit, f.Hint = exitUsage, "filebus task list"
	case errors.As(err, &missing):
		f.Exit, f.Hint = exitNotFound, "filebus task start "+quote(string(missing.ID))
	case errors.As(err, &running):
		f.Exit, f.Hint = exitConflict, "filebus wait "+quote(string(running.ID))+", or the same with --restart"
	case errors.As(err, &incomplete):
		f.Exit, f.Hint = exitWanting, endHint(incomplete)
	case errors.As(err, &marker):
		f.Exit, f.Hint = exitConflict, "mv "+quote(marker.File)+" "+quote(marker.File+".old")+", and the same again"
	case errors.As(err, &size):
		f.Exit, f.Hint = exitUsage, "filebus put FILE"
	case errors.As(err, &late):
		f.Exit, f.Hint, f.Retryable = exitBusy, late.resume, true
	default:
		return false
	}
	f.Code = wordOf(f.Exit)
	if late != nil {
		f.Code = "timeout"
	}
	return true
}

// endHint returns the line that ends a task without a handoff, or what the line
// lacks that was tried.
func endHint(e *task.IncompleteError) string {
	flags := ""
	for _, gap := range e.Gaps {
		switch gap.Flag {
		case "outcome":
			flags += " --outcome completed"
		case "summary":
			flags += ` --summary "WHAT WAS DONE"`
		case "blocker":
			flags += ` --blocker "WHAT STANDS IN THE WAY"`
		case "next":
			flags += ` --next "HOW TO RESOLVE IT"`
		}
	}
	if !e.None {
		return "the same with" + flags
	}
	verb := "done"
	switch e.Outcome {
	case task.Failed:
		verb = "fail"
	case task.Blocked:
		verb = "block"
	case task.Partial:
		flags += " --outcome partial"
	default:
		return "filebus task done " + quote(string(e.ID)) + ` --summary "WHAT WAS DONE" --files FILE,FILE`
	}
	return "filebus task " + verb + " " + quote(string(e.ID)) + flags + " --files FILE,FILE"
}

// waitHint is how to go on with a wait whose time was up.
func waitHint(e *task.LateError, opts waitOptions) string {
	line := "filebus wait"
	for _, p := range e.Waiting {
		line += " " + quote(string(p.ID))
	}
	if opts.any {
		line += " --any"
	}
	if opts.limit != defaultWait {
		line += " --limit " + durationText(opts.limit)
	}
	if opts.maxAge > 0 {
		line += " --max-age " + durationText(opts.maxAge)
	}
	return line
}

// durationText writes a duration without the parts that are zero.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
