package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type initOptions struct{ profile, root string }

func newInitCommand(env *environ) *cobra.Command {
	var opts initOptions
	cmd := newCommand("init", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runInit(ctx, env, opts)
	})
	cmd.Flags().StringVar(&opts.profile, "profile", "", "")
	cmd.Flags().StringVar(&opts.root, "root", "", "")
	cmd.MarkFlagsMutuallyExclusive("profile", "root")
	return cmd
}

func runInit(ctx context.Context, env *environ, opts initOptions) error {
	wanted := config{Profile: opts.profile, Root: opts.root}
	if _, err := wanted.profile(); err != nil {
		return coded(record.Usage, "", err)
	}
	at, _ := env.locate() // where there is none, at says where it will be
	if opts != (initOptions{}) {
		if err := writeConfig(at, wanted); err != nil {
			return err
		}
	}
	w, err := env.create(ctx)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(map[string]string{"store": w.Location.Store, "workspace": w.Main})
	}
	env.printf("%s\n", w.Location.Store)
	return nil
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
