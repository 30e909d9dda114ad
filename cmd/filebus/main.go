// Filebus stores what agents produce and finds it again: see package filebus
// for an introduction, and docs/cli.md for the commands.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"filebus/store/record"
)

func main() {
	collectLate()
	log.SetOutput(io.Discard) // libraries have nothing to say to users
	os.Exit(profiled(runMain))
}

// grace is how long a command may take to end by itself after an interrupt.
const grace = 2 * time.Second

// runMain runs the process's command line and returns the exit code.
func runMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A read from a terminal or from a pipe that nobody writes to hears of no
	// context. It is cut off, as by a crash; a second interrupt does so at once.
	finished := context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(grace)
		os.Exit(exitInterrupted)
	})
	defer finished()
	env := &environ{
		syncBudget: usualSyncBudget,
		gitBudget:  usualGitBudget,
		in:         os.Stdin,
		out:        os.Stdout,
		err:        os.Stderr,
		getenv:     os.Getenv,
		now:        time.Now,

		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),

		variables: os.Environ(),
		takeSignals: func(which []os.Signal) <-chan os.Signal {
			finished()
			return notify(which)
		},
	}
	if dir, err := os.Getwd(); err == nil {
		env.dir = dir
	}
	if env.outTerminal {
		env.columns, env.rows, _ = term.GetSize(int(os.Stdout.Fd())) // 0 if it does not say
	}
	return run(ctx, env, os.Args[1:])
}

// notify returns a channel for signals. Of a hangup nobody hears who was started
// by nohup.
func notify(signals []os.Signal) <-chan os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		signals = slices.DeleteFunc(signals, func(s os.Signal) bool { return s == syscall.SIGHUP })
	}
	c := make(chan os.Signal, 16) // as many as may come before somebody looks
	signal.Notify(c, signals...)
	return c
}

// run executes a command line in an environment and returns the exit code.
func run(ctx context.Context, env *environ, args []string) int {
	inside := *env // a command line has its own flags and output
	defer inside.guard()()
	out, notes := &resultWriter{w: inside.out}, &resultWriter{w: inside.err}
	inside.out, inside.err, inside.args = out, notes, args
	inside.hooks = usualHooks()
	if i := slices.Index(args, "--version"); i == 0 || i == 1 && args[0] == "--json" {
		args = slices.Replace(slices.Clone(args), i, i+1, "version")
	}
	root := newRootCommand(&inside, args)
	root.SetArgs(searchArguments(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !inside.started {
		inside.global.json = inside.global.json || wantsJSON(args)
		if !errors.As(err, new(*exitError)) && !errors.As(err, new(*record.Error)) {
			err = asUsage(cmd, err)
		}
	}
	if err == nil {
		err = out.err
	}
	exit := exitDone
	if err != nil {
		exit = inside.fail(err)
	}
	if isHook(cmd) {
		exit = exitDone // a client takes others for its own
	}
	inside.logRead(out.size + notes.size)
	return exit
}

// usualHooks are what the commands of filebus do for each other.
func usualHooks() hooks {
	return hooks{commands: commands, welcome: welcome, settle: settleTasks, retain: retain}
}

// welcome looks after what was left behind in a workspace, and gives it its arbiter.
func welcome(w *workspace) {
	w.recoverOutputs(w.Workspace)
	w.arbitrate()
}

// wantsJSON reports whether a command line asks for JSON that could not be read
// as far as that.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--json" || strings.HasPrefix(arg, "--json=") && arg != "--json=false"
	})
}

// A resultWriter remembers the first error, so that commands may print without
// looking, and writes no more after it. It counts what was written.
type resultWriter struct {
	w    io.Writer
	err  error
	size int64
}

// Write writes, unless an earlier write has failed.
func (r *resultWriter) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.w.Write(p)
	r.err, r.size = err, r.size+int64(n)
	return n, err
}
