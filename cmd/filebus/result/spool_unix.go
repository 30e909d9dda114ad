//go:build unix

package result

import (
	"errors"
	"os"
	"syscall"

	"filebus/store/folder"
)

// A lock of flock(2) belongs to the open file description. A process that a
// command starts has the description of its stdout in common with it, so an
// output is locked for as long as anybody is left who writes to it. The lock of a
// folder is closed when a program is started, so it is this process's alone.

// tryLock locks a file exclusively if nobody else has.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, os.NewSyscallError("flock "+f.Name(), err)
		}
	}
}

// lockOutput locks an output that was just made.
func lockOutput(f *os.File) error {
	_, err := tryLock(f)
	return err
}

// isFree reports whether nobody has an output open as stdout.
func isFree(own folder.Folder) (bool, error) {
	f, err := own.Open(outputFile)
	if err != nil {
		return false, err
	}
	free, err := tryLock(f)
	return free, errors.Join(err, f.Close())
}
