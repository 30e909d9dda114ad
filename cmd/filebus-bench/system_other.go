//go:build !unix

package main

import (
	"io/fs"
	"os"
)

// peakMemory returns 0: the system does not tell.
func peakMemory(*os.ProcessState) int64 { return 0 }

// diskSize returns the length of a file: the system does not tell more.
func diskSize(info fs.FileInfo) int64 { return info.Size() }
