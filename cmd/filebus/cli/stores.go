package cli

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"filebus/cmd/filebus/trust"
	"filebus/materialize/markdown"
)

// The stores that a user has opened are remembered in a folder of the user's: a
// small file each, named by a digest of the store's path, that holds the path.
// Only search --everywhere asks for them, so what goes wrong here is lost
// silently: the next command in that store tries again.

const (
	storesFolder = "stores"
	// UsedAgain is how old an entry's time gets before a command renews it: often
	// enough to tell which stores are in use.
	UsedAgain = 24 * time.Hour
	// AwayFor is how long a store is remembered whose disk is not there.
	AwayFor = 30 * 24 * time.Hour
	// maxStorePath bounds what is read of an entry, in bytes.
	maxStorePath = 64 << 10
)

// storesDir returns the folder of the remembered stores, or "" where none are
// remembered.
func (e *Environ) storesDir() string {
	if dir := e.StateDir(); dir != "" {
		return filepath.Join(dir, storesFolder)
	}
	return ""
}

// StateDir returns the folder for what is remembered of the user, or "" where nothing
// is. A home folder that does not exist is not made.
func (e *Environ) StateDir() string {
	switch dir := e.Getenv("FILEBUS_STATE"); {
	case dir == "off":
		return ""
	case dir != "":
		return e.Abs(dir)
	}
	base := e.StateBase(runtime.GOOS)
	if home := e.Home(); home != "" {
		if _, err := os.Stat(home); err != nil {
			return ""
		}
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "filebus")
}

// Forget removes what is remembered of the user, and the folder if nothing else is in it.
func (e *Environ) Forget() (err error) {
	for _, name := range []string{storesFolder, "trust", "keys", "install"} {
		err = cmp.Or(err, os.RemoveAll(filepath.Join(e.StateDir(), name)))
	}
	_ = os.Remove(e.StateDir()) // what others keep there stays
	return err
}

// StateBase returns where programs keep what they remember of a user, or "".
func (e *Environ) StateBase(system string) string {
	// A relative XDG_STATE_HOME counts as unset, as its specification has it.
	if dir := e.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	home := e.Home()
	switch {
	case system == "windows" && e.Getenv("LOCALAPPDATA") != "":
		return e.Getenv("LOCALAPPDATA")
	case !filepath.IsAbs(home):
		return ""
	case system == "windows":
		return filepath.Join(home, "AppData", "Local")
	case system == "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	return filepath.Join(home, ".local", "state")
}

// RememberStore notes that a store was opened. Of a store that is noted already
// it costs one look at a file.
func (e *Environ) RememberStore(folder string) {
	dir := e.storesDir()
	if dir == "" {
		return
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	file := filepath.Join(dir, trust.Key(folder))
	info, err := os.Lstat(file)
	if err == nil {
		if now := e.Now(); now.Sub(info.ModTime()) > UsedAgain {
			_ = os.Chtimes(file, now, now) // see above: lossy
		}
		return
	}
	if !errors.Is(err, fs.ErrNotExist) || isPrivate(folder) {
		return
	}
	if os.MkdirAll(dir, 0o700) == nil {
		// Two processes write the same; half an entry does not fit its name.
		_ = os.WriteFile(file, []byte(folder+"\n"), 0o600) // see above: lossy
	}
}

// A rememberedStore is an entry.
type rememberedStore struct {
	entry  string // its file
	folder string
	used   time.Time
}

// RememberedStores returns the folders of the stores that this user has opened,
// those used last first. Entries of stores that are gone are removed; a store
// whose disk seems to be away is left out.
func (e *Environ) RememberedStores() []string {
	dir := e.storesDir()
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return nil
	}
	var found []rememberedStore
	for _, entry := range entries {
		s, err := readEntry(filepath.Join(dir, entry.Name()))
		switch {
		case err != nil:
			continue
		case s.folder == "", e.isGone(&s):
			_ = os.Remove(s.entry) // the next search tries again
		default:
			if _, err := os.Stat(filepath.Join(s.folder, StoreFile)); !isAbsent(err) {
				found = append(found, s)
			}
		}
	}
	slices.SortFunc(found, func(a, b rememberedStore) int {
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.folder, b.folder))
	})
	return markdown.Each(found, func(s rememberedStore) string { return s.folder })
}

// StoreFile is what makes a folder a store.
const StoreFile = "store.db"

// readEntry reads an entry. Its folder is empty if the entry is damaged. What is no
// entry is an error.
func readEntry(file string) (rememberedStore, error) {
	s := rememberedStore{entry: file}
	info, err := os.Lstat(file)
	if err != nil {
		return s, err
	}
	name := filepath.Base(file)
	if _, err := hex.DecodeString(name); err != nil || len(name) != len(trust.Key("")) || !info.Mode().IsRegular() {
		return s, fs.ErrInvalid
	}
	s.used = info.ModTime()
	if info.Size() > maxStorePath {
		return s, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if folder := strings.TrimSuffix(string(text), "\n"); trust.Key(folder) == name {
		s.folder = folder
	}
	return s, nil
}

// isGone reports whether a store is there no more, or is not to be found from
// elsewhere. A store that is missing along with all that lay around it may be on a
// disk that is away: it stays remembered for a while.
func (e *Environ) isGone(s *rememberedStore) bool {
	_, err := os.Stat(filepath.Join(s.folder, StoreFile))
	switch {
	case err == nil:
		return e.User().Check(s.folder) == nil && isPrivate(s.folder)
	case !isAbsent(err):
		return false
	}
	workspace := filepath.Dir(s.folder)
	if _, err := os.Stat(workspace); isAbsent(err) {
		workspace = filepath.Dir(workspace)
	}
	around, err := os.ReadDir(workspace)
	return err == nil && len(around) > 0 || e.Now().Sub(s.used) > AwayFor
}

// isPrivate reports whether a store's configuration keeps it to itself.
func isPrivate(folder string) bool {
	c, err := ReadConfig(folder)
	return err == nil && c.Private
}

// isAbsent reports whether an error says that a file does not exist.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
