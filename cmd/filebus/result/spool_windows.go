package result

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"

	"filebus/store/folder"
)

// tryLock locks a file exclusively if nobody else has.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// lockOutput does nothing: locks are not passed on to other processes here, so
// only the lock of the folder counts.
func lockOutput(*os.File) error { return nil }

// isFree reports that nobody can be told to have an output open.
func isFree(folder.Folder) (bool, error) { return true, nil }
