//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"syscall"
)

// ownerOf returns whose a file is, where the system has owners as Unix has them.
func ownerOf(info fs.FileInfo) (owner, group int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if known {
		owner, group = int(stat.Uid), int(stat.Gid)
	}
	return owner, group, known
}

// number tells a file from others, also from one at the same path.
func number(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
	}
	return ""
}
