package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
	"filebus/store"
	"filebus/store/record"
)

type sessionReplayOptions struct {
	to, until        string
	closure, steps   bool
	maxTokens, limit int
}

func newSessionReplayCommand(env *environ) *cobra.Command {
	var opts sessionReplayOptions
	cmd := newCommand("replay ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runSessionReplay(ctx, env, opts, args[0])
	})
	flags := cmd.Flags()
	flags.StringVar(&opts.to, "to", "", "")
	flags.StringVar(&opts.until, "until", "", "")
	flags.BoolVar(&opts.closure, "closure", false, "")
	flags.IntVar(&opts.maxTokens, "max-tokens", sessions.DefaultIndexTokens, "")
	flags.BoolVar(&opts.steps, "steps", false, "")
	flags.IntVar(&opts.limit, "limit", 50, "")
	cmd.MarkFlagsOneRequired("to", "steps")
	cmd.MarkFlagsMutuallyExclusive("to", "steps")
	return cmd
}

func runSessionReplay(ctx context.Context, env *environ, opts sessionReplayOptions, id string) error {
	if opts.limit < 0 {
		return usageError("--limit %d is negative", opts.limit)
	}
	if err := checkIndexTokens(opts.maxTokens); err != nil {
		return err
	}
	s, err := env.open()
	if err != nil {
		return err
	}
	id, trees, err := env.registry(s).ID(ctx, id)
	if err != nil {
		return err
	}
	position, err := env.replayPosition(ctx, s, opts.until)
	if err != nil {
		return err
	}
	if opts.steps {
		return printSteps(ctx, env, s, id, trees, position, opts.limit)
	}
	bundle, err := env.registry(s).Replay(ctx, id, position, opts.closure, trees...)
	if err != nil {
		return err
	}
	return layOutBundle(ctx, env, s, bundle, opts.to, nil, opts.maxTokens)
}

// replayPosition returns the position of the log that a step means: @42 or 42, a
// reference, a time. Nothing means the end. What one transaction has changed is
// seen whole.
func (e *environ) replayPosition(ctx context.Context, s *session, text string) (uint64, error) {
	var end uint64
	var v store.Version
	isNumber := strings.Trim(text, "0123456789") == ""
	err := s.Store.View(ctx, func(tx *store.Tx) error {
		end = tx.Position()
		prefix, isRef := record.ParsePrefix(text)
		if !isRef {
			return nil
		}
		ref, err := tx.Resolve(prefix)
		if errors.Is(err, store.ErrNotFound) && isNumber {
			return nil // a position of many digits
		}
		if err == nil {
			v, err = tx.Get(ref)
		}
		return err
	})
	position := v.Position
	switch {
	case err != nil || v.Record != nil:
	case text == "":
		position = end
	case isNumber:
		position, err = e.position(ctx, s, "@"+text)
	default:
		position, err = e.position(ctx, s, text)
	}
	if err != nil {
		return 0, err
	}
	if position > end {
		return 0, coded(record.Usage, "filebus log --limit 5", fmt.Errorf("there is no position %d: the log ends at %d",
			position, end))
	}
	return e.registry(s).Moment(ctx, position)
}

// A sessionStepsJSON is what happened in a session, in JSON.
type sessionStepsJSON struct {
	Session string          `json:"session"`
	Steps   []sessions.Step `json:"steps"` // oldest first
	Earlier int             `json:"earlier"`
}

// printSteps prints the last steps of a session up to a position.
func printSteps(ctx context.Context, env *environ, s *session, id string, trees []record.Tree, until uint64, limit int) error {
	steps, err := env.registry(s).Steps(ctx, id)
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(step sessions.Step) bool {
		return len(trees) > 0 && !slices.Contains(trees, step.Name.Tree) || step.Position > until
	})
	view := sessionStepsJSON{Session: id, Steps: steps}
	if limit > 0 {
		view.Earlier = max(0, len(steps)-limit)
		view.Steps = steps[view.Earlier:]
	}
	var rows [][]string
	for _, step := range view.Steps {
		name := step.Name.String()
		if step.Destroyed && step.Event != sessions.EventDrop {
			name += " (destroyed since)"
		}
		at := "@" + strconv.FormatUint(step.Position, 10)
		rows = append(rows, []string{at, env.minute(step.Time), orDash(step.Agent), step.Event, step.Ref.String(),
			name})
	}
	if env.global.json {
		return env.printJSON(view)
	}
	env.printTable(rows)
	if view.Earlier > 0 {
		env.note("%d earlier steps; --limit 0 lists all", view.Earlier)
	}
	return nil
}
