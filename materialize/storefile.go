package materialize

import (
	"context"
	"errors"
	"fmt"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A storedFile says what storing a file did.
type storedFile struct {
	names    []record.Name
	records  int
	position uint64 // of the log, after it
	problems []*layout.SyntaxError
}

// raceTries is how often a file is planned again that lost a race. Each try
// lost means that another process got its change in.
const raceTries = 20

// storeFile stores one file as the newest version of what stands at its place,
// whatever that is by now.
func (w *Workspace) storeFile(ctx context.Context, f sourceFile) (storedFile, error) {
	for try := 1; ; try++ {
		p, names, err := w.planFile(ctx, f, f.seated)
		if err != nil {
			return storedFile{}, err
		}
		result, err := w.carryOut(ctx, p, names)
		if !IsRace(err) || isWriteOnce(err) || try == raceTries {
			return result, err
		}
	}
}

// storeOver stores one file in place of what was seen at its place. If that has
// changed in a way that matters, the error is a store.ErrConflict.
func (w *Workspace) storeOver(ctx context.Context, f sourceFile, old *seated) (storedFile, error) {
	p, names, err := w.planFile(ctx, f, func(*store.Tx) (*seated, error) { return old, nil })
	if err != nil {
		return storedFile{}, err
	}
	if lost := frameOnly(old); lost != nil && len(names) == 1 && len(lost.entries) > 0 && len(p.problems) > 0 {
		return storedFile{}, fmt.Errorf("%w: %w", errNoEntries, p.problems[0])
	}
	return w.carryOut(ctx, p, names)
}

// errNoEntries keeps a file that a slip has made unreadable from retiring all
// that it held.
var errNoEntries = errors.New("its entries cannot be read any more")

func isWriteOnce(err error) bool {
	var conflict *store.ConflictError
	return errors.As(err, &conflict) && conflict.WriteOnce
}

// carryOut carries the plan of one file out.
func (w *Workspace) carryOut(ctx context.Context, p *plan, names []record.Name) (storedFile, error) {
	result := storedFile{names: names, problems: p.problems}
	if len(p.puts)+len(p.retires) == 0 {
		return result, nil
	}
	err := w.Store.Update(ctx, func(tx *store.Tx) (err error) {
		result.records, err = p.apply(tx)
		result.position = tx.Position()
		return err
	})
	return result, err
}

// seated reads what the store has at the file's path.
func (f *sourceFile) seated(tx *store.Tx) (*seated, error) { return seatedAt(tx, f.tree, f.path) }

// planFile plans a file against what find says stands at its place.
func (w *Workspace) planFile(ctx context.Context, f sourceFile, find func(tx *store.Tx) (*seated, error)) (p *plan, names []record.Name, err error) {
	if f.place.Kind == record.KindFrame {
		return w.planEntries(ctx, f, find)
	}
	if err = f.prepare(ctx, w.Store); err != nil {
		return nil, nil, err
	}
	var state placeState
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		old, err := find(tx)
		if err == nil {
			state, err = stateOf(tx, f, old)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	p = w.planWhole(f, state)
	return p, []record.Name{p.puts[0].Record.Name}, nil
}

// planEntries plans an aggregate file.
func (w *Workspace) planEntries(ctx context.Context, f sourceFile, find func(tx *store.Tx) (*seated, error)) (p *plan, names []record.Name, err error) {
	file, problems := parseAggregate(f)
	var old *seated
	var named *aggregate
	err = w.Store.View(ctx, func(tx *store.Tx) (err error) {
		if old, err = find(tx); err != nil {
			return err
		}
		named, err = nameEntries(tx, f.tree, file, frameOnly(old), f.edited)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	p, err = w.planAggregate(ctx, f, named, frameOnly(old))
	if err != nil {
		return nil, nil, err
	}
	p.problems = problems
	if old != nil && !old.isFrame() {
		p.retire(old)
	}
	names = append(named.frame.slots(), record.Name{Tree: f.tree, Kind: record.KindFrame, ID: f.path})
	return p, names, nil
}

// frameOnly returns s if it is an aggregate: a place can have held a file of
// another kind before.
func frameOnly(s *seated) *seated {
	if s != nil && s.isFrame() {
		return s
	}
	return nil
}
