package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"filebus/cmd/filebus/cli"
)

// openTerminal makes a pseudo-terminal and returns both its ends.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() }) // the test may have closed it
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = slave.Close() }) // as above
	return master, slave
}

// A recording is what a process has written to its terminal.
type recording struct {
	mu   sync.Mutex
	text []byte
}

// follow answers what the terminal is asked first, so that nobody waits for it.
func (s *recording) follow(master *os.File) {
	buffer := make([]byte, 4096)
	for {
		n, err := master.Read(buffer)
		if err != nil {
			return // the process has ended
		}
		s.mu.Lock()
		s.text = append(s.text, buffer[:n]...)
		s.mu.Unlock()
		if bytes.Contains(buffer[:n], []byte("\x1b[c")) {
			_, _ = master.WriteString("\x1b[?62;c") // or the process has ended
		}
	}
}

func (s *recording) waitFor(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		found := bytes.Contains(s.text, []byte(text))
		s.mu.Unlock()
		if found {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Fatalf("the terminal never shows %q: %q", text, s.text)
}

// TestFinderOnTerminal runs an interactive search as in $(filebus search -i): it
// draws on its terminal, and writes the choice to a pipe.
func TestFinderOnTerminal(t *testing.T) {
	tests := []struct {
		name, keys, want string
		exit             int
	}{
		{"enter", "\r", "n.md:5\n", 0},
		{"reference", "\x0f", "REF\n", 0},
		{"escape", "\x1b", "", cli.ExitInterrupted},
		{"interrupt", "\x03", "", cli.ExitInterrupted},
	}
	dir := t.TempDir()
	text := "# Note\n\nFirst.\n\n## Second\n\nThe pelican \x1b[31msleeps\x07.\n"
	if err := os.WriteFile(filepath.Join(dir, "n.md"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	ref, _, _ := strings.Cut(mustRun(t, dir, "put", "--name", "note/n.md", "n.md"), " ")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			master, slave := openTerminal(t)
			cmd := filebusCommand(t, dir, "search", "-i", "pelicans")
			cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=1")
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, &out, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
			var shown recording
			go shown.follow(master)
			shown.waitFor(t, "[31msleeps")
			if _, err := master.WriteString(test.keys); err != nil {
				t.Fatal(err)
			}
			if code := waitExit(cmd); code != test.exit {
				t.Errorf("after %q: exit code %d, want %d", test.keys, code, test.exit)
			}
			if got, want := out.String(), strings.ReplaceAll(test.want, "REF", ref); got != want {
				t.Errorf("after %q: stdout %q, want %q", test.keys, got, want)
			}
		})
	}
}

// waitExit waits for a process and returns its exit code.
func waitExit(cmd *exec.Cmd) int {
	_ = cmd.Wait() // the code says how it went
	return cmd.ProcessState.ExitCode()
}
