package release

import (
	"context"
	"errors"
	"slices"

	"filebus/store"
	"filebus/store/record"
)

// releaseRefs is how many records one transaction drops at most.
const releaseRefs = 512

// Entries returns the names to go that are entries of files and have to be hidden
// there, each in its file, before anything else is done.
func (r *Run) Entries() []*Candidate {
	isNone := func(c *Candidate) bool { return !c.Current || !c.Name.IsEntry() }
	return slices.DeleteFunc(slices.Clone(r.order), isNone)
}

// Next returns the names to be given up next, none at the end: as many as fit into
// one transaction.
func (r *Run) Next(ctx context.Context) ([]*Candidate, error) {
	if r.request.Dropped != nil && len(r.order) < r.total {
		r.request.Dropped(r.total-len(r.order), r.total)
	}
	if len(r.order) == 0 {
		return nil, nil
	}
	batch, refs := r.order, 0
	for i, c := range r.order {
		if refs += len(c.versions); refs > releaseRefs && i > 0 && r.before[c.Name].IsZero() {
			batch = r.order[:i]
			break
		}
	}
	r.order = r.order[len(batch):]
	err := store.ViewEach(ctx, r.store, batch, func(tx *store.Tx, c *Candidate) error {
		if !c.HasFile() {
			return nil
		}
		for at, err := range tx.Lookup(store.FieldPath, store.PathValue("", c.Last.Path)) {
			if err != nil {
				return err
			}
			there, err := tx.Find(at)
			c.replaced = err == nil && there.Record.Name != c.Name // and its file is left alone
			return err
		}
		return nil
	})
	return batch, err
}

// Left returns those of a batch that are still going.
func (r *Run) Left(batch []*Candidate) []*Candidate {
	return slices.DeleteFunc(slices.Clone(batch), func(c *Candidate) bool { return r.going[c.Name] == nil })
}

// recheck keeps what has changed, or is referred to, since it was looked at.
// Nothing can come between this and what the transaction does.
func (r *Run) recheck(tx *store.Tx, batch []*Candidate) error {
	for e, err := range tx.Log(r.refs.position + 1) {
		if err == nil { // a name that was given up and is put again can refer to others
			err = r.refs.read(tx, e, func(name record.Name) { delete(r.gone, name) })
		}
		if err != nil {
			return err
		}
	}
	for _, c := range r.Left(batch) {
		if len(c.versions) != c.planned {
			r.Keep(c, "it has changed meanwhile")
		}
	}
	for _, c := range r.Left(batch) {
		if because := r.needed(c); because != "" {
			r.Keep(c, because)
		}
	}
	return nil
}

// Retire hides the names of a batch.
func (r *Run) Retire(ctx context.Context, batch []*Candidate) error {
	if !slices.ContainsFunc(batch, func(c *Candidate) bool { return c.Current }) {
		return nil
	}
	err := r.store.Update(ctx, func(tx *store.Tx) error {
		if err := r.recheck(tx, batch); err != nil {
			return err
		}
		for _, c := range r.Left(batch) {
			err := tx.Retire(c.Name, store.Expect{})
			if err != nil && !errors.Is(err, store.ErrNotFound) { // hidden by now
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range r.Left(batch) {
		c.Retired = c.Retired || c.Current
	}
	return nil
}

// Drop destroys the versions of hidden names. Only a name that has more
// of them than a transaction takes loses them in several, the newest last.
func (r *Run) Drop(ctx context.Context, batch []*Candidate) error {
	for len(batch) == 1 && len(batch[0].versions) > releaseRefs {
		c := batch[0]
		err := r.dropIn(ctx, batch, func(c *Candidate) []versionOf { return c.versions[:releaseRefs] })
		if err != nil || r.going[c.Name] == nil {
			return err
		}
		c.versions = c.versions[releaseRefs:]
		c.planned = len(c.versions)
	}
	if len(batch) == 0 {
		return nil
	}
	if err := r.dropIn(ctx, batch, func(c *Candidate) []versionOf { return c.versions }); err != nil {
		return err
	}
	for _, c := range r.Left(batch) {
		delete(r.going, c.Name)
		r.gone[c.Name] = true
		if c.dropped > 0 {
			r.released(c)
		}
	}
	return nil
}

// dropIn drops some versions of each name in one transaction.
func (r *Run) dropIn(ctx context.Context, batch []*Candidate, which func(c *Candidate) []versionOf) error {
	var freed int64
	err := r.store.Update(ctx, func(tx *store.Tx) error {
		if err := r.recheck(tx, batch); err != nil {
			return err
		}
		for _, c := range r.Left(batch) {
			for _, v := range which(c) {
				uses, err := tx.Uses(v.body)
				said := r.said(tx, c, v)
				if err == nil {
					err = tx.Drop(v.ref)
				}
				if err == nil {
					err = r.bar(tx, c, v, said)
				}
				switch {
				case errors.Is(err, store.ErrDropped): // another process was faster
					continue
				case err != nil:
					return err
				case uses == 1:
					freed += v.size
				}
				c.dropped++
			}
			if v, err := tx.Head(c.Name); err == nil && r.request.Heir != nil {
				if err = r.request.Heir(tx, v); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		r.report.Bytes += freed
	}
	return err
}

func (r *Run) isBarred(c *Candidate, v versionOf) bool {
	return len(r.request.Versions) > 0 && store.IsBarred(c.Name.Kind, v.size, r.request.Short)
}

// said returns what an entry says that is about to be purged.
func (r *Run) said(tx *store.Tx, c *Candidate, v versionOf) (said record.Digest) {
	if whole, err := tx.Get(v.ref); err == nil && c.Name.IsEntry() && r.isBarred(c, v) {
		said = r.request.SaidOf(tx, whole)
	}
	return said
}

// bar keeps a version out that was purged, unless something still has its text, or says the same.
func (r *Run) bar(tx *store.Tx, c *Candidate, v versionOf, said record.Digest) error {
	uses, err := tx.Uses(v.body)
	if err != nil || uses > 0 || !r.isBarred(c, v) {
		return err
	}
	r.report.Barred++
	bar := store.Bar{From: c.Last.Time, Time: tx.Now(), Ref: v.ref, Own: true}
	err = tx.Bar(v.body, bar)
	if said == (record.Digest{}) {
		return err
	}
	for name, namesErr := range tx.Names(record.Name{Tree: c.Name.Tree, Kind: c.Name.Kind}) {
		if namesErr != nil || name.Name.Kind != c.Name.Kind || name.Name.Tree != c.Name.Tree {
			break
		}
		if other, getErr := tx.Get(name.Ref); getErr == nil && r.request.SaidOf(tx, other) == said {
			return err
		}
	}
	return errors.Join(err, tx.Bar(said, bar))
}
