//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// TestInterruptedRead interrupts a put that waits for its input: a read that
// nobody ends must not keep the process.
func TestInterruptedRead(t *testing.T) {
	t.Parallel()
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
		tooLate := time.AfterFunc(bound, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // the exit code tells
		tooLate.Stop()
		if got := cmd.ProcessState.ExitCode(); got != cli.ExitInterrupted {
			t.Errorf("put that reads after %v: exit code %d, want %d", signal, got, cli.ExitInterrupted)
		}
		if out := mustRun(t, dir, "list", "--json"); out != "{\"records\":[]}\n" {
			t.Errorf("records after %v: %s, want none", signal, out)
		}
	}
}

// TestInterruptedIndexing interrupts searches while they index. Each must end by
// itself, and the next one goes on where it stopped until all is found.
func TestInterruptedIndexing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "word%d other%d ", i, i*7)
	}
	const files = 100
	for i := range files {
		name := filepath.Join(dir, "source", fmt.Sprintf("f%d.md", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(fmt.Sprintf("# File %d\n\nheron unique%d\n\n%s\n", i, i, text.String())), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, dir, "capture", "source")
	interrupted := 0
	for i := range 4 {
		cmd := filebusCommand(t, dir, "search", "heron", "--json")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForFile(t, filepath.Join(dir, ".filebus", "index", "lock"))
		time.Sleep(time.Duration(40*i) * time.Millisecond)
		_ = cmd.Process.Signal(os.Interrupt) // it may be done already
		tooLate := time.AfterFunc(bound, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // the exit code tells
		inTime := tooLate.Stop()
		switch code := cmd.ProcessState.ExitCode(); {
		case code == cli.ExitInterrupted:
			interrupted++
		case code == cli.ExitDone:
		case code == -1 && inTime: // a busy machine had not let it begin when the interrupt came
		default:
			t.Errorf("search interrupted while it indexes: exit code %d, want %d", code, cli.ExitInterrupted)
		}
	}
	if interrupted == 0 {
		t.Log("all searches were done before their interrupt came")
	}
	if out := mustRun(t, dir, "search", "heron", "--json", "--duplicates"); !strings.HasPrefix(out, fmt.Sprintf(`{"total":%d,`, files)) {
		t.Errorf("search after the interrupts: %.60s, want a total of %d", out, files)
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify after the interrupts: %s", out)
	}
}
