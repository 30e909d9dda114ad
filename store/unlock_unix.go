//go:build unix

package store

import (
	"os"
	"syscall"
)

// unlock gives a file's lock back. Closing is not enough while a memory map
// keeps the file open.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
