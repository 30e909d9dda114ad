package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// A holder is whose version a ref is. The zero holder is nobody.
type holder struct {
	name     record.Name
	conflict bool
}

// A player does again what the entries of a log did, in a database that has all records.
type player struct {
	tx    *Tx
	known map[record.Ref]holder    // as names and histories say
	puts  map[record.Ref]uint64    // the positions at which refs were put
	open  map[record.Ref]Version   // conflict versions
	uses  map[record.Digest]uint64 // of bodies
}

// replay makes the buckets that follow from records and log, then heals bodies, and drops what
// is lost.
func (v *salvage) replay(tx *Tx, h *healer) error {
	entries, err := v.entries(tx, h)
	if err != nil {
		return err
	}
	p := &player{tx, v.known(entries), map[record.Ref]uint64{}, map[record.Ref]Version{}, map[record.Digest]uint64{}}
	for _, e := range entries {
		if err := errors.Join(h.ctx.Err(), p.play(e)); err != nil {
			return err
		}
	}
	if err := errors.Join(p.dropLost(h.out), p.sweep(h.out), p.addLookups()); err != nil {
		return err
	}
	lost, err := h.look(tx)
	if err != nil {
		return err
	}
	return h.drop(tx, lost)
}

// known returns whose the refs are that entries name.
func (v *salvage) known(entries []Entry) map[record.Ref]holder {
	known := map[record.Ref]holder{}
	for name, entry := range v.heads {
		known[entry.ref] = holder{name, false}
	}
	for name, events := range v.events {
		for _, e := range events {
			if at := e.Position - 1; at < uint64(len(entries)) && entries[at].Ref == e.Ref {
				known[e.Ref] = holder{name, e.Change == changeConflict || e.Change == changeResolve}
			}
		}
	}
	return known
}

func (p *player) play(e Entry) error {
	if err := p.tx.appendEntry(e); err != nil {
		return err
	}
	of := p.known[e.Ref]
	v, err := p.tx.Get(e.Ref)
	if isThere := err == nil; isThere {
		of = holder{v.Record.Name, v.Record.IsConflict()}
	}
	switch {
	case e.Op == opDrop:
		return p.drop(e, of)
	case e.Op == opRetire:
		delete(p.open, e.Ref)
		return p.note(of, Event{e.Position, ChangeRetire, e.Ref})
	}
	p.puts[e.Ref] = e.Position
	if err == nil {
		p.uses[v.Record.Body]++
		value := append(appendPosition(nil, e.Position), v.Record.Encode()...)
		if err := p.tx.records.Put(e.Ref[:], value); err != nil {
			return err
		}
		if v.Position = e.Position; of.conflict {
			p.open[e.Ref] = v
		}
	}
	return p.note(of, Event{e.Position, ChangePut, e.Ref})
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
	if v, err := p.tx.Get(e.Ref); err == nil {
		p.uses[v.Record.Body]--
	}
	delete(p.open, e.Ref)
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
	err := keepOnly(p.tx.records, func(key []byte) bool {
		_, wasPut := p.puts[record.Ref(key)]
		if v, err := p.tx.Get(record.Ref(key)); err == nil && !wasPut { // its time fits nowhere
			out.Gone = append(out.Gone, pieceOf(v, ""))
		}
		return wasPut
	})
	for digest, n := range p.uses {
		if n >= 2 {
			err = errors.Join(err, p.tx.uses.Put(digest[:], appendPosition(nil, n)))
		}
	}
	return errors.Join(err,
		keepOnly(p.tx.bodies, func(key []byte) bool { return p.uses[record.Digest(key)] > 0 }),
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

// addLookups adds the look-ups of heads and of open conflict versions.
func (p *player) addLookups() (err error) {
	for n, err := range p.tx.Names(record.Name{}) {
		if err != nil {
			return err
		}
		v, err := p.tx.Get(n.Ref)
		if err == nil {
			err = p.tx.addLookups(v.Record, v.Ref, v.Position)
		}
		if err != nil {
			return err
		}
	}
	for ref, v := range p.open {
		err = errors.Join(err, p.tx.addLookups(v.Record, ref, v.Position))
	}
	return err
}
