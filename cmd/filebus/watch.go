package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
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

// loggedActions are those of sync that show in the log, or are not over.
var loggedActions = []string{"captured", "cleared", "retired", "renamed", "merged", "left out", "waiting"}

// A fileChange is what a watch did to a file, or could not do.
type fileChange struct {
	Root string `json:"root"`
	materialize.SyncedFile
}

func (o *watchCommand) Check(*cli.Environ, []string) error {
	if o.Every < leastScan {
		return cli.UsageError("--every %v: it is %v at least", o.Every, leastScan)
	}
	return nil
}

func (o *watchCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	x := watcher{watchCommand: o, Environ: w.Environ}
	return mirror.Follow(ctx, o.Every, nil, x.look, x.complain)
}

// A watcher is a watch that goes on. Each look opens the store anew: nothing is held in between, and the store and its
// settings may be others by then.
type watcher struct {
	*watchCommand
	*cli.Environ
	position     uint64          // of the last change that was told
	watched      mirror.Watched  // by the last look that went well; nil: there was none
	before, seen map[string]bool // what the last look and this one have said of files
	trouble      string          // the last look's; "": none
}

// look brings files and store in step and tells what has changed. Only the first look's error ends the watch, as the
// command's.
func (x *watcher) look(ctx context.Context) (mirror.Watched, time.Duration, error) {
	isFirst := x.watched == nil
	watched, again, err := x.sync(ctx)
	switch failed := x.OutputError(); {
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case failed != nil || isFirst && err != nil:
		return nil, 0, errors.Join(failed, err)
	case err != nil:
		if text := cli.Message(err); text != x.trouble {
			x.trouble = text
			x.complain(err)
		}
		return x.watched, brokenScan, nil
	case isFirst:
		x.Note("watching %s", cli.Plural(len(watched), "folder"))
	case x.trouble != "":
		x.Note("it goes on")
	}
	x.trouble, x.watched = "", watched
	return watched, again, nil
}

// complain says what keeps the watch from seeing changes.
func (x *watcher) complain(err error) {
	f := cli.Explain(err)
	x.NoteTry(f.Hint, "%s", f.Message)
}

func (x *watcher) sync(ctx context.Context) (watched mirror.Watched, again time.Duration, err error) {
	env := *x.Environ // of this look: it is told what it has opened
	env.Opened = nil
	w, err := env.Open(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer env.NoteSecrets()
	end, err := query.View(ctx, w.Store, func(tx *store.Tx) (uint64, error) { return tx.Position(), nil })
	if err != nil {
		return nil, 0, err
	}
	if x.watched == nil {
		x.position = end
	} else if end < x.position {
		x.Note("the store %s has another log, which is shorter: changes are told from its end on", w.Location.Store)
		x.position = end
	}
	watched = mirror.Watched{w.Location.Store: false} // other commands write to it
	var reports []*materialize.SyncReport
	for _, root := range w.Roots() {
		show, clear := w.Progress("syncing")
		report, syncErr := w.Sync(ctx, root, materialize.SyncOptions{Finished: true, Progress: cli.Counted(show)})
		clear()
		for dir, isWhole := range report.Watched {
			watched.Add(dir, isWhole)
		}
		if report.Count("waiting") > 0 {
			again = heldScan
		}
		reports, err = append(reports, report), errors.Join(err, syncErr)
	}
	return watched, again, errors.Join(x.tell(ctx, w, reports), err)
}

// tell prints what has changed in the store, by whomever, and what was done to files, or could not be.
func (x *watcher) tell(ctx context.Context, w *cli.Work, reports []*materialize.SyncReport) error {
	l := logPrinter{Work: w, position: x.position}
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
	x.before, x.seen = x.seen, map[string]bool{}
	for _, r := range reports {
		if x.isNew(append(r.Left, r.Root, strconv.Itoa(r.Unmade))...) {
			noteUnmade(w, r)
		}
		for _, s := range r.Skipped {
			if !s.Harmless && x.isNew(r.Root, s.Path, s.Reason) {
				w.Note("left out %s: %s", s.Path, s.Reason)
			}
		}
		for _, f := range r.Files {
			if slices.Contains(loggedActions, f.Action) || !x.isNew(r.Root, f.Path, f.Action) {
				continue
			}
			file := filepath.Join(r.Root, filepath.FromSlash(f.Path))
			if r.Root == w.Root {
				file = w.FilePath(f.Path)
			}
			line := w.Table([][]string{{f.Action, file, f.Detail}})
			if err := errors.Join(w.Print(fileChange{r.Root, f}, "%s", line), w.OutputError()); err != nil {
				return err
			}
			x.start(ctx, w, f.Action, "", "", file)
		}
	}
	return nil
}

// isNew reports whether something was not said by the look before.
func (x *watcher) isNew(what ...string) bool {
	key := strings.Join(what, "\n")
	x.seen[key] = true
	return !x.before[key]
}

// start runs the command that is to be run for each change, to its end. What it prints goes to stderr: the output is the
// watch's own. One that takes long is said.
func (x *watcher) start(ctx context.Context, w *cli.Work, op, name, ref, file string) {
	if x.Exec == "" {
		return
	}
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1], x.Exec)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = x.Dir, x.RawErr(), x.RawErr(), time.Second
	cmd.Env = append(slices.Clone(x.Variables), "FILEBUS_STORE="+w.Location.Store,
		"FILEBUS_OP="+op, "FILEBUS_NAME="+name, "FILEBUS_REF="+ref, "FILEBUS_PATH="+file)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	what := fmt.Sprintf("after %s %s", op, cli.OneLine(cmp.Or(name, file)))
	for wait := x.Every; ; wait *= 2 {
		select {
		case err := <-ended:
			if err != nil && ctx.Err() == nil {
				x.Note("--exec: %v, %s", err, what)
			}
			return
		case <-time.After(wait):
			x.Note("--exec: its command still runs, %s; further changes wait", what)
		}
	}
}
