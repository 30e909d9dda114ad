package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// An environ is what a command sees of the world. Commands take nothing of it
// from package os, so that tests run them as they are.
type environ struct {
	in       io.Reader
	out, err io.Writer
	dir      string // the working directory, absolute; "" if it was deleted
	getenv   func(string) string
	now      func() time.Time

	outTerminal, errTerminal bool   // whether somebody looks at out and err
	inTerminal               bool   // whether somebody types in
	boldOn, boldOff          string // what stands for bold in texts: see drawStyles
	columns, rows            int    // of the terminal that out is; 0: not known
	pager                    *pager // before the terminal that out is, or nil
	emptyInput               bool   // whether the command takes a standard input without a byte

	syncBudget time.Duration // how long a reading command looks for changed files
	gitBudget  time.Duration // how long a search looks at the history of git

	variables []string // the environment for commands that are run, as of os.Environ
	// takeSignals hands the process's signals over to a command, until its end; nil: there are none.
	takeSignals func(which []os.Signal) <-chan os.Signal

	global  globalOptions
	command string                   // that is running
	started bool                     // its arguments and flags were accepted
	opened  []*materialize.Workspace // by the command
	insists bool                     // a store may be made in the home folder too
	args    []string                 // the command line
	said    query.Read               // what the log of reads is to say of the output
	call    *toolCall                // that hears what is not a result, or nil: people do
	hooks
}

// hooks are what some commands do for all others, which know nothing of them: see run.
type hooks struct {
	commands func() []command // all of them
	// welcome is told of each workspace that a command opens.
	welcome func(*workspace)
	// settle tells the session state what became of tasks; none: of all.
	settle func(ctx context.Context, w *workspace, tasks ...string)
	// retain gives up the sessions that the configuration does not keep, but one.
	retain func(ctx context.Context, w *workspace, but string) (gone []string, err error)
}

// globalOptions are the flags that every command has.
type globalOptions struct {
	store    string
	json     bool
	noSync   bool
	unsafeFS bool
	wait     time.Duration
	secrets  string
	oldNames []string // of flags that the command line has: see newNames
}

// or returns the flag's value, or the first variable of the environment that is
// not empty.
func (e *environ) or(flag string, variables ...string) string {
	for i := 0; flag == "" && i < len(variables); i++ {
		flag = e.getenv(variables[i])
	}
	return flag
}

// sessionVariables are where the session of whoever runs a command is found.
func sessionVariables() []string {
	return []string{"FILEBUS_SESSION", "CLAUDE_SESSION_ID", "CODEX_SESSION_ID"}
}

// home returns the user's home folder, or "".
func (e *environ) home() string { return e.or("", "HOME", "USERPROFILE") }

// abs returns a path as seen from the working directory.
func (e *environ) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.dir, path)
}

// storeOptions returns what stores and locks are opened with.
func (e *environ) storeOptions() store.Options {
	return store.Options{
		Now: e.now, Wait: e.global.wait, Command: e.command, AllowUnsafeFS: e.global.unsafeFS,
		Notify: func(text string) { e.note("%s", oneLine(text)) },
		Healed: func(name record.Name) {
			e.note("%s: the stored text was damaged; it is whole again", oneLine(name.String()))
		},
		SteppedBack: func(from time.Time) {
			e.note("the log's last entry was of %s, ahead of this clock: the log's time goes back, and what lay ahead counts "+
				"as of now; check the clocks of whoever writes here", record.FormatTime(from))
		},
	}
}

var errNoDir = errors.New("the working directory does not exist any more")

// locate finds the store that the flags, the environment or the working
// directory name. With store.ErrNoStore it returns where one would be made.
func (e *environ) locate() (materialize.Location, error) {
	explicit := e.or(e.global.store, "FILEBUS_STORE")
	if explicit != "" {
		explicit = e.abs(explicit)
	}
	dir := e.dir
	if dir == "" {
		if !filepath.IsAbs(explicit) {
			return materialize.Location{}, coded(record.NotFound, "run it again from another folder", errNoDir)
		}
		dir = explicit
	}
	at, err := materialize.Locate(dir, explicit, e.home())
	switch {
	case !errors.Is(err, store.ErrNoStore):
	case materialize.HasLost(at.Store):
		err = coded(record.NoStore, repairHint, fmt.Errorf("%s is missing", filepath.Join(at.Store, storeFile)))
	case explicit != "" && !mayBecomeStore(at.Store):
		err = record.Usage.Errorf("%s is a folder of other files, and no store", at.Store).
			Because(errNoPlace, filepath.Join(at.Store, materialize.StoreFolder)).Try("run it again with --store {1}")
	}
	return at, closed(at, err)
}

// A workspace is an opened one with the means to read it, and the world of the command
// that has opened it.
type workspace struct {
	*environ
	*materialize.Workspace
	read *query.Reader
}

func (e *environ) newWorkspace(w *materialize.Workspace, err error) (*workspace, error) {
	if err != nil {
		return nil, err
	}
	e.opened = append(e.opened, w)
	return &workspace{e, w, e.reader(w.Store, query.Options{})}, nil
}

// reader returns a reader of a store.
func (e *environ) reader(s *store.Store, opts query.Options) *query.Reader {
	opts.Now, opts.Wait, opts.Command = e.now, e.global.wait, e.command
	return query.New(s, opts)
}

