// Package folder is how filebus reaches its own files: those below the folder of a
// store. Whoever can put something there, as a repository that is cloned, must not
// lead filebus elsewhere by it. So every path is followed below an os.Root and never
// over a link, a file is opened only if it is a regular one, and what filebus makes is
// its user's alone.
package folder

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"filebus/store/record"
)

// What filebus makes has these modes.
const (
	fileMode   = 0o600
	folderMode = 0o700
)

// ErrForeign says that something stands where filebus keeps a file or folder of its
// own, and is none.
const ErrForeign record.Reason = "not of filebus"

// A Folder is a folder of filebus. The names that it is asked for are paths below it,
// slash-separated. It holds nothing open between calls.
type Folder struct {
	top    string      // may be reached over links
	below  string      // slash-separated, below top: no part of it may be a link
	others fs.FileMode // what others than the user may do with what is made
}

// At returns a folder that may be reached over links: that of a store.
func At(dir string) Folder { return Folder{dir, ".", 0} }

// Shared returns the folder as one that others use too: what is made there has the modes
// that the user's mask leaves, as with most programs.
func (f Folder) Shared() Folder { return Folder{f.top, f.below, 0o077} }

// Within returns a folder that must not be a link itself.
func Within(dir string) Folder { return At(filepath.Dir(dir)).Sub(filepath.Base(dir)) }

// Sub returns a folder below f.
func (f Folder) Sub(name string) Folder { return Folder{f.top, path.Join(f.below, name), f.others} }

// Path returns the path of what has a name, for messages and for programs that know
// no other way.
func (f Folder) Path(name string) string {
	return filepath.Join(f.top, filepath.FromSlash(f.below), filepath.FromSlash(name))
}

// in calls do with a handle of the top and a path below it, once each folder on the
// way there is one.
func (f Folder) in(name string, do func(root *os.Root, at string) error) error {
	root, err := os.OpenRoot(f.top + string(filepath.Separator)) // else it waits for who writes to a pipe
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // a folder handle
	at := path.Join(f.below, name)
	for i, c := range at {
		if c == '/' && err == nil {
			err = f.wantFolder(root, at[:i])
		}
	}
	if err == nil {
		err = do(root, at)
	}
	return f.named(err)
}

// named gives the paths in an error that a Root has made their beginning.
func (f Folder) named(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) && !filepath.IsAbs(p.Path) {
		p.Path = filepath.Join(f.top, p.Path)
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) && !filepath.IsAbs(l.New) {
		l.Old, l.New = filepath.Join(f.top, l.Old), filepath.Join(f.top, l.New)
	}
	return err
}

func (f Folder) wantFolder(root *os.Root, at string) error {
	info, err := root.Lstat(at)
	if err == nil && !info.IsDir() {
		err = f.foreign(at, info.Mode())
	}
	return err
}

// wantFile returns what is known of a regular file.
func (f Folder) wantFile(root *os.Root, at string) (fs.FileInfo, error) {
	info, err := root.Lstat(at)
	if err == nil && !info.Mode().IsRegular() {
		err = f.foreign(at, info.Mode())
	}
	return info, err
}

func (f Folder) foreign(at string, mode fs.FileMode) error {
	return At(f.top).Refuse(at, "is "+TypeName(mode)+", and none that filebus has made")
}

// Refuse returns the error of what is in the way, and says how to move it out of it.
func (f Folder) Refuse(name, why string) error {
	file := f.Path(name)
	top := At(f.top)
	aside := top.Path(top.Free("moved-" + filepath.Base(file)))
	err := record.Conflict.Errorf("%s %s", file, why).Because(ErrForeign)
	return err.Try("mv {1} {2}, then run it again", file, aside)
}

