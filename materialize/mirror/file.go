package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

// A Stat is a file that was found on disk.
type Stat struct {
	Path    string // slash-separated, below the folder in which it was found
	Size    int64  // bytes
	ModTime time.Time
	Mode    fs.FileMode // what may be done with it, and by whom
	Agreed  bool        // a scan found it as it is remembered, and the store with the same bytes
}

func statOf(p string, info fs.FileInfo) Stat {
	return Stat{Path: p, Size: info.Size(), ModTime: info.ModTime(), Mode: info.Mode().Perm()}
}

// A File is what stands on disk at a path.
type File struct {
	Stat
	Exists bool
	Digest record.Digest
}

// Look returns a file's state, reading it only if it is not as remembered.
func (m *Mirror) Look(ctx context.Context, p string) (File, error) {
	root, name, err := m.find(ctx, p, false)
	if err != nil {
		return File{}, err
	}
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || isNotFolder(err) {
		return File{}, nil
	}
	if err != nil {
		return File{}, cmp.Or(refuseLinks(root, filepath.Dir(name), false), err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return File{}, LinkInTheWay(filepath.Join(root.Name(), name))
	}
	if info.IsDir() {
		return File{}, fmt.Errorf("%s is %w", p, ErrFolder)
	}
	if !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("%s is %s", p, folder.TypeName(info.Mode()))
	}
	stat := statOf(p, info)
	known, found := m.Memory.Get(p)
	if found && known.Matches(stat) && !m.readAgain[p] {
		return File{stat, true, known.Digest}, nil
	}
	digest, err := m.digest(root, name, stat)
	if err == nil && digest == known.Digest {
		delete(m.readAgain, p)
	}
	return File{stat, true, digest}, err
}

// ReadAgain makes Look read a file also if it has the size and time that are remembered:
// who copies a file with its time may have put other bytes there.
func (m *Mirror) ReadAgain(p string) {
	if m.readAgain == nil {
		m.readAgain = map[string]bool{}
	}
	m.readAgain[p] = true
}

// ErrFolder says that a folder stands where a file was expected.
var ErrFolder = errors.New("not a regular file")

// IsBeingWritten reports whether somebody has a file open for writing, and whether that
// can be told here. A child of who has closed it may have it until it runs its program, so it asks again.
func (m *Mirror) IsBeingWritten(ctx context.Context, p string) (isWritten, known bool) {
	root, name, err := m.find(ctx, p, false)
	if err != nil || !tellsWriters {
		return false, false
	}
	f, err := root.Open(name)
	if err != nil {
		return false, false
	}
	defer func() { _ = f.Close() }() // only read
	for wait := time.Millisecond; isBeingWritten(f); wait *= 2 {
		if wait > 8*time.Millisecond {
			return true, true
		}
		time.Sleep(wait)
	}
	return false, true
}

// digest reads a file to its end and makes sure that it did not change meanwhile.
func (m *Mirror) digest(root *os.Root, name string, stat Stat) (record.Digest, error) {
	f, err := root.Open(name)
	if err != nil {
		return record.Digest{}, err
	}
	defer func() { _ = f.Close() }() // only read
	h := record.NewDigester()
	if _, err := io.Copy(h, f); err != nil {
		return record.Digest{}, err
	}
	after, err := f.Stat()
	if err == nil && (after.Size() != stat.Size || !after.ModTime().Equal(stat.ModTime)) {
		err = errChanged
	}
	return h.Digest(), err
}

// ErrRaced says that a file changed between being looked at and being replaced or
// read to its end.
const ErrRaced = raceError("the file changed meanwhile")

const errChanged = raceError("it changed while it was read")

type raceError string

func (e raceError) Error() string        { return string(e) }
func (e raceError) Is(target error) bool { return target == ErrRaced }

// ReadStable opens a regular file and makes sure that it did not change while read
// read all of it. The size is what it had before; read returns how much there was.
func ReadStable(file string, read func(f *os.File, size int64) (int64, error)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	before, err := f.Stat()
	if err != nil {
		return err
	}
	if !before.Mode().IsRegular() {
		return errors.New("it is " + folder.TypeName(before.Mode()))
	}
	n, err := read(f, before.Size())
	if err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil || after.Size() != n || !after.ModTime().Equal(before.ModTime()) {
		return errors.Join(err, errChanged)
	}
	return nil
}

