// Package mirror owns one store's files on disk. A Mirror is one root of them: it
// looks at files, replaces and removes them, and remembers of each the state in
// which disk and store were compared last. It asks git whose a file is, and knows
// neither what the file means nor what the store has.
//
// Files are written below an os.Root by temporary name and rename, and only a file
// that is as it was seen is replaced. Agents take no lock: one that writes to a file
// while it is replaced makes that an ErrRaced, or a LateError which says where the
// text is. Off Linux nobody can tell whether a file is still open for writing, so
// there a line may be missed that is written to a file opened before it was replaced.
package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// StoreFolder is the name of the folder that holds a workspace's store.
const StoreFolder = ".filebus"

// Options say whose files are mirrored.
type Options struct {
	Store   string        // the folder of the store, absolute: memories, lock and temporary files lie in it
	Command string        // is named to those who wait for the lock
	Wait    time.Duration // for the lock
	Tell    func(string)  // of a long wait for it, as of turnstile.Turnstile
	Now     func() time.Time
	Owner   func(context.Context) ([]record.StoreID, error) // ids of the store, as outside roots know it: the present one first
	End     func(context.Context) (uint64, error)           // the position of the log's end
}

// Mirrors are those of one store: of its workspace, and of linked worktrees. They
// have one lock.
type Mirrors struct {
	opts   Options
	folder folder.Folder // of the memories
	lock   *turnstile.Turnstile
}

// New returns the mirrors of a store.
func New(opts Options) *Mirrors {
	own := folder.At(opts.Store).Sub("mirror")
	lock := turnstile.New(own, opts.Command)
	lock.Tell = opts.Tell
	return &Mirrors{opts, own, lock}
}

// Wait returns how long a command waits for its turn.
func (s *Mirrors) Wait() time.Duration { return s.opts.Wait }

// Lock takes the mirror lock. It must be held while mirrors are open.
func (s *Mirrors) Lock(ctx context.Context) (*turnstile.Hold, error) {
	if err := s.folder.Make("."); err != nil {
		return nil, fmt.Errorf("opening the mirror: %w", err)
	}
	return s.lock.Acquire(ctx, turnstile.Exclusive, s.opts.Wait)
}

// A Mirror is one root of a store's files. Paths are slash-separated below the root;
// those of files in an outside root begin with its prefix.
type Mirror struct {
	Memory    *memory
	set       *Mirrors
	Dir       string // the root, absolute
	root      *os.Root
	outside   []Outside
	readAgain map[string]bool // files that are read though they look as remembered
	Most      fs.FileMode     // the widest mode of what is written; 0: any
}

// An Outside is a folder outside of the workspace whose files belong to its mirror.
type Outside struct {
	Prefix string // of the paths of its files
	Dir    string // absolute
	Shared bool   // everybody knows it, as one in /tmp: a link in its place is refused
	root   *os.Root
	store  string           // the folder of the store
	ids    []record.StoreID // of the store: the present one first
	owned  map[string]bool  // whether folders directly below are known to be the store's
	found  map[string]bool  // whether they were there before the store wrote to them
	takes  bool             // also those of the store that stood here before
	taken  []string         // of such
}

// Open opens the mirror of a root, while the lock is held. Close saves its memory.
func (s *Mirrors) Open(ctx context.Context, dir string, outside []Outside) (*Mirror, error) {
	memory, err := loadMemory(s.folder, dir)
	if err == nil {
		err = s.begin(ctx, memory)
	}
	if err != nil {
		return nil, err
	}
	return s.open(dir, memory, outside)
}

// begin makes a new memory begin at the end of the log.
func (s *Mirrors) begin(ctx context.Context, memory *memory) error {
	if !memory.IsNew {
		return nil
	}
	end, err := s.opts.End(ctx)
	if err == nil {
		memory.Begin(end)
	}
	return err
}

// Peek opens the mirror of a known root, to look at it without the lock. It is not to be closed, but left: see Leave.
func (s *Mirrors) Peek(dir string, outside []Outside) (*Mirror, error) {
	memory, err := loadMemory(s.folder, dir)
	if err != nil || memory.IsNew {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	return s.open(dir, memory, outside)
}

// OpenNew opens the mirror of a root for files that are new, without the lock: it
// remembers only what is written until Close.
func (s *Mirrors) OpenNew(ctx context.Context, dir string) (*Mirror, error) {
	memory := newMemory(s.folder, dir)
	memory.IsNew = !s.Knows(dir)
	if err := s.begin(ctx, memory); err != nil {
		return nil, err
	}
	return s.open(dir, memory, nil)
}

func (s *Mirrors) open(dir string, memory *memory, outside []Outside) (*Mirror, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the mirror: %w", err)
	}
	return &Mirror{Memory: memory, set: s, Dir: dir, root: root, outside: outside}, nil
}

