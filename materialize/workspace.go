package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// StoreFolder is the name of the folder that holds a workspace's store.
const StoreFolder = mirror.StoreFolder

// A Location says where a store is, and which files belong to it.
type Location struct {
	Store string // the folder of the store, absolute
	Main  string // the folder that holds it: the workspace
	Root  string // the folder whose files are worked on: Main, or a linked worktree
	Other string // a store beside a bare repository, which may be of other repositories; "": none
}

// Locate finds the store of a folder: the one that explicit names, else the
// nearest .filebus upwards, not above the top of a git repository. One at or above the
// home folder counts only in its own folder. A linked worktree uses the store of its main worktree,
// and one of a bare repository its own, unless the folder around that is the repository's.
// It returns store.ErrNoStore, with the Location at which one would be made, if
// there is none yet.
func Locate(dir, explicit, home string) (Location, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Location{}, err
	}
	if explicit != "" {
		folder, err := filepath.Abs(explicit)
		if err != nil {
			return Location{}, err
		}
		main := filepath.Dir(folder)
		at := Location{Store: folder, Main: main, Root: main}
		err = exists(folder)
		if errors.Is(err, store.ErrNoStore) {
			err = noStore(folder)
		}
		return at, err
	}
	top, common := mirror.GitRepository(dir)
	for at := dir; ; at = filepath.Dir(at) {
		if folder := filepath.Join(at, StoreFolder); (at == dir || mayHold(at, home)) && exists(folder) == nil {
			return Location{Store: folder, Main: at, Root: at}, nil
		}
		if at == top || at == filepath.Dir(at) {
			break
		}
	}
	if top == "" {
		return Location{Store: filepath.Join(dir, StoreFolder), Main: dir, Root: dir}, noStore(dir)
	}
	at := Location{Main: filepath.Dir(common), Root: top}
	at.Store = filepath.Join(at.Main, StoreFolder)
	if _, folder := mirror.GitFolder(at.Main); folder != common {
		if exists(at.Store) == nil {
			at.Other = at.Store
		}
		at.Store, at.Main = filepath.Join(top, StoreFolder), top
	}
	return at, exists(at.Store)
}

func noStore(dir string) error { return fmt.Errorf("%s: %w", dir, store.ErrNoStore) }

// exists reports store.ErrNoStore if a folder holds no store. One that may not be looked
// into counts as one that does.
func exists(folder string) error {
	if _, err := os.Lstat(filepath.Join(folder, "store.db")); err != nil {
		if _, there := os.Lstat(folder); errors.Is(err, fs.ErrPermission) && there == nil {
			return nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return noStore(filepath.Dir(folder))
		}
		return fmt.Errorf("opening store: %w", err)
	}
	return nil
}

// mayHold keeps a store in a folder that everybody shares from being taken for
// the user's.
func mayHold(dir, home string) bool {
	return dir != home && dir != filepath.Dir(dir) && dir != filepath.Clean(os.TempDir())
}

// Settings are what a workspace's configuration says.
type Settings struct {
	Profile     layout.Profile // where new files go; the zero value means layout.Claude()
	NoteFolders []string       // folders whose files are synced as notes, slash-separated
	Kinds       layout.Folders // folders whose texts are of a kind, synced as well
	Home        string         // the user's home folder, for outside roots that begin with "~"
	Preview     int            // the longest preview, in characters; 0 means DefaultPreview
	Review      bool           // knowledge that comes in is proposed, unless its text says how it stands
	Variables   []string       // the environment, for git
	AutoRefresh bool           // reading commands refresh the captured trees

	Secrets      secrets.Mode // what is done about secrets in texts; "": what is usual for their source
	AgentFolders []string     // folders of agents besides those of AgentFolders, such as packages/web/.claude
}

// DefaultPreview is the longest preview of a reference, in characters, as the
// file-as-bus document has it.
const DefaultPreview = 500

// A Workspace is a store together with the files that mirror it.
type Workspace struct {
	Location
	Store    *store.Store
	Settings Settings
	Arbiter  Arbiter // may be nil
	Readmits bool    // edits may bring in what was destroyed before

	now     func() time.Time
	mirrors *mirror.Mirrors
	guard   *guard
}

// Open opens the store at a location.
func Open(at Location, settings Settings, opts store.Options) (*Workspace, error) {
	s, err := store.Open(at.Store, opts)
	if err != nil {
		return nil, err
	}
	return newWorkspace(at, s, settings, opts), nil
}

// ignoreFile keeps the folder of a store out of git.
const ignoreFile = ".gitignore"

