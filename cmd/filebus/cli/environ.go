package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// An Environ is what a command sees of the world. Commands take nothing of it
// from package os, so that tests run them as they are.
type Environ struct {
	In       io.Reader
	Out, Err io.Writer
	Dir      string // the working directory, absolute; "" if it was deleted
	Getenv   func(string) string
	Now      func() time.Time

	OutTerminal, ErrTerminal bool   // whether somebody looks at out and err
	InTerminal               bool   // whether somebody types in
	boldOn, boldOff          string // what stands for bold in texts: see drawStyles
	Columns, Rows            int    // of the terminal that out is; 0: not known
	pager                    *pager // before the terminal that out is, or nil
	EmptyInput               bool   // whether the command takes a standard input without a byte

	SyncBudget time.Duration // how long a reading command looks for changed files
	GitBudget  time.Duration // how long a search looks at the history of git

	Variables []string // the environment for commands that are run, as of os.Environ
	// takeSignals hands the process's signals over to a command, until its end; nil: there are none.
	TakeSignals func(which []os.Signal) <-chan os.Signal

	Global      GlobalOptions
	Command     string                   // that is running
	NotLookedAt NotLookedAt              // when the command has opened its workspace
	Started     bool                     // its arguments and flags were accepted
	Opened      []*materialize.Workspace // by the command
	Insists     bool                     // a store may be made in the home folder too
	Args        []string                 // the command line
	Said        query.Read               // what the log of reads is to say of the output
	Call        *ToolCall                // that hears what is not a result, or nil: people do
	Kept        *sync.Map                // what a process of pages has read of entries, or nil: see noun.Collection
	Hooks
}

// Hooks are what some commands do for all others, which know nothing of them: see run.
type Hooks struct {
	Commands func() []Command // all of them
	// welcome is told of each workspace that a command opens.
	Welcome func(*Work)
	// settle tells the session state what became of tasks; none: of all.
	Settle func(ctx context.Context, w *Work, tasks ...string)
	// retain gives up the sessions that the configuration does not keep, but one.
	Retain func(ctx context.Context, w *Work, but string) (gone []string, err error)
}

// GlobalOptions are the flags that every command has.
type GlobalOptions struct {
	Store    string
	JSON     bool
	NoSync   bool
	UnsafeFS bool
	Wait     time.Duration
	Secrets  string
	oldNames []string // of flags that the command line has: see NewNames
}

// Or returns the flag's value, or the first variable of the environment that is
// not empty.
func (e *Environ) Or(flag string, variables ...string) string {
	for i := 0; flag == "" && i < len(variables); i++ {
		flag = e.Getenv(variables[i])
	}
	return flag
}

// SessionVariables are where the session of whoever runs a command is found.
func SessionVariables() []string {
	return []string{"FILEBUS_SESSION", "CLAUDE_SESSION_ID", "CODEX_SESSION_ID"}
}

// Home returns the user's home folder, or "".
func (e *Environ) Home() string { return e.Or("", "HOME", "USERPROFILE") }

// Abs returns a path as seen from the working directory.
func (e *Environ) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

// StoreOptions returns what stores and locks are opened with.
func (e *Environ) StoreOptions() store.Options {
	return store.Options{
		Now: e.Now, Wait: e.Global.Wait, Command: e.Command, AllowUnsafeFS: e.Global.UnsafeFS,
		Notify: func(text string) { e.Note("%s", OneLine(text)) },
		Healed: func(name record.Name) {
			e.Note("%s: the stored text was damaged; it is whole again", OneLine(name.String()))
		},
		SteppedBack: func(from time.Time) {
			e.Note("the log's last entry has the time %s, ahead of this clock: the log's time goes back, and entries "+
				"ahead count as of now; check the clocks of all machines that write here", record.FormatTime(from))
		},
	}
}

// ErrNoDir says that the working directory was deleted.
var ErrNoDir = errors.New("the working directory does not exist any more")

// Locate finds the store that the flags, the environment or the working
// directory name. With store.ErrNoStore it returns where one would be made.
func (e *Environ) Locate() (materialize.Location, error) {
	explicit := e.Or(e.Global.Store, "FILEBUS_STORE")
	if explicit != "" {
		explicit = e.Abs(explicit)
	}
	dir := e.Dir
	if dir == "" {
		if !filepath.IsAbs(explicit) {
			return materialize.Location{}, Coded(record.NotFound, "run it again from another folder", ErrNoDir)
		}
		dir = explicit
	}
	at, err := materialize.Locate(dir, explicit, e.Home())
	switch {
	case !errors.Is(err, store.ErrNoStore):
	case materialize.HasLost(at.Store):
		err = Coded(record.NoStore, RepairHint, fmt.Errorf("%s is missing", filepath.Join(at.Store, StoreFile)))
	case explicit != "" && !mayBecomeStore(at.Store):
		err = record.Usage.Errorf("%s is a folder of other files, and no store", at.Store).
			Because(ErrNoPlace, filepath.Join(at.Store, materialize.StoreFolder)).Try("run it again with --store {1}")
	}
	return at, Closed(at, err)
}

