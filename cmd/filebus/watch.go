package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"filebus/materialize"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type watchCommand struct {
	Every time.Duration `flag:"every"`
	Exec  string        `flag:"exec"`
}

const (
	leastScan  = 100 * time.Millisecond
	usualScan  = 30 * time.Second       // between two looks without an event
	brokenScan = 2 * time.Second        // while the store cannot be used
	heldScan   = 500 * time.Millisecond // while somebody is writing: no event tells that it is over
)

func (o *watchCommand) check(*environ, []string) error {
	if o.Every < leastScan {
		return usageError("--every %v: it is %v at least", o.Every, leastScan)
	}
	return nil
}

func (o *watchCommand) run(ctx context.Context, w *workspace, _ []string) error {
	x := watcher{watchCommand: o, environ: w.environ, seen: map[string]bool{}}
	var err error
	if x.position, err = logEnd(ctx, w); err != nil {
		return err
	}
	return mirror.Follow(ctx, o.Every, x.look, x.complain)
}

func logEnd(ctx context.Context, w *workspace) (uint64, error) {
	return query.View(ctx, w.Store, func(tx *store.Tx) (uint64, error) { return tx.Position(), nil })
}

// A watcher is a watch that goes on. Each look opens the store anew: nothing is held
// in between, and the store and its settings may be others by then.
type watcher struct {
	*watchCommand
	*environ
	position uint64          // of the last change that was told
	watched  mirror.Watched  // by the last look that went well
	seen     map[string]bool // what the last look has said of files
	trouble  string          // the last look's; "": none
}

// look brings files and store in step and tells what has changed. Only the first look's
// error ends the watch, as the command's.
func (x *watcher) look(ctx context.Context) (mirror.Watched, time.Duration, error) {
	isFirst := x.watched.Above == nil
	watched, again, err := x.sync(ctx)
	switch failed := x.outputError(); {
	case ctx.Err() != nil:
		return watched, 0, ctx.Err()
	case failed != nil || isFirst && err != nil:
		return watched, 0, errors.Join(failed, err)
	case err != nil:
		if text := message(err); text != x.trouble {
			x.trouble = text
			x.complain(err)
		}
		return x.watched, brokenScan, nil
	case isFirst:
		x.note("watching %s", plural(len(watched.Folders), "folder"))
	case x.trouble != "":
		x.note("it goes on")
	}
	x.trouble, x.watched = "", watched
	return watched, again, nil
}

// complain says what keeps the watch from seeing changes.
func (x *watcher) complain(err error) {
	f := explain(err)
	x.noteTry(f.Hint, "%s", f.Message)
}

func (x *watcher) sync(ctx context.Context) (watched mirror.Watched, again time.Duration, err error) {
	env := *x.environ // of this look: it is told what it has opened
	env.opened = nil
	w, err := env.open(ctx)
	if err != nil {
		return watched, 0, err
	}
	defer env.noteSecrets()
	end, err := logEnd(ctx, w)
	if err != nil {
		return watched, 0, err
	}
	if end < x.position {
		x.note("the log of %s is another one, which begins before: changes are told from its end on", w.Location.Store)
		x.position = end
	}
	watched.Above = []string{w.Location.Store} // other commands write to it
	var reports []*materialize.SyncReport
	for _, root := range w.Roots() {
		show, clear := w.progress("syncing")
		report, syncErr := w.Sync(ctx, root, materialize.SyncOptions{Finished: true, Progress: counted(show)})
		clear()
		watched.Folders = slices.Concat(watched.Folders, report.Watched.Folders)
		watched.Above = slices.Concat(watched.Above, report.Watched.Above)
		if report.Count("waiting") > 0 {
			again = heldScan
		}
		reports, err = append(reports, report), errors.Join(err, syncErr)
	}
	return watched, again, errors.Join(x.tell(ctx, w, reports), err)
}

// tell prints what has changed in the store, by whomever, and what was done to files.
func (x *watcher) tell(ctx context.Context, w *workspace, reports []*materialize.SyncReport) error {
	l := logPrinter{workspace: w, position: x.position}
	l.told = func(line logLine) {
		x.position = line.Position
		file := ""
		if name, err := record.ParseName(line.Name); err == nil && name.Tree == "" && line.Path != "" {
			file = w.FilePath(line.Path)
		}
		x.start(ctx, w, string(line.Op), line.Name, record.Ref(line.Ref).String(), file)
	}
	if err := l.forward(ctx); err != nil {
		return err
	}
	seen := x.seen
	x.seen = map[string]bool{}
	for _, r := range reports {
		for _, s := range r.Skipped {
			if key := s.Path + "\n" + s.Reason; !s.Harmless && x.isNew(seen, r.Root, key) {
				w.note("left out %s: %s", s.Path, s.Reason)
			}
		}
		for _, f := range r.Files {
			if isLogged(f.Action) || !x.isNew(seen, r.Root, f.Path+"\n"+f.Action) {
				continue
			}
			if err := x.tellFile(ctx, w, r.Root, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// isLogged reports whether an action of sync shows in the log, or is not over.
func isLogged(action string) bool {
	return slices.Contains([]string{"captured", "cleared", "retired", "renamed", "merged", "left out", "waiting"}, action)
}

// isNew reports whether something of a root was not said by the look before.
func (x *watcher) isNew(seen map[string]bool, root, key string) bool {
	x.seen[root+"\n"+key] = true
	return !seen[root+"\n"+key]
}

// A fileChange is what a watch did to a file, or could not do.
type fileChange struct {
	Root string `json:"root"`
	materialize.SyncedFile
}

func (x *watcher) tellFile(ctx context.Context, w *workspace, root string, f materialize.SyncedFile) error {
	file := w.FilePath(f.Path)
	if root != w.Root {
		file = filepath.Join(root, filepath.FromSlash(f.Path))
	}
	if err := w.print(fileChange{root, f}, "%s", w.table([][]string{{f.Action, file, f.Detail}})); err != nil {
		return err
	}
	x.start(ctx, w, f.Action, "", "", file)
	return w.outputError()
}

// start runs the command that is to be run for each change, to its end. What it prints
// goes to stderr: the output is the watch's own.
func (x *watcher) start(ctx context.Context, w *workspace, op, name, ref, file string) {
	if x.Exec == "" {
		return
	}
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1], x.Exec)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = x.dir, x.rawErr(), x.rawErr(), time.Second
	cmd.Env = append(slices.Clone(x.variables), "FILEBUS_STORE="+w.Location.Store,
		"FILEBUS_OP="+op, "FILEBUS_NAME="+name, "FILEBUS_REF="+ref, "FILEBUS_PATH="+file)
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		x.note("--exec: %v, after %s %s", err, op, oneLine(name+file))
	}
}
