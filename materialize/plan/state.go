package plan

import (
	"errors"
	"fmt"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A State is what the store has at a path of a tree: one record that is the whole
// file, or a frame with its entries. A nil State is nothing.
type State struct {
	Version  store.Version // the record of the file, or the frame
	Frame    Frame         // nil unless the version is a frame
	Entries  map[record.Name]Entry
	Position uint64 // of the log at which it was read
}

// An Entry is a version of an entry with its text.
type Entry struct {
	Version store.Version
	Text    []byte
}

// IsFrame reports whether the file is an aggregate.
func (s *State) IsFrame() bool { return s != nil && s.Version.Record.Name.Kind == record.KindFrame }

// Aggregate returns s if it is an aggregate, else nil: a place can have held a file
// of another kind before.
func (s *State) Aggregate() *State {
	if s.IsFrame() {
		return s
	}
	return nil
}

// Name returns the name of the record of the file, or of its frame, and the zero Name if nothing
// stands there.
func (s *State) Name() record.Name {
	if s == nil {
		return record.Name{}
	}
	return s.Version.Record.Name
}

// Digest returns the digest of the file's bytes, and the zero Digest if nothing
// stands there.
func (s *State) Digest() record.Digest {
	switch {
	case s == nil:
		return record.Digest{}
	case s.IsFrame():
		return record.DigestOf(s.Text(s.Frame))
	}
	return s.Version.Record.Body
}

// Changed returns the position of the log at which the file changed last.
func (s *State) Changed() uint64 {
	last := s.Version.Position
	for _, e := range s.Entries {
		last = max(last, e.Version.Position)
	}
	return last
}

// ChangedByCommand reports whether a command has changed the file since a position, and
// not only a file that was captured.
func (s *State) ChangedByCommand(since uint64) bool {
	by := func(v store.Version) bool { return v.Position > since && v.Record.Source != record.SourceSync }
	if by(s.Version) {
		return true
	}
	for _, e := range s.Entries {
		if by(e.Version) {
			return true
		}
	}
	return false
}

// Text returns the bytes of an aggregate file that a frame makes of the entries.
func (s *State) Text(f Frame) []byte {
	var text []byte
	for _, p := range f {
		if !p.IsSlot() {
			text = append(text, p.Text...)
		} else {
			text = append(text, s.Entries[p.Slot].Text...)
		}
	}
	return text
}

// At reads what stands at a path: the newest head that has it. A place may have been
// taken over from an older name, which then is found only by its name.
func At(tx *store.Tx, tree record.Tree, path string) (*State, error) {
	return AtPlace(tx, tree, path, func(*State) (bool, error) { return true, nil })
}

// AtPlace is At for the newest of those heads whose place the path is, as isPlace says.
func AtPlace(tx *store.Tx, tree record.Tree, path string, isPlace func(*State) (bool, error)) (*State, error) {
	for at, err := range tx.Lookup(store.FieldPath, store.PathValue(tree, path)) {
		if err != nil {
			return nil, err
		}
		v, err := tx.Find(at)
		if err != nil {
			return nil, err
		}
		s, err := Read(tx, v, tx.Head, nil)
		if errors.Is(err, store.ErrNotFound) {
			// A frame and its entries change in one transaction.
			err = fmt.Errorf("%w: %s: %w", store.ErrDamaged, v.Record.Name, err)
		}
		if err != nil {
			return nil, err
		}
		if is, err := isPlace(s); is || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// Before reads what stood at a path at a position, given what stands there now or
// stood there last. It returns nil if that cannot be told: nobody can where an
// entry's text was destroyed.
func Before(tx *store.Tx, name record.Name, position uint64) (*State, error) {
	at := func(name record.Name) (store.Version, error) { return tx.HeadAt(name, position) }
	v, err := at(name)
	var s *State
	if err == nil {
		s, err = Read(tx, v, at, nil)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
		return nil, nil
	}
	return s, err
}

// Read reads a file by its record or frame, with the given way to resolve the names
// of entries. Those whose texts are gone are left out if mayLose, which may be nil,
// accepts them.
func Read(
	tx *store.Tx, v store.Version, head func(record.Name) (store.Version, error),
	mayLose func(record.Name) (bool, error),
) (s *State, err error) {
	s = &State{Version: v, Position: tx.Position()}
	if !s.IsFrame() {
		return s, nil
	}
	if s.Frame, err = frameOfBody(tx, v); err != nil {
		return nil, err
	}
	s.Entries = make(map[record.Name]Entry)
	lost := map[record.Name]bool{}
	for _, name := range s.Frame.Slots() {
		e, err := head(name)
		if isGone := errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped); isGone && mayLose != nil {
			if may, mayErr := mayLose(name); mayErr == nil && may {
				lost[name] = true
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("entry of %s: %w", v.Record.Path, err)
		}
		text, err := textOf(tx, e)
		if err != nil {
			return nil, err
		}
		s.Entries[name] = Entry{e, text}
	}
	if len(lost) > 0 {
		isLost := func(slot record.Name) bool { return lost[slot] }
		s.Frame = s.Frame.Without(isLost, IsList(layout.Recognize(v.Record.Path)))
	}
	return s, nil
}

// frameOfBody reads a frame from its record.
func frameOfBody(tx *store.Tx, v store.Version) (Frame, error) {
	body, err := textOf(tx, v)
	if err != nil {
		return nil, err
	}
	f, err := record.DecodeFrame(v.Record.Name.Tree, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", store.ErrDamaged, v.Record.Name, err)
	}
	return Frame(f), nil
}

// textOf reads a body that is known to be small: a frame or an entry.
func textOf(tx *store.Tx, v store.Version) ([]byte, error) {
	content, err := tx.Content(v.Record)
	if err != nil {
		return nil, err
	}
	return content.Bytes()
}

// Entry returns an entry of an aggregate, if it has it.
func (s *State) Entry(name record.Name) (e Entry, found bool) {
	if s != nil {
		e, found = s.Entries[name]
	}
	return e, found
}
