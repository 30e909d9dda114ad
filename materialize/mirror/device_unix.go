//go:build unix

package mirror

import (
	"io/fs"
	"syscall"
)

// deviceOf returns the number of the disk that a file lies on.
func deviceOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev)
	}
	return 0
}
