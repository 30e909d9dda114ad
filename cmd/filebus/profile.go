//go:build filebus_profile

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiled runs the command line, and writes profiles of it into the folder that
// the environment names.
func profiled(run func() int) int {
	dir := os.Getenv("FILEBUS_PROFILE_DIR")
	if dir == "" {
		return run()
	}
	cpu, err := os.CreateTemp(dir, "cpu-*.pprof")
	if err == nil {
		err = pprof.StartCPUProfile(cpu)
	}
	code := run()
	if err == nil {
		pprof.StopCPUProfile()
		err = errors.Join(cpu.Close(), writeAllocations(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "filebus: writing profiles:", err)
		return 1
	}
	return code
}

func writeAllocations(dir string) error {
	f, err := os.CreateTemp(dir, "memory-*.pprof")
	if err != nil {
		return err
	}
	runtime.GC() // the profile is that of the last collection
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
