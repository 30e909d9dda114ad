package materialize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/plan"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/record"
)

// A Conflict is a text from a file that is kept beside the store's version of
// the same thing, because both were changed at once.
type Conflict struct {
	Name record.Name    `json:"name"`
	File store.Version  `json:"-"` // what the file had
	Head *store.Version `json:"-"` // what the store has; nil if it was retired
}

// Conflicts returns the open conflicts, those of a name one behind the other.
func (w *Workspace) Conflicts(ctx context.Context) ([]Conflict, error) {
	var open []Conflict
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		for value, err := range tx.Values(store.FieldConflict, "") {
			if err != nil {
				return err
			}
			for at, err := range tx.Lookup(store.FieldConflict, value.Text) {
				if err != nil {
					return err
				}
				c, err := readConflict(tx, at.Ref)
				if err != nil {
					return err
				}
				open = append(open, c)
			}
		}
		return nil
	})
	return open, err
}

// readConflict reads the conflict of a conflict version.
func readConflict(tx *store.Tx, ref record.Ref) (c Conflict, err error) {
	if c.File, err = tx.Get(ref); err != nil {
		return c, err
	}
	c.Name = c.File.Record.Name
	head, err := tx.Head(c.Name)
	if errors.Is(err, store.ErrNotFound) {
		return c, nil
	}
	c.Head = &head
	return c, err
}

// What can be kept of a conflict: the store's version, the file's text as the next
// version, or that as a thing of its own.
const (
	takeStore = "store"
	takeFile  = "file"
	takeBoth  = "both"
)

// Resolve decides a conflict, keeping "store", "file" or "both", and brings the file in step. It
// returns the name under which the file's text now is current, if it is.
func (w *Workspace) Resolve(ctx context.Context, c Conflict, take string) (record.Name, error) {
	kept, err := w.keep(ctx, c, take)
	if err != nil {
		return kept, err
	}
	err = w.Store.Update(ctx, func(tx *store.Tx) error {
		err := tx.Settle(c.File.Ref)
		if errors.Is(err, store.ErrNotFound) { // its text, which is current now, has settled it
			return nil
		}
		return err
	})
	if err != nil || c.File.Record.Path == "" {
		return kept, err
	}
	return kept, w.withMirror(ctx, w.Root, func(r *reconciler) error {
		if c.Head == nil && take != takeFile {
			disk, err := r.Look(ctx, c.File.Record.Path)
			if err != nil {
				return err
			}
			if disk.Exists && disk.Digest == c.File.Record.Body { // still what was decided about
				r.Memory.Set(disk, c.File.Position)
			}
		}
		return r.writeFile(ctx, c.File.Record.Path)
	})
}

// keep stores the file's text as the side that is taken says.
func (w *Workspace) keep(ctx context.Context, c Conflict, take string) (record.Name, error) {
	if take == takeStore {
		return record.Name{}, nil
	}
	if c.Name.Kind == record.KindFrame {
		if take == takeBoth {
			return c.Name, fmt.Errorf("%s: the text around the entries cannot be kept twice: take store or file", c.Name)
		}
		return c.Name, w.keepFrame(ctx, c)
	}
	isOthers := w.recognise(c.File.Record.Path).IsForeign() // its file, which is only read, has the text
	if c.Name.IsEntry() && !(isOthers && take == takeFile) {
		return w.keepEntry(ctx, c, take)
	}
	return w.keepWhole(ctx, c, take)
}

func (w *Workspace) keepEntry(ctx context.Context, c Conflict, take string) (record.Name, error) {
	text, err := w.TextOf(ctx, c.File)
	if err != nil {
		return c.Name, err
	}
	name := c.Name
	if take == takeBoth {
		if text, name, err = w.secondEntry(ctx, c, text); err != nil {
			return name, err
		}
	}
	_, err = w.putEntry(ctx, PutRequest{Kind: name.Kind, ID: name.ID, Text: bytes.NewReader(text), Source: record.SourceSync, Secrets: secrets.Off})
	return name, err
}

// secondEntry gives the text of an entry an id of its own.
func (w *Workspace) secondEntry(ctx context.Context, c Conflict, text []byte) ([]byte, record.Name, error) {
	if !bytes.Contains(text, []byte(c.Name.ID)) {
		return nil, c.Name, fmt.Errorf("%s: its text does not hold its id, so it cannot be kept twice: take store or file", c.Name)
	}
	name := c.Name
	for n := 2; ; n++ {
		name.ID = c.Name.ID + "-" + strconv.Itoa(n)
		if used, err := w.EverStored(ctx, name); err != nil || !used {
			return bytes.Replace(text, []byte(c.Name.ID), []byte(name.ID), 1), name, err
		}
	}
}

