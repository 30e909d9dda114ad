package result

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	"filebus/cmd/filebus/task"
	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// Commands are the commands that make results, and tell of them.
func Commands() []cli.Command {
	return []cli.Command{
		{
			Use: "combine [flags] INPUT...", Open: (*cli.Environ).CreateFresh,
			Do: &combineCommand{CallFlags: UsualCall(), Separator: `\n\n`},
		},
		cli.Plain("exec [flags] -- CMD [ARG]...", &execCommand{
			CallFlags: UsualCall(), KillAfter: 5 * time.Second, Round: noRound,
		}),
		cli.Group("schema",
			cli.Plain("inject FILE|-", &schemaInject{}),
			cli.Plain("check SCHEMA OUTPUT|NAME|-", cli.RunFunc(checkSchema)),
		),
		cli.Group("conversation",
			cli.Fresh("list", &conversationList{FilterFlags: cli.Picking("tree", "agent", "since"), Page: cli.Page{Limit: 50}}),
			cli.Fresh("show ID", &conversationShow{Format: "lines", Page: cli.Page{Limit: 50}}),
		),
		cli.Fresh("budget", &budgetCommand{}),
	}
}

type execCommand struct {
	CallFlags
	StructuredFlags
	Timeout   time.Duration `flag:"timeout"`
	KillAfter time.Duration `flag:"kill-after"`
	Tee       bool          `flag:"tee"`
	Dialogue  string        `flag:"dialogue"`
	Round     int           `flag:"round"`
	Reuse     bool          `flag:"reuse"`
}

func (*execCommand) Prepare(cmd *cobra.Command) {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return execError(cli.UsageError("there is no command to run: filebus exec -- CMD [ARG]..."))
		}
		return nil
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return execError(cli.Coded(record.Usage, "filebus exec --help", err))
	})
	cmd.Flags().SetInterspersed(false) // the flags behind CMD are its own
}

func (o *execCommand) Check(env *cli.Environ, args []string) error {
	err := o.CallFlags.Check(env, args)
	if err == nil {
		err = o.StructuredFlags.Set(env, &o.Checked)
	}
	switch {
	case err != nil:
	case o.Reuse && o.Call == "":
		err = cli.UsageError("--reuse needs --call: which result may be used again?")
	case (o.Dialogue == "") != (o.Round == noRound):
		err = cli.UsageError("--dialogue and --round go together: they say whose turn the output becomes")
	case o.Timeout < 0 || o.KillAfter < 0:
		err = cli.UsageError("--timeout %v and --kill-after %v: a time cannot be negative", o.Timeout, o.KillAfter)
	}
	return execError(err)
}

func (o *execCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	return execError(o.exec(ctx, w, args))
}

// ExitExec is the exit code of an exec that has failed itself: all others are the
// command's.
const ExitExec = 125

// execError gives an error the exit code that it has in exec, unless it has one.
func execError(err error) error {
	var own *cli.ExitError
	var turn *record.Error
	exit, known := record.Detail[ExitCode](err)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &own):
		return err
	case known:
		return &cli.ExitError{Exit: int(exit), Err: err}
	case errors.As(err, &turn) && turn.Reason == dialogue.ErrOccupied:
		err = cli.Coded(record.Conflict, "filebus get "+turn.Names[0], err)
	}
	return &cli.ExitError{Exit: ExitExec, Err: err}
}

