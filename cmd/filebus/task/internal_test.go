package task

// What tests look at from outside.
var (
	ErrRunning  = errIsRunning
	JournalOf   = ID.journal
	JournalFile = (*Tasks).journalFile
	MarkerFile  = (*Tasks).markerFile
)
