// Package trust decides whose store a folder is. A store says what filebus reads and
// writes, so one that somebody else may have made is refused until the user consents:
// one that another user owns, that is a link, that others can write, or whose files git
// tracks, as those of a clone can be. Consent is remembered by the path of the store and
// the identity of its folder: another folder at that path is asked for again.
//
// The package opens no database and reads no configuration. It looks at paths, which
// somebody who can rename the folders around the store may change a moment later.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/store/folder"
	"filebus/store/record"
)

// A User is somebody whose stores are told from those of others.
type User struct {
	State     string   // the folder in which is remembered, absolute; "": nothing is
	Consents  []string // workspaces or stores that are trusted without that, absolute
	Sudo      string   // the id of the user who became root by sudo, or ""
	Variables []string // the environment, for git
}

// Key returns the name of the file in which something is remembered of a store.
func Key(store string) string {
	digest := sha256.Sum256([]byte(store))
	return hex.EncodeToString(digest[:16])
}

// Check returns an error of record.Untrusted if the user has to consent to a store
// first. One that does not exist is nobody's.
func (u *User) Check(store string) error {
	if u.Trusts(store) {
		return nil
	}
	if reasons := u.Reasons(store); len(reasons) > 0 {
		return u.Refuse(store, strings.Join(reasons, "; "))
	}
	return nil
}

// Refuse returns the error of a store that is not trusted, for a reason.
func (u *User) Refuse(store, reason string) error {
	hint := "filebus trust {1}"
	if u.State == "" {
		hint = "run it again with FILEBUS_TRUST={1}"
	}
	return record.Untrusted.Errorf("the store %s is not trusted: %s", store, reason).Try(hint, store)
}

// Trusts reports whether the user has consented to the store that is there now.
func (u *User) Trusts(store string) bool {
	return u.remembers(store, byUser, trusted) || slices.ContainsFunc(u.Consents, func(dir string) bool {
		return IsSame(dir, store) || IsSame(dir, filepath.Dir(store))
	})
}

// IsSame reports whether two paths lead to the same folder.
func IsSame(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// What is remembered of a store, in a file each, is the word of the user and that of git.
const (
	byUser  = ".user"
	byGit   = ".git"
	trusted = "trusted"
)

// Consent remembers that the user trusts a store.
func (u *User) Consent(store string) error { return u.remember(store, byUser, trusted) }

// Revoke forgets that the user trusts a store.
func (u *User) Revoke(store string) error { return u.remember(store, byUser, "not trusted") }

func (u *User) file(store, by string) string { return filepath.Join(u.State, "trust", Key(store)+by) }

// entry is the text of such a file. A link is remembered with the folder that it leads to.
func entry(store, what string) string {
	text := store
	for _, look := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		if info, err := look(store); err == nil {
			text += "\n" + number(info) + folder.Born(store, info)
		}
	}
	return text + "\n" + what + "\n"
}

func (u *User) remembers(store, by, what string) bool {
	if u.State == "" {
		return false
	}
	text, err := os.ReadFile(u.file(store, by))
	return err == nil && string(text) == entry(store, what)
}

func (u *User) remember(store, by, what string) error {
	if u.State == "" {
		return errors.New("nothing is remembered of this user")
	}
	file := u.file(store, by)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(entry(store, what)), 0o600) // half an entry says nothing
}

// Reasons returns why a store may be somebody else's, none if it is the user's own.
func (u *User) Reasons(store string) []string {
	reasons := []string{}
	info, err := os.Lstat(store)
	if err != nil {
		return reasons
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		reasons = append(reasons, "it is a link")
	}
	if info, err := os.Stat(store); err == nil {
		reasons = append(reasons, u.strangers("it", info)...)
	}
	for _, name := range []string{"store.db", "config.toml"} {
		if info, err := os.Lstat(filepath.Join(store, name)); err == nil && info.Mode().IsRegular() {
			reasons = append(reasons, u.strangers("its "+name, info)...)
		}
	}
	reasons = append(reasons, u.tracked(store)...)
	// The way to it may lead over a link past the top of the repository.
	if real, err := filepath.EvalSymlinks(store); err == nil && real != store && !slices.Contains(reasons, gitTracks) {
		reasons = append(reasons, u.tracked(real)...)
	}
	return reasons
}

// strangers returns who else than the user may have made a file.
func (u *User) strangers(what string, info fs.FileInfo) (reasons []string) {
	owner, group, known := ownerOf(info)
	if !known {
		return nil
	}
	if me := os.Geteuid(); owner != me && (me != 0 || fmt.Sprint(owner) != u.Sudo) {
		reasons = append(reasons, fmt.Sprintf("%s belongs to user %d", what, owner))
	}
	switch mode := info.Mode(); {
	case mode&0o002 != 0:
		reasons = append(reasons, "everybody can write "+what)
	case mode&0o020 != 0 && group != os.Getegid():
		reasons = append(reasons, fmt.Sprintf("group %d can write %s", group, what))
	}
	return reasons
}

// Owner says whose a file is, or "" where that cannot be known.
func Owner(file string) string {
	if info, err := os.Stat(file); err == nil {
		if owner, _, known := ownerOf(info); known {
			return fmt.Sprintf("user %d", owner)
		}
	}
	return ""
}
