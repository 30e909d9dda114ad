package materialize

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// Reasons why a tree is left as it is.
const (
	ErrNoTree    record.Reason = "no such tree"
	ErrNameTaken record.Reason = "the name belongs to a tree"
	ErrRenaming  record.Reason = "a tree is being renamed"
	ErrTreeGone  record.Reason = "the tree's folder is gone"
	ErrTreeEmpty record.Reason = "the tree's folder is empty"
)

// A MovedFile is one whose bytes stand at another path by now.
type MovedFile struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// recall returns what is remembered of the files of a tree in its folder.
func (w *Workspace) recall(t *Tree) *mirror.Memory {
	return mirror.Recall(folder.At(w.Location.Store).Sub("seen"), strconv.Quote(string(t.Name)+":"+t.Dir))
}

// StoredPaths returns the paths of a tree's files, each with the position of its newest
// version.
func (w *Workspace) StoredPaths(ctx context.Context, tree record.Tree) (map[string]uint64, error) {
	prefix := store.PathValue(tree, "")
	return view(ctx, w.Store, func(tx *store.Tx) (map[string]uint64, error) {
		paths := map[string]uint64{}
		for value, err := range tx.Values(store.FieldPath, prefix) {
			if err != nil {
				return nil, err
			}
			paths[strings.TrimPrefix(value.Text, prefix)] = value.Newest
		}
		return paths, nil
	})
}

