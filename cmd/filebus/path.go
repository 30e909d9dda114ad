package main

import (
	"context"
	"errors"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

func runPath(ctx context.Context, w *cli.Work, args []string) error {
	found, err := w.Open(ctx)
	if errors.Is(err, store.ErrNoStore) {
		at, _ := w.Locate() // there is none yet; at says where it would be
		settings, err := w.SettingsAt(at)
		if err != nil {
			return err
		}
		return printPathOf(w.Environ, &materialize.Workspace{Location: at, Settings: settings}, args[0])
	}
	if err != nil {
		return err
	}
	v, err := found.VersionOf(ctx, args[0])
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && v.Record.Path == "" && v.Record.Name.Tree == "":
		return printPathOf(w.Environ, found.Workspace, args[0])
	case err != nil:
		return err
	case v.Record.Name.Tree != "":
		return cli.UsageError("%s is in a captured tree; filebus materialize --tree %s lays it out",
			v.Record.Name, v.Record.Name.Tree)
	}
	file := found.FilePath(v.Record.Path)
	if w.Or("", "FILEBUS_AGENT") != "" && v.Record.Session != "" {
		w.Said.What = v.Record.Name.String()
	}
	return w.Print(map[string]string{"file": file}, "%s\n", file)
}

// printPathOf prints where the file of a name is, or would be.
func printPathOf(e *cli.Environ, w *materialize.Workspace, text string) error {
	name, err := record.ParseName(text)
	if err != nil {
		return cli.Coded(record.Usage, "", err)
	}
	file, err := w.PathOf(name)
	if err != nil {
		return err
	}
	return e.Print(map[string]string{"file": file}, "%s\n", file)
}
