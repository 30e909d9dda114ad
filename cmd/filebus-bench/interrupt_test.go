package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestInterrupt ends the benchmark while it waits for a process that another
// stands before: nothing must be left, neither files nor processes.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent an interrupt there")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir, pidFile := t.TempDir(), filepath.Join(t.TempDir(), "pid")
		bench := exec.Command(self, benchCommand, "-filebus", self, "-dir", dir, "-large-size", "10", "large")
		bench.Env = append(os.Environ(), fakeVariable+"="+fakeSlow, pidVariable+"="+pidFile)
		var said bytes.Buffer
		bench.Stdout, bench.Stderr = &said, &said
		if err := bench.Start(); err != nil {
			t.Fatal(err)
		}
		pid := awaitPid(t, pidFile)
		if err := bench.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		// It fails by its exit code, which is what is looked at.
		_ = bench.Wait()
		if got := bench.ProcessState.ExitCode(); got != 130 {
			t.Errorf("%v: got exit code %d, want 130\n%s", signal, got, said.String())
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v: got %v, %v, want nothing left", signal, left, err)
		}
		if !ends(pid) {
			t.Errorf("%v: the process %d that was measured goes on", signal, pid)
		}
	}
}

// awaitPid returns the number in a file, when there is one.
func awaitPid(t *testing.T, file string) int {
	t.Helper()
	for range 3000 {
		text, err := os.ReadFile(file)
		if pid, bad := strconv.Atoi(string(text)); err == nil && bad == nil {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no process has written %s", file)
	return 0
}

// ends reports whether a process that is not our child is gone, or soon is.
func ends(pid int) bool {
	for range 500 {
		process, err := os.FindProcess(pid)
		if err != nil || process.Signal(syscall.Signal(0)) != nil {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}