// Free returns a name, with a number behind it if something has it already.
func (f Folder) Free(name string) string {
	free := name
	for n := 2; exists(f.Path(free)); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// TypeName says what a thing is that is neither a regular file nor wanted.
func TypeName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode.IsRegular():
		return "a file"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

// Stat returns what is known of a file.
func (f Folder) Stat(name string) (info fs.FileInfo, err error) {
	err = f.in(name, func(root *os.Root, at string) (err error) {
		info, err = f.wantFile(root, at)
		return err
	})
	return info, err
}

// Open opens a file to read it.
func (f Folder) Open(name string) (*os.File, error) { return f.OpenFile(name, os.O_RDONLY) }

// errMoved says that another file has taken the name of the one that was looked at.
var errMoved = errors.New("it is replaced again and again")

// OpenFile opens a file with flags as of os.OpenFile. What is not a file of filebus is
// neither opened nor truncated.
func (f Folder) OpenFile(name string, flag int) (file *os.File, err error) {
	err = f.in(name, func(root *os.Root, at string) error {
		for range 100 {
			if file, err = f.open(root, at, flag); !errors.Is(err, errMoved) {
				return err
			}
		}
		return fmt.Errorf("opening %s: %w", f.Path(name), err)
	})
	return file, err
}

func (f Folder) open(root *os.Root, at string, flag int) (*os.File, error) {
	const making = os.O_CREATE | os.O_EXCL
	info, err := f.wantFile(root, at)
	switch {
	case flag&making == making, errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		file, err := root.OpenFile(at, flag|os.O_EXCL, fileMode|f.others&0o066)
		if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 {
			err = errMoved
		}
		return file, err
	case err != nil:
		return nil, err
	}
	// A pipe that takes the name now does not hold us up.
	file, err := root.OpenFile(at, flag&^os.O_CREATE|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(errMoved, err, file.Close())
	}
	return file, nil
}

// ReadFile returns the bytes of a file, which is none of filebus if it is far too long.
func (f Folder) ReadFile(name string) ([]byte, error) {
	const maxRead = 256 << 20 // the longest file that is read at once, in bytes
	return f.ReadUpTo(name, maxRead)
}

// ReadUpTo is ReadFile for a file of at most that many bytes.
func (f Folder) ReadUpTo(name string, limit int64) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	var text bytes.Buffer
	if info, err := file.Stat(); err == nil && info.Size() <= limit {
		text.Grow(int(info.Size()) + bytes.MinRead)
	} else if err == nil {
		return nil, f.tooLong(name, limit)
	}
	_, err = text.ReadFrom(io.LimitReader(file, limit+1))
	if err == nil && int64(text.Len()) > limit {
		return nil, f.tooLong(name, limit)
	}
	return text.Bytes(), err
}

func (f Folder) tooLong(name string, limit int64) error {
	return f.Refuse(name, fmt.Sprintf("is longer than %d KiB, which no such file of filebus is", limit>>10))
}

// WriteFile writes a file in place, making it if it is missing.
func (f Folder) WriteFile(name string, text []byte) error { return f.write(name, os.O_TRUNC, text) }

// Append adds text to the end of a file in one call, so that several processes may do
// so at once. It makes the file if it is missing.
func (f Folder) Append(name string, text []byte) error { return f.write(name, os.O_APPEND, text) }

func (f Folder) write(name string, flag int, text []byte) error {
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// CreateTemp makes a file that nobody else has in a folder, and returns its name.
func (f Folder) CreateTemp(dir string) (*os.File, string, error) {
	name := path.Join(dir, TemporaryName(".tmp"))
	file, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	return file, name, err
}

// Replace makes a file appear whole in place of an older one. If not durably, a crash
// of the machine may leave the older one or a torn one.
func (f Folder) Replace(name string, text []byte, durably bool) error {
	file, tmp, err := f.CreateTemp(path.Dir(name))
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil && durably {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.Rename(tmp, name)
	}
	switch {
	case err != nil:
		return errors.Join(err, f.Remove(tmp))
	case durably:
		return f.Sync(path.Dir(name))
	}
	return nil
}

// Rename gives a file another name below the folder, where at most a file is.
func (f Folder) Rename(from, to string) error {
	return f.in(to, func(root *os.Root, at string) error {
		if _, err := f.wantFile(root, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return f.in(from, func(_ *os.Root, old string) error { return root.Rename(old, at) })
	})
}

// Link gives a file a second name below the folder, which must be free.
func (f Folder) Link(from, to string) error {
	return f.in(from, func(root *os.Root, old string) error {
		if _, err := f.wantFile(root, old); err != nil {
			return err
		}
		return f.in(to, func(_ *os.Root, at string) error { return root.Link(old, at) })
	})
}

// Remove removes a file, or a folder that is empty. A link goes, not what it leads to.
func (f Folder) Remove(name string) error {
	return f.in(name, func(root *os.Root, at string) error { return root.Remove(at) })
}

// RemoveAll removes a folder with all that is in it, if it is there.
func (f Folder) RemoveAll(name string) error {
	err := f.in(name, func(root *os.Root, at string) error { return root.RemoveAll(at) })
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Make makes a folder, and those above it; a shared one only below its top, which may be away with its disk.
func (f Folder) Make(name string) error {
	if f.others == 0 && !exists(f.top) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.top), 0o777), os.Mkdir(f.top, folderMode|f.others)); !exists(f.top) {
			return err
		}
	}
	at, err := path.Join(f.below, name), error(nil)
	for i := range len(at) + 1 {
		if err == nil && (i == len(at) || at[i] == '/') {
			err = At(f.top).in(at[:i], func(root *os.Root, at string) error {
				made := root.Mkdir(at, folderMode|f.others)
				if err := f.wantFolder(root, at); !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return made
			})
		}
	}
	return err
}