func (w *Workspace) keepWhole(ctx context.Context, c Conflict, take string) (record.Name, error) {
	name, p := c.Name, c.File.Record.Path
	if take == takeBoth {
		name, p = w.second(ctx, c)
	}
	err := w.putAgain(ctx, c.File, func(draft *store.Draft) {
		draft.Expect = store.Absent()
		isConflict := func(l record.Link) bool { return l.Type == record.LinkConflict }
		draft.Record.Links = slices.DeleteFunc(slices.Clone(draft.Record.Links), isConflict)
		draft.Record.Name, draft.Record.Path = name, p
		if take != takeBoth && c.Head != nil {
			draft.Expect = store.Current(c.Head.Ref)
		}
	})
	return name, err
}

// second returns a free name and path beside those of a conflict.
func (w *Workspace) second(ctx context.Context, c Conflict) (record.Name, string) {
	name := c.Name
	// An error here shows as a conflict when the name is put as absent.
	_ = w.Store.View(ctx, func(tx *store.Tx) error {
		name = plan.FreeName(tx, c.Name)
		return nil
	})
	ext := path.Ext(c.File.Record.Path)
	suffix := strings.TrimPrefix(name.ID, c.Name.ID)
	return name, strings.TrimSuffix(c.File.Record.Path, ext) + suffix + ext
}

// keepFrame makes the file's text around the entries current, with the entries
// that there still are.
func (w *Workspace) keepFrame(ctx context.Context, c Conflict) error {
	encoded, err := w.TextOf(ctx, c.File)
	if err != nil {
		return err
	}
	p := c.File.Record.Path
	f := plan.File{Tree: c.Name.Tree, Path: p, Location: w.recognise(p), Source: record.SourceSync}
	f.Content = plan.Content{Text: encoded}
	theirs, err := record.DecodeFrame(c.Name.Tree, encoded)
	isWhole := err != nil // as keepBeside keeps a file
	now, err := view(ctx, w.Store, at(f))
	var merged *plan.Plan
	switch {
	case err != nil:
	case isWhole && !now.IsFrame():
		_, err = w.storeFile(ctx, f)
		return err
	case isWhole: // what it has no more goes, but not what was added or changed since
		var then *plan.State
		then, err = view(ctx, w.Store, func(tx *store.Tx) (*plan.State, error) {
			return plan.Before(tx, c.Name, c.File.Position)
		})
		if err == nil {
			merged, err = w.planner().Merge(ctx, f, now, plan.Base{State: then.Aggregate()}, false)
		}
	case !now.IsFrame():
		err = fmt.Errorf("%s: %w", c.Name, store.ErrNotFound)
	default:
		merged, err = w.planner().Reframe(ctx, f, plan.Frame(theirs), now)
	}
	if err != nil {
		return err
	}
	return merged.CarryOut(ctx, w.Store)
}

// TextOf returns the text of a version.
func (w *Workspace) TextOf(ctx context.Context, v store.Version) ([]byte, error) {
	content, err := view(ctx, w.Store, func(tx *store.Tx) (store.Content, error) { return tx.Content(v.Record) })
	if err != nil {
		return nil, err
	}
	return content.Bytes()
}

// alteredID is the id of the note that keeps the text of an altered file.
func alteredID(p string) string { return p + "~altered" }

// keepAltered keeps the text of a write-once file that was changed on disk.
func (r *reconciler) keepAltered(ctx context.Context, f plan.File, now *plan.State) error {
	return r.w.keepNote(ctx, f, alteredID(f.Path), record.Link{Type: "altered", Target: now.Version.Ref.String()})
}

// keepNote keeps a text that belongs in no file as a note.
func (w *Workspace) keepNote(ctx context.Context, f plan.File, id string, links ...record.Link) error {
	name, err := record.NewName("", record.KindNote, id)
	if err != nil {
		return err
	}
	f.Path = ""
	return w.putBeside(ctx, name, f, links...)
}

// putBeside keeps a text beside what its links name.
func (w *Workspace) putBeside(ctx context.Context, name record.Name, f plan.File, links ...record.Link) error {
	d, err := w.planner().Beside(ctx, name, f, links...)
	if err != nil {
		return err
	}
	return (&plan.Plan{Puts: []store.Draft{d}}).CarryOut(ctx, w.Store)
}

// keepBeside keeps the text of a file as a conflict version: the store retired its
// record, or has another text by now, and nobody can know which is meant.
func (r *reconciler) keepBeside(ctx context.Context, f plan.File) error {
	name := record.Name{Kind: f.Location.Kind, ID: f.Location.ID}
	target, err := view(ctx, r.w.Store, func(tx *store.Tx) (string, error) {
		last, _, err := tx.Last(name)
		if errors.Is(err, store.ErrNotFound) {
			return name.String(), nil // every version was dropped
		}
		return last.Ref.String(), err
	})
	if err != nil {
		return err
	}
	return r.w.putBeside(ctx, name, f, plan.Conflict(target))
}