// Remembered returns what is known of the files of a root, to be read.
func (s *Mirrors) Remembered(dir string) (*Memory, error) {
	m, err := loadMemory(s.folder, dir)
	if err != nil {
		m = newMemory(s.folder, dir)
	}
	return m, err
}

// Knows reports whether files of a root were ever in step.
func (s *Mirrors) Knows(root string) bool {
	_, err := s.folder.Stat(newMemory(s.folder, root).file)
	return err == nil
}

// Close saves the mirror's memory.
func (m *Mirror) Close() error {
	m.Leave()
	return m.Memory.Save()
}

// Leave closes the mirror, and saves nothing.
func (m *Mirror) Leave() {
	_ = m.root.Close() // folder handles
	for _, o := range m.outside {
		if o.root != nil {
			_ = o.root.Close()
		}
	}
}

// open opens an outside root when it is first needed, making it if it is missing.
func (o *Outside) open(ctx context.Context, opts Options) (err error) {
	if o.root != nil {
		return nil
	}
	if err := o.refuseLink(); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return fmt.Errorf("opening the outside root %s: %w", o.Dir, err)
	}
	if o.ids, err = opts.Owner(ctx); err == nil {
		o.store, o.owned, o.found = opts.Store, map[string]bool{}, map[string]bool{}
		o.root, err = os.OpenRoot(o.Dir)
	}
	return err
}

// ownerFile says which store a folder of an outside root belongs to: its id, then its folder. One
// in the root itself, of an older program, says it of the folders that have none. A third line says that
// the folder was found: files of other programs in it are only read.
const (
	ownerFile = ".filebus-owner"
	foundLine = "found\n"
)

// own makes sure that the folder in which a file of the root lies is the store's: a second one would take the first
// one's files for its own. What is missing is made if makes is set, else it is nobody's yet.
func (o *Outside) own(name string, makes bool) error {
	top, _, _ := strings.Cut(name, string(filepath.Separator))
	made := makes && o.root.Mkdir(top, 0o777) == nil
	if _, err := o.root.Lstat(top); err != nil || o.owned[top] {
		return nil // what cannot be made, the writer says
	}
	notes := []string{filepath.Join(top, ownerFile), ownerFile}
	if made {
		notes = notes[:1]
	}
	var from, text string
	for _, from = range notes {
		found, err := o.root.ReadFile(from)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cmp.Or(refuseLinks(o.root, top, true), err)
		}
		if text = string(found); err == nil {
			if err := o.refuseOther(top, from, text); err != nil {
				return err
			}
			break
		}
	}
	note := string(o.ids[0]) + "\n" + o.store + "\n"
	if o.found[top] = text == "" && !made || strings.HasSuffix(text, foundLine); o.found[top] {
		note += foundLine
	}
	if from != notes[0] || text != note {
		if !makes && !slices.Contains(o.taken, top) {
			return nil
		}
		dir := folder.At(filepath.Join(o.Dir, top))
		f, err := dir.OpenFile(ownerFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if err == nil {
			_, err = f.WriteString(note)
			err = errors.Join(err, f.Close())
		} else if errors.Is(err, fs.ErrExist) && (from != notes[0] || text == "") { // another process was faster
			return o.own(name, false)
		} else if from == notes[0] {
			err = dir.Replace(ownerFile, []byte(note), false)
		}
		if err != nil {
			return err
		}
	}
	o.owned[top] = true
	return nil
}

