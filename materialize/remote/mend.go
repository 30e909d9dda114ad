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
func (r *Replica) remove(ctx context.Context, span Span) error {
	name := SegmentName(r.own, span)
	old, _, err := Fetch(ctx, r.Transport, name, nil)
	if err != nil && !isWrong(err) && !isAbsent(err) {
		return err
	}
	r.forget(name)
	return errors.Join(r.removeBodies(ctx, r.own, old), r.Transport.Remove(ctx, name))
}

// forget passes over a segment as if it was not there.
func (r *Replica) forget(name Name) {
	offer := r.listing.Tellers[name.teller]
	offer.Segments = slices.DeleteFunc(slices.Clone(offer.Segments), func(s Span) bool { return s == name.span })
	r.listing.Tellers[name.teller] = offer
}

// tidy removes own segments that lie within another one: they were told again while they were out of sight, and may
// have what was destroyed meanwhile.
func (r *Replica) tidy(ctx context.Context) error {
	for _, s := range r.listing.Tellers[r.own].Segments {
		isWithin := func(o Span) bool { return o != s && o.Origin == s.Origin && o.First <= s.First && s.Last <= o.Last }
		if !slices.ContainsFunc(r.listing.Tellers[r.own].Segments, isWithin) {
			continue
		}
		if err := r.remove(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// doubt passes over segments that others do not get past, if they are not as they were written: what was in them is
// told anew. Own ones are removed.
func (r *Replica) doubt(ctx context.Context) error {
	stuck := map[record.StoreID][]uint64{} // how far others have heard each log
	for teller := range r.listing.Tellers {
		state, _, err := r.stateOf(ctx, teller, r.Trust)
		if err != nil || state.Left || r.mine[teller] {
			continue
		}
		for _, h := range append(slices.Clone(r.heard), Heard{Origin: r.own}) {
			at := slices.IndexFunc(state.Heard, func(o Heard) bool { return o.Origin == h.Origin })
			if h.Position = 0; at >= 0 {
				h = state.Heard[at]
			}
			if h.Origin != teller {
				stuck[h.Origin] = append(stuck[h.Origin], h.Position)
			}
		}
	}
	for teller, offer := range r.listing.Tellers {
		for _, s := range offer.Segments {
			isNext := func(heard uint64) bool { return s.First <= heard+1 && heard < s.Last }
			if !slices.ContainsFunc(stuck[s.Origin], isNext) || teller != r.own && r.isAlive(ctx, s.Origin) {
				continue
			}
			name := SegmentName(teller, s)
			isSound, err := r.isSound(ctx, name)
			switch {
			case err != nil:
			case !isSound && teller == r.own:
				err = r.remove(ctx, s)
			case !isSound:
				r.forget(name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// isSound reads a segment with its bodies, and reports whether it is of a log as it is here. Unsound bodies of an own
// one are removed.
func (r *Replica) isSound(ctx context.Context, name Name) (bool, error) {
	content, _, err := Fetch(ctx, r.Transport, name, nil)
	if err != nil {
		return r.unless(ctx, err)
	}
	b, err := bundle.NewReader(r.Workspace.Store, bytes.NewReader(content))
	if err != nil {
		return r.unless(ctx, err)
	}
	last := record.Digest{}
	b.Apart = func(ctx context.Context, digest record.Digest) (io.ReadCloser, error) {
		last = digest
		return r.Transport.Get(ctx, BodyName(name.teller, digest))
	}
	for err == nil {
		last = record.Digest{}
		_, err = b.Next(ctx)
	}
	if !errors.Is(err, io.EOF) {
		isSound, err := r.unless(ctx, err)
		if err == nil && !isSound && last != (record.Digest{}) && name.teller == r.own {
			err = r.Transport.Remove(ctx, BodyName(r.own, last))
		}
		return isSound, err
	}
	var link record.Digest
	err = r.Workspace.Store.View(ctx, func(tx *store.Tx) (err error) {
		link, err = tx.ChainOf(name.span.Origin, name.span.Last)
		return err
	})
	if errors.Is(err, store.ErrNotFound) { // it goes on behind what was heard here
		return true, nil
	}
	isSame := b.Origin == name.span.Origin && b.Before.Position+1 == name.span.First && b.At == bundle.Place{Position: name.span.Last, Chain: link}
	return isSame, err
}

// unless returns the errors that say nothing of a blob.
func (r *Replica) unless(ctx context.Context, err error) (bool, error) {
	if (isWrong(err) || isAbsent(err)) && ctx.Err() == nil {
		return false, nil
	}
	return false, err
}
