package task

// What tests look at from outside.
var (
	JournalFile = (*Board).journalFile
	MarkerFile  = (*Board).markerFile
)