// MakeNew makes a folder in one that is there; that it is there already is an error.
func (f Folder) MakeNew(name string) error {
	return f.in(name, func(root *os.Root, at string) error { return root.Mkdir(at, folderMode|f.others) })
}

// ReadDir returns what is in a folder, in the order of the names.
func (f Folder) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.inFolder(name, func(dir *os.File) error {
		entries, err = dir.ReadDir(-1)
		return err
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Sync makes what was made and renamed in a folder durable as far as one call can.
func (f Folder) Sync(name string) error {
	return f.inFolder(name, func(dir *os.File) error {
		err := dir.Sync()
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
			err = nil // Windows has no such thing
		}
		return err
	})
}

func (f Folder) inFolder(name string, do func(dir *os.File) error) error {
	return f.in(name, func(root *os.Root, at string) error {
		if err := f.wantFolder(root, at); err != nil {
			return err
		}
		dir, err := root.Open(at)
		if err != nil {
			return err
		}
		return errors.Join(do(dir), dir.Close())
	})
}

// Walk calls visit with the name of each thing below a folder, folders before what is
// in them.
func (f Folder) Walk(name string, visit func(name string, e fs.DirEntry) error) error {
	entries, err := f.ReadDir(name)
	for _, e := range entries {
		below := path.Join(name, e.Name())
		if err == nil {
			err = visit(below, e)
		}
		if err == nil && e.IsDir() {
			err = f.Walk(below, visit)
		}
	}
	return err
}

// Check refuses a folder in which something is neither a file nor a folder. It is for
// those that other code opens by their path.
func (f Folder) Check(name string) error {
	return f.Walk(name, func(name string, e fs.DirEntry) error {
		if e.IsDir() || e.Type().IsRegular() {
			return nil
		}
		return f.foreign(path.Join(f.below, name), e.Type())
	})
}

// Tighten takes a folder that is the user's own, and all in it, away from everybody
// else. It reports whether others could do anything there before. What it cannot
// change stays as it is.
func (f Folder) Tighten() (tightened bool, err error) {
	const others fs.FileMode = 0o077
	info, err := os.Stat(f.Path("."))
	if err != nil || info.Mode()&others == 0 || !isOwn(info) {
		return false, err
	}
	change := func(name string, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil || info.Mode()&others == 0 || !e.IsDir() && !info.Mode().IsRegular() {
			return nil
		}
		_ = f.in(name, func(root *os.Root, at string) error { return root.Chmod(at, info.Mode()&^others) })
		return nil
	}
	err = f.Walk(".", change)
	if err == nil { // at last: as long as it is not done, the next command does it
		err = f.in(".", func(root *os.Root, at string) error { return root.Chmod(at, info.Mode()&^others) })
	}
	return err == nil, err
}

// temporaryPrefix begins the names of files that are being written.
const temporaryPrefix = ".filebus-"

// TemporaryName returns the name of a file while it is written. No other process
// ever has the same: what two of them write to one file would get the name of
// either.
func TemporaryName(suffix string) string {
	return temporaryPrefix + strings.ToLower(rand.Text()) + suffix
}

// IsTemporary reports whether a name is one that TemporaryName has made.
func IsTemporary(name string) bool {
	id, found := strings.CutPrefix(name, temporaryPrefix)
	random, suffix, _ := strings.Cut(id, ".")
	return found && len(random) == 26 && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == "" &&
		slices.Contains([]string{"new", "old", "tmp"}, suffix)
}

// WithoutLinks returns where a folder, by its absolute path, really is. What is missing of it has no links.
func WithoutLinks(dir string) string {
	path, err := filepath.EvalSymlinks(dir)
	if parent := filepath.Dir(dir); err != nil && parent != dir {
		return filepath.Join(WithoutLinks(parent), filepath.Base(dir))
	}
	return cmp.Or(path, dir)
}
