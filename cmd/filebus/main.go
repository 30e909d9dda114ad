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

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/issue"
	"filebus/cmd/filebus/result"
	runs "filebus/cmd/filebus/run"
	"filebus/cmd/filebus/task"
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
		os.Exit(cli.ExitInterrupted)
	})
	defer finished()
	env := &cli.Environ{
		SyncBudget: cli.UsualSyncBudget,
		GitBudget:  usualGitBudget,
		In:         os.Stdin,
		Out:        os.Stdout,
		Err:        os.Stderr,
		Getenv:     os.Getenv,
		Now:        time.Now,

		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),

		Variables: os.Environ(),
		TakeSignals: func(which []os.Signal) <-chan os.Signal {
			finished()
			return notify(which)
		},
	}
	if dir, err := os.Getwd(); err == nil {
		env.Dir = dir
	}
	if env.OutTerminal {
		env.Columns, env.Rows, _ = term.GetSize(int(os.Stdout.Fd())) // 0 if it does not say
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
func run(ctx context.Context, env *cli.Environ, args []string) int {
	inside := *env // a command line has its own flags and output
	defer inside.Guard()()
	out, notes := &cli.ResultWriter{W: inside.Out}, &cli.ResultWriter{W: inside.Err}
	inside.Out, inside.Err, inside.Args = out, notes, args
	inside.Hooks = usualHooks()
	if i := slices.Index(args, "--version"); i == 0 || i == 1 && args[0] == "--json" {
		args = slices.Replace(slices.Clone(args), i, i+1, "version")
	}
	root := newRootCommand(&inside, args)
	root.SetArgs(searchArguments(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !inside.Started {
		inside.Global.JSON = inside.Global.JSON || wantsJSON(args)
		if !errors.As(err, new(*cli.ExitError)) && !errors.As(err, new(*record.Error)) {
			err = cli.AsUsage(cmd, err)
		}
	}
	if err == nil {
		err = out.Err
	}
	exit := cli.ExitDone
	if err != nil {
		exit = inside.Fail(err)
	}
	if isHook(cmd) {
		exit = cli.ExitDone // a client takes others for its own
	}
	inside.LogRead(out.Size + notes.Size)
	return exit
}

// usualHooks are what the commands of filebus do for each other.
func usualHooks() cli.Hooks {
	return cli.Hooks{Commands: commands, Welcome: welcome, Settle: settle, Retain: retain}
}

// settle tells the session state and the queue of issues what became of tasks.
func settle(ctx context.Context, w *cli.Work, tasks ...string) {
	runs.SettleTasks(ctx, w, tasks...)
	issue.SettleTask(ctx, w, task.Of(w).Standing, tasks...)
}

// welcome looks after what was left behind in a workspace, and gives it its arbiter.
func welcome(w *cli.Work) {
	result.RecoverOutputs(w.Environ, w.Workspace)
	arbitrate(w)
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