// Write replaces the file at a path by the bytes of source, and remembers it.
// The file must still be what was seen. If an agent wrote to it in between, it
// stays, and the error is ErrRaced; one that wrote to it later is a LateError.
func (m *Mirror) Write(ctx context.Context, p string, source io.Reader, position uint64, seen File) error {
	root, name, err := m.find(ctx, p, true)
	if err != nil {
		return err
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("writing %s: %w", p, err)
		}
	}
	if err := m.confirm(root, name, p, seen); err != nil {
		return err
	}
	tmp := m.temporary(root, name, ".new")
	known, _ := m.Memory.Get(p)
	now, most := modeOf(root, name), cmp.Or(m.Most, 0o777)
	digest, err := writeTemporary(root, tmp, source, cmp.Or(now, cmp.Or(known.Mode, 0o666)&most))
	if err != nil {
		return fmt.Errorf("writing %s: %w", p, err)
	}
	if now != 0 {
		_ = root.Chmod(tmp, now) // some file systems have no modes
	}
	if most&0o111 == 0 || now == 0 && digest != known.Digest { // only what its owner made executable is so again
		_ = root.Chmod(tmp, modeOf(root, tmp)&^0o111)
	}
	// The new file's state is read before it has its name: what an agent then
	// appends must show as a change.
	info, err := root.Lstat(tmp)
	if err != nil {
		return fmt.Errorf("writing %s: %w", p, err)
	}
	mine := statOf(tmp, info)
	err = m.swap(root, name, mine, seen)
	late := (*LateError)(nil)
	switch isLate := errors.As(err, &late); {
	case err != nil && !isLate:
		_ = root.Remove(tmp) // else it is swept later
		return err
	case err == nil || !late.Lost:
		mine.Path = p
		m.Memory.Set(File{mine, true, digest}, position)
	}
	return err
}

// confirm reads a file before it is replaced or removed. That it has the size and time that
// are remembered does not prove that it has the bytes.
func (m *Mirror) confirm(root *os.Root, name, p string, seen File) error {
	if !seen.Exists {
		return nil
	}
	digest, err := m.digest(root, name, seen.Stat)
	if err == nil && digest != seen.Digest {
		m.ReadAgain(p) // the next look reads it
		err = ErrRaced
	}
	return err
}

// modeOf returns the mode that a file has, or 0 if there is none.
func modeOf(root *os.Root, name string) fs.FileMode {
	info, err := root.Lstat(name)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

// writeTemporary writes a file with a mode, which the umask makes no wider.
func writeTemporary(root *os.Root, tmp string, source io.Reader, mode fs.FileMode) (record.Digest, error) {
	out, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return record.Digest{}, err
	}
	h := record.NewDigester()
	_, err = io.Copy(io.MultiWriter(out, h), source)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return record.Digest{}, errors.Join(err, root.Remove(tmp))
	}
	return h.Digest(), nil
}

// A LateError says that an agent wrote to a file that has lost its name by then. The
// text is whole, and still there under a temporary name.
type LateError struct {
	Lost bool  // it belongs to no file; else to the one that another has replaced
	Err  error // what else went wrong; nil: nothing
	root *os.Root
	name string
}

func (e *LateError) Error() string { return "it was written to while it was replaced: " + e.name }

// File returns the file, absolute, that has the text.
func (e *LateError) File() string { return filepath.Join(e.root.Name(), e.name) }

// Discard removes that file.
func (e *LateError) Discard() error { return e.root.Remove(e.name) }

// swap gives the temporary file its name. The old file is kept by a second link
// while that happens, and looked at once nobody has it open for writing any more:
// an agent that opened it before may write to it after, which is a LateError. If
// somebody keeps it open, it gets its place back and the error is ErrRaced.
func (m *Mirror) swap(root *os.Root, name string, mine Stat, seen File) error {
	tmp := mine.Path
	if !seen.Exists {
		return appear(root, tmp, name)
	}
	keep := m.temporary(root, name, ".old")
	if err := root.Link(name, keep); err != nil {
		return replaceWithoutLink(root, tmp, name, seen)
	}
	if same, err := isAsSeen(root, keep, seen.Stat); err != nil || !same {
		return errors.Join(ErrRaced, err, root.Remove(keep))
	}
	if err := root.Rename(tmp, name); err != nil {
		return errors.Join(err, root.Remove(keep))
	}
	quiet, same, err := afterwards(root, keep, seen.Stat, writersWait)
	switch {
	case err == nil && quiet && same:
		return root.Remove(keep)
	case err == nil && quiet:
		return &LateError{root: root, name: keep}
	}
	return reinstate(root, keep, name, mine)
}

// reinstate gives the old file its name back. The new one, which has the temporary
// name again, may have been written to meanwhile: then that text is lost.
func reinstate(root *os.Root, keep, name string, mine Stat) error {
	if err := errors.Join(root.Link(name, mine.Path), root.Rename(keep, name)); err != nil {
		return fmt.Errorf("%w: putting %s back: %w", ErrRaced, name, err)
	}
	if _, same, err := afterwards(root, mine.Path, mine, strayWait); err != nil || !same {
		return &LateError{true, err, root, mine.Path}
	}
	return ErrRaced
}

