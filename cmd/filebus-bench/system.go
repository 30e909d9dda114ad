package main

import (
	"io/fs"
	"os"
	"reflect"
	"runtime"
)

// fieldOf returns a number from what a system says about a process or a file, which
// is another structure, or nothing, on each.
func fieldOf(said any, name string) (value int64, found bool) {
	if s := reflect.Indirect(reflect.ValueOf(said)); s.Kind() == reflect.Struct {
		if field := s.FieldByName(name); field.IsValid() && field.CanInt() {
			return field.Int(), true
		}
	}
	return 0, false
}

// peakMemory returns the greatest resident size of a process that has ended, in
// bytes; 0 where the system does not tell.
func peakMemory(state *os.ProcessState) int64 {
	peak, _ := fieldOf(state.SysUsage(), "Maxrss")
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return peak // bytes there, kilobytes elsewhere
	}
	return peak << 10
}

// diskSize returns the bytes that a file takes on disk: a sparse one takes less than
// its length, where the system tells.
func diskSize(info fs.FileInfo) int64 {
	if blocks, found := fieldOf(info.Sys(), "Blocks"); found {
		return blocks * 512
	}
	return info.Size()
}
