package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
)

// profileVariable names the folder into which a filebus that is built with the
// tag filebus_profile writes its profiles.
const profileVariable = "FILEBUS_PROFILE_DIR"

// startProfiles begins the profiles that the options ask for. The function it
// returns ends this process's, adds those of all filebus processes, and writes
// the sums.
func (b *bench) startProfiles(ctx context.Context) (stop func() error, err error) {
	if b.profiles == "" {
		return func() error { return nil }, nil
	}
	if b.filebus != "" {
		fmt.Fprintln(b.progress, "  the profiles are of this process alone: -filebus names a program that makes none")
	}
	cpu, err := os.Create(filepath.Join(b.profiles, "cpu-own.pprof"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(err, cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		err := errors.Join(cpu.Close(), writeMemoryProfile(filepath.Join(b.profiles, "memory-own.pprof")))
		if ctx.Err() != nil { // after an interrupt they are of half the work
			return err
		}
		return errors.Join(err, b.sumProfiles(ctx, "cpu-*.pprof", b.cpuProfile), b.sumProfiles(ctx, "memory-*.pprof", b.memProfile))
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

// profilesAtOnce is how many profiles are added by one process: its command line
// names them all.
const profilesAtOnce = 500

// sumProfiles adds the profiles that a pattern matches and writes the sum to a
// file; without a file it does nothing.
func (b *bench) sumProfiles(ctx context.Context, pattern, to string) error {
	if to == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(b.profiles, pattern))
	if err != nil {
		return err
	}
	sum := ""
	for len(files) > 0 {
		part := slices.Clone(files[:min(len(files), profilesAtOnce)])
		files = files[len(part):]
		if sum != "" {
			part = append(part, sum)
		}
		sum = filepath.Join(b.profiles, fmt.Sprintf("sum-%d-of-%s", len(files), filepath.Base(part[0])))
		args := append([]string{"tool", "pprof", "-proto", "-symbolize=none", "-output=" + sum}, part...)
		if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("adding profiles: %w\n%s", err, out)
		}
	}
	text, err := os.ReadFile(sum)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}
