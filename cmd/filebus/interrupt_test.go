//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestInterruptedRead interrupts a put that waits for its input: a read that
// nobody ends must not keep the process.
func TestInterruptedRead(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := t.TempDir()
		cmd := filebusCommand(t, dir, "put", "-")
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(input, "Half of a "); err != nil {
			t.Fatal(err)
		}
		// The store is made before the input is read, and after signals are caught.
		waitForFile(t, filepath.Join(dir, ".filebus", "store.db"))
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		tooLate := time.AfterFunc(5*grace, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // the exit code tells
		tooLate.Stop()
		if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
			t.Errorf("put that reads after %v: exit code %d, want %d", signal, got, exitInterrupted)
		}
		if out := mustRun(t, dir, "list", "--json"); out != "{\"records\":[]}\n" {
			t.Errorf("records after %v: %s, want none", signal, out)
		}
	}
}

func waitForFile(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s did not appear", path)
}
