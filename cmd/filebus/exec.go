package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/store/record"
)

// resultCommands are the commands that make results, and tell of them.
func resultCommands() []command {
	return []command{
		{
			use: "combine [flags] INPUT...", open: (*environ).createFresh,
			do: &combineCommand{callFlags: usualCall(), Separator: `\n\n`},
		},
		plain("exec [flags] -- CMD [ARG]...", &execCommand{
			callFlags: usualCall(), KillAfter: 5 * time.Second, Round: noRound,
		}),
		group("schema",
			plain("inject FILE|-", &schemaInject{}),
			plain("check SCHEMA OUTPUT|NAME|-", runFunc(checkSchema)),
		),
		group("conversation",
			fresh("list", &conversationList{filterFlags: picking("tree", "agent", "since"), page: page{Limit: 50}}),
			fresh("show ID", &conversationShow{Format: "lines", page: page{Limit: 50}}),
		),
		fresh("budget", &budgetCommand{}),
	}
}

type execCommand struct {
	callFlags
	structuredFlags
	Timeout   time.Duration `flag:"timeout"`
	KillAfter time.Duration `flag:"kill-after"`
	Tee       bool          `flag:"tee"`
	Dialogue  string        `flag:"dialogue"`
	Round     int           `flag:"round"`
	Reuse     bool          `flag:"reuse"`
}

func (*execCommand) prepare(cmd *cobra.Command) {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return execError(usageError("there is no command to run: filebus exec -- CMD [ARG]..."))
		}
		return nil
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return execError(coded(record.Usage, "filebus exec --help", err))
	})
	cmd.Flags().SetInterspersed(false) // the flags behind CMD are its own
}

func (o *execCommand) check(env *environ, args []string) error {
	err := o.callFlags.check(env, args)
	if err == nil {
		err = o.structuredFlags.set(env, &o.call)
	}
	switch {
	case err != nil:
	case o.Reuse && o.Call == "":
		err = usageError("--reuse needs --call: which result may be used again?")
	case (o.Dialogue == "") != (o.Round == noRound):
		err = usageError("--dialogue and --round go together: they say whose turn the output becomes")
	case o.Timeout < 0 || o.KillAfter < 0:
		err = usageError("--timeout %v and --kill-after %v: a time cannot be negative", o.Timeout, o.KillAfter)
	}
	return execError(err)
}

func (o *execCommand) run(ctx context.Context, w *workspace, args []string) error {
	return execError(o.exec(ctx, w, args))
}

// exitExec is the exit code of an exec that has failed itself: all others are the
// command's.
const exitExec = 125

// execError gives an error the exit code that it has in exec, unless it has one.
func execError(err error) error {
	var own *exitError
	var turn *record.Error
	exit, known := record.Detail[result.ExitCode](err)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &own):
		return err
	case known:
		return &exitError{int(exit), err}
	case errors.As(err, &turn) && turn.Reason == dialogue.ErrOccupied:
		err = coded(record.Conflict, "filebus get "+turn.Names[0], err)
	}
	return &exitError{exitExec, err}
}

