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

// slugNames returns arguments with the names that stand for a dialogue in place of its
// slug. What is a file, or no dialogue, stays as it is.
func (e *environ) slugNames(ctx context.Context, args []string, namesOf func(*dialogue.Forum, *dialogue.Dialogue) ([]record.Name, error)) ([]string, error) {
	var all []string
	for _, arg := range args {
		if _, err := os.Stat(e.abs(arg)); err == nil || arg == "-" || strings.ContainsAny(arg, "/.") {
			all = append(all, arg)
			continue
		}
		names, err := e.namesBehind(ctx, arg, namesOf)
		if errors.Is(err, dialogue.ErrNoDialogue) || errors.Is(err, store.ErrNoStore) {
			names, err = []string{arg}, nil // it may be the name of something else
		}
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
	}
	return all, nil
}

func (e *environ) namesBehind(ctx context.Context, slug string, namesOf func(*dialogue.Forum, *dialogue.Dialogue) ([]record.Name, error)) ([]string, error) {
	_, f, d, err := e.openDialogue(ctx, slug)
	if err != nil {
		return nil, err
	}
	found, err := namesOf(f, d)
	var names []string
	for _, name := range found {
		names = append(names, name.String())
	}
	return names, err
}

// turnNames returns the turns of a dialogue, by round and agent.
func turnNames(_ *dialogue.Forum, d *dialogue.Dialogue) ([]record.Name, error) {
	var names []record.Name
	for _, r := range d.Rounds {
		for _, t := range r.Turns {
			names = append(names, t.Version.Record.Name)
		}
	}
	if len(names) == 0 {
		return nil, coded(record.NotFound, "filebus dialogue check "+quote(d.Key.String()), fmt.Errorf("%s has no turn yet", d.Key))
	}
	return names, nil
}

// documentNames returns the documents of a dialogue that are stored.
func documentNames(ctx context.Context) func(*dialogue.Forum, *dialogue.Dialogue) ([]record.Name, error) {
	return func(f *dialogue.Forum, d *dialogue.Dialogue) ([]record.Name, error) {
		names, err := f.Documents(ctx, d)
		if err == nil && len(names) == 0 {
			hint := "filebus dialogue assemble " + quote(d.Key.String())
			if !d.Key.IsOwn() {
				hint += " --stdout | filebus dialogue lint -"
			}
			return nil, coded(record.NotFound, hint, fmt.Errorf("%s has no document yet", d.Key))
		}
		return names, err
	}
}
