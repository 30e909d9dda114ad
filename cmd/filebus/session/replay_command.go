package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/store"
	"filebus/store/record"
)

type sessionReplay struct {
	To        string `flag:"to" not:"steps"`
	Until     string `flag:"until"`
	Closure   bool   `flag:"closure"`
	MaxTokens int    `flag:"max-tokens" least:"100" in:"an index"`
	Steps     bool   `flag:"steps"`
	Limit     int    `flag:"limit" least:"0"`
}

func (*sessionReplay) Prepare(cmd *cobra.Command) { cmd.MarkFlagsOneRequired("to", "steps") }

func (o *sessionReplay) Do(ctx context.Context, w *cli.Work, args []string) error {
	id, trees, err := Of(w).ID(ctx, args[0])
	if err != nil {
		return err
	}
	position, err := replayPosition(ctx, w, o.Until)
	if err != nil {
		return err
	}
	if o.Steps {
		return printSteps(ctx, w, id, trees, position, o.Limit)
	}
	bundle, err := Of(w).Replay(ctx, id, position, o.Closure, trees...)
	if err != nil {
		return err
	}
	return LayOutBundle(ctx, w, bundle, o.To, nil, o.MaxTokens)
}

// replayPosition returns the position of the log that a step means: @42 or 42, a
// reference, a time. Nothing means the end. What one transaction has changed is
// seen whole.
func replayPosition(ctx context.Context, w *cli.Work, text string) (uint64, error) {
	var end, position uint64
	isNumber := strings.Trim(text, "0123456789") == ""
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		end = tx.Position()
		prefix, isRef := record.ParsePrefix(text)
		if !isRef {
			return nil
		}
		ref, err := tx.Resolve(prefix)
		if errors.Is(err, store.ErrNotFound) && isNumber {
			return nil // a position of many digits
		}
		v, getErr := tx.Get(ref)
		position = v.Position
		return cmp.Or(err, getErr)
	})
	switch {
	case err != nil || position > 0:
	case text == "":
		position = end
	case isNumber:
		position, err = w.Position(ctx, "@"+text)
	default:
		position, err = w.Position(ctx, text)
	}
	if err != nil {
		return 0, err
	}
	if position > end {
		return 0, cli.Coded(record.Usage, "filebus log --limit 5", fmt.Errorf("there is no position %d: the log ends at %d",
			position, end))
	}
	return Of(w).Moment(ctx, position)
}

// SessionStepsJSON is what a command prints with --json.
type SessionStepsJSON struct {
	Session string `json:"session"`
	Steps   []Step `json:"steps"`          // oldest first
	More    int    `json:"more,omitempty"` // earlier ones
}

// printSteps prints the last steps of a session up to a position.
func printSteps(ctx context.Context, w *cli.Work, id string, trees []record.Tree, until uint64, limit int) error {
	steps, err := Of(w).Steps(ctx, id)
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(step Step) bool {
		return len(trees) > 0 && !slices.Contains(trees, step.Name.Tree) || step.Position > until
	})
	view := SessionStepsJSON{Session: id, Steps: steps}
	if limit > 0 {
		view.More = max(0, len(steps)-limit)
		view.Steps = steps[view.More:]
	}
	var rows [][]string
	for _, step := range view.Steps {
		name := step.Name.String()
		if step.Destroyed && step.Event != "drop" {
			name += " (destroyed since)"
		}
		at := "@" + strconv.FormatUint(step.Position, 10)
		rows = append(rows, []string{at, w.Minute(step.Time), cmp.Or(step.Agent, "-"), step.Event, step.Ref.String(),
			name})
	}
	err = w.Print(view, "%s", w.Table(rows))
	w.NoteRest(view.More, "--limit 0")
	return err
}

// LayOutBundle lays out what was gathered and says what was done. It ends in exit
// code 9 if something is missing.
func LayOutBundle(ctx context.Context,
	w *cli.Work, b *Bundle, to string, trees []record.Tree, maxTokens int,
) error {
	show, clear := w.Progress("laying out")
	out, err := Of(w).LayOut(ctx, b, w.Abs(to), trees, maxTokens, cli.Counted(show))
	clear()
	if err != nil {
		return err
	}
	if w.Global.JSON {
		err = w.PrintJSON(out)
	} else {
		w.Printf("%s, %s, %s in %s; %s lists them\n",
			cli.Plural(out.Files, "file"), cli.ByteSize(out.Bytes), cli.TokenText(out.Tokens), to, out.Index)
	}
	if out.Files+len(out.LeftOut) == 0 {
		w.Note("nothing matches; filebus list shows what there is")
	}
	if lost := noteGone(w.Environ, out); lost+len(out.Notes) > 0 && err == nil {
		err = cli.SilentError(record.Partly)
	}
	return err
}

// MostNoted is how many things that were left out are named on stderr.
const MostNoted = 10

// noteGone says what was left out and which bounds were met, and returns how many
// things are lost by it.
func noteGone(e *cli.Environ, out *LaidOut) (lost int) {
	for i, gone := range out.LeftOut {
		if !gone.Inexact {
			lost++
		}
		if i < MostNoted {
			e.Note("left out: %s", gone)
		}
	}
	if more := len(out.LeftOut) - MostNoted; more > 0 {
		e.Note("%d more were left out; --json names them", more)
	}
	for _, note := range out.Notes {
		e.Note("%s", cli.OneLine(note))
	}
	return lost
}
