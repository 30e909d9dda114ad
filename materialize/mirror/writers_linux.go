package mirror

import (
	"errors"
	"os"
	"syscall"
)

// The command and argument of fcntl(2) for a read lease; package syscall lacks
// them.
const (
	setLease  = 1024
	readLease = syscall.F_RDLCK
)

// tellsWriters says that isBeingWritten can be told.
const tellsWriters = true

// isBeingWritten reports whether any process has a file open for writing: then
// the kernel refuses a read lease. A file system without leases is taken to have
// no writers. Closing the file gives the lease back.
func isBeingWritten(f *os.File) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setLease, readLease)
	return errors.Is(errno, syscall.EAGAIN)
}
