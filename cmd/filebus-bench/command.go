package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A command is a process to run and measure.
type command struct {
	dir    string
	args   []string // the program first
	stdin  io.Reader
	stdout io.Writer // nil: kept in the outcome
}

// An outcome is what a process that succeeded did.
type outcome struct {
	elapsed time.Duration
	peak    int64 // bytes of memory at most; 0 if it was not measured: see executeSmall
	stdout  []byte
}

// execute runs a process and waits for it. Another exit code than 0 is an error
// that tells what the process said.
func (b *bench) execute(ctx context.Context, c command) (outcome, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, b.environment(), c.stdin, c.stdout, &stderr
	endGently(cmd)
	if c.stdout == nil {
		cmd.Stdout = &stdout
	}
	begin := time.Now()
	err := cmd.Run()
	done := outcome{elapsed: time.Since(begin), stdout: stdout.Bytes()}
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		return done, fmt.Errorf("%s: %w: %s", strings.Join(c.args[:min(len(c.args), 6)], " "), err, said)
	}
	return done, nil
}

// endGently makes an interrupt reach a process as a signal that it can pass on to
// its own children, and kills it if that does not end it soon.
func endGently(cmd *exec.Cmd) {
	cmd.WaitDelay = 5 * time.Second
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return cmd.Process.Kill() // where there are no signals
		}
		return nil
	}
}

// environment is that of the user without what configures the tools that are
// measured: their default settings count. No store is remembered among the user's.
func (b *bench) environment() []string {
	var env []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		own := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if name == "HOME" || name == "RIPGREP_CONFIG_PATH" || own("XDG_") || own("FILEBUS_") || own("GIT_") || own("CLAUDE_") || own("CODEX_") {
			continue
		}
		env = append(env, variable)
	}
	if b.profiles != "" {
		env = append(env, profileVariable+"="+b.profiles)
	}
	return append(env, "HOME="+b.temp, "GIT_CONFIG_NOSYSTEM=1", "FILEBUS_STATE=off")
}

// process returns a measurement of a whole process.
func (b *bench) process(c command) func(ctx context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		done, err := b.execute(ctx, c)
		return milliseconds(done.elapsed), err
	}
}

// A workspace is a folder with a store of its own.
type workspace struct{ dir string }

// newWorkspace makes an empty folder; the first write makes the store.
func (b *bench) newWorkspace(name string) (*workspace, error) {
	dir, err := b.folder(name)
	return &workspace{dir}, err
}

// storeDir returns the folder of the store.
func (w *workspace) storeDir() string { return filepath.Join(w.dir, ".filebus") }

// filebus returns a command line for the workspace.
func (b *bench) filebusIn(w *workspace, args ...string) command {
	return command{dir: w.dir, args: append([]string{b.program, "--store", w.storeDir()}, args...)}
}

// stock returns a workspace that holds the made texts, captured as one tree and
// indexed. It is made once and must not be changed.
func (b *bench) stock(ctx context.Context) (*workspace, error) {
	if b.stocked != nil {
		return b.stocked, nil
	}
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	w, err := b.newWorkspace("stock")
	if err != nil {
		return nil, err
	}
	if err := b.fill(ctx, w, texts); err != nil {
		return nil, err
	}
	b.stocked = w
	return w, nil
}

// fill captures texts into a workspace and indexes them.
func (b *bench) fill(ctx context.Context, w *workspace, texts *corpus) error {
	if _, err := b.execute(ctx, b.filebusIn(w, "capture", "--tree", "made", texts.dir)); err != nil {
		return err
	}
	_, err := b.execute(ctx, b.filebusIn(w, "reindex"))
	return err
}
