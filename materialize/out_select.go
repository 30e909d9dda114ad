package materialize

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A Selection says which records are laid out: those that pass the filter and all
// other fields that are set.
type Selection struct {
	record.Filter
	// Names, if not nil, are the only ones that are looked at. An entry stands for
	// its part of an aggregate file, a frame for the whole file.
	Names []record.Name
	Files []string // of the workspace, laid out as they are on disk beside the records

	AsOf time.Time // zero: now
	At   uint64    // a position of the log in place of AsOf; 0: none

	Partial bool // leaves out what is damaged, the whole file of a damaged entry, and names it
}

// position returns the position of the log that the selection is of.
func (s *Selection) position(tx *store.Tx) (uint64, error) {
	switch {
	case s.At > 0:
		return min(s.At, tx.Position()), nil
	case !s.AsOf.IsZero():
		return tx.AsOf(s.AsOf)
	}
	return tx.Position(), nil
}

// picksEntries reports whether some entries of an aggregate may be picked and
// others not: then the file is laid out with the picked ones alone.
func (s *Selection) picksEntries() bool {
	f := s.Filter
	f.Trees = nil
	return s.Names != nil || !f.IsZero()
}

func (s *Selection) picksTree(tree record.Tree) bool {
	return len(s.Trees) == 0 || slices.Contains(s.Trees, tree)
}

// Look returns what lies at a path of the workspace, and a rule by which it is not taken
// along: a capture leaves it out, or the way to it leads over a link.
func (w *Workspace) Look(p string) (info fs.FileInfo, rule string, err error) {
	if info, err = os.Lstat(w.FilePath(p)); err != nil {
		return nil, "", err
	}
	if _, strange := folder.At(w.Root).Stat(p); strange != nil || checkWritable(p) != nil {
		return info, mirror.RuleVersions, nil
	}
	return info, w.filter(w.Root, Rules{}, w.Settings.Profile.Recognize).Find(p), nil
}

// viewBodies is how many bodies one read transaction fetches.
const viewBodies = 400

// selectFiles reads what the selection picks, in short transactions up to a
// position fixed at the start.
func (w *Workspace) selectFiles(ctx context.Context, pick Selection) (*selector, error) {
	s := &selector{pick: pick, claims: map[string]claim{}}
	var err error
	if s.position, err = view(ctx, w.Store, pick.position); err != nil {
		return s, err
	}
	if pick.Names == nil {
		return s, store.ViewAll(ctx, w.Store, s.names, s.take)
	}
	s.asked = map[record.Name]bool{}
	for _, name := range pick.Names {
		s.asked[name] = true
	}
	return s, store.ViewEach(ctx, w.Store, pick.Names, s.takeNamed)
}

type selector struct {
	pick     Selection
	position uint64
	claims   map[string]claim     // by tree and path
	asked    map[record.Name]bool // nil: all

	protected []string // names whose paths lead where nothing is written
	damaged   []string // names that are left out
	missing   []string // that were destroyed after they were picked
}

// leaveOut returns nil for what was destroyed meanwhile, and for damage, if the selection leaves it out.
func (s *selector) leaveOut(name record.Name, err error) error {
	switch {
	case errors.Is(err, store.ErrDropped):
		s.missing = append(s.missing, name.String())
	case s.pick.Partial && errors.Is(err, store.ErrDamaged):
		s.damaged = append(s.damaged, name.String())
	default:
		return err
	}
	return nil
}

// A claim is what stands at a path, and what else would.
type claim struct {
	file      laidFile
	position  uint64
	displaced []record.Name
}

// names lists the names that there were at the selection's position.
func (s *selector) names(tx *store.Tx, from store.NamedRef) iter.Seq2[store.NamedRef, error] {
	if s.position != tx.Position() {
		return tx.NamesAt(from.Name, s.position)
	}
	return tx.Names(from.Name)
}

func (s *selector) take(tx *store.Tx, n store.NamedRef) error {
	return s.leaveOut(n.Name, s.takeWhole(tx, n))
}

func (s *selector) takeWhole(tx *store.Tx, n store.NamedRef) error {
	if !s.pick.picksTree(n.Name.Tree) || n.Name.IsEntry() {
		return nil
	}
	v, err := tx.Get(n.Ref)
	if err != nil || v.Record.Path == "" {
		return err
	}
	picked := n.Name.Kind == record.KindFrame && !s.pick.picksEntries()
	switch {
	case picked: // the whole file
	case n.Name.Kind == record.KindFrame:
		_, picked, err = s.aggregate(tx, v)
	default:
		picked = s.picks(tx, v, n.Name)
	}
	if err != nil || !picked {
		return err
	}
	isOthers := n.Name.Tree == "" && !tx.IsOwn(v.Record.Origin)
	if checkWritable(v.Record.Path) != nil || isOthers && layout.IsObeyed(v.Record.Path) {
		s.protected = append(s.protected, n.Name.String())
		return nil
	}
	return s.claim(laidFile{path: v.Record.Path, name: n.Name, ref: n.Ref}, v.Position)
}

