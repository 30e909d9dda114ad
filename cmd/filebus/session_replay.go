package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	sessions "filebus/cmd/filebus/session"
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

func (*sessionReplay) prepare(cmd *cobra.Command) { cmd.MarkFlagsOneRequired("to", "steps") }

func (o *sessionReplay) run(ctx context.Context, w *workspace, args []string) error {
	id, trees, err := w.registry().ID(ctx, args[0])
	if err != nil {
		return err
	}
	position, err := w.replayPosition(ctx, o.Until)
	if err != nil {
		return err
	}
	if o.Steps {
		return printSteps(ctx, w, id, trees, position, o.Limit)
	}
	bundle, err := w.registry().Replay(ctx, id, position, o.Closure, trees...)
	if err != nil {
		return err
	}
	return w.layOutBundle(ctx, bundle, o.To, nil, o.MaxTokens)
}

// replayPosition returns the position of the log that a step means: @42 or 42, a
// reference, a time. Nothing means the end. What one transaction has changed is
// seen whole.
func (w *workspace) replayPosition(ctx context.Context, text string) (uint64, error) {
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
		position, err = w.position(ctx, "@"+text)
	default:
		position, err = w.position(ctx, text)
	}
	if err != nil {
		return 0, err
	}
	if position > end {
		return 0, coded(record.Usage, "filebus log --limit 5", fmt.Errorf("there is no position %d: the log ends at %d",
			position, end))
	}
	return w.registry().Moment(ctx, position)
}

type sessionStepsJSON struct {
	Session string          `json:"session"`
	Steps   []sessions.Step `json:"steps"`          // oldest first
	More    int             `json:"more,omitempty"` // earlier ones
}

// printSteps prints the last steps of a session up to a position.
func printSteps(ctx context.Context, w *workspace, id string, trees []record.Tree, until uint64, limit int) error {
	steps, err := w.registry().Steps(ctx, id)
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(step sessions.Step) bool {
		return len(trees) > 0 && !slices.Contains(trees, step.Name.Tree) || step.Position > until
	})
	view := sessionStepsJSON{Session: id, Steps: steps}
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
		rows = append(rows, []string{at, w.minute(step.Time), cmp.Or(step.Agent, "-"), step.Event, step.Ref.String(),
			name})
	}
	err = w.print(view, "%s", w.table(rows))
	w.noteRest(view.More, "--limit 0")
	return err
}
