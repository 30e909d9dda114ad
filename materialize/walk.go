package materialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"filebus/store/record"
)

// A fileStat is a file found on disk.
type fileStat struct {
	path    string // slash-separated, below the walked folder
	size    int64  // bytes
	modTime time.Time
}

// A Skipped is a file that was left out, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	// Harmless says that nothing was missed that could have been taken in:
	// symbolic links and the like.
	Harmless bool `json:"harmless,omitempty"`
}

// A walk lists the regular files below a folder.
type walk struct {
	root    string
	files   []fileStat
	skipped []Skipped
	blind   []string // folders that could not be read
	whole   bool     // a folder that is captured: temporary files are left out

	deadline time.Time // when to stop looking; zero: never
	unlooked int       // folders that the deadline left no time for, with all below
}

// walkTree lists the regular files below root, in the order of their paths.
func walkTree(ctx context.Context, root string) (*walk, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("capturing %s: %w", root, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("capturing %s: it is not a folder", root)
	}
	w := &walk{root: root, whole: true}
	return w, w.folder(ctx, "")
}

// folder lists what is below a folder, in the order of the paths.
func (w *walk) folder(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.read(dir, func(name string) error { return w.folder(ctx, name) })
}

// levels lists what is below folders until the deadline, level by level: what
// agents share stands above the many files of single calls.
func (w *walk) levels(ctx context.Context, dirs []string) error {
	for len(dirs) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(w.deadline) {
			w.unlooked += len(dirs)
			return nil
		}
		dir := dirs[0]
		dirs = dirs[1:]
		_ = w.read(dir, func(name string) error { dirs = append(dirs, name); return nil }) // which never fails
	}
	return nil
}

// list lists what is below folders, all of it or until the deadline.
func (w *walk) list(ctx context.Context, dirs []string) error {
	if !w.deadline.IsZero() {
		return w.levels(ctx, dirs)
	}
	for _, dir := range dirs {
		if err := w.folder(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// read takes in the files of a folder and calls below with the folders in it; one
// that cannot be read is noted.
func (w *walk) read(dir string, below func(name string) error) error {
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(dir)))
	if err != nil {
		w.skip(dir, reason(err))
		w.blind = append(w.blind, dir)
		return nil
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == ".git", e.IsDir() &&
			(e.Name() == "node_modules" || e.Name() == StoreFolder): // never walked into
		case !e.IsDir():
			w.file(name, e)
		default:
			if err := below(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) file(name string, e fs.DirEntry) {
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since the folder was read
	case err != nil:
		w.skip(name, reason(err))
	case !info.Mode().IsRegular():
		w.skipped = append(w.skipped, Skipped{name, typeName(info.Mode()), true})
	case w.whole && isTemporary(name): // left by a killed process
	case record.CheckID(name) != nil:
		w.skip(name, record.CheckID(name).Error())
	default:
		w.files = append(w.files, fileStat{name, info.Size(), info.ModTime()})
	}
}

func (w *walk) skip(name, why string) {
	if name == "" {
		name = "."
	}
	w.skipped = append(w.skipped, Skipped{Path: name, Reason: why})
}

// reason returns an error without the operation and path that its reader is
// told anyway.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func typeName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	default:
		return "not a regular file"
	}
}
