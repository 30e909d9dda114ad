package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
)

// configView is what config prints. Of the configuration itself the names of profile and
// root are not shown: the profile that they give is.
type configView struct {
	Store     string         `json:"store"`
	Exists    bool           `json:"exists"`
	Workspace string         `json:"workspace"`
	Root      string         `json:"root"`
	Config    string         `json:"config"`
	Profile   layout.Profile `json:"profile"` // where new files go
	cli.Configuration
}

// here returns where the store is, or would be, with its configuration.
func here(e *cli.Environ) (at materialize.Location, c cli.Configuration, exists bool, err error) {
	if at, err = e.Locate(); err == nil || errors.Is(err, store.ErrNoStore) {
		exists = err == nil
		c, err = e.Config(at)
	}
	return at, c, exists, err
}

func runConfig(_ context.Context, w *cli.Work, _ []string) error {
	at, c, exists, err := here(w.Environ)
	if err != nil {
		return err
	}
	v, err := view(c, at, exists)
	if err != nil {
		return err
	}
	if w.Global.JSON {
		return w.PrintJSON(v)
	}
	printConfig(w, v)
	return nil
}

// view returns what there is to say of the configuration of a workspace.
func view(c cli.Configuration, at materialize.Location, exists bool) (configView, error) {
	profile, err := c.ChosenProfile()
	c.Preview = cmp.Or(c.Preview, materialize.DefaultPreview)
	return configView{at.Store, exists, at.Main, at.Root, filepath.Join(at.Store, cli.ConfigFile), profile, c}, err
}

func printConfig(w *cli.Work, v configView) {
	missing, worktree, retention := "", "", ""
	if !v.Exists {
		missing = " (not made yet)"
	}
	if v.Root != v.Workspace {
		worktree = v.Root
	}
	if v.Retention != (cli.RetentionConfig{}) {
		retention = v.Retention.String()
	}
	p := v.Profile
	for _, row := range [][2]string{
		{"store", v.Store + missing}, {"workspace", v.Workspace}, {"worktree", worktree}, {"config", v.Config},
		{"profile", p.Name}, {"results", p.Results}, {"markers", p.Markers}, {"dialogues", p.Dialogues},
		{"sessions", p.Sessions}, {"others", p.Root}, {"notes", strings.Join(v.Notes, " ")},
		{"knowledge", strings.Join(slices.Sorted(maps.Keys(v.Kinds)), " ")},
		{"preview", fmt.Sprint(v.Preview, " characters")}, {"pdf_dir", v.PDFDir}, {"retention", retention}, {"secrets", v.Secrets},
		{"agents", strings.Join(v.Agents, " ")}, {"hooks", v.Hooks.Mode},
	} {
		if row[1] != "" || row[0] == "notes" {
			w.Printf("%-10s %s\n", row[0], cli.OneLine(row[1]))
		}
	}
}
