package main

import (
	"context"
	"path/filepath"

	"filebus/materialize"
	"filebus/store/record"
)

type syncCommand struct {
	DryRun   bool `flag:"dry-run"`
	Repair   bool `flag:"repair" not:"accept"`
	Accept   bool `flag:"accept"`
	Problems bool `flag:"problems"`
}

func (o *syncCommand) run(ctx context.Context, w *workspace, _ []string) error {
	var reports []*materialize.SyncReport
	for _, root := range w.Roots() {
		show, clear := w.progress("syncing")
		report, err := w.Sync(ctx, root, materialize.SyncOptions{
			DryRun: o.DryRun, Repair: o.Repair, Accept: o.Accept, Announced: true, Progress: counted(show),
		})
		clear()
		reports = append(reports, report)
		if err != nil {
			// What was done before is told as well; the damage decides the exit code.
			_ = printSync(w, reports, o.Problems)
			return err
		}
	}
	return printSync(w, reports, o.Problems)
}

func printSync(w *workspace, reports []*materialize.SyncReport, all bool) error {
	conflicts, skipped, files := 0, 0, 0
	for _, r := range reports {
		conflicts += r.Count(materialize.ActionConflict)
		files += len(r.Files)
		for _, s := range r.Skipped {
			w.note("left out %s: %s", s.Path, s.Reason)
			if !s.Harmless {
				skipped++
			}
		}
		printProblems(w.environ, r.Problems, all)
		if !w.global.json {
			printSyncedFiles(w, r)
		}
	}
	if w.global.json {
		if err := w.printJSON(reports); err != nil {
			return err
		}
	} else if files+skipped == 0 {
		w.note("in step")
	}
	switch {
	case conflicts > 0:
		w.note("%s: filebus conflicts shows both sides", plural(conflicts, "conflict"))
		return silentError(record.Conflict)
	case skipped > 0:
		return silentError(record.Partly)
	}
	return nil
}

func printSyncedFiles(w *workspace, r *materialize.SyncReport) {
	var rows [][]string
	for _, f := range r.Files {
		file := f.Path
		if r.Root != w.Main {
			file = filepath.Join(r.Root, filepath.FromSlash(f.Path))
		}
		rows = append(rows, []string{string(f.Action), file, f.Detail})
	}
	w.printTable(rows)
	if r.Count(materialize.ActionRolledBack) > 0 {
		w.note("older versions are not imported: " +
			"--repair writes the current ones back, --accept imports the older ones")
	}
	if r.Count(materialize.ActionAltered) > 0 {
		w.note("write-once files were altered: --repair writes them back")
	}
}
