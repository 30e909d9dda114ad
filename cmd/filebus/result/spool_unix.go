//go:build unix

package result

import (
	"errors"
	"os"

	"filebus/store/folder"
	"filebus/store/turnstile"
)

// A lock of flock(2) belongs to the open file description. A process that a
// command starts has the description of its stdout in common with it, so an
// output is locked for as long as anybody is left who writes to it. The lock of a
// folder is closed when a program is started, so it is this process's alone.

// lockOutput locks an output that was just made.
func lockOutput(f *os.File) error {
	_, err := turnstile.TryLock(f, turnstile.Exclusive)
	return err
}

// isFree reports whether nobody has an output open as stdout.
func isFree(own folder.Folder) (bool, error) {
	f, err := own.Open(outputFile)
	if err != nil {
		return false, err
	}
	free, err := turnstile.TryLock(f, turnstile.Exclusive)
	return free, errors.Join(err, f.Close())
}
