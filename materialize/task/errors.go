package task

import (
	"fmt"
	"strings"
	"time"
)

// A NotStartedError says that a task has no journal.
type NotStartedError struct{ ID ID }

func (e *NotStartedError) Error() string {
	return fmt.Sprintf("%s has no journal: it was never started", e.ID)
}

// A RunningError says that a task is to be started that is running.
type RunningError struct {
	ID      ID
	Agent   string // who works on it, as the journal says
	Started string // as the journal has it
	File    string // of the journal, absolute
}

func (e *RunningError) Error() string {
	text := fmt.Sprintf("%s is running", e.ID)
	if e.Agent != "" {
		text += ", by " + e.Agent
	}
	if e.Started != "" {
		text += ", since " + e.Started
	}
	return text
}

// A Gap is something that a handoff lacks.
type Gap struct {
	Flag string // that adds it, without dashes
	Why  string
}

// An IncompleteError says that a handoff lacks something, so that nothing was
// written.
type IncompleteError struct {
	ID      ID
	Outcome string // completed, partial, failed or blocked; "" if it is not known
	None    bool   // there is no handoff at all
	Gaps    []Gap
}

func (e *IncompleteError) Error() string {
	if e.None {
		return fmt.Sprintf("%s has no handoff: say at least what was done (--summary)", e.ID)
	}
	var gaps []string
	for _, g := range e.Gaps {
		gaps = append(gaps, fmt.Sprintf("%s (--%s)", g.Why, g.Flag))
	}
	return fmt.Sprintf("the handoff of %s is not complete: %s", e.ID, strings.Join(gaps, "; "))
}

// A MarkerError says that something stands in the place of a marker that is none.
type MarkerError struct {
	File string // absolute
	What string // "a folder", "a symbolic link", ...
}

func (e *MarkerError) Error() string {
	return fmt.Sprintf("%s is %s, not a marker", e.File, e.What)
}

// A SizeError says that a text is too long for a line of a journal.
type SizeError struct {
	What       string
	Size, Most int // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than %d: store it as a result and name its reference", e.What, e.Size, e.Most)
}

// A LateError says that tasks have left no marker in the time of a wait.
type LateError struct {
	Limit   time.Duration
	Waiting []Pending
}

// A Pending is a task that was waited for and has not ended.
type Pending struct {
	ID  ID
	Say string // how far it is, such as "in_progress, journal changed 3m ago"
}

func (e *LateError) Error() string {
	var list []string
	for i, p := range e.Waiting {
		if i == 5 {
			list = append(list, fmt.Sprintf("and %d more", len(e.Waiting)-i))
			break
		}
		list = append(list, fmt.Sprintf("%s (%s)", p.ID, p.Say))
	}
	return fmt.Sprintf("no marker after %v: %s", e.Limit, strings.Join(list, ", "))
}