// temporary returns a free name for a file while it is written: in the store's own
// folder if that lies below the root, on the same disk, else beside the file.
func (m *Mirror) temporary(root *os.Root, name, suffix string) string {
	dir := filepath.Dir(name)
	if own, err := filepath.Rel(m.Dir, m.set.opts.Store); err == nil && root == m.root && filepath.IsLocal(own) {
		tmp := filepath.Join(own, "tmp")
		if folder.At(m.set.opts.Store).Make("tmp") == nil && sameDevice(root, tmp, dir) {
			dir = tmp
		}
	}
	return filepath.Join(dir, folder.TemporaryName(suffix))
}

// sameDevice reports whether two folders of a root lie on one disk, so that a file
// can be renamed from one into the other.
func sameDevice(root *os.Root, a, b string) bool {
	x, errX := root.Stat(a)
	y, errY := root.Stat(b)
	return errX == nil && errY == nil && deviceOf(x) == deviceOf(y)
}

// appear gives the temporary file a name that nothing has. A link fails if it is
// taken by now; a file system without links leaves only the rename.
func appear(root *os.Root, tmp, name string) error {
	err := root.Link(tmp, name)
	switch {
	case err == nil:
		return root.Remove(tmp)
	case errors.Is(err, fs.ErrExist):
		return ErrRaced
	}
	return root.Rename(tmp, name)
}

// replaceWithoutLink is swap where the file system has no links.
func replaceWithoutLink(root *os.Root, tmp, name string, seen File) error {
	if same, err := isAsSeen(root, name, seen.Stat); err != nil || !same {
		return errors.Join(ErrRaced, err)
	}
	return root.Rename(tmp, name)
}

// How long a file that lost its name is watched for its last writer to close it:
// a shell's ">>" takes a few milliseconds. A file that is given up for good is
// watched for longer.
const (
	writersWait = 20 * time.Millisecond
	strayWait   = time.Second
)

// afterwards waits until nobody has a file open for writing that cannot be opened
// by its name any more, and reports whether that is so and the file as it was.
func afterwards(root *os.Root, name string, was Stat, wait time.Duration) (quiet, same bool, err error) {
	f, err := root.Open(name)
	if err != nil {
		return false, false, err
	}
	defer func() { _ = f.Close() }() // only read
	for deadline := time.Now().Add(wait); isBeingWritten(f); time.Sleep(time.Millisecond / 2) {
		if time.Now().After(deadline) {
			return false, false, nil
		}
	}
	same, err = isAsSeen(root, name, was)
	return err == nil, same, err
}

// isAsSeen reports whether a file is still what it was.
func isAsSeen(root *os.Root, name string, was Stat) (bool, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return false, err
	}
	return info.Mode().IsRegular() && info.Size() == was.Size && info.ModTime().Equal(was.ModTime), nil
}

// Remove deletes a file that is as seen. It loses its name first, so that what is
// written to it meanwhile is seen; then it gets the name back.
func (m *Mirror) Remove(ctx context.Context, p string, seen File) error {
	root, name, err := m.find(ctx, p, false)
	if err != nil {
		return err
	}
	if same, err := isAsSeen(root, name, seen.Stat); err != nil || !same {
		return errors.Join(ErrRaced, err)
	}
	if err := m.confirm(root, name, p, seen); err != nil {
		return err
	}
	keep := m.temporary(root, name, ".old")
	if err := root.Rename(name, keep); err != nil {
		return err
	}
	quiet, same, err := afterwards(root, keep, seen.Stat, writersWait)
	switch {
	case quiet && same:
		m.Memory.Forget(p)
		return root.Remove(keep)
	case root.Link(keep, name) == nil:
		return errors.Join(ErrRaced, err, root.Remove(keep))
	}
	return &LateError{true, err, root, keep} // another file took the name
}

// isNotFolder reports whether a path leads through something that is no folder.
func isNotFolder(err error) bool {
	return err != nil && strings.Contains(err.Error(), "not a directory")
}

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
	root, file, err := m.find(ctx, p, true)
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
	root, name, err := m.find(ctx, p, false)
	if err != nil {
		return err
	}
	name = filepath.Dir(name)
	if info, err := root.Lstat(name); err != nil || !info.IsDir() || name == "." {
		return nil
	}
	return hold(func() { // it may hold files of others: then it stays
		if left, _ := fs.ReadDir(root.FS(), filepath.ToSlash(name)); len(left) == 1 && left[0].Name() == ownerFile && root != m.root {
			_ = root.Remove(filepath.Join(name, ownerFile))
		}
		_ = root.Remove(name)
	})
}

// CheckWay refuses a path that leads over a file, or over a symbolic link out of the root.
func (m *Mirror) CheckWay(ctx context.Context, p string) error {
	root, file, err := m.find(ctx, p, false)
	if err != nil {
		return err
	}
	return refuseLinks(root, filepath.Dir(file), false)
}

// refuseLinks returns ErrLink for the first folder on the way to name that is
// a link, and refuses a file. A link that stays below the root is refused only if all are.
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
		case info.IsDir():
			continue
		case info.Mode()&fs.ModeSymlink == 0:
			return record.Conflict.Errorf("%s is a file: nothing is written below it", filepath.Join(root.Name(), at))
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
