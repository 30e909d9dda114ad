package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// A watchProcess is a watch that runs, and what it has said.
type watchProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	mu   sync.Mutex
	out  string
	errs string
}

// startWatch starts a watch of the workspace below dir, which looks by events alone.
func startWatch(t *testing.T, dir string, args ...string) *watchProcess {
	t.Helper()
	p := &watchProcess{t: t, cmd: filebusCommand(t, dir, append([]string{"watch", "--every", "1h"}, args...)...)}
	out, err := p.cmd.StdoutPipe()
	must(t, err)
	errs, err := p.cmd.StderrPipe()
	must(t, err)
	p.cmd.Env = append(p.cmd.Env, "FILEBUS_STORE=")
	must(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it may have ended
	p.collect(out, &p.out)
	p.collect(errs, &p.errs)
	p.waitFor(&p.errs, "watching ")
	return p
}

func (p *watchProcess) collect(from io.Reader, to *string) {
	go func() {
		for lines := bufio.NewScanner(from); lines.Scan(); {
			p.mu.Lock()
			*to += lines.Text() + "\n"
			p.mu.Unlock()
		}
	}()
}

// waitFor waits until the watch has said each of some texts.
func (p *watchProcess) waitFor(where *string, texts ...string) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		p.mu.Lock()
		missing := ""
		for _, text := range texts {
			if !strings.Contains(*where, text) {
				missing = text
			}
		}
		p.mu.Unlock()
		if missing == "" {
			return
		}
		if end.Before(time.Now().Add(3 * time.Millisecond)) {
			p.mu.Lock()
			p.t.Fatalf("it has not said %q\nstdout:\n%s\nstderr:\n%s", missing, p.out, p.errs)
		}
	}
}

func (p *watchProcess) said() (out, errs string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out, p.errs
}

// end interrupts the watch and returns its exit code.
func (p *watchProcess) end() int {
	p.t.Helper()
	if runtime.GOOS == "windows" { // no interrupt can be sent there
		return cli.ExitInterrupted
	}
	must(p.t, p.cmd.Process.Signal(os.Interrupt))
	_ = p.cmd.Wait() // the exit code tells
	return p.cmd.ProcessState.ExitCode()
}

// writeIn writes a file below dir, with its folders.
func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(file), 0o777))
	must(t, os.WriteFile(file, []byte(text), 0o666))
}

// TestWatch changes files in the ways in which agents and editors do, and takes the
// whole folder away.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "Pröjekt eins")
	writeIn(t, dir, ".claude/journal/task-001.md", "# Task: First\n")
	w := startWatch(t, dir, "--json")
	w.waitFor(&w.out, `"name":"handoff/task-001"`)

	results := ".claude/agent_tool_results/"
	writeIn(t, dir, results+"new/deep.md", "A report in a new folder.\r\n")
	w.waitFor(&w.out, `"name":"result/new/deep"`)
	writeIn(t, dir, results+"new/late.md", "\xff\xfe and no UTF-8")
	w.waitFor(&w.out, `"name":"result/new/late"`)
	writeIn(t, dir, "out.part", "An editor renames this.\n")
	must(t, os.Rename(filepath.Join(dir, "out.part"), filepath.Join(dir, results+"new", "renamed.md")))
	w.waitFor(&w.out, `"name":"result/new/renamed"`)
	mustRun(t, dir, "put", filepath.Join(dir, results, "new/deep.md"), "--name", "note/by a command.md")
	w.waitFor(&w.out, `"name":"note/by a command.md"`)
	checkIdle(t, w, dir)

	held, err := os.Create(filepath.Join(dir, results+"new", "held.md"))
	must(t, err)
	for range 5 { // a report that comes in pieces
		_, err := held.WriteString("another piece\n")
		must(t, err)
		time.Sleep(100 * time.Millisecond)
	}
	must(t, held.Close())
	w.waitFor(&w.out, `"name":"result/new/held"`)

	must(t, os.Rename(dir, dir+".away"))
	writeIn(t, dir, "README", "A folder of the same name.")
	w.waitFor(&w.errs, "filebus init")
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(dir+".away", dir))
	w.waitFor(&w.errs, "it goes on")
	writeIn(t, dir, results+"back/again.md", "Back again.\n")
	w.waitFor(&w.out, `"name":"result/back/again"`)

	if code := w.end(); code != cli.ExitInterrupted {
		t.Errorf("interrupted: exit code %d, want %d", code, cli.ExitInterrupted)
	}
	out, _ := w.said()
	position := 0
	for line := range strings.Lines(out) {
		var change struct {
			Position      int
			Op, Ref, Name string
		}
		must(t, json.Unmarshal([]byte(line), &change))
		if position++; change.Position != position || change.Op != "put" || len(change.Ref) != 64 {
			t.Errorf("line %d is %s", position, line)
		}
	}
	if got := mustRun(t, dir, "get", "result/new/held"); strings.Count(got, "another piece\n") != 5 {
		t.Errorf("the file that came in pieces is %q", got)
	}
}

// checkIdle makes sure that a watch at rest has no file of the store open, and that it
// rests.
func checkIdle(t *testing.T, w *watchProcess, dir string) {
	if runtime.GOOS != "linux" {
		return
	}
	own := fmt.Sprintf("/proc/%d/", w.cmd.Process.Pid)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		open := ""
		handles, err := os.ReadDir(own + "fd")
		must(t, err)
		for _, h := range handles {
			if at, _ := os.Readlink(own + "fd/" + h.Name()); strings.HasPrefix(at, dir) {
				open += at + "\n"
			}
		}
		if open == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("at rest it has open:\n%s", open)
		}
	}
}

