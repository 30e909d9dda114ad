package main

import (
	"context"

	"github.com/spf13/cobra"

	runs "filebus/materialize/run"
	"filebus/store/record"
)

func newRunCommand(env *environ) *cobra.Command {
	return newGroup("run", newRunStartCommand(env), newRunLoopCommand(env), newRunAgentCommand(env),
		newRunEndCommand(env), newRunShowCommand(env))
}

// book returns the session state of a workspace.
func (e *environ) book(s *session) *runs.Book {
	return runs.Open(s.Workspace, s.read, runs.Options{Now: e.now, Variables: e.variables})
}

func newRunStartCommand(env *environ) *cobra.Command {
	var r runs.StartRequest
	cmd := newCommand("start", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if r.Loops < 0 {
			return usageError("--loops %d is negative", r.Loops)
		}
		create := func() (*session, error) { return env.create(ctx) }
		return env.changeRun(create, runText,
			func(b *runs.Book) (*runs.Outcome, error) { return b.Start(ctx, r) })
	})
	flags := cmd.Flags()
	flags.StringVar(&r.ID, "id", "", "")
	flags.StringVar(&r.Focus, "focus", "", "")
	flags.IntVar(&r.Loops, "loops", 0, "")
	flags.BoolVar(&r.End, "end", false, "")
	flags.BoolVar(&r.Restart, "restart", false, "")
	cmd.MarkFlagsMutuallyExclusive("end", "restart")
	return cmd
}

func newRunLoopCommand(env *environ) *cobra.Command {
	var planned int
	cmd := newCommand("loop", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if planned < 0 {
			return usageError("--loops %d is negative", planned)
		}
		return env.changeRun(env.open, runText, func(b *runs.Book) (*runs.Outcome, error) {
			return b.Loop(ctx, planned)
		})
	})
	cmd.Flags().IntVar(&planned, "loops", 0, "")
	return cmd
}

func newRunEndCommand(env *environ) *cobra.Command {
	return newCommand("end", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return env.changeRun(env.open, runText,
			func(b *runs.Book) (*runs.Outcome, error) { return b.End(ctx) })
	})
}

// An outcomeText says what came of a change, in JSON and in a line.
type outcomeText func(*runs.Outcome) (json any, line string)

// changeRun makes one change of the session state and prints what came of it.
func (e *environ) changeRun(
	open func() (*session, error), text outcomeText, change func(*runs.Book) (*runs.Outcome, error),
) error {
	s, err := open()
	if err != nil {
		return err
	}
	out, err := change(e.book(s))
	if err != nil {
		return err
	}
	if out.Rewritten != (record.ShortRef{}) {
		e.note("%s had a form that cannot be changed in place and was written anew; filebus get %s is what it was",
			out.File, out.Rewritten)
	}
	for i, left := range out.LeftOut {
		if i == 5 {
			e.note("and %s", plural(len(out.LeftOut)-i, "file more"))
			break
		}
		e.note("the loop's changes will not include %s", left)
	}
	json, line := text(out)
	if e.global.json {
		return e.printJSON(json)
	}
	e.printf("%s\n", oneLine(line))
	return nil
}

// runText says what a run is like after a change.
func runText(out *runs.Outcome) (json any, line string) {
	line = out.Run + "  loop " + out.State.Loop
	if out.Ended != "" {
		line = out.Run + "  ended " + out.Ended
	}
	if out.Closed != "" {
		line += "  (" + out.Closed + ")"
	}
	return out, line
}
