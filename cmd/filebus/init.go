package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type initCommand struct {
	Profile string `flag:"profile" not:"root"`
	Root    string `flag:"root"`
}

func (o *initCommand) run(ctx context.Context, w *workspace, _ []string) error {
	wanted := config{Profile: o.Profile, Root: o.Root}
	if _, err := wanted.profile(); err != nil {
		return coded(record.Usage, "", err)
	}
	at, _ := w.locate() // where there is none, at says where it will be
	if *o != (initCommand{}) {
		if err := writeConfig(at, wanted); err != nil {
			return err
		}
	}
	w, err := w.create(ctx)
	if err != nil {
		return err
	}
	folders := map[string]string{"store": w.Location.Store, "workspace": w.Main}
	return w.print(folders, "%s\n", w.Location.Store)
}

// seedPapers is where the file-bus document puts papers.
const seedPapers = "~/Documents/Qark Papers"

// writeConfig writes a configuration where there is none.
func writeConfig(at materialize.Location, c config) error {
	if err := os.MkdirAll(at.Store, 0o777); err != nil {
		return err
	}
	text := fmt.Sprintf("profile = %q\n", c.Profile)
	switch {
	case c.Root != "":
		text = fmt.Sprintf("root = %q\n", c.Root)
	case c.Profile == layout.Seed().Name:
		text += fmt.Sprintf("pdf_dir = %q\n", seedPapers)
	}
	file := filepath.Join(at.Store, configFile)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return coded(record.Conflict, "edit it by hand", fmt.Errorf("%s is there already", file))
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Close()
}
