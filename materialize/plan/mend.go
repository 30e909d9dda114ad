package plan

import (
	"bytes"
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

// Files are files of entries: their frames, with entries that each has, or had.
type Files map[record.Name][]record.Name

// Add adds the file of a record, if it is an entry or a frame.
func (all Files) Add(r *record.Record) {
	switch frame := (record.Name{Tree: r.Name.Tree, Kind: record.KindFrame, ID: r.Path}); {
	case r.Name.Kind == record.KindFrame:
		all[r.Name] = append(all[r.Name], []record.Name{}...)
	case r.Name.IsEntry() && r.Path != "":
		all[frame] = append(all[frame], r.Name)
	}
}

// MendFrames is Mend for all files.
func (w Planner) MendFrames(ctx context.Context) (paths []string, err error) {
	err = w.Store.Update(ctx, func(tx *store.Tx) error {
		all := Files{}
		for n, err := range tx.Names(record.Name{}) {
			var v store.Version
			if err == nil {
				v, err = tx.Get(n.Ref)
			}
			if err != nil {
				return err
			}
			all.Add(v.Record)
		}
		paths, err = w.Mend(ctx, tx, all, layout.Recognize)
		return err
	})
	return paths, err
}

// Mend makes the frames of files agree with what is current, where entries have become or ceased to be
// that without them: what is lost goes, what has no slot gets one, also where the frame itself is lost. A
// frame in conflict that differs in nothing but slots is settled. It returns the paths of the files.
func (w Planner) Mend(
	ctx context.Context, tx *store.Tx, files Files, recognise func(string) layout.Location,
) (paths []string, err error) {
	for name, entries := range files {
		f := File{Tree: name.Tree, Path: name.ID, Location: recognise(name.ID), Source: record.SourceSync}
		var frame Frame
		last, isHead, lastErr := tx.Last(name)
		if lastErr == nil {
			frame, _ = frameOfBody(tx, last) // else of the entries alone
		}
		mended, err := mended(tx, f, frame, entries)
		isSame := isHead && slices.Equal(mended.Slots(), frame.Slots()) || !isHead && len(mended.Slots()) == 0
		if err == nil && !isSame {
			paths = append(paths, f.Path)
			f.Body, err = w.Store.Prepare(ctx, record.Frame(mended).Encode())
		}
		if err == nil && !isSame {
			_, err = tx.Put(frameDraft(f))
		}
		if err = errors.Join(err, settleAlike(tx, name, mended)); err != nil {
			return paths, err
		}
	}
	return paths, nil
}

// mended returns a frame without the slots of entries that are gone, and with slots of others.
func mended(tx *store.Tx, f File, frame Frame, entries []record.Name) (Frame, error) {
	s := &State{Entries: map[record.Name]Entry{}}
	var faults error
	isGone := func(name record.Name) bool {
		v, err := tx.Head(name)
		if errors.Is(err, store.ErrNotFound) {
			return true
		}
		var text []byte
		if err == nil {
			text, err = textOf(tx, v)
		}
		s.Entries[name], faults = Entry{v, text}, errors.Join(faults, err)
		return false
	}
	s.Frame = frame.Without(isGone, IsList(f.Location))
	for _, name := range entries {
		if !slices.Contains(s.Frame.Slots(), name) && !isGone(name) && faults == nil && s.Entries[name].Version.Record.Path == f.Path {
			s.Frame = s.with(f, name)
		}
	}
	return s.Frame, faults
}

// with returns the frame with a slot where the layout has a new entry, or at its end.
func (s *State) with(f File, name record.Name) Frame {
	slots := s.Frame.Slots()
	if to, ok := f.Location.Layout.(layout.Aggregate); ok {
		file, _ := f.Location.Parse(f.Path, s.Text(s.Frame)) // its problems were reported when it was captured
		before := file.Entries()
		after := to.Insert(file, layout.Entry{Kind: name.Kind, ID: name.ID, Text: s.Entries[name].Text})
		at := slices.IndexFunc(after.Entries(), func(e *layout.Entry) bool { return e.ID == name.ID && e.Kind == name.Kind })
		if at >= 0 && len(before) == len(slots) && len(after.Entries()) == len(slots)+1 {
			return frameOf(after, slices.Insert(slots, at, name))
		}
	}
	return append(slices.Clone(s.Frame).addText([]byte("\n")), record.Piece{Slot: name})
}

// settleAlike settles the conflicts with other stores' frames that have the words of a frame.
func settleAlike(tx *store.Tx, name record.Name, frame Frame) (err error) {
	var alike []record.Ref
	for ref, lookErr := range tx.Lookup(store.FieldConflict, name.String()) {
		v, getErr := tx.Get(ref)
		if err = errors.Join(lookErr, getErr); err != nil {
			return err
		}
		isAdopted := func(l record.Link) bool { return l.Type == store.LinkAdopted }
		theirs, err := frameOfBody(tx, v)
		if err == nil && slices.ContainsFunc(v.Record.Links, isAdopted) && bytes.Equal(theirs.literal(), frame.literal()) {
			alike = append(alike, ref)
		}
	}
	for _, ref := range alike {
		err = errors.Join(err, tx.Settle(ref))
	}
	return err
}
