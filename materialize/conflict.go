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

// Conflicts returns the open conflicts, of one name or, for the zero Name, all.
func (w *Workspace) Conflicts(ctx context.Context, of record.Name) ([]Conflict, error) {
	var open []Conflict
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		prefix := ""
		if !of.IsZero() {
			prefix = of.String()
		}
		for value, err := range tx.Values(store.FieldConflict, prefix) {
			if err != nil {
				return err
			}
			if !of.IsZero() && value.Text != prefix {
				continue
			}
			found, err := conflictsOf(tx, value.Text)
			if err != nil {
				return err
			}
			open = append(open, found...)
		}
		return nil
	})
	return open, err
}

func conflictsOf(tx *store.Tx, text string) ([]Conflict, error) {
	name, err := record.ParseName(text)
	if err != nil {
		return nil, err
	}
	var open []Conflict
	for ref, err := range tx.Lookup(store.FieldConflict, text) {
		if err != nil {
			return nil, err
		}
		c := Conflict{Name: name}
		if c.File, err = tx.Get(ref); err != nil {
			return nil, err
		}
		head, err := tx.Head(name)
		if err == nil {
			c.Head = &head
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		open = append(open, c)
	}
	return open, nil
}

// A Take says which side of a conflict is kept.
type Take string

// The sides of a conflict.
const (
	TakeStore Take = "store" // the store's version stays
	TakeFile  Take = "file"  // the file's text becomes the next version
	TakeBoth  Take = "both"  // the file's text becomes a thing of its own
)

// ParseTake reads the name of a side.
func ParseTake(text string) (Take, error) {
	switch t := Take(text); t {
	case TakeStore, TakeFile, TakeBoth:
		return t, nil
	}
	return "", fmt.Errorf("unknown side %q: take store, file or both", text)
}

// Resolve decides a conflict and brings the file in step. It returns the name
// under which the file's text now is current, if it is.
func (w *Workspace) Resolve(ctx context.Context, c Conflict, take Take) (record.Name, error) {
	kept, err := w.keep(ctx, c, take)
	if err != nil {
		return kept, err
	}
	err = w.Store.Update(ctx, func(tx *store.Tx) error { return tx.Settle(c.File.Ref) })
	if err != nil || c.File.Record.Path == "" {
		return kept, err
	}
	return kept, w.withMirror(ctx, w.Root, func(r *reconciler) error {
		if c.Head == nil && take != TakeFile {
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
func (w *Workspace) keep(ctx context.Context, c Conflict, take Take) (record.Name, error) {
	if take == TakeStore {
		return record.Name{}, nil
	}
	if c.Name.Kind == record.KindFrame {
		if take == TakeBoth {
			return c.Name, fmt.Errorf("%s: the text around the entries cannot be kept twice: take store or file", c.Name)
		}
		return c.Name, w.keepFrame(ctx, c)
	}
	if c.Name.Kind.IsEntry() {
		return w.keepEntry(ctx, c, take)
	}
	return w.keepWhole(ctx, c, take)
}

func (w *Workspace) keepEntry(ctx context.Context, c Conflict, take Take) (record.Name, error) {
	text, err := w.TextOf(ctx, c.File)
	if err != nil {
		return c.Name, err
	}
	name := c.Name
	if take == TakeBoth {
		if text, name, err = w.secondEntry(ctx, c, text); err != nil {
			return name, err
		}
	}
	_, err = w.putEntry(ctx, PutRequest{Kind: name.Kind, ID: name.ID, Text: bytes.NewReader(text), Source: record.SourceSync})
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

func (w *Workspace) keepWhole(ctx context.Context, c Conflict, take Take) (record.Name, error) {
	draft, err := w.again(ctx, c.File)
	if err != nil {
		return c.Name, err
	}
	draft.Expect = store.Absent()
	isConflict := func(l record.Link) bool { return l.Type == record.LinkConflict }
	draft.Record.Links = slices.DeleteFunc(slices.Clone(draft.Record.Links), isConflict)
	if take == TakeBoth {
		draft.Record.Name, draft.Record.Path = w.second(ctx, c)
	} else if c.Head != nil {
		draft.Expect = store.Current(c.Head.Ref)
	}
	_, err = w.Store.Put(ctx, draft)
	return draft.Record.Name, err
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
	f.Content = plan.ContentOf(encoded)
	theirs, err := record.DecodeFrame(c.Name.Tree, encoded)
	if err != nil && c.Head == nil { // all of a file whose frame was retired
		_, err := w.storeFile(ctx, f)
		return err
	}
	if err != nil {
		return err
	}
	now, err := view(ctx, w.Store, at(f))
	if err != nil {
		return err
	}
	if !now.IsFrame() {
		return fmt.Errorf("%s: %w", c.Name, store.ErrNotFound)
	}
	merged, err := w.planner().Reframe(ctx, f, plan.Frame(theirs), now)
	if err != nil {
		return err
	}
	return merged.CarryOut(ctx, w.Store)
}

// TextOf returns the text of a version.
func (w *Workspace) TextOf(ctx context.Context, v store.Version) ([]byte, error) {
	content, _, err := w.contentOf(ctx, v)
	if err != nil {
		return nil, err
	}
	return content.Bytes()
}
