package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
)

// StoreFolder is the name of the folder that holds a workspace's store.
const StoreFolder = mirror.StoreFolder

// A Location says where a store is, and which files belong to it.
type Location struct {
	Store string // the folder of the store, absolute
	Main  string // the folder that holds it: the workspace
	Root  string // the folder whose files are worked on: Main, or a linked worktree
}

// Locate finds the store of a folder: the one that explicit names, else the
// nearest .filebus upwards, not above the top of a git repository, nor at or
// above the home folder. A linked worktree uses the store of its main worktree.
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
		at := Location{folder, main, main}
		err = exists(folder)
		if errors.Is(err, store.ErrNoStore) {
			err = noStore(folder)
		}
		return at, err
	}
	top, common := gitTop(dir)
	for at := dir; ; at = filepath.Dir(at) {
		if folder := filepath.Join(at, StoreFolder); mayHold(at, home) && exists(folder) == nil {
			return Location{folder, at, at}, nil
		}
		if at == top || at == filepath.Dir(at) {
			break
		}
	}
	if top == "" {
		return Location{filepath.Join(dir, StoreFolder), dir, dir}, noStore(dir)
	}
	main := filepath.Dir(common)
	at := Location{filepath.Join(main, StoreFolder), main, top}
	return at, exists(at.Store)
}

func noStore(dir string) error { return fmt.Errorf("%s: %w", dir, store.ErrNoStore) }

// exists reports store.ErrNoStore if a folder holds no store.
func exists(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "store.db")); err != nil {
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

// gitTop returns the top of the work tree that dir lies in and the git common
// directory, both empty outside of git. It reads the files that git documents
// in gitrepository-layout(5); the git program is not needed.
func gitTop(dir string) (top, common string) {
	for ; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		if info, err := os.Stat(dotGit); err == nil {
			if info.IsDir() {
				return dir, dotGit
			}
			return dir, commonDir(dir, dotGit)
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// commonDir follows a worktree's .git file to the repository it belongs to. What
// cannot be followed, such as a submodule's, is a repository of its own.
func commonDir(top, file string) string {
	text, err := os.ReadFile(file)
	gitdir, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !found {
		return file
	}
	if !filepath.IsAbs(gitdir) {
		gitdir = filepath.Join(top, gitdir)
	}
	text, err = os.ReadFile(filepath.Join(gitdir, "commondir"))
	if err != nil {
		return file
	}
	common := strings.TrimSpace(string(text))
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitdir, common)
	}
	return filepath.Clean(common)
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

// Settings are what a workspace's configuration says.
type Settings struct {
	Profile     layout.Profile // where new files go; the zero value means layout.Claude()
	NoteFolders []string       // folders whose files are synced as notes, slash-separated
	Home        string         // the user's home folder, for outside roots that begin with "~"
	Preview     int            // the longest preview, in characters; 0 means DefaultPreview
}

// DefaultPreview is the longest preview of a reference, in characters, as the
// file-as-bus document has it.
const DefaultPreview = 500

// A Workspace is a store together with the files that mirror it.
type Workspace struct {
	Location
	Store    *store.Store
	Settings Settings

	now     func() time.Time
	mirrors *mirror.Mirrors
}

// Open opens the store at a location.
func Open(at Location, settings Settings, opts store.Options) (*Workspace, error) {
	s, err := store.Open(at.Store, opts)
	if err != nil {
		return nil, err
	}
	return newWorkspace(at, s, settings, opts), nil
}

// Create opens the store at a location, making it if there is none: the folder,
// with a .gitignore that keeps it out of git, and an empty store.
func Create(ctx context.Context, at Location, settings Settings, opts store.Options) (*Workspace, error) {
	if err := os.MkdirAll(at.Store, 0o777); err != nil {
		return nil, fmt.Errorf("making store: %w", err)
	}
	ignore := filepath.Join(at.Store, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o666); err != nil {
			return nil, fmt.Errorf("making store: %w", err)
		}
	}
	s, err := store.Create(ctx, at.Store, opts)
	if err != nil {
		return nil, err
	}
	return newWorkspace(at, s, settings, opts), nil
}

func newWorkspace(at Location, s *store.Store, settings Settings, opts store.Options) *Workspace {
	if settings.Preview == 0 {
		settings.Preview = DefaultPreview
	}
	if settings.Profile.Name == "" {
		settings.Profile = layout.Claude()
	}
	w := &Workspace{Location: at, Store: s, Settings: settings, now: opts.Now}
	if w.now == nil {
		w.now = time.Now
	}
	w.mirrors = mirror.New(mirror.Options{
		Store: at.Store, Command: opts.Command, Wait: cmp.Or(opts.Wait, store.DefaultWait), Now: w.now, Owner: s.ID,
	})
	return w
}
