package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A command is a process to run and measure.
type command struct {
	dir    string
	args   []string // the program first
	stdin  io.Reader
	stdout io.Writer // nil: kept in the outcome
	env    []string  // besides the usual
	peak   bool      // its memory is measured: see measureCommand
}

// An outcome is what a process that succeeded did. As JSON it is what it took.
type outcome struct {
	Elapsed   time.Duration
	Processor time.Duration // of all its threads, in its own code and in the system's
	Peak      int64         // bytes of memory at most; 0 if it was not measured
	Own       int64         // of these, what is not mapped from files; all where the system does not tell
	stdout    []byte
}

// megabytes returns the peak; nothing where the system does not tell.
func (o outcome) megabytes() sample { return megabytes(o.Peak) }

func megabytes(bytes int64) sample {
	if bytes == 0 {
		return nil
	}
	return sample{float64(bytes) / 1e6}
}

// execute runs a process and waits for it. An exit code other than 0 is an error with what the process said.
func (b *bench) execute(ctx context.Context, c command) (outcome, error) {
	args, report := c.args, filepath.Join(b.temp, "usage")
	if c.peak {
		self, err := os.Executable()
		if err != nil {
			return outcome{}, err
		}
		args = append([]string{self, measureCommand, report}, args...)
	}
	var stdout, stderr bytes.Buffer
	cmd := newProcess(ctx, args)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, append(b.environment(), c.env...), c.stdin, c.stdout, &stderr
	if c.stdout == nil {
		cmd.Stdout = &stdout
	}
	done, err := outcomeOf(cmd)
	if done.Peak = 0; c.peak && err == nil {
		var text []byte
		if text, err = os.ReadFile(report); err == nil {
			err = json.Unmarshal(text, &done)
		}
	}
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		return outcome{}, fmt.Errorf("%s: %w: %s", strings.Join(c.args[:min(len(c.args), 6)], " "), err, said)
	}
	done.stdout = stdout.Bytes()
	return done, nil
}

// newProcess returns a process that passes an interrupt on to its own children, as
// a signal, and is killed if that does not end it soon.
func newProcess(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return cmd.Process.Kill() // where there are no signals
		}
		return nil
	}
	return cmd
}

// outcomeOf runs a process.
func outcomeOf(cmd *exec.Cmd) (outcome, error) {
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	ended, own := make(chan struct{}), make(chan int64)
	go func() { own <- mostOwn(cmd.Process.Pid, ended) }()
	err := cmd.Wait()
	elapsed, state := time.Since(begin), cmd.ProcessState
	close(ended)
	most, peak := <-own, peakMemory(state)
	return outcome{elapsed, state.UserTime() + state.SystemTime(), peak, cmp.Or(most, peak), nil}, err
}

// mostOwn looks at a process until it has ended, and returns the most bytes of memory
// that were not mapped from files; 0 where there is no /proc.
func mostOwn(pid int, ended <-chan struct{}) (most int64) {
	looks := time.NewTicker(20 * time.Millisecond)
	defer looks.Stop()
	for {
		select {
		case <-ended:
			return most
		case <-looks.C:
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // none: see above
			_, said, _ := strings.Cut(string(text), "RssAnon:")
			var kilobytes int64
			_, _ = fmt.Sscan(said, &kilobytes)
			most = max(most, kilobytes<<10)
		}
	}
}

// peakMemory returns the greatest resident size of a process that has ended, in
// bytes; 0 where the system does not tell: what it says is another structure on each.
func peakMemory(state *os.ProcessState) int64 {
	said := reflect.Indirect(reflect.ValueOf(state.SysUsage()))
	if said.Kind() != reflect.Struct || !said.FieldByName("Maxrss").IsValid() {
		return 0
	}
	peak := said.FieldByName("Maxrss").Int()
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return peak // bytes there, kilobytes elsewhere
	}
	return peak << 10
}

// profileVariable names the folder into which a filebus that is built with the tag
// filebus_profile writes its profiles.
const profileVariable = "FILEBUS_PROFILE_DIR"

// environment is that of the user without what configures the tools that are
// measured: their default settings count. No store is remembered among the user's.
func (b *bench) environment() []string {
	var env []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		foreign := name == "HOME" || name == "RIPGREP_CONFIG_PATH"
		for _, prefix := range []string{"XDG_", "FILEBUS_", "GIT_", "CLAUDE_", "CODEX_"} {
			foreign = foreign || strings.HasPrefix(name, prefix)
		}
		if !foreign || name == profileVariable {
			env = append(env, variable)
		}
	}
	return append(env, "HOME="+b.temp, "GIT_CONFIG_NOSYSTEM=1", "FILEBUS_STATE=off")
}

// measureCommand is the hidden first argument that makes this program run the
// command behind it and report what it took.
//
// The peak of a process that the system reports holds what its parent had in
// memory when it was started: until the new program is loaded, it shares the
// parent's. A parent that has loaded texts would be taken for its child, so a
// small one stands between.
const measureCommand = "measure-command"

// measureMain runs a command with the standard streams of this process and
// writes its usage to a file.
func measureMain(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s needs a file and a command", measureCommand)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := newProcess(ctx, args[1:])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	took, err := outcomeOf(cmd)
	if err != nil {
		return err
	}
	text, err := json.Marshal(took)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], text, 0o666)
}

// always is the command of every turn.
func always(c command) func() command { return func() command { return c } }

// eachTurn returns a command of other words each turn; processes that run at once
// may share it.
func eachTurn(queries [][]string, of func(words []string) command) func() command {
	var turn atomic.Int64
	return func() command { return of(queries[int(turn.Add(1)-1)%len(queries)]) }
}