func (o *execCommand) exec(ctx context.Context, w *cli.Work, args []string) (err error) {
	command := o.command(w.Environ, args)
	missing := command.Find()
	if missing != nil && o.Task+o.Dialogue == "" { // else task or turn are told so too
		return missing
	}
	open := w.Create
	if o.Dialogue != "" { // it is there, perhaps as files only
		open = w.OpenFresh
	}
	env := w.Environ
	w, err = open(ctx)
	if errors.Is(err, record.Untrusted) || errors.Is(err, cli.ErrConfig) || errors.Is(err, cli.ErrClosed) ||
		errors.Is(err, cli.ErrNoPlace) {
		return o.pass(env, command, err)
	}
	if err != nil {
		return err
	}
	if o.Checked.From, err = ResolveAll(ctx, w, o.From); err != nil {
		return err
	}
	o.Checked.Run, _ = task.RunOf(ctx, w, o.Checked.Run, o.Checked.Task)
	if w.TakeSignals != nil {
		command.Signals, command.Alone = w.TakeSignals(Signals()), true
	}
	if o.Reuse {
		switch stored, err := o.Checked.Reuse(ctx, w.Workspace, command); {
		case err != nil:
			return err
		case stored != nil:
			return errors.Join(o.endReused(ctx, w, stored), o.PrintReference(env, stored))
		}
	}
	if err := o.Checked.CheckFree(ctx, w.Workspace); err != nil {
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
	run, err := Exec(ctx, w.Workspace, o.Checked, command)
	after := context.WithoutCancel(ctx)
	put, written := turn.end(after, w, run, err)
	ended := errors.Join(written, job.end(after, w, run, err))
	switch {
	case err == nil:
		err = o.report(w.Environ, run, put)
	case errors.Is(err, store.ErrBarred):
		w.Note("%s; the output is above", cli.Message(err))
		if err = nil; run.Exit != 0 {
			err = &cli.ExitError{Exit: run.Exit}
		}
	case run != nil: // its output waits
		err = cli.Coded(record.Code(cli.Explain(err).Code), "filebus list result", err)
	}
	if ended != nil && err != nil {
		w.Note("%s", cli.Message(ended)) // the command's own end comes first
		return err
	}
	return errors.Join(err, ended)
}

// pass runs a command whose output cannot be stored, for the reason why.
func (o *execCommand) pass(env *cli.Environ, command Command, why error) error {
	env.NoteTry(cli.Explain(why).Hint, "nothing is stored: %s", cli.Message(why))
	if env.TakeSignals != nil {
		command.Signals = env.TakeSignals(Signals())
	}
	out := env.Out
	if own, ok := out.(*cli.ResultWriter); ok {
		out = own.W // the command's own, if it is a file
	}
	exit, err := Pass(command, out)
	if err == nil && exit != 0 {
		return &cli.ExitError{Exit: exit}
	}
	return err
}

// command returns what is to be run.
func (o *execCommand) command(env *cli.Environ, args []string) Command {
	c := Command{
		Args: args, Dir: env.Dir, Env: env.Variables, Stdin: env.In, Stderr: env.RawErr(),
		Foreground: env.InTerminal, Timeout: o.Timeout, KillAfter: o.KillAfter, Else: env.Out,
	}
	if o.Tee {
		c.Tee = env.RawErr()
	}
	return c
}

// report prints the reference, that of the turn if there is one, and ends as the
// command did.
func (o *execCommand) report(env *cli.Environ, run *Execution, turn *materialize.PutResult) error {
	if run.Background {
		env.Note("the command left a process behind; what it writes from now on is not stored")
	}
	if run.Status == materialize.StatusInterrupted && len(run.Problems) == 0 {
		env.Note("the disk is full, or the output as large as a file may be: some of it may be missing")
	}
	if o.Call != "" && !strings.HasSuffix(run.Name.ID, "/"+o.Call) {
		env.Note("the call %s got another result meanwhile; this one is %s", o.Call, run.Name)
	}
	err := o.PrintReference(env, shown(run, turn))
	if failed := env.OutputError(); failed != nil {
		return fmt.Errorf("%s is stored, but its reference could not be printed: %w", run.Name, failed)
	}
	switch {
	case run.Exit != 0:
		return &cli.ExitError{Exit: run.Exit}
	case err != nil: // what does not fit its schema was said
		return &cli.ExitError{Exit: cli.ExitWanting}
	}
	return nil
}

// RecoverOutputs stores what commands have put out whose filebus was ended. It is
// nothing that the user asked for, so an error only stops this.
func RecoverOutputs(e *cli.Environ, w *materialize.Workspace) {
	if strings.HasPrefix(e.Command, "filebus "+cobra.ShellCompRequestCmd) {
		return // a shell completes a word and shows nothing else
	}
	// It takes its turn as any put does, and can be cut off as one.
	all, err := Recover(context.Background(), w)
	for _, stored := range all {
		what := "the output of an earlier command that was cut off"
		if stored.Record.Source == record.SourceHook {
			what = "the report of an agent, which had to wait"
		}
		e.Note("stored %s: filebus get %s", what, record.ShellWord(stored.Name.String()))
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range list.Unwrap() {
			e.Note("%s", cli.Message(err))
		}
	}
}