// LocateFrom is Locate from the first of some folders from where there is a store, else from the first. It leaves out
// paths that are not absolute; the folder becomes the environment's.
func (e *Environ) LocateFrom(dirs ...string) (at materialize.Location, err error) {
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
	for _, e.Dir = range append(dirs, append(dirs, e.Dir)[0]) {
		if at, err = e.Locate(); !errors.Is(err, store.ErrNoStore) {
			break
		}
	}
	return at, err
}

// A Work is an opened one with the means to read it, and the world of the command
// that has opened it.
type Work struct {
	*Environ
	*materialize.Workspace
	Reader *query.Reader
}

// NewWorkspace returns what commands work with for a workspace that was opened.
func (e *Environ) NewWorkspace(w *materialize.Workspace, err error) (*Work, error) {
	if err != nil {
		return nil, err
	}
	e.Opened = append(e.Opened, w)
	return &Work{e, w, e.NewReader(w.Store, query.Options{})}, nil
}

// NewReader returns a reader of a store.
func (e *Environ) NewReader(s *store.Store, opts query.Options) *query.Reader {
	opts.Now, opts.Wait, opts.Command = e.Now, e.Global.Wait, e.Command
	return query.New(s, opts)
}

// Open opens the workspace, or returns store.ErrNoStore.
func (e *Environ) Open(ctx context.Context) (*Work, error) {
	at, err := e.Locate()
	if err != nil {
		return nil, e.NoStore(at, err)
	}
	settings, err := e.SettingsAt(at)
	if err != nil {
		return nil, err
	}
	s, err := e.NewWorkspace(materialize.Open(at, settings, e.StoreOptions()))
	err = Closed(at, err)
	if err == nil {
		if tightened, _ := folder.At(at.Store).Tighten(); tightened { // else the next command tries again
			e.Note("other users could use the store %s; now its owner alone can", at.Store)
		}
		e.RememberStore(at.Store)
		e.Welcome(s)
	}
	return s, err
}

// Create opens the workspace, and makes its store if there is none yet.
func (e *Environ) Create(ctx context.Context) (*Work, error) {
	at, err := e.Locate()
	if err == nil {
		return e.Open(ctx)
	}
	if !errors.Is(err, store.ErrNoStore) {
		return nil, err
	}
	isGiven := e.Or(e.Global.Store, "FILEBUS_STORE") != "" || materialize.HasLost(at.Store)
	if !isGiven && !e.Insists && e.IsShared(at.Main) && !e.confirm(at.Main) {
		return nil, record.Usage.Errorf("%s is the home folder or the top of a disk, and no project", at.Main).
			Because(ErrNoPlace).Try("run it again in the folder of a project, or filebus init --yes # to have a store here")
	}
	settings, err := e.SettingsAt(at)
	if err != nil {
		return nil, err
	}
	w, err := e.NewWorkspace(materialize.Create(ctx, at, settings, e.StoreOptions()))
	if err != nil {
		return nil, err
	}
	if e.RememberStore(at.Store); w.Store.IsNew() {
		e.Note("made a store in %s", at.Store)
		if at.Other != "" {
			e.Note("there is another store in %s; filebus list%s reads it", at.Other, e.StoreFlag(at.Other))
		}
		if e.IsShared(at.Main) {
			e.Note("%s is not in a git repository: its store is found from this folder alone, not from those below", at.Main)
		}
	}
	return w, err
}

// OpenFresh opens the workspace and imports what agents have changed on disk
// since. What could not be imported is said; reading goes on without it.
func (e *Environ) OpenFresh(ctx context.Context) (*Work, error) {
	w, err := e.Open(ctx)
	if err != nil || e.Global.NoSync {
		return w, err
	}
	report, err := w.Sync(ctx, w.Root, materialize.SyncOptions{CaptureOnly: true, Finished: true, Budget: e.SyncBudget})
	e.NotLookedAt = NotLookedAt{report.Unread, report.Unlooked + report.Failed, report.Count("conflict")}
	isBroken := func(s mirror.Skipped) bool { return strings.Contains(s.Reason, mirror.RuleIgnore) }
	broken := slices.IndexFunc(report.Skipped, isBroken)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // what is stored can be read all the same
		e.Note("not all changed files were looked at: %v", err)
	case report.Failed > 0:
		last := report.Skipped[len(report.Skipped)-1]
		e.Note("%s not imported, such as %s: %s", Plural(report.Failed, "changed file"), last.Path, last.Reason)
	case broken >= 0: // agents' folders may be concerned
		e.Note("%s was not looked at: %s", OneLine(report.Skipped[broken].Path), OneLine(report.Skipped[broken].Reason))
	case report.Count("conflict") > 0:
		at := slices.IndexFunc(report.Files, func(f materialize.SyncedFile) bool { return f.Action == "conflict" })
		e.Note("%s in files that were changed, such as %s (%s): filebus sync keeps both sides",
			Plural(report.Count("conflict"), "conflict"), OneLine(report.Files[at].Path), OneLine(report.Files[at].Detail))
	case len(report.Back) > 0:
		e.Note("%s", OneLine(strings.Join(report.Back, "; ")))
	case report.Unlooked > 0:
		e.Note("%s not looked at; filebus sync imports them", Plural(report.Unlooked, "changed file"))
	case report.Unread > 0:
		e.Note("results may be old: %s not checked for changed files; filebus sync checks them", Plural(report.Unread, "folder"))
	case len(report.Files) == 0:
		w.RemarkLeft(ctx)
	}
	w.RefreshBy(ctx, w.Settings.AutoRefresh, autoBudget)
	return w, ctx.Err()
}

