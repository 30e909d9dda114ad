//go:build !unix

package folder

import "io/fs"

// isOwn reports that modes are not how a system keeps others out.
func isOwn(fs.FileInfo) bool { return false }
