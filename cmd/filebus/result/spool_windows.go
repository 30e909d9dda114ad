package result

import (
	"os"

	"filebus/store/folder"
)

// lockOutput does nothing: locks are not passed on to other processes here, so
// only the lock of the folder counts.
func lockOutput(*os.File) error { return nil }

// isFree reports that nobody can be told to have an output open.
func isFree(folder.Folder) (bool, error) { return true, nil }