// TestWatchExec runs a command for each change, of which one fails, and one that prints.
func TestWatchExec(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is one of sh")
	}
	dir := t.TempDir()
	w := startWatch(t, dir, "--exec", `echo "$FILEBUS_OP|$FILEBUS_NAME|$FILEBUS_REF|$FILEBUS_PATH|$FILEBUS_STORE"; cat; test "$FILEBUS_NAME" != result/c/bad`)
	for _, name := range []string{"bad", "Good $(touch x)"} {
		writeIn(t, dir, ".claude/agent_tool_results/c/"+name+".md", "The text of "+name)
		w.waitFor(&w.errs, "put|result/c/"+name+"|", filepath.Join(dir, ".claude/agent_tool_results/c", name+".md")+"|"+filepath.Join(dir, ".filebus"))
	}
	w.waitFor(&w.errs, "filebus: --exec: exit status 1, after put result/c/bad")
	w.waitFor(&w.out, "result/c/Good") // which the watch may say after it has run the command
	if out, _ := w.said(); strings.Contains(out, "|") || strings.Count(out, "\n") != 2 {
		t.Errorf("stdout has what is not the watch's:\n%s", out)
	}
	if code := w.end(); code != cli.ExitInterrupted {
		t.Errorf("interrupted: exit code %d, want %d", code, cli.ExitInterrupted)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a name was run")
	}
}

// TestWatchConflict has two worktrees change one entry: a watch keeps both versions, and says so once.
func TestWatchConflict(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, other, queue := filepath.Join(top, "a"), filepath.Join(top, "b"), ".claude/issue_queue.md"
	writeIn(t, dir, "README", "A project.\n")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	mustRun(t, dir, "issue", "add", "It is slow", "--type", "bug")
	git("add", "-f", "README", queue)
	git("commit", "-qm", "first")
	git("worktree", "add", "-q", other)
	text, err := os.ReadFile(filepath.Join(dir, queue))
	must(t, err)
	sync := func() {
		t.Helper()
		cmd := filebusCommand(t, other, "sync")
		cmd.Env = append(cmd.Env, "FILEBUS_STORE=") // that of the repository
		must(t, cmd.Run())
	}
	sync()
	writeIn(t, other, queue, strings.ReplaceAll(string(text), "It is slow", "It is slow at night"))
	sync()
	writeIn(t, dir, queue, strings.ReplaceAll(string(text), "It is slow", "It was slow"))
	w := startWatch(t, dir)
	w.waitFor(&w.out, "  put!  ", "conflict\t"+filepath.Join(dir, queue))
	if code := w.end(); code != cli.ExitInterrupted {
		t.Errorf("interrupted: exit code %d, want %d", code, cli.ExitInterrupted)
	}
	if out, _ := w.said(); strings.Count(out, "\n") != 2 {
		t.Errorf("it tells:\n%s", out)
	}
	if got := mustRun(t, dir, "conflicts"); !strings.Contains(got, "issue/ISSUE-") {
		t.Errorf("conflicts: %s", got)
	}
}

// TestWatchSlow runs a command that does not end: that is said, and an interrupt ends the watch all the same.
func TestWatchSlow(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is one of sh")
	}
	dir := t.TempDir()
	w := startWatch(t, dir, "--every", "100ms", "--exec", "sleep 600; true")
	writeIn(t, dir, ".claude/agent_tool_results/c/k.md", "A text")
	w.waitFor(&w.errs, "--exec: its command still runs, after put result/c/k; further changes wait")
	start := time.Now()
	if code := w.end(); code != cli.ExitInterrupted || time.Since(start) > 5*time.Minute {
		t.Errorf("interrupted: exit code %d after %v", code, time.Since(start))
	}
}

// TestWatchMany has three watches beside commands that change one queue: each tells
// each change, and nothing is stored twice.
func TestWatchMany(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "issue", "add", "Number 0", "--type", "bug")
	var all []*watchProcess
	for range 3 {
		all = append(all, startWatch(t, dir))
	}
	for i := range 4 {
		mustRun(t, dir, "issue", "add", fmt.Sprint("Another one, ", strings.Repeat("x", 7*i)), "--type", "bug")
		writeIn(t, dir, fmt.Sprintf(".claude/agent_tool_results/c/k%d.md", i), fmt.Sprintf("Result %d.\n", i))
	}
	for _, w := range all {
		for i := range 4 {
			w.waitFor(&w.out, fmt.Sprintf("result/c/k%d\n", i), fmt.Sprintf("-00%d\n", i+2))
		}
	}
	first, _ := all[0].said()
	for _, w := range all {
		if code := w.end(); code != cli.ExitInterrupted {
			t.Errorf("interrupted: exit code %d, want %d", code, cli.ExitInterrupted)
		}
		out, errs := w.said()
		if out != first || strings.Count(errs, "\n") > 1 {
			t.Errorf("one watch tells:\n%s\nanother:\n%s%s", first, out, errs)
		}
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
	for i := range 4 {
		if n := strings.Count(first, fmt.Sprintf("result/c/k%d\n", i)); n != 1 {
			t.Errorf("result %d was stored %d times", i, n)
		}
	}
}

// TestWatchUnread closes the output of a watch: it ends at the next line.
func TestWatchUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := filebusCommand(t, dir, "watch", "--every", "1h")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	waitForFile(t, filepath.Join(dir, ".filebus", "mirror", "lock"))
	must(t, out.Close())
	writeIn(t, dir, ".claude/agent_tool_results/c/k.md", "Nobody reads of it.\n")
	late := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() }) // it hangs
	err = cmd.Wait()
	if !late.Stop() || err == nil {
		t.Errorf("it did not end by itself: %v", err)
	}
}
