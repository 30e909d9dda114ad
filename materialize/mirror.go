package materialize

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// A mirror is one root of a workspace's files while its lock is held: the
// workspace itself, or a linked worktree. Paths are as records have them.
type mirror struct {
	w      *Workspace
	dir    string
	root   *os.Root
	memory *memory
	mounts []mount
}

// A mount is a folder outside of the workspace that belongs to its mirror. Its
// files have paths that begin with prefix.
type mount struct {
	prefix string // "~/.qark/agent_tool_results/" or "file:/tmp/blue-dialogue/"
	dir    string // absolute
	root   *os.Root
}

// outside begins the recorded path of a file below an absolute outside root:
// a record's path never begins with a slash.
const outside = "file:"

// withMirror runs fn while the mirror lock is held, for a root.
func (w *Workspace) withMirror(ctx context.Context, dir string, fn func(m *mirror) error) error {
	folder := filepath.Join(w.Location.Store, mirrorFolder)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("opening the mirror: %w", err)
	}
	hold, err := w.mirror.Acquire(ctx, turnstile.Exclusive, w.wait)
	if err != nil {
		return err
	}
	err = w.openMirror(folder, dir, fn)
	return errors.Join(err, hold.Release())
}

func (w *Workspace) openMirror(folder, dir string, fn func(m *mirror) error) error {
	memory, err := loadMemory(folder, dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the mirror: %w", err)
	}
	m := &mirror{w: w, dir: dir, root: root, memory: memory}
	defer m.close()
	for _, r := range []string{w.Settings.Profile.Results, w.Settings.Profile.Dialogues} {
		m.addMount(r)
	}
	return errors.Join(fn(m), memory.save(dir))
}

func (m *mirror) close() {
	_ = m.root.Close() // folder handles
	for _, mount := range m.mounts {
		if mount.root != nil {
			_ = mount.root.Close()
		}
	}
}

// addMount notes an outside root of the profile.
func (m *mirror) addMount(profileRoot string) {
	switch {
	case strings.HasPrefix(profileRoot, "~/"):
		dir := filepath.Join(m.w.Settings.Home, strings.TrimPrefix(profileRoot, "~/"))
		m.mounts = append(m.mounts, mount{prefix: profileRoot + "/", dir: dir})
	case strings.HasPrefix(profileRoot, "/"):
		m.mounts = append(m.mounts, mount{prefix: outside + profileRoot + "/", dir: profileRoot})
	}
}

// open opens an outside root when it is first needed, making it if it is missing.
// It belongs to one store: a second one would take the first one's files for its
// own.
func (m *mount) open(ctx context.Context, s *store.Store) error {
	if m.root != nil {
		return nil
	}
	if err := m.refuseLink(); err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, 0o777); err != nil {
		return fmt.Errorf("opening the outside root %s: %w", m.dir, err)
	}
	id, err := s.ID(ctx)
	if err != nil {
		return err
	}
	if err := claimRoot(m.dir, id); err != nil {
		return err
	}
	m.root, err = os.OpenRoot(m.dir)
	return err
}

// ownerFile says which store an outside root belongs to.
const ownerFile = ".filebus-owner"

func claimRoot(dir string, id record.StoreID) error {
	name := filepath.Join(dir, ownerFile)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		_, err = f.WriteString(string(id) + "\n")
		return errors.Join(err, f.Close())
	}
	text, readErr := os.ReadFile(name)
	if readErr != nil {
		return fmt.Errorf("opening the outside root %s: %w", dir, readErr)
	}
	if strings.TrimSpace(string(text)) != string(id) {
		return record.Conflict.Errorf("%s belongs to another store", dir).Because(ErrRootTaken)
	}
	return nil
}

// ErrRootTaken says that an outside root belongs to another store.
const ErrRootTaken record.Reason = "the outside root is taken"

// place returns the root that a path lies in and its name below it.
func (m *mirror) place(ctx context.Context, p string) (*os.Root, string, error) {
	for i := range m.mounts {
		mount := &m.mounts[i]
		if rest, found := strings.CutPrefix(p, mount.prefix); found {
			err := mount.open(ctx, m.w.Store)
			return mount.root, filepath.FromSlash(rest), err
		}
	}
	return m.root, filepath.FromSlash(p), nil
}

// isOutside reports whether a path lies in an outside root.
func (m *mirror) isOutside(p string) bool {
	return slices.ContainsFunc(m.mounts, func(mount mount) bool { return strings.HasPrefix(p, mount.prefix) })
}

// recordPath returns the path under which records are kept of a path that a
// profile gives.
func recordPath(profilePath string) string {
	if strings.HasPrefix(profilePath, "/") {
		return outside + profilePath
	}
	return profilePath
}

