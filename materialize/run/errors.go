package run

import (
	"filebus/store/record"
)

// Why runs and snapshots refuse what they are asked for.
const (
	ErrOpen         record.Reason = "run open"
	ErrNoRun        record.Reason = "no run"
	ErrUsed         record.Reason = "run id used"
	ErrLoopsDone    record.Reason = "loops done"    // names the number of the next loop
	ErrAgentRunning record.Reason = "agent running" // names the agent
	ErrNoAgent      record.Reason = "no agent"      // names the agent
	ErrAgentEnded   record.Reason = "agent ended"
	ErrUnknownRun   record.Reason = "unknown run"    // names the run of the session state, if there is one
	ErrTaken        record.Reason = "snapshot taken" // names the snapshot: it is written once
	ErrNoSnapshot   record.Reason = "no snapshot"
	ErrNoFile       record.Reason = "no snapshot file" // names the snapshot
	ErrNoLoop       record.Reason = "no loop"          // the session state never was in it
	ErrNotBegun     record.Reason = "loop not begun"   // names the loop that the run is in
)

// noRun returns the error that no run is going on, with the one that ended last.
func noRun(ended string) error {
	if ended != "" {
		return record.NotFound.Errorf("no run is going on: %s has ended", ended).Because(ErrNoRun)
	}
	return record.NotFound.Errorf("no run is going on").Because(ErrNoRun)
}

// malformed returns the error of a text that cannot be the id of a run or of an
// agent, or the name of a snapshot.
func malformed(what, text, want string) error {
	return record.Usage.Errorf("malformed %s %q: %s", what, text, want)
}

// tooLong returns the error of a text that does not belong into the session state,
// with the command line that stores it as a result.
func tooLong(what string, size int, unit string, most int, put string) error {
	err := record.Usage.Errorf("%s has %d %s, more than %d: store a result, keep the reference", what, size, unit, most)
	err.Hint = put
	return err
}
