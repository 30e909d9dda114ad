//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filebus/cmd/filebus/result"
	"filebus/store/record"
)

// wantShell skips a test that runs commands of a shell.
func wantShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
}

// startCommand starts exec with a script, and waits until that has written "on".
func startCommand(t *testing.T, dir, script string, args ...string) (cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	cmd = filebusCommand(t, dir, append(append([]string{"exec", "--conversation", "c1"}, args...), "--", "sh", "-c", script)...)
	out = &bytes.Buffer{}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test has failed
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(dir, ".filebus", "spool", "*", "output"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && string(text) == "on\n" {
				return cmd, out
			}
		}
	}
	t.Fatalf("%q has not begun", script)
	return nil, nil
}

// reference reads what a command has printed.
func reference(t *testing.T, text []byte) record.Reference {
	t.Helper()
	var r record.Reference
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("reference %q: %v", text, err)
	}
	return r
}

// TestExecInterrupted sends signals to filebus alone. The command gets them, what
// it wrote is stored, and the exit code is its own.
func TestExecInterrupted(t *testing.T) {
	t.Parallel()
	wantShell(t)
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // or what nohup starts would start programs that hear of none
	defer signal.Stop(heard)
	tests := []struct {
		script  string
		signal  syscall.Signal
		exit    int
		preview string
	}{
		{"echo on; exec sleep 600", syscall.SIGINT, 130, "[killed, exit 130] on"},
		{"echo on; exec sleep 600", syscall.SIGTERM, 143, "[killed, exit 143] on"},
		{"echo on; exec sleep 600", syscall.SIGHUP, 129, "[killed, exit 129] on"},
		{"trap 'echo off; exit 5' TERM; echo on; while :; do sleep 0.01; done", syscall.SIGTERM, 5, "[failed, exit 5] on off"},
		{"trap 'echo off; exit 0' INT; echo on; while :; do sleep 0.01; done", syscall.SIGINT, 0, "on off"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		cmd, out := startCommand(t, dir, test.script)
		if err := cmd.Process.Signal(test.signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the exit code tells
		got := reference(t, out.Bytes())
		if code := cmd.ProcessState.ExitCode(); code != test.exit || got.Preview != test.preview {
			t.Errorf("%s after %v: exit code %d, preview %q; want %d, %q", test.script, test.signal, code, got.Preview, test.exit, test.preview)
		}
	}
}

// TestExecStopped stops filebus as the keys of a terminal do, and lets it go on.
func TestExecStopped(t *testing.T) {
	t.Parallel()
	wantShell(t)
	dir := t.TempDir()
	cmd, out := startCommand(t, dir, "echo on; while [ ! -e go ]; do sleep 0.01; done; echo off")
	for _, signal := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGCONT} {
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if signal == syscall.SIGTSTP {
			var status syscall.WaitStatus
			if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
				t.Fatalf("after SIGTSTP: %v, %v; want it stopped", status, err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := reference(t, out.Bytes()); got.Preview != "on off" {
		t.Errorf("preview %q, want both lines", got.Preview)
	}
}

// TestExecKilled kills filebus while its command runs. Commands that come after
// the command's end store its output, once.
func TestExecKilled(t *testing.T) {
	t.Parallel()
	wantShell(t)
	dir := t.TempDir()
	cmd, _ := startCommand(t, dir, "echo on; while [ ! -e go ]; do sleep 0.01; done; echo off", "--call", "k1", "--agent", "lost")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if out := mustRun(t, dir, "list", "--json"); out != "{\"records\":[]}\n" {
		t.Errorf("records while the command runs on: %s, want none", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	notes := 0
	for end := time.Now().Add(time.Minute); notes == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		notes = listAtOnce(t, dir)
	}
	if notes != 1 {
		t.Errorf("%d commands say that they have stored the output, want 1", notes)
	}
	if got := mustRun(t, dir, "get", "result/c1/k1"); got != "on\noff\n" {
		t.Errorf("the output is %q", got)
	}
	if got := mustRun(t, dir, "show", "result/c1/k1", "--json"); !strings.Contains(got, `"status":"interrupted"`) || strings.Contains(got, `"exit"`) ||
		!strings.Contains(got, `"agent":"lost"`) || !strings.Contains(got, `"source":"exec"`) {
		t.Errorf("the record is %s", got)
	}
	if got := mustRun(t, dir, "verify"); !strings.HasPrefix(got, "1 record") || !strings.Contains(got, "sound") {
		t.Errorf("verify = %s", got)
	}
}

// listAtOnce runs several commands at once and counts those that stored an output.
func listAtOnce(t *testing.T, dir string) int {
	t.Helper()
	notes := make([]int, 4)
	var wg sync.WaitGroup
	for i := range notes {
		wg.Go(func() {
			out, err := filebusCommand(t, dir, "list").CombinedOutput()
			if err != nil {
				t.Errorf("list: %v: %s", err, out)
			}
			notes[i] = strings.Count(string(out), "that was cut off")
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range notes {
		sum += n
	}
	return sum
}

// TestManyExecs runs commands of many processes at once in one conversation, in a
// folder without a store.
func TestManyExecs(t *testing.T) {
	t.Parallel()
	wantShell(t)
	processes := manyProcesses(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			script := fmt.Sprintf("echo Result %d.", p)
			out, err := filebusCommand(t, dir, "exec", "--conversation", "c1", "--", "sh", "-c", script).Output()
			if err != nil {
				t.Errorf("exec: %v", err)
				return
			}
			text, err := os.ReadFile(reference(t, out).ResultFile)
			if want := fmt.Sprintf("Result %d.\n", p); err != nil || string(text) != want {
				t.Errorf("the file of %s holds %q, %v; want %q", out, text, err, want)
			}
		})
	}
	wg.Wait()
	if out := mustRun(t, dir, "verify"); !strings.HasPrefix(out, fmt.Sprintf("%d records", processes)) || !strings.Contains(out, "sound") {
		t.Errorf("verify = %s, want %d records, sound", out, processes)
	}
	files, err := filepath.Glob(filepath.Join(dir, ".claude", "agent_tool_results", "c1", "*.md"))
	if err != nil || len(files) != processes {
		t.Errorf("%d files for %d commands, %v", len(files), processes, err)
	}
}

// TestExecBackground leaves a process behind that holds stdout and stderr.
func TestExecBackground(t *testing.T) {
	t.Parallel()
	wantShell(t)
	dir := t.TempDir()
	cmd := filebusCommand(t, dir, "exec", "--tee", "--", "sh", "-c", "sleep 600 2>/dev/null & echo $!")
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	got := reference(t, out.Bytes())
	var pid int
	if _, err := fmt.Sscan(got.Preview, &pid); err != nil {
		t.Fatalf("preview %q, want a number: %v", got.Preview, err)
	}
	if process, err := os.FindProcess(pid); err == nil {
		_ = process.Kill() // it has nothing to do any more
	}
	if !strings.Contains(notes.String(), "left a process behind") {
		t.Errorf("stderr is %q, want a word about the process", notes.String())
	}
}

// TestExecUnread has its output shown to somebody who has gone away.
func TestExecUnread(t *testing.T) {
	t.Parallel()
	wantShell(t)
	dir := t.TempDir()
	mustRun(t, dir, "init")
	for _, args := range [][]string{{"exec", "--tee"}, {"exec"}} {
		r, gone, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close() // only made
		cmd := filebusCommand(t, dir, append(args, "--conversation", "c1", "--", "sh", "-c", "echo said; exit 4")...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, gone
		want := 4
		if len(args) == 1 { // nobody reads the reference
			cmd.Stdout, cmd.Stderr, want = gone, &out, result.ExitExec
		}
		_ = cmd.Run() // the exit code tells
		_ = gone.Close()
		if got := cmd.ProcessState.ExitCode(); got != want || !strings.Contains(out.String(), "c1/") {
			t.Errorf("%v: exit code %d, %q; want %d", args, got, out.String(), want)
		}
	}
	if got := mustRun(t, dir, "list", "--status", "failed", "--limit", "9"); strings.Count(got, "\n") != 2 {
		t.Errorf("stored: %s, want two results", got)
	}
}