// CreateFresh is OpenFresh, and makes the store if there is none yet.
func (e *Environ) CreateFresh(ctx context.Context) (*Work, error) {
	w, err := e.OpenFresh(ctx)
	if errors.Is(err, store.ErrNoStore) {
		return e.Create(ctx)
	}
	return w, err
}

// TakeIn imports the file of a name, if it was changed just now, which
// OpenFresh leaves alone. What could not be imported is said.
func (w *Work) TakeIn(ctx context.Context, kind record.Kind, id string) {
	if w.Global.NoSync {
		return
	}
	if err := w.ImportNew(ctx, kind, id); err != nil && ctx.Err() == nil {
		w.Note("the file of %s/%s was not looked at: %v", kind, id, err)
	}
}

// VersionOf returns the version that a user's text means.
func (w *Work) VersionOf(ctx context.Context, text string) (store.Version, error) {
	v, err := w.Reader.Resolve(ctx, text, w.Paths())
	for _, form := range []norm.Form{norm.NFC, norm.NFD} { // disks and editors differ in how they write an accent
		if other := form.String(text); other != text && errors.Is(err, query.ErrAbsent) {
			v, err = w.Reader.Resolve(ctx, other, w.Paths())
		}
	}
	if info, gone := os.Stat(w.Abs(text)); errors.Is(err, query.ErrAbsent) && gone == nil && info.Mode().IsRegular() {
		err = record.NotFound.Errorf("%q is a file that was not taken in", text).Because(query.ErrAbsent).
			Try("filebus put {1} --name {2}", text, "note/"+w.NoteID(text))
	}
	return v, err
}

// VersionNear is VersionOf for what is not destroyed. A file that is one record is also meant by its id, or by its number, where
// no other has it in the folder: 0012, ADR-12 and adr/0012 are docs/adr/0012-cache.md.
func (w *Work) VersionNear(ctx context.Context, text string) (store.Version, error) {
	v, err := w.VersionOf(ctx, text)
	var none *record.Error
	if !errors.As(err, &none) || none.Reason != query.ErrAbsent {
		return v, err
	}
	of, id, _ := strings.Cut(text, "/")
	if _, isKind := record.ParseKind(of); isKind != nil {
		of, id = "", text
	}
	names := slices.DeleteFunc(slices.Clone(none.Names), func(name string) bool {
		kind, file, is := strings.Cut(name, "/"+record.WholeFile)
		return !is || of != "" && kind != of || !strings.HasSuffix("/"+path.Dir(file), strings.TrimSuffix(path.Dir("/"+id), "/"))
	})
	isElsewhere := func(name string) bool { return !strings.HasSuffix(path.Dir(name), "/"+record.WholeFile+path.Dir(id)) }
	if here := slices.DeleteFunc(slices.Clone(names), isElsewhere); len(here) > 0 {
		names = here // in a nested root the folder is another
	}
	switch len(names) {
	case 0:
		return v, err
	case 1:
		return w.VersionOf(ctx, names[0])
	}
	return v, record.Ambiguous.Errorf("%q may be %s", text, FirstNames(names)).Because(query.ErrSeveral, names...)
}

// NoteID returns the id of a file that is put as a note: its path below the workspace, or its base name.
func (w *Work) NoteID(file string) string {
	if rel, err := filepath.Rel(w.Root, w.Abs(file)); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(file)
}

// Paths says what a user's paths are relative to.
func (w *Work) Paths() query.ResolveOptions {
	return query.ResolveOptions{Root: w.Root, Dir: w.Dir}
}

// NoteNotHere names the entries of a kind that the files here do not have, as after a
// checkout of another branch.
func (w *Work) NoteNotHere(ctx context.Context, kind record.Kind) {
	names, err := w.NotHere(ctx, kind)
	if err != nil || len(names) == 0 {
		return // what could not be looked at is an error of the list itself
	}
	ids := markdown.Each(names[:min(len(names), 5)], func(n record.Name) string { return n.ID })
	more := ""
	if left := len(names) - len(ids); left > 0 {
		more = fmt.Sprintf(" and %d more", left)
	}
	w.Note("not in this checkout: %s%s", strings.Join(ids, ", "), more)
}

// find opens the workspace to read it and returns the version that text means.
func (e *Environ) find(ctx context.Context, text string) (*Work, store.Version, error) {
	s, err := e.OpenFresh(ctx)
	if err != nil {
		return nil, store.Version{}, err
	}
	v, err := s.VersionOf(ctx, text)
	return s, v, err
}
