package main

import (
	"context"
	"slices"

	"filebus/cmd/filebus/result"
	"filebus/store/record"
)

type combineCommand struct {
	given
	callFlags
	Separator string `flag:"separator"`
	Expected  int    `flag:"expected-count"`
	Output    string `flag:"output,o"`
	Force     bool   `flag:"force"`
}

func (o *combineCommand) check(env *environ, inputs []string) error {
	switch {
	case o.has("expected-count") && o.Expected < 1:
		return usageError("--expected-count %d: there is at least one text", o.Expected)
	case slices.Contains(inputs, "-"):
		return usageError("combine does not read standard input: filebus put - stores it first")
	}
	return o.callFlags.check(env, inputs)
}

func (o *combineCommand) run(ctx context.Context, w *workspace, inputs []string) (err error) {
	call := o.call
	call.Agent = o.Agent // FILEBUS_AGENT says who calls the tool
	if call.From, err = w.resolveAll(ctx, o.From); err != nil {
		return err
	}
	request := result.CombineRequest{
		Call: call, Inputs: inputs, Dir: w.dir, Separator: result.ParseSeparator(o.Separator),
		Expected: o.Expected, Force: o.Force,
	}
	if o.Output != "" {
		request.Output = w.abs(o.Output)
	}
	combined, err := result.Combine(ctx, w.Workspace, w.read, request)
	if err != nil {
		return err
	}
	for _, ref := range combined.Record.From {
		if v, err := w.resolve(ctx, ref.String()); err == nil {
			w.noteIfAltered(ctx, v.Record.Name)
		}
	}
	return o.printCombined(w.environ, combined)
}

// printCombined prints the reference, and on stderr what it is not made from.
func (o *combineCommand) printCombined(env *environ, c *result.Combined) error {
	for _, file := range c.Differs {
		env.note("%s holds another text than is stored; it was read from disk", oneLine(file))
	}
	for _, unread := range c.Unread {
		env.note("%s", oneLine(unread.Error()))
	}
	if err := env.printReference(o.Format, c.Reference(), c.PutResult); err != nil {
		return err
	}
	if len(c.Unread) > 0 {
		env.note("%s combined, %d left out", plural(c.Texts, "text"), len(c.Unread))
		return silentError(record.Partly)
	}
	return nil
}
