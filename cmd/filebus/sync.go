package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/store/record"
)

type syncCommand struct {
	DryRun   bool `flag:"dry-run"`
	Repair   bool `flag:"repair" not:"accept"`
	Accept   bool `flag:"accept"`
	Restore  bool `flag:"restore" not:"accept"`
	Problems bool `flag:"problems"`
}

func (o *syncCommand) Do(ctx context.Context, w *cli.Work, paths []string) error {
	opts := materialize.SyncOptions{
		DryRun: o.DryRun, Repair: o.Repair, Accept: o.Accept, Announced: true, Problems: o.Problems,
	}
	restore, err := o.restored(w, paths)
	if err = cmp.Or(err, w.NoteLayouts()); err != nil {
		return err
	}
	var reports []*materialize.SyncReport
	for _, root := range w.Roots() {
		show, clear := w.Progress("syncing")
		opts.Progress = cli.Counted(show)
		if opts.Restore = nil; o.Restore && root == w.Root { // the files of another root are not asked for
			opts.Restore = restore
		}
		report, err := w.Sync(ctx, root, opts)
		clear()
		reports = append(reports, report)
		if err != nil {
			// What was done before is told as well; the damage decides the exit code.
			_ = printSync(w, reports, o.Problems, err)
			return err
		}
	}
	err = errors.Join(printSync(w, reports, o.Problems, nil), o.tellPlaces(w, reports[0]))
	w.RemarkLeft(ctx)
	w.RemarkStrangers(ctx)
	return errors.Join(err, o.missing(w, paths))
}

// tellPlaces says, once, what conventions have begun to be used, and how they are left out.
func (o *syncCommand) tellPlaces(w *cli.Work, report *materialize.SyncReport) error {
	lines, err := w.NewConventions(report, o.DryRun)
	for _, line := range lines {
		place, _, _ := strings.Cut(line, ":")
		w.Remark("taken in by itself: %s; to leave it out: echo %s >> .filebusignore", line, record.ShellWord("/"+place))
	}
	return err
}

// missing is the error of a file or folder at which nothing stands after it was restored.
func (o *syncCommand) missing(w *cli.Work, paths []string) error {
	for _, p := range paths {
		if _, err := os.Lstat(w.Abs(p)); errors.Is(err, fs.ErrNotExist) && !o.DryRun {
			return record.NotFound.Errorf("no deleted file is known at or below %s", p)
		}
	}
	return nil
}

// restored returns which files are to be written again: those at or below paths, or all
// that were deleted.
func (o *syncCommand) restored(w *cli.Work, paths []string) (func(string, bool) bool, error) {
	if !o.Restore && len(paths) > 0 {
		return nil, record.Usage.Errorf("sync takes paths only with --restore")
	}
	return func(recordPath string, wasDeleted bool) bool {
		file := w.FilePath(recordPath)
		isAt := func(p string) bool {
			top := w.Abs(p)
			return file == top || strings.HasPrefix(file, top+string(filepath.Separator))
		}
		return len(paths) == 0 && wasDeleted || slices.ContainsFunc(paths, isAt)
	}, nil
}

type syncJSON struct {
	Roots   []*materialize.SyncReport `json:"roots"`
	Secrets []materialize.Secret      `json:"secrets,omitempty"`
}

func printSync(w *cli.Work, reports []*materialize.SyncReport, all bool, failure error) error {
	conflicts, skipped, files := 0, 0, 0
	for _, r := range reports {
		conflicts += r.Count("conflict")
		files += len(r.Files)
		for _, p := range r.Problems { // of another root
			p.File = fileOf(w, r, p.File)
		}
		for _, s := range r.Skipped {
			w.Note("left out %s: %s", fileOf(w, r, s.Path), s.Reason)
			if !s.Harmless {
				skipped++
			}
		}
		noteRules(w.Environ, r.News, "a line !NAME in .filebusignore")
		printProblems(w.Environ, r.Problems, all)
		if !w.Global.JSON {
			printSyncedFiles(w, r)
		}
	}
	isAsked := printGit(w, reports)
	if w.Global.JSON {
		if err := w.PrintJSON(syncJSON{reports, foundSecrets(w.Environ)}); err != nil {
			return err
		}
	} else if files+skipped == 0 && failure == nil && isAsked {
		w.Note("in step")
	}
	switch {
	case conflicts > 0:
		w.Note("%s: filebus conflicts shows both sides", cli.Plural(conflicts, "conflict"))
		return cli.SilentError(record.Conflict)
	case skipped > 0:
		return cli.SilentError(record.Partly)
	}
	return nil
}

const unwrittenText = "left as they are, where filebus writes nothing by itself: %s"

// printGit says, once, what was left to git, and reports whether git could be asked.
func printGit(w *cli.Work, reports []*materialize.SyncReport) bool {
	kept, unwritten, failure := 0, 0, ""
	for _, r := range reports {
		kept, unwritten = kept+r.Kept, unwritten+r.Unwritten
		failure = cmp.Or(failure, r.Git)
	}
	switch {
	case failure != "":
		w.Note("%s: files that git may track were left as they are", failure)
	case kept > 0:
		w.Note("left to git, which tracks them: %s", cli.Plural(kept, "file"))
	}
	if unwritten > 0 {
		w.Note(unwrittenText, cli.Plural(unwritten, "file"))
	}
	return failure == ""
}

// fileOf returns how a file is named: that of a linked worktree as a whole path.
func fileOf(w *cli.Work, r *materialize.SyncReport, file string) string {
	if r.Root == w.Root {
		return file
	}
	return filepath.Join(r.Root, filepath.FromSlash(file))
}

func printSyncedFiles(w *cli.Work, r *materialize.SyncReport) {
	var rows [][]string
	for _, f := range r.Files {
		rows = append(rows, []string{f.Action, fileOf(w, r, f.Path), f.Detail})
	}
	w.PrintTable(rows)
	if r.Count("rolled back") > 0 {
		w.Note("older versions are not imported: " +
			"--repair writes the current ones back, --accept imports the older ones")
	}
	if r.Count("altered") > 0 {
		w.Note("write-once files were altered: --repair writes them back")
	}
}
