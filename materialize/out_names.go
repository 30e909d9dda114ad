package materialize

import (
	"errors"

	"filebus/store"
	"filebus/store/record"
)

// picks reports whether a record is picked that is a file, or an entry of the
// file that of names.
func (s *selector) picks(tx *store.Tx, v store.Version, of record.Name) bool {
	if s.asked != nil && !s.asked[v.Record.Name] && !s.asked[of] {
		return false
	}
	return s.pick.Picks(tx, v)
}

// stepNamed looks at some of the names that were asked for and reports whether
// there are more.
func (s *selector) stepNamed(tx *store.Tx) (more bool, err error) {
	for range min(viewNames, len(s.queue)) {
		if err := s.takeNamed(tx, s.queue[0]); err != nil {
			return false, err
		}
		s.queue = s.queue[1:]
	}
	return len(s.queue) > 0, nil
}

// takeNamed takes the file of a name, once: several entries may share one.
func (s *selector) takeNamed(tx *store.Tx, name record.Name) error {
	v, err := tx.HeadAt(name, s.position)
	if err == nil && name.Kind.IsEntry() {
		name = record.Name{Tree: name.Tree, Kind: record.KindFrame, ID: v.Record.Path}
		v, err = tx.HeadAt(name, s.position)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
		return nil
	}
	if err != nil || !s.pick.picksTree(name.Tree) {
		return err
	}
	key := store.PathValue(name.Tree, v.Record.Path)
	if at, taken := s.seats[key]; taken && at.file.name == name {
		return nil
	}
	return s.take(tx, store.NamedRef{Name: name, Ref: v.Ref})
}
