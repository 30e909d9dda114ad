package materialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filebus/store"
	"filebus/store/record"
)

// ErrLink says that a symbolic link stands where a folder is to be made or written
// to: somebody may have put it there to lead files elsewhere. It names the link.
const ErrLink record.Reason = "a symbolic link in the way"

// IsRace reports whether somebody else was faster, so that the same can succeed when
// it is tried again. A link in the way stays there.
func IsRace(err error) bool { return errors.Is(err, store.ErrConflict) && !errors.Is(err, ErrLink) }

// LinkInTheWay is the error of a link, by its absolute path.
func LinkInTheWay(file string) error {
	return record.Conflict.Errorf("%s is a symbolic link: nothing is written through it", file).Because(ErrLink, file)
}

// MakeFolder makes the folder that the file of a name of the own tree lies in, so
// that an agent can write there at once, and returns it, absolute. Where it is there
// already, nothing happens. It returns ErrLink if the way there leads over a
// symbolic link out of the workspace or, in an outside root, over any.
func (w *Workspace) MakeFolder(ctx context.Context, name record.Name) (string, error) {
	_, p, err := w.seatFor(name.Kind, name.ID)
	if err != nil {
		return "", err
	}
	err = w.withMirror(ctx, w.Root, func(m *mirror) error {
		root, file, err := m.place(ctx, p)
		if err != nil {
			return err
		}
		folder := filepath.Dir(file)
		if err := refuseLinks(root, folder, m.isOutside(p)); err != nil {
			return err
		}
		if err := root.MkdirAll(folder, 0o777); err != nil {
			return fmt.Errorf("making %s: %w", filepath.Join(root.Name(), folder), err)
		}
		return nil
	})
	return filepath.Dir(w.FilePath(p)), err
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
func (m *mount) refuseLink() error {
	info, err := os.Lstat(m.dir)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && strings.HasPrefix(m.prefix, outside) {
		return LinkInTheWay(m.dir)
	}
	return nil // what is missing is made
}
