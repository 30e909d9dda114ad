package trust

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filebus/materialize/mirror"
)

const (
	// gitPatience is how long git may take for an answer.
	gitPatience = 5 * time.Second
	// largeIndex is from which size on it is remembered, in bytes, that an index of git
	// names no file of a store: until then, reading it takes less than a millisecond.
	largeIndex = 1 << 20
	maxIndex   = 256 << 20 // is read
)

// tracked returns the reason if git tracks files of a store, or "". An index that names
// none surely is believed; of others git is asked, and its "no" is remembered until the
// index changes. Where git cannot say, an index that names the store counts as a "yes".
func (u *User) tracked(store string) string {
	workspace, name := filepath.Dir(store), filepath.Base(store)
	index := indexOf(workspace)
	if index == "" {
		return ""
	}
	info, err := os.Stat(index)
	if errors.Is(err, fs.ErrNotExist) {
		return "" // nothing was ever added
	}
	no := "git tracks none of it: "
	if err == nil {
		no += state(info)
	} else {
		no += err.Error()
	}
	if u.remembers(store, no) {
		return ""
	}
	var text []byte
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxIndex {
		text, err = os.ReadFile(index)
	} else {
		err = cmp.Or(err, fs.ErrInvalid)
	}
	lower(text)
	named := err != nil || bytes.Contains(text, []byte(strings.ToLower(name))) || isVersion(text, 4)
	if isSimple(text) && !named {
		if len(text) >= largeIndex {
			u.note(store, no)
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitPatience)
	defer cancel()
	git, err := mirror.NewGit(workspace, u.Variables, "GIT_NO_LAZY_FETCH=1")
	var out []byte
	if err == nil {
		out, err = git.Run(ctx, nil, nil, "ls-files", "-z", "--", ":(icase,literal)"+name)
	}
	switch {
	case len(out) > 0:
		return "git tracks files in it"
	case err != nil && named:
		return "git cannot say whether it tracks files in it: " + err.Error()
	case err == nil:
		u.note(store, no)
	}
	return ""
}

// note remembers what git says of a store, unless the user has consented to it. What
// goes wrong is lost: git is asked again.
func (u *User) note(store, what string) {
	if u.State != "" && !u.remembers(store, consented) {
		_ = u.remember(store, what) // see above
	}
}

// lower makes the letters of ASCII small: a disk may not tell them apart.
func lower(text []byte) {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
}

// isVersion reports whether a text, in small letters, is an index of git of a version:
// gitformat-index(5).
func isVersion(text []byte, version byte) bool {
	return bytes.HasPrefix(text, []byte{'d', 'i', 'r', 'c', 0, 0, 0, version})
}

// isSimple reports whether an index has all its names, each in one piece: version 4
// leaves out what a name has in common with the one before, and one with a link has
// another file.
func isSimple(text []byte) bool {
	return (isVersion(text, 2) || isVersion(text, 3)) && !bytes.Contains(text, []byte("link"))
}

// indexOf returns the index of the work tree of git that a folder lies in, or "".
func indexOf(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		info, err := os.Stat(dotGit)
		switch {
		case err == nil && info.IsDir():
			return filepath.Join(dotGit, "index")
		case err == nil && info.Mode().IsRegular():
			text, err := os.ReadFile(dotGit)
			folder, isLink := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if err != nil || !isLink {
				return dotGit // which is no index: git is asked
			}
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(dir, folder)
			}
			return filepath.Join(folder, "index")
		case dir == filepath.Dir(dir):
			return ""
		}
	}
}

// state changes whenever a file does.
func state(info fs.FileInfo) string {
	return number(info) + " " + fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}
