package store

import (
	"fmt"
	"syscall"
)

// The file systems on which locks are not what they seem, by the magic number
// that statfs returns. The numbers are those of linux/magic.h.
func unsafeFileSystem(magic int64) string {
	switch uint32(magic) {
	case 0x6969:
		return "NFS"
	case 0xFE534D42:
		return "SMB2"
	case 0xFF534D42, 0x517B:
		return "CIFS"
	case 0x01021997:
		return "9p"
	case 0x65735546:
		return "FUSE"
	}
	return ""
}

// FreeRoom returns how much of a disk is free to the user, and its size, in bytes; 0 if nobody knows.
func FreeRoom(dir string) (free, total int64) {
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) != nil {
		return 0, 0
	}
	return int64(stat.Bavail) * int64(stat.Bsize), int64(stat.Blocks) * int64(stat.Bsize)
}

// checkFS refuses a folder on a file system whose locks lie.
func checkFS(dir string) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("opening store %s: %w", dir, err)
	}
	if name := unsafeFileSystem(int64(stat.Type)); name != "" {
		return fmt.Errorf("%s lies on %s: %w", dir, name, errUnsafeFS)
	}
	return nil
}
