package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// The limits of a scan of files without git.
const (
	maxScanned = 20_000   // files
	maxHashed  = 64 << 20 // bytes of a file whose content is read
)

// scanFiles lists the files of a folder with size, time and digest, in the order
// of their paths. Folders that hold what tools have made or fetched are left out,
// as there is no list of what git would ignore.
func scanFiles(
	ctx context.Context, root string, exclude []string, before []layout.SnapshotFile,
) (files []layout.SnapshotFile, leftOut []string, err error) {
	known := map[string]layout.SnapshotFile{}
	for _, f := range before {
		known[f.Path] = f
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		if err := errors.Join(relErr, ctx.Err()); err != nil {
			return err
		}
		path := filepath.ToSlash(rel)
		switch {
		case err != nil:
			leftOut = append(leftOut, path+": cannot be read")
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && path != "." && (isMade(d.Name()) || isBelow(path, exclude)):
			return fs.SkipDir
		case !d.Type().IsRegular() || isBelow(path, exclude):
			return nil
		case len(files) == maxScanned:
			leftOut = append(leftOut, fmt.Sprintf("%s and all files after it: more than %d", path, maxScanned))
			return fs.SkipAll
		}
		f, err := scanFile(name, path, known[path])
		if err != nil {
			leftOut = append(leftOut, path+": cannot be read")
			return nil
		}
		files = append(files, f)
		return nil
	})
	return files, leftOut, err
}

// isMade reports whether a folder holds what a tool has made or fetched.
func isMade(name string) bool {
	return slices.Contains([]string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".cache"}, name)
}

// scanFile describes a file. One with the size and time that it had before has
// the digest of before.
func scanFile(name, path string, before layout.SnapshotFile) (layout.SnapshotFile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return layout.SnapshotFile{}, err
	}
	f := layout.SnapshotFile{
		Path: strings.ToValidUTF8(path, "\ufffd"), Size: info.Size(), Modified: info.ModTime().UTC().Format(time.RFC3339Nano),
	}
	switch {
	case f.Size == before.Size && f.Modified == before.Modified:
		f.Digest = before.Digest
		return f, nil
	case f.Size > maxHashed:
		return f, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return f, err
	}
	digester := record.NewDigester()
	_, err = io.Copy(digester, file)
	f.Digest = digester.Digest().String()
	return f, errors.Join(err, file.Close())
}

// compareFiles returns how files have changed, in the order of their paths.
func compareFiles(from, to []layout.SnapshotFile) []fileChange {
	old := map[string]layout.SnapshotFile{}
	for _, f := range from {
		old[f.Path] = f
	}
	var changes []fileChange
	for _, f := range to {
		was, found := old[f.Path]
		delete(old, f.Path)
		switch {
		case !found:
			changes = append(changes, fileChange{"added", layout.SnapshotFile{}, f})
		case was.Digest != f.Digest, f.Digest == "" && (was.Size != f.Size || was.Modified != f.Modified):
			changes = append(changes, fileChange{"changed", was, f})
		}
	}
	for _, f := range from {
		if _, gone := old[f.Path]; gone {
			changes = append(changes, fileChange{"deleted", f, layout.SnapshotFile{}})
		}
	}
	slices.SortFunc(changes, func(a, b fileChange) int { return strings.Compare(a.path(), b.path()) })
	return changes
}

// A fileChange is a file with how it was and how it is.
type fileChange struct {
	status  string
	was, is layout.SnapshotFile
}

func (c fileChange) path() string { return c.was.Path + strings.TrimPrefix(c.is.Path, c.was.Path) }

// line describes the change in one line of diff.patch.
func (c fileChange) line() string {
	side := func(f layout.SnapshotFile) string {
		digest := f.Digest
		if digest == "" {
			digest = "too large to be read"
		}
		return fmt.Sprintf("%d bytes, %s", f.Size, digest)
	}
	switch c.status {
	case "added":
		return fmt.Sprintf("added    %s  (%s)\n", c.path(), side(c.is))
	case "deleted":
		return fmt.Sprintf("deleted  %s  (%s)\n", c.path(), side(c.was))
	}
	return fmt.Sprintf("changed  %s  (%s -> %s)\n", c.path(), side(c.was), side(c.is))
}
