package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// startProfiles begins the profiles that the options ask for. The function it
// returns ends and writes them.
func startProfiles(opts options) (stop func() error, err error) {
	var cpu *os.File
	if opts.cpuProfile != "" {
		if cpu, err = os.Create(opts.cpuProfile); err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(err, cpu.Close())
		}
	}
	return func() error {
		var errs []error
		if cpu != nil {
			pprof.StopCPUProfile()
			errs = append(errs, cpu.Close())
		}
		if opts.memProfile != "" {
			errs = append(errs, writeMemoryProfile(opts.memProfile))
		}
		return errors.Join(errs...)
	}, nil
}

func writeMemoryProfile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC() // so that the profile holds what is in use now
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
