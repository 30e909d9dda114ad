package task

import (
	"fmt"
	"strings"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// Why something is refused, or does not end.
const (
	ErrNotID      record.Reason = "no id of a task"
	ErrNotStarted record.Reason = "not started"          // names the task
	ErrRunning    record.Reason = "task running"         // names the task
	ErrNoHandoff  record.Reason = "no handoff"           // names the task, the outcome, and what Incomplete does
	ErrIncomplete record.Reason = "handoff not complete" // names the flags, without dashes, that add what is missing
	ErrNotMarker  record.Reason = "not a marker"         // names the file, and what it can be renamed to
	ErrTooLong    record.Reason = "line too long"
	ErrLate       record.Reason = "no marker in time" // names the tasks; has the []Pending
)

func errNotStarted(id ID) error {
	return record.NotFound.Errorf("%s has no journal: it was never started", id).Because(ErrNotStarted, string(id))
}

// errRunning says that a task is to be started that is running.
func errRunning(id ID, j *layout.Journal) error {
	text := fmt.Sprintf("%s is running", id)
	for _, p := range j.Extra {
		if strings.EqualFold(p.Key, "agent") && p.Value != "" {
			text += ", by " + p.Value
		}
	}
	if j.Started != "" {
		text += ", since " + j.Started
	}
	return record.Conflict.Errorf("%s", text).Because(ErrRunning, string(id))
}

// A Pending is a task that was waited for and has not ended.
type Pending struct {
	ID  ID     `json:"task"`
	Say string `json:"say"` // how far it is, such as "in_progress, journal changed 3m ago"
}

// maxNamed is how many tasks are named that have not ended.
const maxNamed = 5

// errLate says that tasks have left no marker in the time of a wait.
func errLate(limit fmt.Stringer, waiting []Pending) error {
	var list, ids []string
	for _, p := range waiting {
		ids = append(ids, string(p.ID))
		list = append(list, fmt.Sprintf("%s (%s)", p.ID, p.Say))
	}
	if more := len(list) - maxNamed; more > 0 {
		list = append(list[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	err := record.Timeout.Errorf("no marker after %v: %s", limit, strings.Join(list, ", "))
	return err.Because(ErrLate, ids...).With(waiting)
}
