package materialize

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

// NamesOf returns the names of a tree that have a current version, or that ever had one.
func (w *Workspace) NamesOf(ctx context.Context, tree record.Tree, ever bool) ([]record.Name, error) {
	return view(ctx, w.Store, func(tx *store.Tx) (names []record.Name, err error) {
		for n, err := range tx.NamesEver(record.Name{Tree: tree}) {
			if err != nil || n.Tree != tree {
				return names, err
			}
			if _, err := tx.Head(n); err == nil || ever {
				names = append(names, n)
			}
		}
		return names, nil
	})
}

// RemoveTree hides all records of a tree and frees its name. Its folder stays as it is.
// What was cut short is finished by doing it again.
func (w *Workspace) RemoveTree(ctx context.Context, tree record.Tree) error {
	err := w.eachFile(ctx, tree, nil)
	if err == nil {
		err = w.forgetTree(tree)
	}
	return err
}

// forgetTree removes what is remembered of a tree beside its records.
func (w *Workspace) forgetTree(tree record.Tree) error {
	if t, err := w.Tree(tree); err == nil {
		_ = w.recall(t).Erase() // it tells nothing to whoever reads it not
	}
	if err := w.treeNotes().Remove(string(tree)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// eachFile retires the records of each file of a tree, those of a frame with its entries, after do,
// which may be nil, has seen them in the same transaction.
func (w *Workspace) eachFile(ctx context.Context, tree record.Tree, do func(*store.Tx, []store.Version) error) error {
	names, err := w.NamesOf(ctx, tree, false)
	if err != nil {
		return err
	}
	isEntry := func(n record.Name) bool { return n.Kind.IsEntry() } // which mostly goes with its frame
	isFile := func(n record.Name) bool { return !isEntry(n) }
	names = append(slices.DeleteFunc(slices.Clone(names), isEntry), slices.DeleteFunc(names, isFile)...)
	for some := range slices.Chunk(names, batchFiles/2) {
		err := w.Store.Update(ctx, func(tx *store.Tx) error {
			for _, name := range some {
				v, err := tx.Head(name)
				if errors.Is(err, store.ErrNotFound) { // an entry, gone with its frame
					continue
				}
				if err == nil {
					err = retireFile(tx, v, do)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RenameTree gives a tree another name: each record is stored anew under that, with a
// link to the one that it was, which is retired in the same transaction. Links to names
// of the tree follow. What was cut short is finished by doing it again.
func (w *Workspace) RenameTree(ctx context.Context, from, to record.Tree) (renamed int, err error) {
	if err := w.claimRename(ctx, from, to); err != nil {
		return 0, err
	}
	err = w.eachFile(ctx, from, func(tx *store.Tx, all []store.Version) error {
		renamed += len(all)
		for _, v := range all {
			if _, err := tx.Put(renamedDraft(tx, v, to)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := w.forgetTree(from); err != nil {
		return 0, err
	}
	t, err := w.Tree(to)
	if errors.Is(err, fs.ErrNotExist) { // it has no folder here
		return renamed, nil
	}
	if err == nil {
		t.was = ""
		err = w.saveTree(t)
	}
	return renamed, err
}

// renamedDraft returns a record as it is in a tree of another name.
func renamedDraft(tx *store.Tx, v store.Version, to record.Tree) store.Draft {
	r, from := *v.Record, v.Record.Name.Tree
	r.Name.Tree, r.Prev = to, record.Ref{}
	r.Links = []record.Link{{Type: release.LinkRenamed, Target: v.Ref.String()}}
	for _, l := range v.Record.Links {
		if n, err := record.ParseName(l.Target); err == nil && n.Tree == from && from != "" {
			n.Tree = to
			l.Target = n.String()
		}
		if l.Type != release.LinkRenamed {
			r.Links = append(r.Links, l)
		}
	}
	record.SortLinks(r.Links)
	return store.Draft{Record: r, Body: store.BodyOf(v.Record), Description: tx.Description(v.Ref)}
}

// claimRename takes a name for a tree, if nothing has it yet, and remembers whose records
// are on their way to it. It does so in a transaction of the store, so that no other name
// is taken for them.
func (w *Workspace) claimRename(ctx context.Context, from, to record.Tree) error {
	return w.Store.Update(ctx, func(tx *store.Tx) error {
		names, err := w.notedTrees()
		for _, name := range names {
			t, err := w.Tree(name)
			switch isComing := err == nil && t.was != ""; {
			case isComing && t.was == from && name == to: // it was cut short
				return nil
			case isComing && (t.was == from || name == from):
				return t.renaming()
			}
		}
		if err != nil {
			return err
		}
		if _, err := w.treeIn(tx, to); err == nil || from == to {
			return record.Conflict.Errorf("there is a tree %s already", to).Because(ErrNameTaken)
		} else if !errors.Is(err, ErrNoTree) {
			return err
		}
		t, err := w.treeIn(tx, from)
		if err == nil {
			err = t.broken
		}
		if err == nil {
			t.Name, t.was = to, from
			err = w.saveTree(t)
		}
		return err
	})
}
