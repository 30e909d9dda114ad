//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"syscall"
)

// ownerOf returns whose a file is, where the system has owners as it has on Unix.
func ownerOf(info fs.FileInfo) (owner, group int, asked bool) {
	stat, asked := info.Sys().(*syscall.Stat_t)
	if !asked {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

func ownerName(id int) string {
	if found, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return fmt.Sprintf("%s (user %d)", found.Username, id)
	}
	return fmt.Sprintf("user %d", id)
}

// number tells a file from every other of the machine.
func number(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
	}
	return state(info)
}
