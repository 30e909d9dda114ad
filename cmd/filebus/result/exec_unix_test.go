//go:build unix

package result_test

import (
	"fmt"
	"io/fs"
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
	"filebus/materialize"
)

// playUnixAgent plays an agent that deals with signals and limits.
func playUnixAgent(job []string) int {
	switch job[0] {
	case "catch": // ends well when it gets a signal
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH)
		fmt.Println("ready")
		fmt.Println(<-c)
	case "stubborn": // hears nothing
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	case "helped": // hears nothing, but its helper does
		child := agent("catch")
		child.Stdout = os.Stdout
		signal.Ignore(syscall.SIGTERM)
		if err := child.Run(); err != nil {
			return 1
		}
	case "limited": // fills a small disk
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 4096, Max: 4096}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return 2
		}
		return playAgent([]string{"bytes", "1000000"})
	default:
		panic(fmt.Sprintf("no job %q", job))
	}
	return 0
}

func TestExecSignals(t *testing.T) {
	t.Parallel()
	heard := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) { // by nohup, or a shell's background: what agents would inherit
			signal.Notify(heard, s)
		}
	}
	defer signal.Stop(heard)
	w := newWorkspace(t)
	tests := []struct {
		job    string
		signal syscall.Signal
		status string
		exit   int
		text   string
	}{
		{"catch", syscall.SIGINT, "done", 0, "ready\ninterrupt\n"},
		{"catch", syscall.SIGTERM, "done", 0, "ready\nterminated\n"},
		{"catch", syscall.SIGHUP, "done", 0, "ready\nhangup\n"},
		{"catch", syscall.SIGQUIT, "done", 0, "ready\nquit\n"},
		{"catch", syscall.SIGUSR1, "done", 0, "ready\nuser defined signal 1\n"},
		{"catch", syscall.SIGUSR2, "done", 0, "ready\nuser defined signal 2\n"},
		{"catch", syscall.SIGWINCH, "done", 0, "ready\nwindow changed\n"},
		{"helped", syscall.SIGTERM, "done", 0, "ready\nterminated\n"},
		{"stubborn", syscall.SIGINT, "killed", 130, "ready\n"},
		{"stubborn", syscall.SIGHUP, "killed", 129, "ready\n"},
	}
	for _, test := range tests {
		signals := make(chan os.Signal, 1)
		c := command(test.job)
		c.Signals = signals
		var wg sync.WaitGroup
		var run *result.Execution
		var err error
		wg.Go(func() { run, err = result.Exec(t.Context(), w, result.Call{}, c) })
		waitForOutput(t, w, "ready\n")
		signals <- test.signal
		wg.Wait()
		if err != nil {
			t.Fatalf("%s after %v: %v", test.job, test.signal, err)
		}
		if got := textOf(t, run.Stored); run.Status != test.status || run.Exit != test.exit || got != test.text {
			t.Errorf("%s after %v: %s, exit %d, %q; want %s, %d, %q", test.job, test.signal, run.Status, run.Exit, got, test.status, test.exit, test.text)
		}
	}
}

// TestExecForeground passes on only what a terminal does not send by itself.
func TestExecForeground(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	signals := make(chan os.Signal, 2)
	c := command("catch")
	c.Signals, c.Foreground = signals, true
	var wg sync.WaitGroup
	wg.Go(func() {
		run, err := result.Exec(t.Context(), w, result.Call{}, c)
		if err != nil {
			t.Error(err)
		} else if got := textOf(t, run.Stored); got != "ready\nhangup\n" {
			t.Errorf("the command heard %q, want the hangup alone", got)
		}
	})
	waitForOutput(t, w, "ready\n")
	signals <- syscall.SIGINT
	signals <- syscall.SIGHUP
	wg.Wait()
}

// TestExecKill ends a command that does not hear that its time is over.
func TestExecKill(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	c := command("stubborn")
	c.Timeout, c.KillAfter = 300*time.Millisecond, 100*time.Millisecond
	run := mustExec(t, w, result.Call{}, c)
	if run.Status != "timeout" || run.Exit != 124 {
		t.Errorf("a stubborn command after its time: %s, exit %d", run.Status, run.Exit)
	}
}

// TestExecFullDisk runs a command that cannot write all of its output: what it
// wrote is stored.
func TestExecFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	run := mustExec(t, w, result.Call{}, command("limited"))
	if got := len(textOf(t, run.Stored)); run.Status != "failed" || run.Exit != 1 || got != 4096 {
		t.Errorf("an output that found no room: %s, exit %d, %d bytes; want failed, 1, 4096", run.Status, run.Exit, got)
	}
}

// TestExecBackground leaves a process behind that keeps the output open.
func TestExecBackground(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	file := filepath.Join(t.TempDir(), "go")
	touch(t, file+".started")
	run := mustExec(t, w, result.Call{}, command("leave", file))
	touch(t, file)
	if !run.Background || run.Status != "done" || strings.Contains(textOf(t, run.Stored), "last") {
		t.Errorf("a command that left a process behind: %s, background %v, %q", run.Status, run.Background, textOf(t, run.Stored))
	}
	wantNoSpool(t, w)
}

// startExec starts a process that runs a command, which has written its first
// line when startExec returns.
func startExec(t *testing.T, w *materialize.Workspace, job ...string) *exec.Cmd {
	t.Helper()
	cmd := agent(append([]string{"exec", w.Root}, job...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForOutput(t, w, "first\n")
	return cmd
}

// TestRecoverKilled kills a process while its command runs. The command goes on,
// and what it wrote is stored when it has ended.
func TestRecoverKilled(t *testing.T) {
	// Alone: a process that another test starts has its locks, too, until it runs its program.
	w := newWorkspace(t)
	file := filepath.Join(t.TempDir(), "go")
	cmd := startExec(t, w, "wait", file)
	wantPrivate(t, w)
	if all, err := result.Recover(t.Context(), w); len(all) != 0 || err != nil {
		t.Errorf("Recover while the command runs = %v, %v", all, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if all, err := result.Recover(t.Context(), w); len(all) != 0 || err != nil {
		t.Errorf("Recover while the command runs on alone = %v, %v", all, err)
	}
	touch(t, file)
	waitForOutput(t, w, "first\nlast\n")
	got := recoverAtOnce(t, w)
	if len(got) != 1 {
		t.Fatalf("%d results recovered, want 1", len(got))
	}
	r := got[0].Record
	if got[0].Name.ID != "c1/k1" || r.Status != "interrupted" || r.Exit != nil || r.Agent != "lost_one" || r.Task != "t1" || len(r.Tags) != 1 {
		t.Errorf("recovered %s: %+v", got[0].Name, r)
	}
	if text := textOf(t, got[0]); text != "first\nlast\n" || got[0].Reference().Preview != "[interrupted] first last" {
		t.Errorf("recovered %q with the preview %q", text, got[0].Reference().Preview)
	}
	wantNoSpool(t, w)
}

// wantPrivate fails if others could read the output of a command that runs.
func wantPrivate(t *testing.T, w *materialize.Workspace) {
	t.Helper()
	spool := filepath.Join(w.Location.Store, "spool")
	err := filepath.WalkDir(spool, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// recoverAtOnce recovers from several goroutines until something is recovered.
func recoverAtOnce(t *testing.T, w *materialize.Workspace) []*result.Stored {
	t.Helper()
	var got []*result.Stored
	for end := time.Now().Add(time.Minute); len(got) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				all, err := result.Recover(t.Context(), w)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, all...)
			})
		}
		wg.Wait()
	}
	return got
}
