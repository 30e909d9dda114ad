//go:build unix

package folder

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file is the user's own.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// Inode returns a file's number, which a copy of it does not have, and 0 if there is none.
func Inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}
