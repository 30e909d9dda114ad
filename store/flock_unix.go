//go:build unix

package store

import (
	"os"
	"syscall"
)

// unlock gives a file's lock back. Closing is not enough while a memory map
// keeps the file open.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// lockAgain takes the lock for reading that unlock gave back, if it is free.
func lockAgain(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}
