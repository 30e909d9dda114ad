package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"filebus/materialize/dialogue"
	"filebus/store"
	"filebus/store/record"
)

// A namesOf returns names that stand for a dialogue.
type namesOf func(context.Context, *dialogue.Forum, *dialogue.Dialogue) ([]record.Name, error)

// slugNames returns arguments with the names that stand for a dialogue in place of its
// slug. What is a file, or no dialogue, stays as it is.
func (e *environ) slugNames(ctx context.Context, args []string, of namesOf) ([]string, error) {
	var all []string
	for _, arg := range args {
		if _, err := os.Stat(e.abs(arg)); err == nil || arg == "-" || strings.ContainsAny(arg, "/.") {
			all = append(all, arg)
			continue
		}
		_, f, d, err := e.openDialogue(ctx, arg)
		if errors.Is(err, dialogue.ErrNoDialogue) || errors.Is(err, store.ErrNoStore) {
			all = append(all, arg) // it may be the name of something else
			continue
		}
		var names []record.Name
		if err == nil {
			names, err = of(ctx, f, d)
		}
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, name.String())
		}
	}
	return all, nil
}

// turnNames returns the turns of a dialogue, by round and agent.
func turnNames(_ context.Context, _ *dialogue.Forum, d *dialogue.Dialogue) (names []record.Name, err error) {
	for _, r := range d.Rounds {
		for _, t := range r.Turns {
			names = append(names, t.Version.Record.Name)
		}
	}
	if len(names) == 0 {
		err = coded(record.NotFound, "filebus dialogue check "+quote(d.Key.String()),
			fmt.Errorf("%s has no turn yet", d.Key))
	}
	return names, err
}

// documentNames returns the documents of a dialogue that are stored.
func documentNames(ctx context.Context, f *dialogue.Forum, d *dialogue.Dialogue) ([]record.Name, error) {
	names, err := f.Documents(ctx, d)
	if err != nil || len(names) > 0 {
		return names, err
	}
	hint := "filebus dialogue assemble " + quote(d.Key.String())
	if !d.Key.IsOwn() {
		hint += " --stdout | filebus dialogue lint -"
	}
	return nil, coded(record.NotFound, hint, fmt.Errorf("%s has no document yet", d.Key))
}
