package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"filebus/materialize"
	"filebus/store/record"
)

type syncOptions struct{ dryRun, repair, accept, problems bool }

func newSyncCommand(env *environ) *cobra.Command {
	var opts syncOptions
	cmd := newCommand("sync", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runSync(ctx, env, opts)
	})
	flags := cmd.Flags()
	flags.BoolVar(&opts.dryRun, "dry-run", false, "")
	flags.BoolVar(&opts.repair, "repair", false, "")
	flags.BoolVar(&opts.accept, "accept", false, "")
	flags.BoolVar(&opts.problems, "problems", false, "")
	cmd.MarkFlagsMutuallyExclusive("repair", "accept")
	return cmd
}

func runSync(ctx context.Context, env *environ, opts syncOptions) error {
	w, err := env.create(ctx)
	if err != nil {
		return err
	}
	var reports []*materialize.SyncReport
	for _, root := range w.Roots() {
		show, clear := env.progress("syncing")
		report, err := w.Sync(ctx, root, materialize.SyncOptions{
			DryRun: opts.dryRun, Repair: opts.repair, Accept: opts.accept, Announced: true, Progress: counted(show),
		})
		clear()
		reports = append(reports, report)
		if err != nil {
			// What was done before is told as well; the damage decides the exit code.
			_ = printSync(env, w.Workspace, reports, opts.problems)
			return err
		}
	}
	return printSync(env, w.Workspace, reports, opts.problems)
}

func printSync(env *environ, w *materialize.Workspace, reports []*materialize.SyncReport, all bool) error {
	conflicts, skipped, files := 0, 0, 0
	for _, r := range reports {
		conflicts += r.Count(materialize.ActionConflict)
		files += len(r.Files)
		for _, s := range r.Skipped {
			env.note("left out %s: %s", s.Path, s.Reason)
			if !s.Harmless {
				skipped++
			}
		}
		printProblems(env, r.Problems, all)
		if !env.global.json {
			printSyncedFiles(env, w, r)
		}
	}
	if env.global.json {
		if err := env.printJSON(reports); err != nil {
			return err
		}
	} else if files+skipped == 0 {
		env.note("in step")
	}
	switch {
	case conflicts > 0:
		env.note("%s: filebus conflicts shows both sides", plural(conflicts, "conflict"))
		return silentError(record.Conflict)
	case skipped > 0:
		return silentError(record.Partly)
	}
	return nil
}

func printSyncedFiles(env *environ, w *materialize.Workspace, r *materialize.SyncReport) {
	var rows [][]string
	for _, f := range r.Files {
		file := f.Path
		if r.Root != w.Main {
			file = filepath.Join(r.Root, filepath.FromSlash(f.Path))
		}
		rows = append(rows, []string{string(f.Action), file, f.Detail})
	}
	env.printTable(rows)
	if r.Count(materialize.ActionRolledBack) > 0 {
		env.note("older versions are not taken in: --repair writes the current ones back, --accept takes the older ones")
	}
	if r.Count(materialize.ActionAltered) > 0 {
		env.note("write-once files were altered: --repair writes them back")
	}
}