// notedTrees returns the trees that something is remembered of beside their records.
func (w *Workspace) notedTrees() (names []record.Tree, err error) {
	entries, err := w.treeNotes().ReadDir(".")
	for _, e := range entries {
		if name, err := record.ParseTree(e.Name()); err == nil && !folder.IsTemporary(e.Name()) {
			names = append(names, name)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return names, err
}

// Trees returns all trees that were captured or have records, by their names.
func (w *Workspace) Trees(ctx context.Context) (all []*Tree, err error) {
	return view(ctx, w.Store, func(tx *store.Tx) ([]*Tree, error) {
		names, err := w.notedTrees()
		next := record.Name{Tree: "\x01"} // behind the own tree
		for more := err == nil; more; {
			more = false
			for n, err := range tx.Names(next) {
				if err != nil {
					return nil, err
				}
				// No name of a tree has a control character, so this is behind all of it.
				names, more, next = append(names, n.Name.Tree), true, record.Name{Tree: n.Name.Tree + "\x01"}
				break
			}
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			t, err := w.treeIn(tx, name)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return all, err
	})
}

// treeIn returns a tree that was captured or has records, or ErrNoTree.
func (w *Workspace) treeIn(tx *store.Tx, name record.Tree) (*Tree, error) {
	t, err := w.Tree(name)
	if err == nil {
		return t, nil
	}
	t = &Tree{Name: name, Profile: w.Settings.Profile}
	if !errors.Is(err, fs.ErrNotExist) {
		t.broken = err
		return t, nil
	}
	for n, err := range tx.Names(record.Name{Tree: name}) { // which came from another store
		if err == nil && n.Name.Tree != name {
			break
		}
		return t, err
	}
	return nil, record.NotFound.Errorf("there is no tree %s", name).Because(ErrNoTree)
}

// FindTree returns a tree that was captured or has records, or ErrNoTree.
func (w *Workspace) FindTree(ctx context.Context, name record.Tree) (*Tree, error) {
	return view(ctx, w.Store, func(tx *store.Tx) (*Tree, error) { return w.treeIn(tx, name) })
}

func (t *Tree) renaming() error {
	return record.Conflict.Errorf("the tree %s does not yet have all that %s had", t.Name, t.was).
		Because(ErrRenaming, string(t.was), string(t.Name))
}

// Check reports why a tree cannot be refreshed: mostly because its folder is not there.
func (t *Tree) Check() error {
	switch {
	case t.broken != nil:
		return t.broken
	case t.was != "":
		return t.renaming()
	}
	info, err := os.Stat(t.Dir)
	missing := record.NotFound.Errorf("the tree %s was captured from %s, which is gone", t.Name, t.Dir)
	switch {
	case t.Dir == "":
		missing = record.NotFound.Errorf("the tree %s was not captured here", t.Name)
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		missing = record.NotFound.Errorf("the tree %s was captured from %s, which is a file now", t.Name, t.Dir)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid):
		missing = record.NotFound.Errorf("the tree %s was captured from %s: %s", t.Name, t.Dir, mirror.Cause(err))
	}
	return missing.Because(ErrTreeGone, string(t.Name))
}

// checkEmpty refuses a folder without files where the tree has some: a disk that is not
// mounted leaves an empty folder, and must not hide everything.
func (c *capture) checkEmpty(dir string) error {
	if len(c.walk.Files)+len(c.walk.Blind) > 0 || len(c.stored) == 0 || !c.opts.Quick {
		return nil
	}
	return record.Conflict.Errorf("%s has no files to take in, and the tree %s has %d", dir, c.opts.Tree, len(c.stored)).
		Because(ErrTreeEmpty, string(c.opts.Tree))
}

// Refresh is a capture of a tree from its folder again, by the rules that hold. Without
// its folder nothing is changed.
func (w *Workspace) Refresh(ctx context.Context, t *Tree, opts CaptureOptions) (*CaptureReport, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	opts.Tree, opts.Quick = t.Name, true
	if t.IsRoot {
		opts.Profile = &t.Profile
	}
	return w.Capture(ctx, t.Dir, opts)
}

// unread returns the files that have to be read, and counts the others.
func (c *capture) unread() []mirror.Stat {
	if !c.opts.Quick {
		return c.walk.Files
	}
	c.report.Files += len(c.walk.Files) - len(c.fresh)
	for _, f := range c.walk.Files {
		c.report.Bytes += f.Size
	}
	for _, f := range c.fresh {
		c.report.Bytes -= f.Size
	}
	return c.fresh
}

// isSeen reports whether a file was taken in as its size and time still are.
func (c *capture) isSeen(f mirror.Stat) bool {
	known, remembered := c.seen.Get(f.Path)
	newest, isStored := c.stored[f.Path]
	return remembered && isStored && known.Matches(f) && known.Position >= newest
}

// racyTime is how long before a look at the disk a file must have been written for its
// time to tell of the next change: clocks of file systems tick as slowly as that.
const racyTime = 2 * time.Second

// remember notes a file that was taken in whole, by a plan that was made at a position of
// the log and carried out before another.
func (c *capture) remember(f *source, p *plan.Plan, made, after uint64) {
	stat := f.stat
	if c.begun.Sub(stat.ModTime) < racyTime {
		stat.ModTime = time.Unix(0, 1) // only its mode is known: it is read again
	}
	if len(p.Puts) > 0 {
		made = after
	}
	c.seen.Set(mirror.File{Stat: stat, Exists: true, Digest: f.Digest()}, made)
}

// findMoved reports where the bytes of a file that is gone stand now, if that is one file,
// which keeps its tags.
func (c *capture) findMoved(ctx context.Context, r *record.Record) error {
	at := c.added[r.Body]
	if len(at) != 1 || r.Size == 0 {
		return nil
	}
	c.report.Moved = append(c.report.Moved, MovedFile{r.Path, at[0]})
	if len(r.Tags) == 0 || c.opts.DryRun {
		return nil
	}
	now, err := view(ctx, c.w.Store, func(tx *store.Tx) (*plan.State, error) { return plan.At(tx, c.opts.Tree, at[0]) })
	if err == nil && now != nil && !now.IsFrame() {
		_, err = c.w.Tag(ctx, now.Name(), r.Tags, nil)
	}
	return err
}

// Stale says what is not on disk any more as some names of a tree have it, or "". It looks
// at the files of the names until a deadline, and reads those that have the same size. It
// returns ErrTreeGone; a tree that was not captured here is not looked at.
func (w *Workspace) Stale(ctx context.Context, tree record.Tree, names []record.Name, until time.Time) (string, error) {
	t, err := w.Tree(tree)
	if errors.Is(err, fs.ErrNotExist) || err == nil && t.Dir == "" {
		return "", nil
	}
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		return "", err
	}
	for _, name := range names {
		v, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
		if time.Now().After(until) || ctx.Err() != nil {
			break
		}
		if err != nil { // hidden since it was found
			continue
		}
		if how := w.staleFile(ctx, filepath.Join(t.Dir, filepath.FromSlash(v.Record.Path)), v); how != "" {
			seen := w.recall(t)
			seen.Forget(v.Record.Path) // so that a refresh reads it, whatever its size and time
			_ = seen.Save()
			return v.Record.Path + " " + how, nil
		}
	}
	return "", nil
}

// staleFile says how the file of a record is not as the record has it, or "".
func (w *Workspace) staleFile(ctx context.Context, file string, v store.Version) string {
	r, entry, limit := v.Record, v.Record.Name.IsEntry(), int64(store.InlineLimit)
	if entry {
		limit = aggregateLimit
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is gone"
	case err != nil: // nobody knows
		return ""
	case !info.Mode().IsRegular() || !entry && info.Size() != r.Size:
		return "is another file"
	case info.Size() > limit:
		return ""
	}
	text, err := os.ReadFile(file)
	isSame := err != nil || record.DigestOf(text) == r.Body
	if entry && !isSame {
		body, err := w.TextOf(ctx, v)
		isSame = err != nil || bytes.Contains(text, body)
	}
	if isSame {
		return ""
	}
	return "has changed"
}
