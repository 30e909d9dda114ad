package plan

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
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

// Add adds the file of a record, if it is an entry or a frame, with what it has by now, before that
// changes: a frame of another store may be without it.
func (all Files) Add(tx *store.Tx, r *record.Record) {
	frame, entries := r.Name, []record.Name(nil)
	if r.Name.IsEntry() && r.Path != "" {
		frame, entries = record.Name{Tree: r.Name.Tree, Kind: record.KindFrame, ID: r.Path}, []record.Name{r.Name}
	}
	if frame.Kind != record.KindFrame {
		return
	}
	if _, isRead := all[frame]; !isRead {
		if head, err := tx.Head(frame); err == nil {
			entries = append(entries, slotsOf(tx, head)...)
		}
	}
	all[frame] = append(all[frame], entries...)
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
			all.Add(tx, v.Record)
		}
		paths, err = w.Mend(ctx, tx, all, layout.Recognize)
		return err
	})
	return paths, err
}

// Mend makes the frames of files agree with what is current, where entries have become or ceased to be
// that without them: what is lost goes, what has no slot gets one, also where the frame itself is lost. It
// begins with the frame that counts among those of several stores, so that all of them make the same
// of it: see store.Tx.Leaves. It returns the paths of the files.
func (w Planner) Mend(
	ctx context.Context, tx *store.Tx, files Files, recognise func(string) layout.Location,
) (paths []string, err error) {
	for _, name := range slices.SortedFunc(maps.Keys(files), record.Name.Compare) {
		f := File{Tree: name.Tree, Path: name.ID, Location: recognise(name.ID), Source: record.SourceSync}
		isNew, err := w.mendFrame(ctx, tx, f, name, files[name])
		if err != nil {
			return paths, err
		}
		if isNew {
			paths = append(paths, f.Path)
		}
	}
	return paths, nil
}

func (w Planner) mendFrame(ctx context.Context, tx *store.Tx, f File, name record.Name, entries []record.Name) (isNew bool, err error) {
	first, others, isHead, err := tx.Leaves(name)
	if err != nil {
		return false, err
	}
	last, _, err := tx.Last(name)
	if err == nil { // else it never was, or is lost
		others = append(others, last)
	}
	if !isHead {
		first = last
	}
	for _, v := range others { // that have come and gone with the frames of other stores
		entries = append(entries, slotsOf(tx, v)...)
	}
	s, err := mended(tx, f, first, entries)
	if err != nil || !isHead && len(s.Frame.Slots()) == 0 {
		return false, err
	}
	if f.Body, err = w.Store.Prepare(ctx, record.Frame(s.Frame).Encode()); err != nil {
		return false, err
	}
	if isHead && first.Ref == last.Ref && first.Record.Body == f.Body.Digest {
		return false, nil
	}
	draft := frameDraft(f)
	if isHead {
		draft.Merged = []record.Ref{first.Ref}
	} else if last.Record == nil || last.Record.IsMerged() { // that of a store whose log is not here yet counts when it comes
		for _, e := range s.Entries {
			draft.Merged = append(draft.Merged, e.Version.Ref)
		}
	}
	done, err := tx.Put(draft)
	return !done.Unchanged, err
}

// slotsOf returns the entries of the frame that a version is, if that can be read.
func slotsOf(tx *store.Tx, v store.Version) []record.Name {
	frame, _ := frameOfBody(tx, v)
	return frame.Slots()
}

// mended returns a file without the entries that are gone, and with others that have its path.
func mended(tx *store.Tx, f File, of store.Version, entries []record.Name) (s *State, err error) {
	s = &State{Entries: map[record.Name]Entry{}} // of the entries alone
	if of.Record != nil {
		s, err = Read(tx, of, tx.Head, func(record.Name) (bool, error) { return true, nil })
	}
	slices.SortFunc(entries, func(a, b record.Name) int { return strings.Compare(a.String(), b.String()) })
	var added []record.Name
	for _, e := range slices.Compact(entries) {
		v, headErr := tx.Head(e)
		if _, isThere := s.Entry(e); err != nil || headErr != nil || v.Record.Path != f.Path || isThere {
			continue
		}
		var text []byte
		text, err = textOf(tx, v)
		s.Entries[e], added = Entry{v, text}, append(added, e)
	}
	if len(added) > 0 {
		s.Frame = s.with(f, added)
	}
	return s, err
}

// Unite gives the current version of a name the tags and links of others with the same text, which other
// stores have made meanwhile: see store.Tx.Leaves.
func Unite(tx *store.Tx, name record.Name) error {
	first, others, isHead, err := tx.Leaves(name)
	if err != nil || !isHead || name.Kind == record.KindFrame {
		return err
	}
	r, merged := *first.Record, []record.Ref{first.Ref}
	for _, v := range others {
		if v.Record.Body == r.Body {
			r.AddTags(v.Record.Tags)
			r.Links = append(slices.Clone(r.Links), v.Record.Links...)
			merged = append(merged, v.Ref)
		}
	}
	record.SortLinks(r.Links)
	r.Links = slices.Compact(r.Links)
	head, err := tx.Head(name)
	if err != nil || head.Ref == first.Ref && slices.Equal(r.Tags, head.Record.Tags) && slices.Equal(r.Links, head.Record.Links) {
		return err
	}
	_, err = tx.Put(store.Draft{
		Record: r, Body: store.BodyOf(&r), Description: tx.Description(first.Ref), Replaces: true, Merged: merged,
	})
	return err
}

// with returns the frame with slots where the layout has new entries, or at its end.
func (s *State) with(f File, names []record.Name) Frame {
	slots := s.Frame.Slots()
	if to, ok := f.Location.Layout.(layout.Aggregate); ok {
		file, _ := f.Location.Parse(f.Path, s.Text(s.Frame)) // its problems were reported when it was captured
		old, frame := file.Entries(), Frame(nil)
		isRead := len(old) == len(slots)
		added := markdown.Each(names, func(n record.Name) layout.Entry { return layout.Entry{Kind: n.Kind, ID: n.ID, Text: s.Entries[n].Text} })
		for _, part := range to.Insert(file, added...).Parts {
			e := part.Entry
			if e == nil || !isRead {
				frame = frame.addText(part.Text)
				continue
			}
			name := record.Name{Tree: f.Tree, Kind: e.Kind, ID: e.ID}
			if len(old) > 0 && e.ID == old[0].ID && bytes.Equal(e.Text, old[0].Text) {
				name, old, slots = slots[0], old[1:], slots[1:]
			}
			rest, isStored := bytes.CutPrefix(e.Text, s.Entries[name].Text)
			if !isStored { // it is written as the file is
				rest = e.Text[endOfWords(e.Text):]
			}
			frame = append(frame, record.Piece{Slot: name}).addText(rest)
		}
		if isRead && len(old) == 0 {
			return frame
		}
	}
	frame := slices.Clone(s.Frame)
	for _, name := range names {
		frame = append(frame.addText([]byte("\n")), record.Piece{Slot: name})
	}
	return frame
}
