package result

import "filebus/store/record"

// Why something was refused or could not be done, with what the error then names.
const (
	ErrCall           record.Reason = "malformed call"         // the ids cannot be those of a result
	ErrSchema         record.Reason = "unusable schema"        //
	ErrTaken          record.Reason = "result taken"           // the ref of what has the ids
	ErrNoProgram      record.Reason = "no program"             // there is none to be run
	ErrNotExecutable  record.Reason = "not executable"         // the system does not run it
	ErrNoConversation record.Reason = "no conversation"        // those that come near, as String writes them
	ErrNoBudget       record.Reason = "no budget"              // likewise: it has no results to count
	ErrOutput         record.Reason = "no place for an output" // a file cannot be written there
	ErrOutputTaken    record.Reason = "output taken"           // the file holds another text
)
