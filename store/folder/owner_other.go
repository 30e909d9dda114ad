//go:build !unix

package folder

import "io/fs"

// isOwn reports that modes are not how a system keeps others out.
func isOwn(fs.FileInfo) bool { return false }

// Inode returns nothing: the system numbers no files, or does not tell.
func Inode(fs.FileInfo) uint64 { return 0 }