// Create opens the store at a location, making it if there is none: the folder,
// with a .gitignore that keeps it out of git, and an empty store.
func Create(ctx context.Context, at Location, settings Settings, opts store.Options) (*Workspace, error) {
	own := folder.At(at.Store)
	err := own.Make(".")
	if err == nil {
		_, err = own.Stat(ignoreFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = own.WriteFile(ignoreFile, []byte("*\n"))
	}
	if err != nil {
		return nil, fmt.Errorf("making store: %w", err)
	}
	_, _ = own.Tighten() // the next command tries again, and says so
	s, err := store.Create(ctx, at.Store, opts)
	if err != nil {
		return nil, err
	}
	return newWorkspace(at, s, settings, opts), nil
}

func newWorkspace(at Location, s *store.Store, settings Settings, opts store.Options) *Workspace {
	settings.Preview = cmp.Or(settings.Preview, DefaultPreview)
	if settings.Profile.Name == "" {
		settings.Profile = layout.Claude()
	}
	w := &Workspace{Location: at, Store: s, Settings: settings, now: opts.Now, guard: &guard{}}
	if w.now == nil {
		w.now = time.Now
	}
	w.mirrors = mirror.New(mirror.Options{
		Store: at.Store, Command: opts.Command, Wait: cmp.Or(opts.Wait, store.DefaultWait), Now: w.now, Owner: s.Origins,
		End: w.logEnd, Tell: opts.Notify,
	})
	return w
}

// logEnd returns the position of the last log entry.
func (w *Workspace) logEnd(ctx context.Context) (uint64, error) {
	return view(ctx, w.Store, func(tx *store.Tx) (uint64, error) { return tx.Position(), nil })
}

// remotesFolder is the folder of a store with a file for each remote, beside the one that
// says which origins are trusted.
const remotesFolder, trustedFile = "remotes", "trusted"

// Lane returns what the ids that are allocated end in: "" for a store without remotes, else
// the lane of its origin (layout.LaneOf), as other machines allocate the same numbers. A copy
// of a store gets an origin of its own first.
func (w *Workspace) Lane(ctx context.Context) (string, error) {
	entries, err := folder.At(w.Location.Store).Sub(remotesFolder).ReadDir(".")
	isRemote := func(e fs.DirEntry) bool {
		return e.Type().IsRegular() && e.Name() != trustedFile && !strings.HasPrefix(e.Name(), ".")
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && !slices.ContainsFunc(entries, isRemote) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("looking for remotes: %w", err)
	}
	origin, err := w.Store.Origin(ctx)
	return layout.LaneOf(string(origin)), err
}

// view returns what a read transaction finds.
func view[T any](ctx context.Context, s *store.Store, read func(tx *store.Tx) (T, error)) (found T, err error) {
	err = s.View(ctx, func(tx *store.Tx) (err error) {
		found, err = read(tx)
		return err
	})
	return found, err
}

// outside begins the recorded path of a file below an absolute outside root:
// a record's path never begins with a slash.
const outside = "file:"

func isOutside(p string) bool { return strings.HasPrefix(p, "~/") || strings.HasPrefix(p, outside) }

// isAway reports whether a path leads out of the workspace, and below none of the roots of the profile that lie there.
func (w *Workspace) isAway(p string) bool {
	return isOutside(p) && !slices.ContainsFunc(w.outside(), func(o mirror.Outside) bool { return strings.HasPrefix(p, o.Prefix) })
}

// outside returns the roots of the profile that lie outside of the workspace.
func (w *Workspace) outside() []mirror.Outside {
	var roots []mirror.Outside
	for _, root := range []string{w.Settings.Profile.Results, w.Settings.Profile.Dialogues} {
		if rest, found := strings.CutPrefix(root, "~/"); found {
			roots = append(roots, mirror.Outside{Prefix: root + "/", Dir: filepath.Join(w.Settings.Home, rest)})
		} else if strings.HasPrefix(root, "/") {
			roots = append(roots, mirror.Outside{Prefix: outside + root + "/", Dir: root, Shared: true})
		}
	}
	return roots
}

// Outside returns the folder, absolute, below each outside root that is meant by the name of a dialogue or
// conversation, or by its path.
func (w *Workspace) Outside(name string) (dirs []string) {
	for _, o := range w.outside() {
		dir := name
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Dir, name)
		}
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && filepath.Dir(dir) == o.Dir {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Strangers returns the folders, absolute, in outside roots that hold dialogues or conversations of other programs,
// which no store has taken in.
func (w *Workspace) Strangers(ctx context.Context) (dirs []string, err error) {
	for _, o := range w.outside() {
		known, err := view(ctx, w.Store, func(tx *store.Tx) ([]string, error) { return foldersBelow(tx, o.Prefix) })
		if err != nil {
			return nil, err
		}
		for _, top := range o.Strangers() {
			isKin, looked := false, 0
			_ = fs.WalkDir(os.DirFS(o.Dir), top, func(p string, _ fs.DirEntry, err error) error { // what cannot be read is not named
				kind := w.recognise(o.Prefix + p).Kind
				isKin = kind == record.KindTurn || kind == record.KindResult
				if looked++; isKin || err != nil || looked > 1000 {
					return fs.SkipAll
				}
				return nil
			})
			if isKin && !slices.Contains(known, top) {
				dirs = append(dirs, filepath.Join(o.Dir, top))
			}
		}
	}
	return dirs, nil
}

// StrangerHint returns the command that takes in the dialogue or conversation of another program that a name
// means, and the name, or a hint without one.
func (w *Workspace) StrangerHint(ctx context.Context, name, otherwise string) (hint string, names []string) {
	dirs, err := w.Strangers(ctx)
	if err == nil && slices.ContainsFunc(dirs, func(dir string) bool { return filepath.Base(dir) == name }) {
		return "filebus init --take-over {1}", []string{name}
	}
	return otherwise, nil
}

// RecordPath returns the path that the record of a name of the own tree has: of its
// file, slash-separated below the workspace, in a form of its own for a file of an
// outside root. See FilePath.
func (w *Workspace) RecordPath(kind record.Kind, id string) (string, error) {
	p, err := w.Settings.Profile.Path(kind, id)
	if strings.HasPrefix(p, "/") {
		p = outside + p
	}
	return p, err
}

// PathOf returns the file, absolute, that a name of the own tree has or would
// have.
func (w *Workspace) PathOf(name record.Name) (string, error) {
	p, err := w.RecordPath(name.Kind, name.ID)
	if err != nil {
		return "", err
	}
	return w.FilePath(p), nil
}

// FilePath returns the file, absolute, that a record's path stands for.
func (w *Workspace) FilePath(recordPath string) string {
	if rest, found := strings.CutPrefix(recordPath, "~/"); found && strings.HasPrefix(w.Settings.Profile.Results, "~/") {
		return filepath.Join(w.Settings.Home, filepath.FromSlash(rest))
	}
	if rest, found := strings.CutPrefix(recordPath, outside+"/"); found {
		return "/" + rest
	}
	return filepath.Join(w.Root, filepath.FromSlash(recordPath))
}

// realPath returns the path that a file of the workspace has without the links on its way.
func (w *Workspace) realPath(p string) string {
	root, err := filepath.EvalSymlinks(w.Root)
	for dir, rest := p, ""; err == nil && dir != "."; dir, rest = path.Dir(dir), path.Join(path.Base(dir), rest) {
		if real, gone := filepath.EvalSymlinks(w.FilePath(dir)); gone == nil {
			if real, err = filepath.Rel(root, filepath.Join(real, rest)); err == nil {
				return filepath.ToSlash(real)
			}
		}
	}
	return p
}

// recognise returns what the file at a record's path is in this workspace.
func (w *Workspace) recognise(p string) layout.Location {
	if rest, found := strings.CutPrefix(p, outside); found && strings.HasPrefix(rest, "/") {
		p = rest
	}
	return w.Settings.Kinds.Place(w.Settings.Profile.Recognize(p), "", p)
}

// nameAt returns the name that a new file at a record's path gets.
func (w *Workspace) nameAt(p string) record.Name {
	at := w.recognise(p)
	if at.Kind == record.KindFrame {
		at.ID = p
	}
	return record.Name{Kind: at.Kind, ID: at.ID}
}

// ErrProtected says that a path leads into the folder of git or of the store,
// where nothing is ever written for a record.
const ErrProtected record.Reason = "a folder that filebus does not write to"

// checkWritable refuses paths into .git and .filebus, and into a folder called "~", which everybody
// takes for the home folder.
func checkWritable(p string) error {
	for segment := range strings.SplitSeq(strings.TrimPrefix(p, "~/"), "/") { // see isAway
		if segment == "~" || IsProtected(segment) {
			return record.Usage.Errorf("%s leads into %s: %w", p, segment, ErrProtected)
		}
	}
	return nil
}

// ErrForeign says that another program keeps a file, and names it.
const ErrForeign record.Reason = "a file of another program"

// checkOwn is checkWritable for a file of the workspace: one that another program keeps is
// only read.
func (w *Workspace) checkOwn(p string) error {
	if owner := w.recognise(p).Owner(); owner != "" {
		return record.Conflict.Errorf("%s belongs to %s: filebus reads it and never writes it", p, owner).Try(byOwner(owner)).Because(ErrForeign, p)
	}
	return w.checkPlace(p)
}

// byOwner says how a file of another program is changed.
func byOwner(owner string) string {
	if owner == layout.ProgramBD {
		return "bd update ID, bd close ID or bd create TITLE"
	}
	return "change the file, or let " + owner + " do so"
}

// checkPlace is checkWritable, and refuses paths out of the workspace where the profile has no root.
func (w *Workspace) checkPlace(p string) error {
	if w.isAway(p) {
		return record.Usage.Errorf("%s is below no folder that the settings name outside of the workspace: %w", p, ErrProtected)
	}
	return checkWritable(p)
}

// IsProtected reports whether a part of a path is .git or .filebus on some disk: they
// may not tell letter cases apart, give long names short ones, or leave out characters
// that nobody sees and what stands at the end.
func IsProtected(segment string) bool {
	segment = layout.Visible(segment)
	short, number, _ := strings.Cut(strings.ToLower(segment), "~")
	isShort := number != "" && strings.Trim(number, "0123456789") == "" && (short == "git" || short == "filebu")
	return isShort || strings.EqualFold(segment, ".git") || strings.EqualFold(segment, StoreFolder)
}

// MakeFolder makes the folder that the file of a name of the own tree lies in, so
// that an agent can write there at once, and returns it, absolute. Where it is there
// already, nothing happens. It returns mirror.ErrLink if the way there leads over a
// symbolic link out of the workspace or, in an outside root, over any.
func (w *Workspace) MakeFolder(ctx context.Context, name record.Name) (string, error) {
	_, p, err := w.locationOf(name.Kind, name.ID)
	if err != nil {
		return "", err
	}
	err = w.withMirror(ctx, w.Root, func(r *reconciler) error { return r.MakeFolder(ctx, p) })
	return filepath.Dir(w.FilePath(p)), err
}

// Await waits for all that is looked at, as Waiter.Await does, and for what happens in folders, which are paths as records
// have them and are made if they are missing.
func (w *Workspace) Await(
	ctx context.Context, wait *mirror.Waiter, folders []string, looks ...mirror.Look,
) (late bool, err error) {
	var dirs []string
	for _, folder := range folders {
		dir := w.FilePath(folder)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return false, fmt.Errorf("watching %s: %w", folder, err)
		}
		dirs = append(dirs, dir)
	}
	return wait.Await(ctx, dirs, looks...)
}

// Roots returns the folders whose files mirror the store: the workspace and the
// linked worktrees of its repository.
func (w *Workspace) Roots() []string {
	return append([]string{w.Main}, worktrees(w.Main)...)
}

// worktrees returns the tops of the linked worktrees of the repository whose
// main work tree is main.
func worktrees(main string) []string {
	files, err := filepath.Glob(filepath.Join(main, ".git", "worktrees", "*", "gitdir"))
	if err != nil {
		return nil // only a malformed pattern, which this is not
	}
	var tops []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		top := filepath.Dir(strings.TrimSpace(string(text)))
		if info, statErr := os.Stat(top); err == nil && statErr == nil && info.IsDir() {
			tops = append(tops, top)
		}
	}
	return tops
}

// withMirror runs fn while the mirror lock is held, for a root.
func (w *Workspace) withMirror(ctx context.Context, root string, fn func(r *reconciler) error) error {
	return w.withMirrors(ctx, []string{root}, func(all []*reconciler) error { return fn(all[0]) })
}

// withMirrors runs fn while the mirror lock is held, for roots.
func (w *Workspace) withMirrors(ctx context.Context, roots []string, fn func(all []*reconciler) error) error {
	hold, err := w.mirrors.Lock(ctx)
	if err != nil {
		return err
	}
	var all []*reconciler
	for _, root := range roots {
		m, openErr := w.mirrors.Open(ctx, root, w.outside())
		if err = openErr; err != nil {
			break
		}
		all = append(all, w.reconciler(m))
	}
	if err == nil {
		err = fn(all)
	}
	for _, r := range all {
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, hold.Release())
}

// reconciler returns the one of a mirror, for a command.
func (w *Workspace) reconciler(m *mirror.Mirror) *reconciler {
	return &reconciler{Mirror: m, w: w, opts: SyncOptions{Announced: true}, report: &SyncReport{}, start: time.Now()}
}
