package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filebus/materialize"
	"filebus/materialize/dialogue"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type dialoguePut struct {
	given
	Stub  string `flag:"stub"`
	Force bool   `flag:"force"`
}

func (o *dialoguePut) run(ctx context.Context, w *workspace, args []string) error {
	round, err := roundArgument(args[1])
	isStub := o.has("stub")
	switch {
	case err != nil:
		return err
	case isStub && len(args) > 3:
		return usageError("--stub is written in place of a text: %s is not read", args[3])
	case isStub && strings.TrimSpace(o.Stub) == "":
		return usageError("--stub needs a reason")
	}
	_, forum, key, err := w.findDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	seat, err := forum.Seat(ctx, key, round, args[2])
	if err != nil {
		return err
	}
	file := append(args[3:], "-")[0]
	c := dialogue.Contribution{Text: layout.StubText(o.Stub, ""), Force: o.Force, Origin: w.turnOrigin(record.SourcePut)}
	if !isStub && !o.Force {
		err = refuseOther(ctx, w.environ, forum, seat, file)
	}
	if !isStub && err == nil {
		c.Text, err = readTurn(w.environ, file)
	}
	if err != nil {
		return err
	}
	put, err := forum.Put(ctx, seat, c)
	if err != nil {
		return err
	}
	if file != "-" {
		if err := giveWay(ctx, w.environ, forum, seat, file); err != nil {
			return err
		}
	}
	return w.printReference(formatJSON, put.Ref, put.Reference())
}

// giveWay takes away the file that a turn was read from, if there is one too many now.
func giveWay(ctx context.Context, env *environ, forum *dialogue.Forum, seat dialogue.Seat, file string) error {
	gone, err := forum.GiveWay(ctx, seat, env.abs(file))
	if gone {
		env.note("%s has given way to %s", file, filepath.Base(seat.File))
	}
	return err
}

// turnOrigin says of a turn from whose hands it comes.
func (e *environ) turnOrigin(source record.Source) materialize.Origin {
	return materialize.Origin{Source: source, Facts: layout.Facts{
		Session: e.or("", sessionVariables()...), Task: e.or("", "FILEBUS_TASK"), Run: e.or("", "FILEBUS_RUN"),
	}}
}

// readTurn reads the text of a turn, from a file or from standard input.
func readTurn(env *environ, file string) (text []byte, err error) {
	in, _, err := env.openTranscript(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()                         // only read
	return io.ReadAll(io.LimitReader(in, dialogue.MaxTurn+1)) // one more is refused
}

// refuseOther returns an error if a file is the turn of another agent in the round.
func refuseOther(ctx context.Context, env *environ, forum *dialogue.Forum, seat dialogue.Seat, file string) error {
	name, isTurn := strings.CutSuffix(filepath.Base(file), ".md")
	if !isTurn {
		return nil
	}
	other, err := forum.Seat(ctx, seat.Key, seat.Round, name)
	if err != nil || other.Agent == seat.Agent {
		return nil // it is nobody's
	}
	theirs, err := os.Stat(other.File)
	if err != nil {
		return nil // they have none
	}
	if given, err := os.Stat(env.abs(file)); err == nil && os.SameFile(theirs, given) {
		return usageError("%s is the turn of %s, not of %s; --force takes it all the same", file, other.Agent, seat.Agent)
	}
	return nil
}