// open opens the workspace, or returns store.ErrNoStore.
func (e *environ) open(ctx context.Context) (*workspace, error) {
	at, err := e.locate()
	if err != nil {
		return nil, e.noStore(at, err)
	}
	settings, err := e.settings(at)
	if err != nil {
		return nil, err
	}
	s, err := e.newWorkspace(materialize.Open(at, settings, e.storeOptions()))
	err = closed(at, err)
	if err == nil {
		if tightened, _ := folder.At(at.Store).Tighten(); tightened { // else the next command tries again
			e.note("others could use the store %s; it is its owner's alone now", at.Store)
		}
		e.rememberStore(at.Store)
		e.welcome(s)
	}
	return s, err
}

// create opens the workspace, and makes its store if there is none yet.
func (e *environ) create(ctx context.Context) (*workspace, error) {
	at, err := e.locate()
	if err == nil {
		return e.open(ctx)
	}
	if !errors.Is(err, store.ErrNoStore) {
		return nil, err
	}
	isGiven := e.or(e.global.store, "FILEBUS_STORE") != "" || materialize.HasLost(at.Store)
	if !isGiven && !e.insists && e.isShared(at.Main) && !e.confirm(at.Main) {
		return nil, record.Usage.Errorf("%s is the home folder or the top of a disk, and no project", at.Main).
			Because(errNoPlace).Try("run it again in the folder of a project, or filebus init --yes to have a store here")
	}
	settings, err := e.settings(at)
	if err != nil {
		return nil, err
	}
	w, err := e.newWorkspace(materialize.Create(ctx, at, settings, e.storeOptions()))
	if err != nil {
		return nil, err
	}
	if e.rememberStore(at.Store); w.Store.IsNew() {
		e.note("made a store in %s", at.Store)
		if at.Other != "" {
			e.note("there is another store in %s; filebus list%s reads it", at.Other, e.storeFlag(at.Other))
		}
		if e.isShared(at.Main) {
			e.note("%s is no project: outside of git its store is found there alone, and not below", at.Main)
		}
	}
	return w, err
}

// openFresh opens the workspace and imports what agents have changed on disk
// since. What could not be imported is said; reading goes on without it.
func (e *environ) openFresh(ctx context.Context) (*workspace, error) {
	w, err := e.open(ctx)
	if err != nil || e.global.noSync {
		return w, err
	}
	report, err := w.Sync(ctx, w.Root, materialize.SyncOptions{CaptureOnly: true, Finished: true, Budget: e.syncBudget})
	isBroken := func(s mirror.Skipped) bool { return strings.Contains(s.Reason, mirror.RuleIgnore) }
	broken := slices.IndexFunc(report.Skipped, isBroken)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // what is stored can be read all the same
		e.note("not all changed files were looked at: %v", err)
	case report.Failed > 0:
		last := report.Skipped[len(report.Skipped)-1]
		e.note("%s not imported, such as %s: %s", plural(report.Failed, "changed file"), last.Path, last.Reason)
	case broken >= 0: // agents' folders may be concerned
		e.note("%s was not looked at: %s", oneLine(report.Skipped[broken].Path), oneLine(report.Skipped[broken].Reason))
	case report.Count("conflict") > 0:
		e.note("%s in files that were changed: filebus sync says which", plural(report.Count("conflict"), "conflict"))
	case report.Unlooked > 0:
		e.note("%s not looked at; filebus sync imports them", plural(report.Unlooked, "changed file"))
	case report.Unread > 0:
		e.note("%s not looked at for changed files; filebus sync does", plural(report.Unread, "folder"))
	case len(report.Files) == 0:
		w.remarkLeft(ctx)
	}
	w.refreshBy(ctx, w.Settings.AutoRefresh, autoBudget)
	return w, ctx.Err()
}

// createFresh is openFresh, and makes the store if there is none yet.
func (e *environ) createFresh(ctx context.Context) (*workspace, error) {
	w, err := e.openFresh(ctx)
	if errors.Is(err, store.ErrNoStore) {
		return e.create(ctx)
	}
	return w, err
}

// importNew imports the file of a name, if it was changed just now, which
// openFresh leaves alone. What could not be imported is said.
func (w *workspace) importNew(ctx context.Context, kind record.Kind, id string) {
	if w.global.noSync {
		return
	}
	if err := w.ImportNew(ctx, kind, id); err != nil && ctx.Err() == nil {
		w.note("the file of %s/%s was not looked at: %v", kind, id, err)
	}
}

// resolve returns the version that a user's text means.
func (w *workspace) resolve(ctx context.Context, text string) (store.Version, error) {
	return w.read.Resolve(ctx, text, w.paths())
}

// paths says what a user's paths are relative to.
func (w *workspace) paths() query.ResolveOptions {
	return query.ResolveOptions{Root: w.Root, Dir: w.dir}
}

// noteNotHere names the entries of a kind that the files here do not have, as after a
// checkout of another branch.
func (w *workspace) noteNotHere(ctx context.Context, kind record.Kind) {
	names, err := w.NotHere(ctx, kind)
	if err != nil || len(names) == 0 {
		return // what could not be looked at is an error of the list itself
	}
	ids := markdown.Each(names[:min(len(names), 5)], func(n record.Name) string { return n.ID })
	more := ""
	if left := len(names) - len(ids); left > 0 {
		more = fmt.Sprintf(" and %d more", left)
	}
	w.note("not in this checkout: %s%s", strings.Join(ids, ", "), more)
}

// find opens the workspace to read it and returns the version that text means.
func (e *environ) find(ctx context.Context, text string) (*workspace, store.Version, error) {
	s, err := e.openFresh(ctx)
	if err != nil {
		return nil, store.Version{}, err
	}
	v, err := s.resolve(ctx, text)
	return s, v, err
}
