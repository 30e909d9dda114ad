package folder

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Born returns when a file was made, where its disk knows: another one at the same
// path can have the same number.
func Born(path string, info fs.FileInfo) string {
	flags := unix.AT_SYMLINK_NOFOLLOW
	if info.Mode()&fs.ModeSymlink == 0 {
		flags = 0
	}
	var stat unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, flags, unix.STATX_BTIME, &stat)
	if err != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return fmt.Sprintf(" %d.%09d", stat.Btime.Sec, stat.Btime.Nsec)
}
