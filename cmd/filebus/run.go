package main

import (
	"context"

	"github.com/spf13/cobra"

	runs "filebus/materialize/run"
)

func newRunCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "run",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunStartCommand(env), newRunLoopCommand(env), newRunAgentCommand(env), newRunEndCommand(env), newRunShowCommand(env))
	return cmd
}

// book returns the session state of a workspace.
func (e *environ) book(s *session) *runs.Book {
	return runs.Open(s.Workspace, s.read, runs.Options{Now: e.now, Variables: e.variables})
}

func newRunStartCommand(env *environ) *cobra.Command {
	var r runs.StartRequest
	cmd := &cobra.Command{
		Use:  "start",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRunStart(cmd.Context(), env, r) },
	}
	flags := cmd.Flags()
	flags.StringVar(&r.ID, "id", "", "")
	flags.StringVar(&r.Focus, "focus", "", "")
	flags.IntVar(&r.Loops, "loops", 0, "")
	flags.BoolVar(&r.End, "end", false, "")
	flags.BoolVar(&r.Restart, "restart", false, "")
	cmd.MarkFlagsMutuallyExclusive("end", "restart")
	return cmd
}

func runRunStart(ctx context.Context, env *environ, r runs.StartRequest) error {
	if r.Loops < 0 {
		return usageError("--loops %d is negative", r.Loops)
	}
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	out, err := env.book(s).Start(ctx, r)
	if err != nil {
		return err
	}
	return env.printRun(out)
}

func newRunLoopCommand(env *environ) *cobra.Command {
	var planned int
	cmd := &cobra.Command{
		Use:  "loop",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if planned < 0 {
				return usageError("--loops %d is negative", planned)
			}
			return env.withBook(cmd.Context(), func(ctx context.Context, b *runs.Book) (*runs.Outcome, error) { return b.Loop(ctx, planned) })
		},
	}
	cmd.Flags().IntVar(&planned, "loops", 0, "")
	return cmd
}

func newRunEndCommand(env *environ) *cobra.Command {
	return &cobra.Command{
		Use:  "end",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.withBook(cmd.Context(), func(ctx context.Context, b *runs.Book) (*runs.Outcome, error) { return b.End(ctx) })
		},
	}
}

// withBook makes one change of the session state and prints what the run is like
// after it.
func (e *environ) withBook(ctx context.Context, change func(ctx context.Context, b *runs.Book) (*runs.Outcome, error)) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	out, err := change(ctx, e.book(s))
	if err != nil {
		return err
	}
	return e.printRun(out)
}

// A runJSON is what the commands that change a run print of it.
type runJSON struct {
	Run     string   `json:"run"`
	Loop    int      `json:"loop"`
	Loops   int      `json:"loops,omitempty"` // planned
	Closed  string   `json:"closed,omitempty"`
	Ended   string   `json:"ended,omitempty"`
	File    string   `json:"file"`
	Ref     string   `json:"ref"`
	LeftOut []string `json:"left_out,omitempty"`
}

// printRun prints a run after a change.
func (e *environ) printRun(out *runs.Outcome) error {
	e.noteRewritten(out)
	for i, left := range out.Notes {
		if i == 5 {
			e.note("and %s", plural(len(out.Notes)-i, "file more"))
			break
		}
		e.note("the loop's changes will not include %s", left)
	}
	view := runJSON{
		Run: out.State.RunID, Ended: out.State.Ended, File: out.File, Ref: out.Ref.Short(), LeftOut: out.Notes,
	}
	view.Loop, view.Loops = out.State.LoopNumber()
	if n := len(out.State.History); n > 0 {
		view.Closed = out.State.History[n-1]
	}
	if e.global.json {
		return e.printJSON(view)
	}
	line := view.Run + "  loop " + out.State.Loop
	if view.Ended != "" {
		line = view.Run + "  ended " + view.Ended
	}
	if view.Closed != "" {
		line += "  (" + view.Closed + ")"
	}
	e.printf("%s\n", oneLine(line))
	return nil
}

// noteRewritten says that a state file lost its form.
func (e *environ) noteRewritten(out *runs.Outcome) {
	if !out.Rewritten.IsZero() {
		e.note("%s had a form that cannot be changed in place and was written anew; filebus get %s is what it was", out.File, out.Rewritten.Short())
	}
}
