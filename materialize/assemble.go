package materialize

import (
	"context"
	"errors"
	"fmt"

	"filebus/store"
	"filebus/store/record"
)

// A seated is what stands at a path of a tree: one record that is the whole
// file, or a frame with its entries.
type seated struct {
	version store.Version // the record of the file, or the frame
	frame   frame         // nil unless the version is a frame
	entries map[record.Name]entryAt
}

// An entryAt is a version of an entry with its text.
type entryAt struct {
	version store.Version
	text    []byte
}

// isFrame reports whether the file is an aggregate.
func (s *seated) isFrame() bool { return s.version.Record.Name.Kind == record.KindFrame }

// name returns the name of the record of the file, or of its frame.
func (s *seated) name() record.Name { return s.version.Record.Name }

// digest returns the digest of the file's bytes, and the zero Digest if nothing
// stands there.
func (s *seated) digest() record.Digest {
	switch {
	case s == nil:
		return record.Digest{}
	case s.isFrame():
		return record.DigestOf(s.text())
	}
	return s.version.Record.Body
}

// text returns the bytes of an aggregate file.
func (s *seated) text() []byte { return s.assemble(s.frame) }

// assemble returns the bytes of a file that another frame makes of the entries.
func (s *seated) assemble(f frame) []byte {
	var text []byte
	for _, p := range f {
		if !p.IsSlot() {
			text = append(text, p.Text...)
		} else {
			text = append(text, s.entries[p.Slot].text...)
		}
	}
	return text
}

// occupant returns the newest head that has a path. A place may have been taken
// over from an older name, which then is found only by its name.
func occupant(tx *store.Tx, tree record.Tree, path string) (store.Version, error) {
	for ref, err := range tx.Lookup(store.FieldPath, store.PathValue(tree, path)) {
		if err != nil {
			return store.Version{}, err
		}
		return tx.Get(ref)
	}
	return store.Version{}, fmt.Errorf("%s: %w", store.PathValue(tree, path), store.ErrNotFound)
}

// seatedAt reads what stands at a path, and nil if nothing does.
func seatedAt(tx *store.Tx, tree record.Tree, path string) (*seated, error) {
	v, err := occupant(tx, tree, path)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := seat(tx, v, tx.Head)
	if errors.Is(err, store.ErrNotFound) {
		// A frame and its entries change in one transaction.
		err = fmt.Errorf("%w: %s: %w", store.ErrDamaged, v.Record.Name, err)
	}
	return s, err
}

// seatedBefore reads what stood at a path at a position, given what stands there
// now or stood there last. It returns nil if that cannot be told.
func seatedBefore(tx *store.Tx, name record.Name, position uint64) (*seated, error) {
	at := func(name record.Name) (store.Version, error) { return tx.HeadAt(name, position) }
	v, err := at(name)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := seat(tx, v, at)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
		return nil, nil // an entry's text was destroyed: nobody can tell what was there
	}
	return s, err
}

// seat reads the entries of a frame with the given way to resolve their names.
func seat(tx *store.Tx, v store.Version, head func(record.Name) (store.Version, error)) (*seated, error) {
	s, _, err := seatBut(tx, v, head, func(record.Name) (bool, error) { return false, nil })
	return s, err
}

// seatBut is seat without the entries whose texts are gone, if those may be lost.
func seatBut(
	tx *store.Tx, v store.Version, head func(record.Name) (store.Version, error),
	mayLose func(record.Name) (bool, error),
) (s *seated, lost map[record.Name]bool, err error) {
	s = &seated{version: v}
	if !s.isFrame() {
		return s, nil, nil
	}
	if s.frame, err = frameOfBody(tx, v); err != nil {
		return nil, nil, err
	}
	s.entries, lost = make(map[record.Name]entryAt), make(map[record.Name]bool)
	for _, name := range s.frame.slots() {
		e, err := head(name)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
			if may, mayErr := mayLose(name); mayErr == nil && may {
				lost[name] = true
				continue
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("entry of %s: %w", v.Record.Path, err)
		}
		text, err := textOf(tx, e)
		if err != nil {
			return nil, nil, err
		}
		s.entries[name] = entryAt{e, text}
	}
	return s, lost, nil
}

// frameOfBody reads a frame from its record.
func frameOfBody(tx *store.Tx, v store.Version) (frame, error) {
	body, err := textOf(tx, v)
	if err != nil {
		return nil, err
	}
	f, err := record.DecodeFrame(v.Record.Name.Tree, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", store.ErrDamaged, v.Record.Name, err)
	}
	return frame(f), nil
}

// textOf reads a body that is known to be small: a frame or an entry.
func textOf(tx *store.Tx, v store.Version) ([]byte, error) {
	content, err := tx.Content(v.Record)
	if err != nil {
		return nil, err
	}
	return content.Bytes()
}

// view returns what a read transaction finds.
func view[T any](ctx context.Context, s *store.Store, read func(tx *store.Tx) (T, error)) (found T, err error) {
	err = s.View(ctx, func(tx *store.Tx) (err error) {
		found, err = read(tx)
		return err
	})
	return found, err
}
