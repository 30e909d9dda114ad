package store

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// replay makes the buckets that follow from records and log, then heals bodies, and drops what
// is lost.
func (v *salvage) replay(tx *Tx, h *healer) error {
	entries := v.entries(FirstChain(v.first), tx.store.opts.Now().UTC(), h)
	for _, c := range slices.Backward(v.claims) { // the most trustworthy comes last
		at := c.position - 1
		isTrue := c.source == fromRecord || at < uint64(len(entries)) && entries[at].Ref == c.act.ref
		if isTrue && !c.of.name.IsZero() {
			h.holders[c.act.ref] = c.of
		}
	}
	puts := map[record.Ref]uint64{}
	for _, e := range entries {
		if e.Op == OpPut {
			puts[e.Ref] = e.Position
		}
	}
	if err := sweep(tx, entries, puts, h.out); err != nil {
		return err
	}
	for _, e := range entries {
		if err := errors.Join(h.ctx.Err(), h.play(tx, e, puts)); err != nil {
			return err
		}
	}
	for i := range tx.past {
		tx.past[i].end = min(tx.past[i].end, tx.position)
	}
	if v.renew || !v.isAnew && h.signed != (mark{tx.position, tx.chain}) {
		if err := tx.Renew(); err != nil {
			return err
		}
	}
	lost, err := h.look(tx)
	if err != nil {
		return err
	}
	return errors.Join(h.drop(tx, lost), tx.concludeAll())
}

// play does again what an entry of the log did, in a database that has all records.
func (h *healer) play(tx *Tx, e Entry, puts map[record.Ref]uint64) error {
	if !e.Time.Equal(tx.lastTime) { // a transaction has ended
		if err := tx.weighAll(); err != nil {
			return err
		}
	}
	if err := tx.appendEntry(e); err != nil {
		return err
	}
	v := h.version(tx, e.Ref, puts[e.Ref])
	switch _, trace := tx.notHere(e.Ref); {
	case e.Op == OpDrop && puts[e.Ref] == 0 && trace != "":
		return tx.lose(e.Ref, e.Position)
	case e.Op == OpDrop:
		return tx.destroy(v, e.Position)
	case v.Record.Name.IsZero():
		return nil
	case e.Op == OpRetire:
		return tx.leave(v, e.Position)
	}
	_, err := tx.place(v, e.Time)
	return err
}

// version returns the version that was put at a position; of one that is lost, what is known.
func (h *healer) version(tx *Tx, ref record.Ref, position uint64) Version {
	if v, err := tx.Get(ref); err == nil {
		return v
	}
	v := Version{ref, position, &record.Record{Size: -1}}
	if position > 0 { // else nothing can be said of it
		v.Record.Name = h.holders[ref].name
	}
	if h.holders[ref].conflict {
		v.Record.Links = []record.Link{{Type: record.LinkConflict}}
	}
	return v
}

// sweep takes out what belongs to no entry of the log, puts the rest at its positions, and counts the
// uses of bodies.
func sweep(tx *Tx, entries []Entry, puts map[record.Ref]uint64, out *Repaired) error {
	puts = maps.Clone(puts)
	for _, e := range entries {
		if e.Op == OpDrop {
			puts[e.Ref] = 0
		}
	}
	uses, first, from := map[record.Digest]uint64{}, map[record.Digest]uint64{}, map[uint64]uint64{}
	err := relocate(tx.records, func(key, value []byte) (to uint64) {
		ref, place := record.Ref(value[:len(record.Ref{})]), readPosition(key)
		r, err := record.Decode(value[len(ref):])
		to, wasPut := puts[ref]
		if err == nil && !wasPut { // nothing says where it stood
			out.Gone = append(out.Gone, pieceOf(Version{ref, place, r}, ""))
		}
		if err != nil || to == 0 {
			return 0
		}
		uses[r.Body]++
		first[r.Body] = min(to, cmp.Or(first[r.Body], to))
		from[place] = to
		tx.digests.add(ref, to)
		return to
	})
	for digest, n := range uses {
		if n >= 2 {
			err = errors.Join(err, tx.uses.Put(digest[:], appendPosition(nil, n)))
		}
	}
	return errors.Join(err,
		relocate(tx.descriptions, func(key, _ []byte) uint64 { return from[readPosition(key)] }),
		relocate(tx.bodies, func(_, value []byte) uint64 {
			digest := record.Digest(value[:len(record.Digest{})])
			if uses[digest] > 0 {
				tx.digests.add(digest, first[digest])
			}
			return first[digest]
		}),
	)
}

// relocate moves each pair to the position that it belongs to; 0: it is deleted.
func relocate(b *bbolt.Bucket, where func(key, value []byte) (to uint64)) error {
	var gone [][]byte
	moved := map[uint64][]byte{}
	err := b.ForEach(func(key, value []byte) error {
		to := where(key, value)
		if to != readPosition(key) {
			gone = append(gone, bytes.Clone(key))
			moved[to] = bytes.Clone(value)
		}
		return nil
	})
	delete(moved, 0)
	for _, key := range gone {
		err = errors.Join(err, b.Delete(key))
	}
	for to, value := range moved {
		err = errors.Join(err, b.Put(appendPosition(nil, to), value))
	}
	return err
}
