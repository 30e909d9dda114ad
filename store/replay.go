package store

import (
	"bytes"
	"errors"
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
	if err := tx.appendEntry(e); err != nil {
		return err
	}
	v := h.version(tx, e.Ref, puts[e.Ref])
	switch _, trace := tx.notHere(e.Ref); {
	case e.Op == OpDrop && puts[e.Ref] == 0 && trace != "":
		return errors.Join(tx.dropped.Put(e.Ref[:], appendPosition(nil, e.Position)), tx.shade(e.Ref, e.Position))
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

// sweep takes out what belongs to no entry of the log, puts the records at their positions,
// and counts the uses of bodies.
func sweep(tx *Tx, entries []Entry, puts map[record.Ref]uint64, out *Repaired) error {
	for _, e := range entries {
		if e.Op == OpDrop {
			if err := tx.records.Delete(e.Ref[:]); err != nil {
				return err
			}
		}
	}
	uses := map[record.Digest]uint64{}
	err := keepOnly(tx.records.settled(), func(key []byte) bool {
		_, wasPut := puts[record.Ref(key)]
		v, err := tx.Get(record.Ref(key))
		if err == nil && wasPut {
			uses[v.Record.Body]++
		} else if err == nil { // nothing says where it stood
			out.Gone = append(out.Gone, pieceOf(v, ""))
		}
		return wasPut
	})
	for ref, position := range puts {
		if value := bytes.Clone(tx.records.Get(ref[:])); value != nil {
			copy(value, appendPosition(nil, position))
			err = errors.Join(err, tx.records.Put(ref[:], value))
		}
	}
	for digest, n := range uses {
		if n >= 2 {
			err = errors.Join(err, tx.uses.Put(digest[:], appendPosition(nil, n)))
		}
	}
	return errors.Join(err,
		keepOnly(tx.bodies.settled(), func(key []byte) bool { return uses[record.Digest(key)] > 0 }),
		keepOnly(tx.descriptions.settled(), func(key []byte) bool { return tx.records.Get(key) != nil }),
	)
}

// keepOnly deletes all other keys.
func keepOnly(b *bbolt.Bucket, keep func(key []byte) bool) error {
	var gone [][]byte
	err := b.ForEach(func(key, _ []byte) error {
		if !keep(key) {
			gone = append(gone, bytes.Clone(key))
		}
		return nil
	})
	for _, key := range gone {
		err = errors.Join(err, b.Delete(key))
	}
	return err
}
