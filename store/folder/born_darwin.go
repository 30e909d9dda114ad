package folder

import (
	"fmt"
	"io/fs"
	"syscall"
)

// Born returns when a file was made: another one at the same path can have the same
// number.
func Born(_ string, info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf(" %d.%09d", stat.Birthtimespec.Sec, stat.Birthtimespec.Nsec)
	}
	return ""
}
