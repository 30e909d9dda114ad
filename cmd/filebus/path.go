package main

import (
	"context"
	"errors"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

type pathCommand struct{}

func (pathCommand) run(ctx context.Context, w *workspace, args []string) error {
	env, text := w.environ, args[0]
	w, err := env.open(ctx)
	if errors.Is(err, store.ErrNoStore) {
		at, _ := env.locate() // there is none yet; at says where it would be
		settings, err := env.settings(at)
		if err != nil {
			return err
		}
		return printPathOf(env, &materialize.Workspace{Location: at, Settings: settings}, text)
	}
	if err != nil {
		return err
	}
	v, err := w.resolve(ctx, text)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && v.Record.Path == "" && v.Record.Name.Tree == "":
		return printPathOf(env, w.Workspace, text)
	case err != nil:
		return err
	case v.Record.Name.Tree != "":
		return usageError("%s is in a captured tree; filebus materialize --tree %s lays it out",
			v.Record.Name, v.Record.Name.Tree)
	}
	file := w.FilePath(v.Record.Path)
	if env.or("", "FILEBUS_AGENT") != "" && v.Record.Session != "" {
		w.logRead("path", v.Record.Name.String(), record.EstimateTokens(int64(len(file))))
	}
	return env.print(map[string]string{"file": file}, "%s\n", file)
}

// printPathOf prints where the file of a name is, or would be.
func printPathOf(env *environ, w *materialize.Workspace, text string) error {
	name, err := record.ParseName(text)
	if err != nil {
		return coded(record.Usage, "", err)
	}
	file, err := w.PathOf(name)
	if err != nil {
		return err
	}
	return env.print(map[string]string{"file": file}, "%s\n", file)
}
