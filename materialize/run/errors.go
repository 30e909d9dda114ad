package run

import (
	"fmt"
	"strings"

	"filebus/store/record"
)

// An OpenError says that a run is going on, so that no other can begin.
type OpenError struct{ Run string }

func (e *OpenError) Error() string {
	return fmt.Sprintf("the run %s has not ended: --end ends it first, --restart begins again with its focus and number of loops", e.Run)
}

// A NoRunError says that no run is going on.
type NoRunError struct{ Ended string } // the run that ended last, if any

func (e *NoRunError) Error() string {
	if e.Ended != "" {
		return fmt.Sprintf("no run is going on: %s has ended", e.Ended)
	}
	return "no run is going on"
}

// A UsedError says that an id was a run's before.
type UsedError struct{ Run string }

func (e *UsedError) Error() string { return fmt.Sprintf("there was a run %s before", e.Run) }

// A MalformedError says that a text cannot be the id of a run or of an agent, or
// the name of a snapshot.
type MalformedError struct{ What, Text, Want string }

func (e *MalformedError) Error() string {
	return fmt.Sprintf("malformed %s %q: %s", e.What, e.Text, e.Want)
}

// A LoopsDoneError says that a run has had as many loops as were planned.
type LoopsDoneError struct {
	Run     string
	Planned int
}

func (e *LoopsDoneError) Error() string {
	return fmt.Sprintf("the run %s has had its %d loops: end it, or plan more with --loops", e.Run, e.Planned)
}

// An AgentRunningError says that an agent with that id is at work.
type AgentRunningError struct{ ID, Task string }

func (e *AgentRunningError) Error() string {
	if e.Task == "" {
		return fmt.Sprintf("the agent %s is at work already", e.ID)
	}
	return fmt.Sprintf("the agent %s is at work already, on %s", e.ID, e.Task)
}

// A NoAgentError says that no agent with that id is at work.
type NoAgentError struct {
	ID      string
	Ended   bool     // it was, and has ended
	Running []string // who is at work
}

func (e *NoAgentError) Error() string {
	at := "nobody is"
	if len(e.Running) > 0 {
		at = strings.Join(e.Running[:min(len(e.Running), 10)], ", ")
	}
	if e.Ended {
		return fmt.Sprintf("the agent %s has ended already; at work: %s", e.ID, at)
	}
	return fmt.Sprintf("no agent %s is at work; at work: %s", e.ID, at)
}

// A TooLongError says that a text does not belong into the session state.
type TooLongError struct {
	What string // such as "the task", or the file
	Size int    // characters of a field, tokens of the file
	Max  int
	Unit string // characters or tokens
	Put  string // the command line that stores the text as a result
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s has %d %s, more than %d: store a result, keep the reference", e.What, e.Size, e.Unit, e.Max)
}

// A TakenError says that a loop's snapshot was taken before. It is written once.
type TakenError struct {
	Run  string
	Loop int
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("the snapshot %s/loop-%d was taken before, and is written once", e.Run, e.Loop)
}

// A NoSnapshotError says that there is no such snapshot.
type NoSnapshotError struct {
	Run  string
	Loop int
	File string // that it does not have; empty: there is none at all
	Have []string
}

func (e *NoSnapshotError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("the snapshot %s/loop-%d has no %s; it has %s", e.Run, e.Loop, e.File, strings.Join(e.Have, ", "))
	}
	return fmt.Sprintf("no snapshot %s/loop-%d", e.Run, e.Loop)
}

// A LoopError says that a loop has not begun, so that it has no snapshot yet.
type LoopError struct {
	Run  string
	Loop int
	Last int // the loop that the run is in; 0: the session state never had that loop
}

func (e *LoopError) Error() string {
	if e.Last == 0 {
		return fmt.Sprintf("the session state never was in loop %d of the run %s", e.Loop, e.Run)
	}
	return fmt.Sprintf("the run %s has not begun loop %d: it is in loop %d", e.Run, e.Loop, e.Last)
}

// stateName is the name of a workspace's session state.
func stateName() record.Name { return record.Name{Kind: record.KindState, ID: stateID} }

const stateID = "session_state"
