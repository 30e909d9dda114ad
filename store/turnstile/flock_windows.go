package turnstile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The locked byte stands far behind the text of the file, so that others can
// read who holds it: Windows locks are mandatory.
const (
	lockOffsetLow  = 0
	lockOffsetHigh = 1
)

// TryLock locks a file if nobody has a lock that is in the way, and reports whether it did.
func TryLock(f *os.File, mode Mode) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if mode == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := lockByte(f, flags)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func waitLock(f *os.File) error { return lockByte(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func lockByte(f *os.File, flags uint32) error {
	place := windows.Overlapped{Offset: lockOffsetLow, OffsetHigh: lockOffsetHigh}
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &place)
}

func unlock(f *os.File) error {
	place := windows.Overlapped{Offset: lockOffsetLow, OffsetHigh: lockOffsetHigh}
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &place)
}
