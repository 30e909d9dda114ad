//go:build !linux && !darwin

package folder

import "io/fs"

// Born returns nothing: the number says it, or the system does not.
func Born(string, fs.FileInfo) string { return "" }
