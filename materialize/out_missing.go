package materialize

import (
	"context"
	"errors"
	"slices"

	"filebus/store"
	"filebus/store/record"
)

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
	if pick.At == 0 && pick.AsOf.IsZero() {
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
