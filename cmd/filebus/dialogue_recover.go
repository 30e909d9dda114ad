package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
)

type dialogueRecoverOptions struct {
	transcript string // a file, or "-"
	force      bool
}

func newDialogueRecoverCommand(env *environ) *cobra.Command {
	var opts dialogueRecoverOptions
	cmd := newCommand("recover SLUG ROUND AGENT", cobra.ExactArgs(3), func(ctx context.Context, args []string) error {
		return runDialogueRecover(ctx, env, opts, args)
	})
	flags := cmd.Flags()
	flags.StringVar(&opts.transcript, "transcript", "", "")
	flags.BoolVar(&opts.force, "force", false, "")
	_ = cmd.MarkFlagRequired("transcript") // only an unknown flag is an error
	return cmd
}

// A dialogueRecovered is a turn that was recovered, in JSON.
type dialogueRecovered struct {
	storedView
	dialogue.Recovered
}

func runDialogueRecover(ctx context.Context, env *environ, opts dialogueRecoverOptions, args []string) error {
	round, err := roundArgument(args[1])
	if err != nil {
		return err
	}
	r := dialogue.RecoverRequest{Round: round, Agent: args[2], Force: opts.force}
	transcript, origin, err := env.openTranscript(opts.transcript)
	if err != nil {
		return err
	}
	defer func() { _ = transcript.Close() }() // only read
	r.Transcript, r.Origin = transcript, origin
	_, f, key, err := env.findDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	out, err := f.Recover(ctx, key, r)
	if err != nil {
		return err
	}
	return env.printRecovered(out)
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
	if e.global.json {
		return e.printJSON(dialogueRecovered{storedView{out.Ref.String(), out.Name.String(), out.File, out.Unchanged},
			*out})
	}
	e.printf("%s  %s  (was %s; line %d of the transcript, %s)\n", out.Ref.Short(), out.Name, oneLine(out.Was), out.Line,
		plural(out.Markers, "marker"))
	return nil
}
