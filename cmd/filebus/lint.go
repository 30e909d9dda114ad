package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/lint"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type lintCommand struct {
	Rules []string `flag:"rule"`
	Limit int      `flag:"limit" least:"0"`
}

func (o *lintCommand) run(ctx context.Context, w *workspace, args []string) (err error) {
	var known []string
	for _, r := range lint.Rules() {
		known = append(known, r.ID)
	}
	for _, rule := range o.Rules {
		if !slices.Contains(known, rule) {
			return usageError("--rule %q is none of %s", rule, strings.Join(known, ", "))
		}
	}
	dir, opts := append(args, "")[0], lint.Options{Rules: o.Rules, Limit: o.Limit}
	if dir, opts.Profile, err = w.lintFolder(dir); err != nil {
		return err
	}
	report, err := lint.Check(ctx, dir, opts)
	if err != nil {
		return err
	}
	if w.global.json {
		err = w.printJSON(report)
	} else {
		w.printLint(report)
	}
	switch {
	case err != nil:
		return err
	case len(report.Findings) > 0:
		return silentError(record.Wanting)
	case report.Cut || len(report.Unread) > 0:
		return silentError(record.Partly)
	}
	return nil
}

// lintFolder returns the folder to check, absolute, and the profile of its
// workspace: the working directory's workspace unless a folder is given.
func (e *environ) lintFolder(dir string) (string, layout.Profile, error) {
	if dir != "" {
		dir = e.abs(dir)
	}
	at, err := e.locate()
	if err != nil {
		if dir = cmp.Or(dir, e.dir); dir != "" {
			err = nil // no store: the default profile
		}
		return dir, layout.Profile{}, err
	}
	if dir = cmp.Or(dir, at.Root); dir != at.Root {
		return dir, layout.Profile{}, nil
	}
	settings, err := e.usualSettings(at)
	return dir, settings.Profile, err
}

func (e *environ) printLint(report *lint.Report) {
	shown := slices.Clone(report.Findings)
	for i, f := range shown {
		shown[i].File = e.seenFrom(report.Dir, f.File)
	}
	e.printf("%s", e.findingsText(shown, 0))
	for _, name := range report.Unread {
		e.note("not read: %s", oneLine(name))
	}
	if report.Cut {
		e.note("more than %d files and folders: the rest was not looked at; check a folder of it", lint.MaxFiles)
	}
	found := fmt.Sprintf("%s in %s", plural(len(report.Findings)+report.More, "finding"), plural(report.Files, "file"))
	if e.dir != report.Dir && len(report.Findings) > 0 {
		found += "; the commands are for " + oneLine(report.Dir)
	}
	e.note("%s", found)
	e.noteRest(report.More, "--limit 0")
}

// seenFrom returns a file of a folder as it is called from the working directory.
func (e *environ) seenFrom(dir, file string) string {
	full := filepath.Join(dir, filepath.FromSlash(file))
	if rel, err := filepath.Rel(e.dir, full); err == nil && e.dir != "" {
		return filepath.ToSlash(rel)
	}
	return full
}
