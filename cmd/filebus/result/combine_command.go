package result

import (
	"context"
	"slices"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/task"
	"filebus/store/record"
)

type combineCommand struct {
	cli.Given
	CallFlags
	Separator string `flag:"separator"`
	Expected  int    `flag:"expected-count"`
	Output    string `flag:"output,o"`
	Force     bool   `flag:"force"`
}

func (o *combineCommand) Check(env *cli.Environ, inputs []string) error {
	switch {
	case o.Has("expected-count") && o.Expected < 1:
		return cli.UsageError("--expected-count %d: there is at least one text", o.Expected)
	case slices.Contains(inputs, "-"):
		return cli.UsageError("combine does not read standard input: filebus put - stores it first")
	}
	return o.CallFlags.Check(env, inputs)
}

func (o *combineCommand) Do(ctx context.Context, w *cli.Work, inputs []string) (err error) {
	call := o.Checked
	call.Agent = o.Agent // FILEBUS_AGENT says who calls the tool
	call.Run, _ = task.RunOf(ctx, w, call.Run, call.Task)
	if call.From, err = ResolveAll(ctx, w, o.From); err != nil {
		return err
	}
	request := CombineRequest{
		Call: call, Inputs: inputs, Dir: w.Dir, Separator: ParseSeparator(o.Separator),
		Expected: o.Expected, Force: o.Force,
	}
	if o.Output != "" {
		request.Output = w.Abs(o.Output)
	}
	combined, err := Combine(ctx, w.Workspace, w.Reader, request)
	if err != nil {
		return err
	}
	for _, ref := range combined.Record.From {
		if v, err := w.VersionOf(ctx, ref.String()); err == nil {
			w.NoteIfAltered(ctx, v.Record.Name)
		}
	}
	return o.printCombined(w.Environ, combined)
}

// printCombined prints the reference, and on stderr what it is not made from.
func (o *combineCommand) printCombined(env *cli.Environ, c *Combined) error {
	for _, file := range c.Differs {
		env.Note("%s holds another text than is stored; it was read from disk", cli.OneLine(file))
	}
	for _, unread := range c.Unread {
		env.Note("%s", cli.OneLine(unread.Error()))
	}
	if err := env.PrintReference(o.Format, c.Reference(), c.PutResult); err != nil {
		return err
	}
	if len(c.Unread) > 0 {
		env.Note("%s combined, %d left out", cli.Plural(c.Texts, "text"), len(c.Unread))
		return cli.SilentError(record.Partly)
	}
	return nil
}
