package main

import (
	"context"
	"io"

	"filebus/materialize/dialogue"
)

type dialogueRecover struct {
	Transcript string `flag:"transcript" need:"yes"` // a file, or "-"
	Force      bool   `flag:"force"`
}

// A dialogueRecovered is a turn that was recovered, in JSON.
type dialogueRecovered struct {
	storedView
	dialogue.Recovered
}

func (o *dialogueRecover) run(ctx context.Context, w *workspace, args []string) error {
	round, err := roundArgument(args[1])
	if err != nil {
		return err
	}
	r := dialogue.RecoverRequest{Round: round, Agent: args[2], Force: o.Force}
	transcript, origin, err := w.openTranscript(o.Transcript)
	if err != nil {
		return err
	}
	defer func() { _ = transcript.Close() }() // only read
	r.Transcript, r.Origin = transcript, origin
	_, f, key, err := w.findDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	out, err := f.Recover(ctx, key, r)
	if err != nil {
		return err
	}
	return w.printRecovered(out)
}

// openTranscript opens a transcript and returns how a turn names it.
func (e *environ) openTranscript(file string) (io.ReadCloser, string, error) {
	if file == "-" {
		return io.NopCloser(e.in), "stdin", nil
	}
	f, err := openInput(e, file)
	if err != nil {
		return nil, "", err
	}
	return f, validText(e.abs(file)), nil
}

func (e *environ) printRecovered(out *dialogue.Recovered) error {
	if n := out.Broken; n > 0 {
		e.note("%s of the transcript not JSON, and passed over", plural(n, "line"))
	}
	if out.Markers == 0 {
		e.note("the text has no markers")
	}
	view := dialogueRecovered{storedView{out.Ref.String(), out.Name.String(), out.File, out.Unchanged}, *out}
	return e.print(view, "%s  %s  (was %s; line %d of the transcript, %s)\n",
		out.Ref.Short(), out.Name, oneLine(out.Was), out.Line, plural(out.Markers, "marker"))
}
