package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/materialize/dialogue"
	"filebus/materialize/result"
	"filebus/store/record"
)

type execOptions struct {
	callOptions
	timeout, killAfter time.Duration
	tee                bool
	dialogue           string
	round              int
}

func newExecCommand(env *environ) *cobra.Command {
	var opts execOptions
	cmd := &cobra.Command{
		Use: "exec [flags] -- CMD [ARG]...",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return execError(usageError("there is no command to run: filebus exec -- CMD [ARG]..."))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return execError(runExec(cmd.Context(), env, opts, args))
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return execError(coded(record.Usage, "filebus exec --help", err))
	})
	opts.add(cmd)
	opts.addStructured(cmd)
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the flags behind CMD are its own
	flags.DurationVar(&opts.timeout, "timeout", 0, "")
	flags.DurationVar(&opts.killAfter, "kill-after", 5*time.Second, "")
	flags.BoolVar(&opts.tee, "tee", false, "")
	flags.StringVar(&opts.dialogue, "dialogue", "", "")
	flags.IntVar(&opts.round, "round", noRound, "")
	return cmd
}

// exitExec is the exit code of an exec that has failed itself: all others are the
// command's.
const exitExec = 125

// execError gives an error the exit code that it has in exec, unless it has one.
func execError(err error) error {
	var own *exitError
	var turn *record.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &own):
		return err
	case errors.Is(err, result.ErrNoProgram):
		return &exitError{result.ExitNotFound, err}
	case errors.Is(err, result.ErrNotExecutable):
		return &exitError{result.ExitNotExecutable, err}
	case errors.As(err, &turn) && turn.Reason == dialogue.ErrOccupied:
		err = coded(record.Conflict, "filebus get "+turn.Names[0], err)
	}
	return &exitError{exitExec, err}
}

func runExec(ctx context.Context, env *environ, opts execOptions, args []string) error {
	call, err := opts.resolve(env)
	if err != nil {
		return err
	}
	if (opts.dialogue == "") != (opts.round == noRound) {
		return usageError("--dialogue and --round say together whose turn the output becomes")
	}
	if opts.timeout < 0 || opts.killAfter < 0 {
		return usageError("--timeout %v and --kill-after %v: a time is not negative", opts.timeout, opts.killAfter)
	}
	command := opts.command(env, args)
	if err := command.Find(); err != nil && opts.task+opts.dialogue == "" { // else task or turn are told so too
		return err
	}
	open := env.create
	if opts.dialogue != "" { // it is there, perhaps as files only
		open = env.openFresh
	}
	w, err := open(ctx)
	if err != nil {
		return err
	}
	if call.From, err = w.resolveAll(ctx, opts.from); err != nil {
		return err
	}
	if env.takeSignals != nil {
		command.Signals = env.takeSignals(result.Signals())
	}
	turn, err := opts.beginTurn(ctx, env, w)
	if err != nil {
		return err
	}
	job, err := opts.beginTask(ctx, env, w)
	if err != nil {
		return err
	}
	run, err := result.Exec(ctx, w.Workspace, call, command)
	after := context.WithoutCancel(ctx)
	put, written := turn.end(after, env, w, run, err)
	ended := errors.Join(written, job.end(after, env, run, err))
	switch {
	case err == nil:
		err = opts.report(env, run, put)
	case run != nil: // its output waits
		err = coded(record.Code(explain(err).Code), "filebus list result", err)
	}
	if ended != nil && err != nil {
		env.note("%s", message(ended)) // the command's own end comes first
		return err
	}
	return errors.Join(err, ended)
}

// command returns what is to be run.
func (o execOptions) command(env *environ, args []string) result.Command {
	c := result.Command{
		Args: args, Dir: env.dir, Env: env.variables, Stdin: env.in, Stderr: env.err,
		Foreground: env.inTerminal, Timeout: o.timeout, KillAfter: o.killAfter,
	}
	if o.tee {
		c.Tee = env.err
	}
	return c
}

// report prints the reference, that of the turn if there is one, and ends as the
// command did.
func (o execOptions) report(env *environ, run *result.Execution, turn *materialize.PutResult) error {
	if run.Background {
		env.note("the command has left a process behind; what it writes from now on is not stored")
	}
	if o.call != "" && !strings.HasSuffix(run.Name.ID, "/"+o.call) {
		env.note("the call %s got another result meanwhile; this one is %s", o.call, run.Name)
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
		e.note("stored the output that an earlier command has left in the spool: filebus get %s", quote(stored.Name.String()))
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range list.Unwrap() {
			e.note("%s", message(err))
		}
	}
}
