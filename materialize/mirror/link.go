package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filebus/store/record"
)

// ErrLink says that a symbolic link stands where a folder is to be made or written
// to: somebody may have put it there to lead files elsewhere. It names the link.
const ErrLink record.Reason = "a symbolic link in the way"

// LinkInTheWay is the error of a link, by its absolute path.
func LinkInTheWay(file string) error {
	return record.Conflict.Errorf("%s is a symbolic link: nothing is written through it", file).Because(ErrLink, file)
}

// MakeFolder makes the folder that a file lies in. It returns ErrLink if the way there
// leads over a symbolic link out of the root or, in an outside root, over any.
func (m *Mirror) MakeFolder(ctx context.Context, p string) error {
	root, file, err := m.find(ctx, p)
	if err != nil {
		return err
	}
	folder := filepath.Dir(file)
	if err := refuseLinks(root, folder, root != m.root); err != nil {
		return err
	}
	if err := root.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("making %s: %w", filepath.Join(root.Name(), folder), err)
	}
	return nil
}

// RemoveFolder removes the folder that a file lies in if it is empty, by the remove
// that it calls hold with: not if it is gone already, or a link that somebody has put
// there.
func (m *Mirror) RemoveFolder(ctx context.Context, p string, hold func(remove func()) error) error {
	root, name, err := m.find(ctx, p)
	if err != nil {
		return err
	}
	name = filepath.Dir(name)
	if info, err := root.Lstat(name); err != nil || !info.IsDir() || name == "." {
		return nil
	}
	return hold(func() { _ = root.Remove(name) }) // it may hold files of others: then it stays
}

// refuseLinks returns ErrLink for the first folder on the way to name that is
// a link. One that stays below the root is refused only if all are.
func refuseLinks(root *os.Root, name string, all bool) error {
	at := ""
	for segment := range strings.SplitSeq(name, string(filepath.Separator)) {
		at = filepath.Join(at, segment)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("looking at %s: %w", filepath.Join(root.Name(), at), err)
		case info.Mode()&fs.ModeSymlink == 0:
			continue
		}
		if _, err := root.Stat(at); err != nil || all {
			return LinkInTheWay(filepath.Join(root.Name(), at))
		}
	}
	return nil
}

// refuseLink returns ErrLink if an outside root that everybody knows, such as
// one in /tmp, is a link. A home folder is its user's own to arrange.
func (o *Outside) refuseLink() error {
	info, err := os.Lstat(o.Dir)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && o.Shared {
		return LinkInTheWay(o.Dir)
	}
	return nil // what is missing is made
}
