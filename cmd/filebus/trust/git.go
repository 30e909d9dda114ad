package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"filebus/materialize/mirror"
)

const (
	gitPatience = 5 * time.Second // how long git may take for an answer
	maxIndex    = 256 << 20       // of an index that is read, in bytes
)

// tracked returns the reason if git tracks files of a store. A "no" of git is remembered
// until its index changes, for git takes longer than most commands. Where git cannot
// say, an index with the name of the store in it counts as a "yes".
func (u *User) tracked(store string) (reasons []string) {
	top, folder := mirror.GitFolder(filepath.Dir(store))
	index := filepath.Join(folder, "index")
	info, err := os.Stat(index)
	if top == "" || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // nothing was ever added
	}
	no := fmt.Sprint("tracks none of it: ", err)
	if err == nil {
		no += fmt.Sprint(number(info), " ", info.Size(), " ", info.ModTime().UnixNano())
	}
	if u.remembers(store, byGit, no) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitPatience)
	defer cancel()
	var out []byte
	git, err := mirror.NewGit(filepath.Dir(store), u.Variables, "GIT_NO_LAZY_FETCH=1")
	if err == nil {
		// On some disks letters of another size name the same folder, or a short name.
		out, err = git.Run(ctx, nil, nil, "ls-files", "-z", "--", ":(icase,literal)"+filepath.Base(store),
			":(icase)filebu~*")
	}
	switch {
	case len(out) > 0:
		return []string{"git tracks files in it"}
	case err != nil && names(index, filepath.Base(store)):
		return []string{"git cannot say whether it tracks files in it: " + err.Error()}
	case err == nil:
		_ = u.remember(store, byGit, no) // else git is asked again
	}
	return nil
}

// names reports whether an index may have names of a folder. One of version 4 has them
// in pieces: gitformat-index(5).
func names(index, folder string) bool {
	info, err := os.Stat(index)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return true
	}
	text, err := os.ReadFile(index)
	return err != nil || bytes.HasPrefix(text, []byte("DIRC\x00\x00\x00\x04")) ||
		bytes.Contains(bytes.ToLower(text), []byte(strings.ToLower(folder)))
}
