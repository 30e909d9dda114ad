package materialize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"filebus/store"
	"filebus/store/record"
)

// seatThatIsLeft reads the entries of a frame as of an earlier position, without
// those whose texts were destroyed since.
func seatThatIsLeft(tx *store.Tx, v store.Version, at func(record.Name) (store.Version, error), list bool) (*seated, error) {
	s, err := seat(tx, v, at)
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDropped) {
		return s, err
	}
	s = &seated{version: v, entries: map[record.Name]entryAt{}}
	body, err := textOf(tx, v)
	if err != nil {
		return nil, err
	}
	whole, err := decodeFrame(v.Record.Name.Tree, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", store.ErrDamaged, v.Record.Name, err)
	}
	lost := map[record.Name]bool{}
	for _, name := range whole.slots() {
		if lost[name], err = s.takeEntry(tx, name, at); err != nil {
			return nil, fmt.Errorf("entry of %s: %w", v.Record.Path, err)
		}
	}
	s.frame = whole.without(func(slot record.Name) bool { return lost[slot] }, list)
	return s, nil
}

// takeEntry reads one entry, and reports whether its text was destroyed.
func (s *seated) takeEntry(tx *store.Tx, name record.Name, at func(record.Name) (store.Version, error)) (lost bool, err error) {
	e, err := at(name)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
		dropped, historyErr := wasDropped(tx, name)
		if historyErr == nil && dropped {
			return true, nil
		}
	}
	if err != nil {
		return false, err
	}
	text, err := textOf(tx, e)
	s.entries[name] = entryAt{e, text}
	return false, err
}

// wasDropped reports whether any version of a name was destroyed.
func wasDropped(tx *store.Tx, name record.Name) (bool, error) {
	events, err := tx.History(name)
	for _, e := range events {
		if e.Change == store.ChangeDrop {
			return true, err
		}
	}
	return false, err
}

// missingAt returns the names that a selection of an earlier position would have
// had too, if their content were not destroyed. What else they were is not known
// any more, so only their trees and kinds are looked at.
func (w *Workspace) missingAt(ctx context.Context, pick Selection, position uint64) ([]string, error) {
	missing := []string{}
	if !pick.isPast() {
		return missing, nil
	}
	if pick.Names != nil {
		return w.missingOf(ctx, pick.Names, position)
	}
	var from record.Name
	for more := true; more; {
		more = false
		err := w.Store.View(ctx, func(tx *store.Tx) error {
			seen := 0
			for n, err := range tx.DroppedAt(from, position) {
				if err != nil {
					return err
				}
				if seen++; seen > viewNames {
					from, more = n.Name, true
					return nil
				}
				if pick.picksTree(n.Name.Tree) && (len(pick.Kinds) == 0 || slices.Contains(pick.Kinds, n.Name.Kind)) {
					missing = append(missing, n.Name.String())
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// missingOf returns those of some names that have no version at a position, as it was
// destroyed.
func (w *Workspace) missingOf(ctx context.Context, names []record.Name, position uint64) ([]string, error) {
	missing := []string{}
	for chunk := range slices.Chunk(names, viewNames) {
		err := w.Store.View(ctx, func(tx *store.Tx) error {
			for _, name := range chunk {
				_, err := tx.HeadAt(name, position)
				if !errors.Is(err, store.ErrNotFound) {
					if err != nil {
						return err
					}
					continue
				}
				dropped, err := wasDropped(tx, name)
				if err != nil {
					return err
				}
				if dropped {
					missing = append(missing, name.String())
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return missing, nil
}
