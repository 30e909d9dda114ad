package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/record"
)

// What becomes of a remote by accidents of disks and of programs that synchronise is mended by the
// stores that have written there: each mends its own blobs, and no others.

// remove removes an own segment, with what is destroyed of its bodies.
func (r *Replica) remove(ctx context.Context, name Name) error {
	old, err := r.fetch(ctx, name, nil)
	if err != nil && !isWrong(err) && !isAbsent(err) {
		return err
	}
	r.forget(name)
	return errors.Join(r.removeBodies(ctx, r.own, old), r.Transport.Remove(ctx, name))
}

// forget passes over a segment as if it was not there.
func (r *Replica) forget(name Name) {
	isIt := func(n Name) bool { return n == name }
	r.listing.Blobs = slices.DeleteFunc(slices.Clone(r.listing.Blobs), isIt)
}

// removeCovered removes own segments that lie within another one: they were told again while they were out of sight,
// and may have what was destroyed meanwhile.
func (r *Replica) removeCovered(ctx context.Context) (err error) {
	own := r.segments(func(n Name) bool { return n.teller == r.own })
	for _, name := range own {
		if err == nil && slices.ContainsFunc(own, name.isWithin) {
			err = r.remove(ctx, name)
		}
	}
	return err
}

// isWithin reports whether a segment lies within another one of its teller.
func (n Name) isWithin(o Name) bool {
	return o != n && o.teller == n.teller && o.span.Origin == n.span.Origin && o.span.First <= n.span.First && n.span.Last <= o.span.Last
}

// recheckStuck passes over segments that others do not get past, if they are not as they were written: what was in
// them is told anew. Own ones are removed.
func (r *Replica) recheckStuck(ctx context.Context) error {
	stuck := map[record.StoreID][]uint64{} // how far others have heard each log
	for _, teller := range r.listing.tellers() {
		state, _, err := r.stateOf(ctx, teller, r.Trust)
		if err != nil || state.Left || r.mine[teller] {
			continue
		}
		for _, h := range r.heard {
			if h.Origin != teller {
				stuck[h.Origin] = append(stuck[h.Origin], position(state.Heard, h.Origin))
			}
		}
	}
	for _, name := range r.listing.Blobs {
		isNext := func(heard uint64) bool { return name.span.First <= heard+1 && heard < name.span.Last }
		if !slices.ContainsFunc(stuck[name.span.Origin], isNext) || name.teller != r.own && r.isAlive(ctx, name.span.Origin) {
			continue
		}
		isSound, err := r.isSound(ctx, name)
		if err == nil && !isSound && name.teller == r.own {
			err = r.remove(ctx, name)
		}
		if err != nil {
			return err
		}
		if !isSound {
			r.forget(name)
		}
	}
	return nil
}

// isSound reads a segment with its bodies, and reports whether it is of a log as it is here. Unsound bodies of an own
// one are removed. An error says nothing of the blob.
func (r *Replica) isSound(ctx context.Context, name Name) (isSound bool, err error) {
	content, err := r.fetch(ctx, name, nil)
	last, b := record.Digest{}, (*bundle.Reader)(nil)
	if err == nil {
		b, err = bundle.NewReader(r.Workspace.Store, bytes.NewReader(content))
	}
	if err == nil {
		r.open(b, name.teller)
		apart := b.Apart
		b.Apart = func(ctx context.Context, digest record.Digest) (io.ReadCloser, error) {
			last = digest
			return apart(ctx, digest)
		}
	}
	for err == nil {
		last = record.Digest{}
		_, err = b.Next(ctx)
	}
	switch isUnsound := (isWrong(err) || isAbsent(err)) && ctx.Err() == nil; {
	case isUnsound && last != (record.Digest{}) && name.teller == r.own:
		return false, r.Transport.Remove(ctx, BodyName(r.own, last))
	case isUnsound:
		return false, nil
	case b == nil || !errors.Is(err, io.EOF):
		return false, err
	}
	isSound = b.Origin == name.span.Origin && b.Before.Position+1 == name.span.First && b.At.Position == name.span.Last
	err = r.Workspace.Store.View(ctx, func(tx *store.Tx) error {
		link, err := tx.ChainOf(name.span.Origin, name.span.Last)
		if isSound = isSound && b.At.Chain == link; errors.Is(err, store.ErrNotFound) { // it goes on behind what was heard here
			isSound, err = true, nil
		}
		return err
	})
	return isSound, err
}
