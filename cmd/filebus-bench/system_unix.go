//go:build unix

package main

import (
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the greatest resident size of a process that has ended, in
// bytes.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) // bytes there, kilobytes elsewhere
	}
	return int64(usage.Maxrss) << 10
}

// diskSize returns the bytes that a file takes on disk: a sparse one takes less
// than its length.
func diskSize(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