// refuseOther refuses a folder by a note of its owner. One of an earlier origin, or of another
// folder, is ours where no store is left: then this one was moved. Else it is a copy.
func (o *Outside) refuseOther(top, from, note string) error {
	id, at, _ := strings.Cut(strings.TrimSpace(strings.TrimSuffix(note, foundLine)), "\n")
	isOurs, isGone := slices.Contains(o.ids, record.StoreID(id)), at != "" && !isOther(at, o.store)
	file, what := filepath.Join(o.Dir, from), "another store, "+cmp.Or(at, id)
	hint := "mv {1} {2} lets this store have the folder, if the other one shall not"
	switch {
	case isGone && isOurs, at == "" && id == string(o.ids[0]):
		return nil
	case at == o.store && o.takes:
		o.taken = append(o.taken, top)
		return nil
	case at == o.store:
		what, hint = "the store that was in "+at+" before this one", "filebus init --take-over"
	case isGone: // or on a disk that is not at hand
		what += ", which is gone"
	case isOurs:
		what = fmt.Sprintf("the store %s, of which %s is a copy", cmp.Or(at, id), o.store)
	case at != "":
		hint = "run it again under another name, or with --store {3}"
	}
	return record.Conflict.Errorf("%s belongs to %s", filepath.Join(o.Dir, top), what).Because(ErrRootTaken).Try(hint, file, file+".old", at)
}

// isOther reports whether a store stands at a folder that is not the own one.
func isOther(at, own string) bool {
	there, err := os.Stat(filepath.Join(at, "store.db"))
	here, ownErr := os.Stat(filepath.Join(own, "store.db"))
	return (err == nil || !errors.Is(err, fs.ErrNotExist)) && (ownErr != nil || err != nil || !os.SameFile(there, here))
}

// ErrRootTaken says that a folder of an outside root belongs to another store.
const ErrRootTaken record.Reason = "the outside root is taken"

// find returns the root that a path lies in and its name below it. A folder of an outside
// root must be the store's own; it is made if makes is set.
func (m *Mirror) find(ctx context.Context, p string, makes bool) (*os.Root, string, error) {
	for i := range m.outside {
		o := &m.outside[i]
		if rest, found := strings.CutPrefix(p, o.Prefix); found {
			name, err := filepath.FromSlash(rest), o.open(ctx, m.set.opts)
			if err == nil {
				err = o.own(name, makes)
			}
			return o.root, name, err
		}
	}
	return m.root, filepath.FromSlash(p), nil
}

// IsFound reports whether a path lies in a folder of an outside root that another program has made.
func (m *Mirror) IsFound(ctx context.Context, p string) bool {
	_, name, err := m.find(ctx, p, false)
	top, _, _ := strings.Cut(name, string(filepath.Separator))
	isIn := func(o Outside) bool { return strings.HasPrefix(p, o.Prefix) && (!o.owned[top] || o.found[top]) }
	return err == nil && slices.ContainsFunc(m.outside, isIn)
}

// Strangers returns the folders in an outside root, by their names, that belong to no store.
func (o *Outside) Strangers() (tops []string) {
	isFree := func(at string) bool {
		_, err := os.Lstat(filepath.Join(o.Dir, at, ownerFile))
		return errors.Is(err, fs.ErrNotExist)
	}
	entries, err := os.ReadDir(o.Dir)
	for _, e := range entries {
		if err == nil && e.IsDir() && e.Name()[0] != '.' && isFree(".") && isFree(e.Name()) && o.refuseLink() == nil {
			tops = append(tops, e.Name())
		}
	}
	return tops
}

// TakeOver makes the folders of outside roots the store's own whose store stood where this one
// stands. It returns them, absolute, and puts them into below, by the prefixes of the roots.
func (m *Mirror) TakeOver(ctx context.Context, below map[string][]string) (dirs []string) {
	for i := range m.outside {
		o := &m.outside[i]
		if _, err := os.Lstat(o.Dir); err != nil || o.open(ctx, m.set.opts) != nil {
			continue // whoever needs it says why
		}
		o.takes = true
		tops, _ := fs.Glob(o.root.FS(), "*") // what cannot be read is not taken
		for _, top := range tops {
			if o.own(top, false) == nil && slices.Contains(o.taken, top) { // what is another's stays so
				below[o.Prefix], dirs = append(below[o.Prefix], top), append(dirs, filepath.Join(o.Dir, top))
			}
		}
	}
	return dirs
}

// File returns the file, absolute, that has a path. The folder of an outside root is made and
// claimed for the store, if makes is set.
func (m *Mirror) File(ctx context.Context, p string, makes bool) (string, error) {
	root, name, err := m.find(ctx, p, makes)
	if err != nil {
		return "", err
	}
	return filepath.Join(root.Name(), name), nil
}
