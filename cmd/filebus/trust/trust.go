// Package trust decides whose store a folder is. A store says what filebus reads and
// writes, so one that somebody else may have made is refused until the user consents:
// one that another user owns, that is a link, that others can write, or whose files git
// tracks, as those of a clone can be.
//
// Consent is remembered in the state folder of the user, by the path of the store and
// by the identity of its folder: another folder at that path is asked for again. What
// is remembered is text in a file for each store; any other text in it is no consent.
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
	"runtime"
	"slices"
	"strings"

	"filebus/store/record"
)

// A User is somebody whose stores are told from those of others. The zero User
// remembers nothing.
type User struct {
	State     string   // the folder in which is remembered, absolute; "": nothing is
	Consents  []string // workspaces or stores that are trusted without that, absolute
	Sudo      string   // the id of the user who became root by sudo, or ""
	Variables []string // the environment, for git
}

// ErrNoState says that there is no folder in which consent could be remembered.
var ErrNoState = errors.New("nothing is remembered of this user")

// A Verdict is what the user is told of a store.
type Verdict struct {
	Store   string   `json:"store"` // its folder, absolute
	Owner   string   `json:"owner,omitempty"`
	Mode    string   `json:"mode,omitempty"` // of the folder, as ls prints it
	Reasons []string `json:"reasons"`        // for which it is refused without consent
	Trusted bool     `json:"trusted"`        // by consent
}

// database and config are the files of a store that say what filebus does.
const (
	database = "store.db"
	config   = "config.toml"
)

// Key returns the name of the file in which a store is remembered.
func Key(store string) string {
	digest := sha256.Sum256([]byte(store))
	return hex.EncodeToString(digest[:16])
}

// Workspace returns the folder by which a user names a store.
func Workspace(store string) string {
	if dir, name := filepath.Split(store); name == ".filebus" {
		return filepath.Clean(dir)
	}
	return store
}

// Check returns an error of record.Untrusted if the user has to consent to a store
// first. One that does not exist is nobody's.
func (u *User) Check(store string) error {
	if reasons := u.reasons(store); len(reasons) > 0 && !u.Trusts(store) {
		return u.Refuse(store, strings.Join(reasons, "; "))
	}
	return nil
}

// Look returns what there is to say of a store.
func (u *User) Look(store string) Verdict {
	v := Verdict{Store: store, Reasons: u.reasons(store), Trusted: u.Trusts(store)}
	if info, err := os.Lstat(store); err == nil {
		v.Mode = info.Mode().String()
		if owner, _, asked := ownerOf(info); asked {
			v.Owner = ownerName(owner)
		}
	}
	return v
}

// Refuse returns the error of a store that is not trusted, for a reason.
func (u *User) Refuse(store, reason string) error {
	hint := "filebus trust {1}"
	if u.State == "" {
		hint = "run it again with FILEBUS_TRUST={1}"
	}
	return record.Untrusted.Errorf("the store %s is not trusted: %s", store, reason).Try(hint, Workspace(store))
}

// Trusts reports whether the user has consented to the store that is there now.
func (u *User) Trusts(store string) bool {
	if slices.ContainsFunc(u.Consents, func(dir string) bool {
		return isSame(dir, store) || isSame(dir, Workspace(store))
	}) {
		return true
	}
	return u.remembers(store, consented)
}

func isSame(a, b string) bool {
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

// consented is what is remembered of a store that the user trusts.
const consented = "trusted"

// Consent remembers that the user trusts a store.
func (u *User) Consent(store string) error {
	if u.State == "" {
		return ErrNoState
	}
	return u.remember(store, consented)
}

// Revoke forgets that the user trusts a store.
func (u *User) Revoke(store string) error {
	if err := os.Remove(u.file(store)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (u *User) file(store string) string { return filepath.Join(u.State, "trust", Key(store)) }

// entry is the text of the file in which something is remembered of a store.
func entry(store, what string) string { return store + "\n" + identity(store) + "\n" + what + "\n" }

func (u *User) remembers(store, what string) bool {
	if u.State == "" {
		return false
	}
	text, err := os.ReadFile(u.file(store))
	return err == nil && string(text) == entry(store, what)
}

func (u *User) remember(store, what string) error {
	file := u.file(store)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(entry(store, what)), 0o600) // half an entry counts as none
}

// identity tells a folder from another at the same path. Of a link it is that of the
// folder too that it leads to.
func identity(store string) string {
	info, err := os.Lstat(store)
	if err != nil {
		return ""
	}
	text := number(info)
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(store); err == nil {
			text += " " + number(info)
		}
	}
	return text
}

// reasons returns why a store may be somebody else's, none if it is the user's own.
func (u *User) reasons(store string) (reasons []string) {
	info, err := os.Lstat(store)
	if err != nil {
		return nil
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		reasons = append(reasons, "it is a link")
		if info, err = os.Stat(store); err != nil {
			return reasons
		}
	}
	reasons = append(reasons, u.strangers("it", info)...)
	for _, name := range []string{database, config} {
		if info, err := os.Lstat(filepath.Join(store, name)); err == nil && info.Mode().IsRegular() {
			reasons = append(reasons, u.strangers("its "+name, info)...)
		}
	}
	if reason := u.tracked(store); reason != "" {
		reasons = append(reasons, reason)
	}
	return reasons
}

// strangers returns who else than the user may have made a file.
func (u *User) strangers(what string, info fs.FileInfo) (reasons []string) {
	owner, group, asked := ownerOf(info)
	if !asked {
		return nil
	}
	if me := os.Geteuid(); owner != me && (me != 0 || fmt.Sprint(owner) != u.Sudo) {
		reasons = append(reasons, what+" belongs to "+ownerName(owner))
	}
	switch mode := info.Mode(); {
	case mode&0o002 != 0:
		reasons = append(reasons, "everybody can write "+what)
	case mode&0o020 != 0 && group != os.Getegid():
		reasons = append(reasons, fmt.Sprintf("the group %d can write %s", group, what))
	}
	return reasons
}

// Tighten takes from others the right to write a store that is the user's own, and
// returns the files from which it was taken.
func (u *User) Tighten(store string) (files []string, err error) {
	for _, file := range []string{store, filepath.Join(store, database), filepath.Join(store, config)} {
		info, lookErr := os.Lstat(file)
		if runtime.GOOS == "windows" || lookErr != nil || !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		owner, _, _ := ownerOf(info)
		if mode := info.Mode().Perm(); owner == os.Geteuid() && mode&0o022 != 0 {
			err = errors.Join(err, os.Chmod(file, mode&^0o022))
			files = append(files, file)
		}
	}
	return files, err
}