func (o *execCommand) exec(ctx context.Context, w *workspace, args []string) (err error) {
	command := o.command(w.environ, args)
	missing := command.Find()
	if missing != nil && o.Task+o.Dialogue == "" { // else task or turn are told so too
		return missing
	}
	open := w.create
	if o.Dialogue != "" { // it is there, perhaps as files only
		open = w.openFresh
	}
	env := w.environ
	w, err = open(ctx)
	if errors.Is(err, record.Untrusted) || errors.Is(err, errConfig) || errors.Is(err, errClosed) ||
		errors.Is(err, errNoPlace) {
		return o.pass(env, command, err)
	}
	if err != nil {
		return err
	}
	if o.call.From, err = w.resolveAll(ctx, o.From); err != nil {
		return err
	}
	if w.takeSignals != nil {
		command.Signals, command.Alone = w.takeSignals(result.Signals()), true
	}
	if o.Reuse {
		switch stored, err := o.call.Reuse(ctx, w.Workspace, command); {
		case err != nil:
			return err
		case stored != nil:
			return errors.Join(o.endReused(ctx, w, stored), o.printReference(env, stored))
		}
	}
	if err := o.call.CheckFree(ctx, w.Workspace); err != nil {
		return err
	}
	turn, err := o.beginTurn(ctx, w)
	if err != nil {
		return err
	}
	job, err := o.beginTask(ctx, w, missing)
	if err != nil {
		return err
	}
	run, err := result.Exec(ctx, w.Workspace, o.call, command)
	after := context.WithoutCancel(ctx)
	put, written := turn.end(after, w, run, err)
	ended := errors.Join(written, job.end(after, w, run, err))
	switch {
	case err == nil:
		err = o.report(w.environ, run, put)
	case run != nil: // its output waits
		err = coded(record.Code(explain(err).Code), "filebus list result", err)
	}
	if ended != nil && err != nil {
		w.note("%s", message(ended)) // the command's own end comes first
		return err
	}
	return errors.Join(err, ended)
}

// pass runs a command whose output cannot be stored, for the reason why.
func (o *execCommand) pass(env *environ, command result.Command, why error) error {
	env.noteTry(explain(why).Hint, "nothing is stored: %s", message(why))
	if env.takeSignals != nil {
		command.Signals = env.takeSignals(result.Signals())
	}
	out := env.out
	if own, ok := out.(*resultWriter); ok {
		out = own.w // the command's own, if it is a file
	}
	exit, err := result.Pass(command, out)
	if err == nil && exit != 0 {
		return &exitError{exit: exit}
	}
	return err
}

// command returns what is to be run.
func (o *execCommand) command(env *environ, args []string) result.Command {
	c := result.Command{
		Args: args, Dir: env.dir, Env: env.variables, Stdin: env.in, Stderr: env.rawErr(),
		Foreground: env.inTerminal, Timeout: o.Timeout, KillAfter: o.KillAfter,
	}
	if o.Tee {
		c.Tee = env.rawErr()
	}
	return c
}

// report prints the reference, that of the turn if there is one, and ends as the
// command did.
func (o *execCommand) report(env *environ, run *result.Execution, turn *materialize.PutResult) error {
	if run.Background {
		env.note("the command left a process behind; what it writes from now on is not stored")
	}
	if run.Status == materialize.StatusInterrupted && len(run.Problems) == 0 {
		env.note("the disk is full, or the output as large as a file may be: some of it may be missing")
	}
	if o.Call != "" && !strings.HasSuffix(run.Name.ID, "/"+o.Call) {
		env.note("the call %s got another result meanwhile; this one is %s", o.Call, run.Name)
	}
	err := o.printReference(env, shown(run, turn))
	if failed := env.outputError(); failed != nil {
		return fmt.Errorf("%s is stored, but its reference could not be printed: %w", run.Name, failed)
	}
	switch {
	case run.Exit != 0:
		return &exitError{exit: run.Exit}
	case err != nil: // what does not fit its schema was said
		return &exitError{exit: exitWanting}
	}
	return nil
}

// recoverOutputs stores what commands have put out whose filebus was ended. It is
// nothing that the user asked for, so an error only stops this.
func (e *environ) recoverOutputs(w *materialize.Workspace) {
	if strings.HasPrefix(e.command, "filebus "+cobra.ShellCompRequestCmd) {
		return // a shell completes a word and shows nothing else
	}
	// It takes its turn as any put does, and can be cut off as one.
	all, err := result.Recover(context.Background(), w)
	for _, stored := range all {
		what := "the output of an earlier command that was cut off"
		if stored.Record.Source == record.SourceHook {
			what = "the report of an agent, which had to wait"
		}
		e.note("stored %s: filebus get %s", what, record.ShellWord(stored.Name.String()))
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range list.Unwrap() {
			e.note("%s", message(err))
		}
	}
}
