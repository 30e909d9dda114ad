package plan

import (
	"context"
	"errors"
	"slices"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// Parts returns the texts of the entries of a file and of its frame, by their digests.
func Parts(f File) map[record.Digest][]byte {
	parts := map[record.Digest][]byte{}
	file, _ := parseAggregate(f)
	var names []record.Name
	for _, e := range file.Entries() {
		parts[record.DigestOf(e.Text)] = e.Text
		names = append(names, record.Name{Tree: f.Tree, Kind: e.Kind, ID: e.ID})
	}
	frame := record.Frame(frameOf(file, names)).Encode()
	parts[record.DigestOf(frame)] = frame
	return parts
}

// Describe returns the draft of a record that is stored, for its description.
func (w Planner) Describe(name record.Name, f File) store.Draft {
	if name.Kind == record.KindFrame {
		return frameDraft(f)
	}
	draft, _ := w.Draft(name, f) // where it departs from its layout is known
	return draft
}

// MendFrames takes the entries that are lost out of the frames, and makes a frame for entries
// whose frame is lost: of the version before, or of nothing but the entries. It returns the
// paths of the files.
func (w Planner) MendFrames(ctx context.Context) (paths []string, err error) {
	err = w.Store.Update(ctx, func(tx *store.Tx) error {
		frames, homeless := map[record.Name]Frame{}, map[record.Name][]store.Version{}
		if err := framesOf(tx, frames, homeless); err != nil {
			return err
		}
		for name, frame := range frames {
			path := name.ID
			isLost := func(slot record.Name) bool {
				_, err := tx.Head(slot)
				return err != nil
			}
			whole := frame.Without(isLost, IsList(layout.Recognize(path)))
			for _, v := range homeless[name] {
				whole = append(whole.addText([]byte("\n")), record.Piece{Slot: v.Record.Name})
			}
			if len(whole.Slots()) == len(frame.Slots()) && len(homeless[name]) == 0 {
				continue
			}
			paths = append(paths, path)
			body, err := w.Store.Prepare(ctx, record.Frame(whole).Encode())
			if err == nil {
				f := File{Tree: name.Tree, Path: path, Content: Content{Body: body}, Source: record.SourceSync}
				_, err = tx.Put(frameDraft(f))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return paths, err
}

// framesOf reads all frames, with the entries that have none.
func framesOf(tx *store.Tx, frames map[record.Name]Frame, homeless map[record.Name][]store.Version) error {
	var entries []store.Version
	for n, err := range tx.Names(record.Name{}) {
		if err != nil {
			return err
		}
		v, err := tx.Get(n.Ref)
		switch {
		case err != nil:
			return err
		case n.Name.IsEntry():
			entries = append(entries, v)
		case n.Name.Kind == record.KindFrame:
			if frames[n.Name], err = frameOfBody(tx, v); err != nil {
				return err
			}
		}
	}
	for _, e := range entries {
		name := record.Name{Tree: e.Record.Name.Tree, Kind: record.KindFrame, ID: e.Record.Path}
		if _, err := tx.Head(name); !errors.Is(err, store.ErrNotFound) || e.Record.Path == "" {
			continue
		}
		if _, known := frames[name]; !known {
			frames[name] = nil
			if last, _, err := tx.Last(name); err == nil {
				frames[name], _ = frameOfBody(tx, last) // else of the entries alone
			}
		}
		if !slices.Contains(frames[name].Slots(), e.Record.Name) {
			homeless[name] = append(homeless[name], e)
		}
	}
	return nil
}
