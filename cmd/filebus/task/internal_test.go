package task

// What tests look at from outside.
var (
	ErrRunning  = errIsRunning
	JournalOf   = ID.journal
	JournalFile = (*Board).journalFile
	MarkerFile  = (*Board).markerFile
)