// FilePath returns the file, absolute, that a record's path stands for.
func (w *Workspace) FilePath(recordPath string) string {
	if rest, found := strings.CutPrefix(recordPath, "~/"); found && strings.HasPrefix(w.Settings.Profile.Results, "~/") {
		return filepath.Join(w.Settings.Home, filepath.FromSlash(rest))
	}
	if rest, found := strings.CutPrefix(recordPath, outside+"/"); found {
		return "/" + rest
	}
	return filepath.Join(w.Root, filepath.FromSlash(recordPath))
}

// recognise returns what the file at a record's path is in this workspace.
func (w *Workspace) recognise(p string) layout.Place {
	if rest, found := strings.CutPrefix(p, outside); found && strings.HasPrefix(rest, "/") {
		return w.Settings.Profile.Recognize(rest)
	}
	return w.Settings.Profile.Recognize(p)
}

// A diskFile is a file as it is on disk.
type diskFile struct {
	exists bool
	stat   fileStat
	digest record.Digest
}

// look returns a file's state, reading it only if it is not as remembered.
func (m *mirror) look(ctx context.Context, p string) (diskFile, error) {
	root, name, err := m.place(ctx, p)
	if err != nil {
		return diskFile{}, err
	}
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || isNotFolder(err) {
		return diskFile{}, nil
	}
	if err != nil {
		return diskFile{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return diskFile{}, LinkInTheWay(filepath.Join(root.Name(), name))
	}
	if !info.Mode().IsRegular() {
		return diskFile{}, fmt.Errorf("%s is %s", p, typeName(info.Mode()))
	}
	stat := fileStat{p, info.Size(), info.ModTime()}
	if known, found := m.memory.get(p); found && known.matches(stat) {
		return diskFile{true, stat, known.digest}, nil
	}
	digest, err := m.digest(root, name, stat)
	return diskFile{true, stat, digest}, err
}

// digest reads a file to its end and makes sure that it did not change meanwhile.
func (m *mirror) digest(root *os.Root, name string, stat fileStat) (record.Digest, error) {
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
	if err == nil && (after.Size() != stat.size || !after.ModTime().Equal(stat.modTime)) {
		err = errChanged
	}
	return h.Digest(), err
}

// readFile returns a file of the mirror to be stored. It must still be what was
// seen.
func (m *mirror) readFile(ctx context.Context, seen diskFile) (sourceFile, error) {
	p := seen.stat.path
	f := sourceFile{path: p, place: m.w.recognise(p), source: record.SourceSync}
	root, name, err := m.place(ctx, p)
	if err != nil {
		return f, err
	}
	if err := f.read(ctx, m.w.Store, filepath.Join(root.Name(), name), seen.stat.size); err != nil {
		return f, err
	}
	if f.digest() != seen.digest {
		return f, errors.Join(errRaced, f.body.Discard())
	}
	return f, nil
}

// errRaced says that a file changed between being looked at and being replaced.
var errRaced = errors.New("the file changed meanwhile")

// write replaces the file at a path by the bytes of source, and remembers it.
// The file must still be what was seen. If an agent wrote to it in between, it
// stays, and the error is errRaced.
func (m *mirror) write(ctx context.Context, p string, source io.Reader, position uint64, seen diskFile) error {
	root, name, err := m.place(ctx, p)
	if err = errors.Join(err, checkWritable(p)); err != nil {
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
	digest, err := writeTemporary(root, tmp, source)
	if err != nil {
		return fmt.Errorf("writing %s: %w", p, err)
	}
	// The new file's state is read before it has its name: what an agent then
	// appends must show as a change.
	info, err := root.Lstat(tmp)
	if err != nil {
		return fmt.Errorf("writing %s: %w", p, err)
	}
	mine := fileStat{tmp, info.Size(), info.ModTime()}
	err = m.swap(ctx, root, name, mine, seen)
	var late *lateError
	if err != nil && !errors.As(err, &late) {
		return errors.Join(err, removeIfThere(root, tmp))
	}
	m.memory.set(p, memoOf(mine, digest, position))
	return err
}

// confirm reads a file before it is replaced. That it has the size and time that
// are remembered does not prove that it has the bytes.
func (m *mirror) confirm(root *os.Root, name, p string, seen diskFile) error {
	if !seen.exists {
		return nil
	}
	digest, err := m.digest(root, name, seen.stat)
	if err == nil && digest != seen.digest {
		m.memory.forget(p) // the next look reads it
		err = errRaced
	}
	return err
}

func writeTemporary(root *os.Root, tmp string, source io.Reader) (record.Digest, error) {
	out, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
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

// A lateError says that an agent wrote to the old file after the new one took its
// name. The text is whole; it is still there under a temporary name.
type lateError struct{ name string }

func (e *lateError) Error() string { return "it was written to while it was replaced: " + e.name }

// swap gives the temporary file its name. The old file is kept by a second link
// while that happens, and looked at once nobody has it open for writing any more:
// an agent that opened it before may write to it after, which is a lateError. If
// somebody keeps it open, it gets its place back and the error is errRaced.
func (m *mirror) swap(ctx context.Context, root *os.Root, name string, mine fileStat, seen diskFile) error {
	tmp := mine.path
	if !seen.exists {
		return appear(root, tmp, name)
	}
	keep := m.temporary(root, name, ".old")
	if err := root.Link(name, keep); err != nil {
		return m.replaceWithoutLink(root, tmp, name, seen)
	}
	if same, err := isAsSeen(root, keep, seen.stat); err != nil || !same {
		return errors.Join(errRaced, err, root.Remove(keep))
	}
	if err := root.Rename(tmp, name); err != nil {
		return errors.Join(err, root.Remove(keep))
	}
	quiet, same, err := afterwards(root, keep, seen.stat, writersWait)
	switch {
	case err == nil && quiet && same:
		return root.Remove(keep)
	case err == nil && quiet:
		return &lateError{keep}
	}
	return m.reinstate(ctx, root, keep, name, mine, seen.stat.path)
}

// reinstate gives the old file its name back. The new one, which has the temporary
// name again, may have been written to meanwhile: then it is kept as a note.
func (m *mirror) reinstate(ctx context.Context, root *os.Root, keep, name string, mine fileStat, p string) error {
	if err := errors.Join(root.Link(name, mine.path), root.Rename(keep, name)); err != nil {
		return fmt.Errorf("%w: putting %s back: %w", errRaced, name, err)
	}
	if _, same, err := afterwards(root, mine.path, mine, strayWait); err != nil || !same {
		return errors.Join(err, m.keepStray(ctx, root, p, mine.path))
	}
	return errRaced
}

// temporary returns a free name for a file while it is written: in the store's own
// folder if that lies below the root, on the same disk, else beside the file.
func (m *mirror) temporary(root *os.Root, name, suffix string) string {
	dir := filepath.Dir(name)
	if own, err := filepath.Rel(m.dir, m.w.Location.Store); err == nil && root == m.root && filepath.IsLocal(own) {
		tmp := filepath.Join(own, "tmp")
		if root.MkdirAll(tmp, 0o777) == nil && sameDevice(root, tmp, dir) {
			dir = tmp
		}
	}
	return filepath.Join(dir, TemporaryName(suffix))
}

// TemporaryName returns the name of a file while it is written. No other process
// ever has the same: what two of them write to one file would get the name of
// either.
func TemporaryName(suffix string) string {
	return temporaryPrefix + strings.ToLower(rand.Text()) + suffix
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
		return errRaced
	}
	return root.Rename(tmp, name)
}

// replaceWithoutLink is swap where the file system has no links.
func (m *mirror) replaceWithoutLink(root *os.Root, tmp, name string, seen diskFile) error {
	if same, err := isAsSeen(root, name, seen.stat); err != nil || !same {
		return errors.Join(errRaced, err)
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
func afterwards(root *os.Root, name string, was fileStat, wait time.Duration) (quiet, same bool, err error) {
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

// keepStray keeps what an agent wrote to a file that has no name any more, and
// says where.
func (m *mirror) keepStray(ctx context.Context, root *os.Root, p, name string) error {
	f := sourceFile{path: p, place: layout.Place{Kind: record.KindNote, ID: p, Layout: layout.Notes{}}, source: record.SourceSync}
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if err := f.read(ctx, m.w.Store, filepath.Join(root.Name(), name), info.Size()); err != nil {
		return err
	}
	id := p + "~" + m.w.NewID()
	if err := m.w.keepNote(ctx, f, id, nil); err != nil {
		return errors.Join(err, f.body.Discard())
	}
	return errors.Join(fmt.Errorf("it was written to while it changed; that text is note/%s", id), f.body.Discard())
}

// isAsSeen reports whether a file is still what it was.
func isAsSeen(root *os.Root, name string, was fileStat) (bool, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return false, err
	}
	return info.Mode().IsRegular() && info.Size() == was.size && info.ModTime().Equal(was.modTime), nil
}

func removeIfThere(root *os.Root, name string) error {
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove deletes a file that is as seen. It loses its name first, so that what is
// written to it meanwhile is seen; then it gets the name back.
func (m *mirror) remove(ctx context.Context, p string, seen diskFile) error {
	root, name, err := m.place(ctx, p)
	if err != nil {
		return err
	}
	if same, err := isAsSeen(root, name, seen.stat); err != nil || !same {
		return errors.Join(errRaced, err)
	}
	keep := m.temporary(root, name, ".old")
	if err := root.Rename(name, keep); err != nil {
		return err
	}
	quiet, same, err := afterwards(root, keep, seen.stat, writersWait)
	switch {
	case quiet && same:
		m.memory.forget(p)
		return root.Remove(keep)
	case root.Link(keep, name) == nil:
		return errors.Join(errRaced, err, root.Remove(keep))
	}
	return errors.Join(err, m.keepStray(ctx, root, p, keep), root.Remove(keep)) // another file took the name
}

// scan lists the files on disk that belong to the mirror: those that a layout
// recognises below the folders that layouts know, those of the configured note
// folders, and below outside roots those that the store made.
// At a deadline that is not zero it stops, and the walk says how much it left.
func (m *mirror) scan(ctx context.Context, deadline time.Time) (*walk, error) {
	found := &walk{root: m.dir, deadline: deadline}
	folders, err := m.folders()
	if err != nil {
		return nil, err
	}
	if err := found.list(ctx, folders); err != nil {
		return nil, err
	}
	kept := found.files[:0]
	for _, f := range found.files {
		switch {
		case isTemporary(f.path):
			m.sweep(f)
		case m.knows(f.path), m.isMirrored(f.path):
			kept = append(kept, f)
		}
	}
	found.files = kept
	for i := range m.mounts {
		if err := m.scanMount(ctx, &m.mounts[i], found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// isTemporary reports whether a file is one that filebus writes before it takes
// its name.
func isTemporary(p string) bool {
	id, found := strings.CutPrefix(path.Base(p), temporaryPrefix)
	return found && (strings.HasSuffix(id, ".new") || strings.HasSuffix(id, ".old"))
}

// temporaryPrefix begins the names of files that are being written.
const temporaryPrefix = ".filebus-"

// sweep removes a temporary file that a killed process left an hour ago.
func (m *mirror) sweep(f fileStat) {
	if m.w.now().Sub(f.modTime) > time.Hour {
		_ = m.root.Remove(filepath.FromSlash(f.path)) // the next sync tries again
	}
}

// knows reports whether a file was mirrored before. It spares most files being
// recognised again.
func (m *mirror) knows(p string) bool {
	_, remembered := m.memory.get(p)
	return remembered
}

// isMirrored reports whether sync may look at a file of the workspace.
func (m *mirror) isMirrored(p string) bool {
	if m.w.recognise(p).Kind != record.KindNote {
		return true
	}
	for _, folder := range m.w.Settings.NoteFolders {
		if strings.HasPrefix(p, strings.Trim(folder, "/")+"/") {
			return true
		}
	}
	return false
}

// folders returns the folders at the root's top that may hold mirrored files,
// and the note folders that do not lie in them.
func (m *mirror) folders() ([]string, error) {
	var folders []string
	add := func(dir string) {
		info, err := m.root.Lstat(filepath.FromSlash(dir))
		if err != nil || !info.IsDir() {
			return
		}
		for _, have := range folders {
			if dir == have || strings.HasPrefix(dir, have+"/") {
				return
			}
		}
		folders = append(folders, dir)
	}
	for _, top := range []string{".claude", ".orchestrator", ".blue", "agent_tool_results"} {
		add(top)
	}
	p := m.w.Settings.Profile
	for _, root := range []string{p.Root, p.Markers, p.Results, p.Dialogues, p.Sessions} {
		if root != "" && !strings.HasPrefix(root, "/") && !strings.HasPrefix(root, "~/") {
			add(root)
		}
	}
	for _, folder := range m.w.Settings.NoteFolders {
		add(strings.Trim(folder, "/"))
	}
	return folders, nil
}

// scanMount lists the files of the conversations and dialogues that this store
// has below an outside root.
func (m *mirror) scanMount(ctx context.Context, mount *mount, found *walk) error {
	folders := map[string]bool{}
	err := m.w.Store.View(ctx, func(tx *store.Tx) error {
		prefix := store.PathValue("", mount.prefix)
		for value, err := range tx.Values(store.FieldPath, prefix) {
			if err != nil {
				return err
			}
			folder, _, _ := strings.Cut(strings.TrimPrefix(value.Text, prefix), "/")
			folders[folder] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(folders) == 0 {
		return nil
	}
	if err := mount.open(ctx, m.w.Store); err != nil {
		return err
	}
	below := &walk{root: mount.dir, deadline: found.deadline}
	if err := below.list(ctx, slices.Sorted(maps.Keys(folders))); err != nil {
		return err
	}
	found.unlooked += below.unlooked
	for _, f := range below.files {
		f.path = mount.prefix + f.path
		found.files = append(found.files, f)
	}
	return nil
}

// isNotFolder reports whether a path leads through something that is no folder.
func isNotFolder(err error) bool {
	return err != nil && strings.Contains(err.Error(), "not a directory")
}
