package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/lint"
	"filebus/store/record"
)

type lintCommand struct {
	Rules []string `flag:"rule"`
	Limit int      `flag:"limit" least:"0"`
}

func (o *lintCommand) Do(ctx context.Context, w *cli.Work, args []string) (err error) {
	var known []string
	for _, r := range lint.Rules() {
		known = append(known, r.ID)
	}
	for _, rule := range o.Rules {
		if !slices.Contains(known, rule) {
			return cli.UsageError("--rule %q is none of %s", rule, strings.Join(known, ", "))
		}
	}
	dir, opts := append(args, "")[0], lint.Options{Rules: o.Rules, Limit: o.Limit}
	if dir, err = lintFolder(w.Environ, dir, &opts); err != nil {
		return err
	}
	report, err := lint.Check(ctx, dir, opts)
	if err != nil {
		return err
	}
	if w.Global.JSON {
		err = w.PrintJSON(report)
	} else {
		printLint(w.Environ, report)
	}
	switch {
	case err != nil:
		return err
	case len(report.Findings) > 0:
		return cli.SilentError(record.Wanting)
	case report.Cut || len(report.Unread) > 0:
		return cli.SilentError(record.Partly)
	}
	return nil
}

// lintFolder returns the folder to check, absolute, which is the working directory's workspace
// unless one is given, and sets where notes lie in it, and of a workspace its profile.
func lintFolder(e *cli.Environ, dir string, opts *lint.Options) (string, error) {
	if dir != "" {
		dir = e.Abs(dir)
	}
	at, err := e.Locate()
	if err != nil {
		if dir = cmp.Or(dir, e.Dir); dir != "" {
			err = nil // no store: the default profile
		}
		return dir, err
	}
	dir = cmp.Or(dir, at.Root)
	settings, err := e.UsualSettings(at)
	if dir == at.Root {
		opts.Profile = settings.Profile
	}
	for _, notes := range settings.NoteFolders {
		rel, relErr := filepath.Rel(dir, filepath.Join(at.Root, notes))
		if relErr == nil && strings.Trim(rel, "./\\") == "" {
			rel = "." // it lies in the folder of notes
		}
		opts.Notes = append(opts.Notes, filepath.ToSlash(rel))
	}
	return dir, err
}

func printLint(e *cli.Environ, report *lint.Report) {
	shown := slices.Clone(report.Findings)
	for i, f := range shown {
		shown[i].File = seenFrom(e, report.Dir, f.File)
	}
	e.Printf("%s", e.FindingsText(shown, 0))
	for _, name := range report.Unread {
		e.Note("not read: %s", cli.OneLine(name))
	}
	if report.Cut {
		e.Note("more than %d files and folders: the rest was not looked at; check a folder of it", lint.MaxFiles)
	}
	found := fmt.Sprintf("%s in %s", cli.Plural(len(report.Findings)+report.More, "finding"),
		cli.Plural(report.Files, "file"))
	if e.Dir != report.Dir && len(report.Findings) > 0 {
		found += "; the commands are for " + cli.OneLine(report.Dir)
	}
	e.Note("%s", found)
	e.NoteRest(report.More, "--limit 0")
}

// seenFrom returns a file of a folder as it is called from the working directory.
func seenFrom(e *cli.Environ, dir, file string) string {
	full := filepath.Join(dir, filepath.FromSlash(file))
	if rel, err := filepath.Rel(e.Dir, full); err == nil && e.Dir != "" {
		return filepath.ToSlash(rel)
	}
	return full
}
