package main

import (
	"context"
	"errors"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

func runPath(ctx context.Context, w *workspace, args []string) error {
	found, err := w.open(ctx)
	if errors.Is(err, store.ErrNoStore) {
		at, _ := w.locate() // there is none yet; at says where it would be
		settings, err := w.settings(at)
		if err != nil {
			return err
		}
		return w.printPathOf(&materialize.Workspace{Location: at, Settings: settings}, args[0])
	}
	if err != nil {
		return err
	}
	v, err := found.resolve(ctx, args[0])
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && v.Record.Path == "" && v.Record.Name.Tree == "":
		return w.printPathOf(found.Workspace, args[0])
	case err != nil:
		return err
	case v.Record.Name.Tree != "":
		return usageError("%s is in a captured tree; filebus materialize --tree %s lays it out",
			v.Record.Name, v.Record.Name.Tree)
	}
	file := found.FilePath(v.Record.Path)
	if w.or("", "FILEBUS_AGENT") != "" && v.Record.Session != "" {
		w.said.What = v.Record.Name.String()
	}
	return w.print(map[string]string{"file": file}, "%s\n", file)
}

// printPathOf prints where the file of a name is, or would be.
func (e *environ) printPathOf(w *materialize.Workspace, text string) error {
	name, err := record.ParseName(text)
	if err != nil {
		return coded(record.Usage, "", err)
	}
	file, err := w.PathOf(name)
	if err != nil {
		return err
	}
	return e.print(map[string]string{"file": file}, "%s\n", file)
}
