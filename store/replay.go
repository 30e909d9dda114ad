package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// A player does again what the entries of a log did, in a database that has all records.
type player struct {
	tx    *Tx
	known map[record.Ref]holder // as records, names and histories say
	puts  map[record.Ref]uint64 // the positions at which refs were put
}

// replay makes the buckets that follow from records and log, then heals bodies, and drops what
// is lost.
func (v *salvage) replay(tx *Tx, h *healer) error {
	entries := v.entries(firstChain(tx.origin), tx.store.opts.Now().UTC(), h)
	p := &player{tx, map[record.Ref]holder{}, map[record.Ref]uint64{}}
	for _, c := range slices.Backward(v.claims) { // the most trustworthy comes last
		at := c.position - 1
		isTrue := c.source == fromRecord || at < uint64(len(entries)) && entries[at].Ref == c.act.ref
		if isTrue && !c.of.name.IsZero() {
			p.known[c.act.ref] = c.of
		}
	}
	for _, e := range entries {
		if err := errors.Join(h.ctx.Err(), p.play(e)); err != nil {
			return err
		}
	}
	if err := errors.Join(p.dropLost(h.out), p.sweep(h.out)); err != nil {
		return err
	}
	lost, err := h.look(tx)
	if err != nil {
		return err
	}
	return h.drop(tx, lost)
}

func (p *player) play(e Entry) error {
	if err := p.tx.appendEntry(e); err != nil {
		return err
	}
	of := p.known[e.Ref]
	v, err := p.tx.Get(e.Ref)
	isThere := err == nil
	if e.Op == OpPut {
		p.puts[e.Ref] = e.Position
		return p.put(e, of, isThere)
	}
	if isThere {
		err = p.tx.removeLookups(v)
	} else {
		err = nil // what is lost has none
	}
	if e.Op == opDrop {
		return errors.Join(err, p.drop(e, of))
	}
	return errors.Join(err, p.note(of, Event{e.Position, ChangeRetire, e.Ref}))
}

// put does what a put did beside the record, which may be lost.
func (p *player) put(e Entry, of holder, isThere bool) (err error) {
	if head, headErr := p.tx.Head(of.name); headErr == nil && !of.conflict {
		err = p.tx.removeLookups(head)
	}
	if isThere {
		value := bytes.Clone(p.tx.records.Get(e.Ref[:]))
		copy(value, appendPosition(nil, e.Position))
		err = errors.Join(err, p.tx.records.Put(e.Ref[:], value))
		v, getErr := p.tx.Get(e.Ref)
		if err = errors.Join(err, getErr); err == nil {
			err = p.tx.addLookups(v.Record, v.Ref, v.Position)
		}
	}
	return errors.Join(err, p.note(of, Event{e.Position, ChangePut, e.Ref}))
}

// note adds a line to the history of a name, and changes its head.
func (p *player) note(of holder, e Event) error {
	entry := nameEntry{stateHead, e.Ref, e.Position}
	switch {
	case of.name.IsZero():
		return nil
	case of.conflict && e.Change == ChangePut:
		e.Change = changeConflict
	case of.conflict:
		e.Change = changeResolve
	case e.Change == ChangeRetire:
		entry.state = stateRetired
	}
	if err := p.tx.note(nameKey(of.name), e); err != nil || of.conflict {
		return err
	}
	return p.tx.names.Put(nameKey(of.name), entry.encode())
}

// drop does what a drop did to a version.
func (p *player) drop(e Entry, of holder) error {
	err := errors.Join(
		p.tx.dropped.Put(e.Ref[:], appendPosition(nil, e.Position)),
		p.tx.records.Delete(e.Ref[:]),
	)
	position, wasPut := p.puts[e.Ref]
	if err != nil || of.name.IsZero() || of.conflict || !wasPut {
		return err
	}
	return errors.Join(
		p.tx.note(nameKey(of.name), Event{position, ChangeDrop, e.Ref}),
		p.tx.forget(of.name, e.Ref),
	)
}

// dropLost drops the versions whose records are lost.
func (p *player) dropLost(out *Repaired) error {
	var lost []record.Ref
	for ref := range p.puts {
		if p.tx.records.Get(ref[:]) == nil && p.tx.dropped.Get(ref[:]) == nil {
			lost = append(lost, ref)
		}
	}
	slices.SortFunc(lost, func(a, b record.Ref) int { return cmp.Compare(p.puts[a], p.puts[b]) })
	for _, ref := range lost {
		of := p.known[ref]
		piece := Piece{Ref: ref, Position: p.puts[ref], Size: -1}
		if !of.name.IsZero() {
			piece.Name = of.name.String()
		}
		out.Gone = append(out.Gone, piece)
		ops := []Op{opRetire, opDrop}
		if entry, _, err := p.tx.name(of.name); err != nil || entry.ref != ref || entry.state != stateHead {
			ops = ops[1:]
		}
		for _, op := range ops {
			if err := p.play(Entry{p.tx.position + 1, p.tx.now(), op, ref}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep takes out what belongs to no entry of the log, and counts the uses of bodies.
func (p *player) sweep(out *Repaired) error {
	uses := map[record.Digest]uint64{}
	err := keepOnly(p.tx.records, func(key []byte) bool {
		_, wasPut := p.puts[record.Ref(key)]
		v, err := p.tx.Get(record.Ref(key))
		if err == nil && wasPut {
			uses[v.Record.Body]++
		} else if err == nil { // nothing says where it stood
			out.Gone = append(out.Gone, pieceOf(v, ""))
		}
		return wasPut
	})
	for digest, n := range uses {
		if n >= 2 {
			err = errors.Join(err, p.tx.uses.Put(digest[:], appendPosition(nil, n)))
		}
	}
	return errors.Join(err,
		keepOnly(p.tx.bodies, func(key []byte) bool { return uses[record.Digest(key)] > 0 }),
		keepOnly(p.tx.descriptions, func(key []byte) bool { return p.tx.records.Get(key) != nil }),
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