// aggregate assembles an aggregate file of the entries that are picked.
func (s *selector) aggregate(tx *store.Tx, v store.Version) (text []byte, picked bool, err error) {
	at := func(name record.Name) (store.Version, error) { return tx.HeadAt(name, s.position) }
	state, err := plan.Read(tx, v, at, func(name record.Name) (bool, error) { return wasDropped(tx, name) })
	if err != nil {
		return nil, false, err
	}
	if !s.pick.picksEntries() {
		return state.Text(state.Frame), true, nil
	}
	left := map[record.Name]bool{}
	for name, e := range state.Entries {
		left[name] = !s.picks(tx, e.Version, v.Record.Name)
		picked = picked || !left[name]
	}
	frame := state.Frame
	if plan.IsList(layout.Recognize(v.Record.Path)) {
		frame = frame.Without(func(slot record.Name) bool { return left[slot] }, true)
	} else {
		frame = slices.DeleteFunc(frame, func(p record.Piece) bool { return left[p.Slot] })
	}
	return state.Text(frame), picked || s.asked[v.Record.Name] || slices.Contains(s.pick.Kinds, record.KindFrame), nil
}

// claim gives a path to the newest of the things that stood there, as long as
// they are one after the other under one id (task-003, task-003~2). Of two things
// that have nothing to do with each other the second is left out.
func (s *selector) claim(file laidFile, position uint64) error {
	key := store.PathValue(file.name.Tree, file.path)
	there, taken := s.claims[key]
	newer := claim{file, position, nil}
	switch {
	case !taken:
	case there.file.name.Kind != file.name.Kind || plan.BaseID(there.file.name.ID) != plan.BaseID(file.name.ID):
		s.protected = append(s.protected, file.name.String())
		return nil
	case position < there.position:
		newer = there
		newer.displaced = append(there.displaced, file.name)
	default:
		newer.displaced = append(there.displaced, there.file.name)
	}
	s.claims[key] = newer
	return nil
}

// twoForOnePath says that two records claim one path.
func twoForOnePath(path string, first, second record.Name) error {
	err := record.Conflict.Errorf("two records for one path %s: %s and %s", path, first, second)
	if first.Tree != second.Tree {
		err = err.Try("run it again with --tree {1}, or with --tree {2}",
			cmp.Or(string(first.Tree), "."), cmp.Or(string(second.Tree), "."))
	}
	return err
}

// picks reports whether a record is picked that is a file, or an entry of the
// file that of names.
func (s *selector) picks(tx *store.Tx, v store.Version, of record.Name) bool {
	if s.asked != nil && !s.asked[v.Record.Name] && !s.asked[of] {
		return false
	}
	return s.pick.Accepts(v.Record)
}

// takeNamed takes the file of a name, once: several entries may share one.
func (s *selector) takeNamed(tx *store.Tx, name record.Name) error {
	v, err := tx.HeadAt(name, s.position)
	if errors.Is(err, store.ErrNotFound) {
		dropped, err := wasDropped(tx, name)
		if dropped && err == nil {
			s.missing = append(s.missing, name.String())
		}
		return err
	}
	if err == nil && name.IsEntry() {
		name = record.Name{Tree: name.Tree, Kind: record.KindFrame, ID: v.Record.Path}
		v, err = tx.HeadAt(name, s.position)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return s.leaveOut(name, err)
	}
	key := store.PathValue(name.Tree, v.Record.Path)
	if at, taken := s.claims[key]; taken && at.file.name == name {
		return nil
	}
	return s.take(tx, store.NamedRef{Name: name, Place: store.Place{Ref: v.Ref}})
}

// wasDropped reports whether any version of a name was destroyed.
func wasDropped(tx *store.Tx, name record.Name) (bool, error) {
	events, err := tx.History(name)
	return slices.ContainsFunc(events, func(e store.Event) bool { return e.Change == store.ChangeDrop }), err
}

// addMissing adds the names that a selection of an earlier position, without names, would have
// had too, if their content were not destroyed. What else they were is not known
// any more, so only their trees and kinds are looked at.
func (s *selector) addMissing(ctx context.Context, of *store.Store) error {
	if s.pick.At == 0 && s.pick.AsOf.IsZero() || s.pick.Names != nil {
		return nil
	}
	list := func(tx *store.Tx, from store.NamedRef) iter.Seq2[store.NamedRef, error] {
		return tx.DroppedAt(from.Name, s.position)
	}
	return store.ViewAll(ctx, of, list, func(_ *store.Tx, n store.NamedRef) error {
		if s.pick.picksTree(n.Name.Tree) && (len(s.pick.Kinds) == 0 || slices.Contains(s.pick.Kinds, n.Name.Kind)) {
			s.missing = append(s.missing, n.Name.String())
		}
		return nil
	})
}
