package plan

import (
	"fmt"
	"slices"

	"filebus/store"
	"filebus/store/record"
)

// olderVersions is how many past states of a file are compared with what is on
// disk. Who goes back further than that means to.
const olderVersions = 50

// Had reports whether a text is that of an earlier state of the file: of what stands
// at its path, or of a thing whose place that took.
func (s *State) Had(tx *store.Tx, size int64, digest record.Digest) (bool, error) {
	p := &past{tx, map[record.Name][]store.Event{}, map[record.Ref]store.Version{}, map[record.Ref]Frame{}}
	if s.IsFrame() {
		return p.hadAggregate(s, size, digest)
	}
	return p.hadWhole(s, digest)
}

// A past looks up what was current earlier. It reads each history and each
// record once, so that many states of a file cost little more than one.
type past struct {
	tx       *store.Tx
	events   map[record.Name][]store.Event
	versions map[record.Ref]store.Version
	frames   map[record.Ref]Frame
}

func (p *past) history(name record.Name) ([]store.Event, error) {
	if events, known := p.events[name]; known {
		return events, nil
	}
	events, err := p.tx.History(name)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", name, err)
	}
	p.events[name] = events
	return events, nil
}

// at returns the version of a name that was current at a position. One that was
// dropped since is store.ErrDropped, as for store.Tx.Get.
func (p *past) at(name record.Name, position uint64) (store.Version, error) {
	events, err := p.history(name)
	if err != nil {
		return store.Version{}, err
	}
	var ref record.Ref
	for _, e := range events {
		switch {
		case e.Position > position:
		case e.Change == store.ChangePut:
			ref = e.Ref
		case e.Change == store.ChangeRetire, e.Change == store.ChangeDrop:
			ref = record.Ref{}
		}
	}
	if ref.IsZero() {
		return store.Version{}, fmt.Errorf("%s at position %d: %w", name, position, store.ErrNotFound)
	}
	if v, known := p.versions[ref]; known {
		return v, nil
	}
	v, err := p.tx.Get(ref)
	if err == nil {
		p.versions[ref] = v
	}
	return v, err
}

// hadWhole reports whether any of the things that stood at the path of a file
// that is one record had a body.
func (p *past) hadWhole(now *State, digest record.Digest) (bool, error) {
	r := now.Version.Record
	for ref, err := range p.tx.Lookup(store.FieldPath, store.PathValue(r.Name.Tree, r.Path)) {
		if err != nil {
			return false, err
		}
		head, err := p.tx.Get(ref)
		if err != nil {
			return false, err
		}
		events, err := p.history(head.Record.Name)
		if err != nil {
			return false, err
		}
		for _, e := range slices.Backward(events[max(0, len(events)-olderVersions):]) {
			v, err := p.tx.Get(e.Ref)
			if err == nil && e.Change == store.ChangePut && v.Record.Body == digest {
				return true, nil
			}
		}
	}
	return false, nil
}

// hadAggregate reports whether an aggregate file once was what is on disk. Only
// a state of the same size is put together.
func (p *past) hadAggregate(now *State, size int64, digest record.Digest) (bool, error) {
	positions, err := p.changes(now)
	if err != nil {
		return false, err
	}
	for _, position := range positions {
		if n, err := p.size(now.Name(), position); err != nil || n != size {
			continue // or dropped since
		}
		then, err := Before(p.tx, now.Name(), position)
		if err == nil && then.Digest() == digest {
			return true, nil
		}
	}
	return false, nil
}

// changes returns the last positions at which a file changed, newest first.
func (p *past) changes(now *State) ([]uint64, error) {
	var positions []uint64
	for _, name := range append(now.Frame.Slots(), now.Name()) {
		events, err := p.history(name)
		if err != nil {
			return nil, err
		}
		for _, e := range events[max(0, len(events)-olderVersions):] {
			positions = append(positions, e.Position)
		}
	}
	slices.Sort(positions)
	slices.Reverse(positions)
	positions = slices.Compact(positions)
	return positions[:min(len(positions), olderVersions)], nil
}

// size returns how long an aggregate file was at a position.
func (p *past) size(name record.Name, position uint64) (size int64, err error) {
	v, err := p.at(name, position)
	if err != nil {
		return 0, err
	}
	f, known := p.frames[v.Ref]
	if !known {
		if f, err = frameOfBody(p.tx, v); err != nil {
			return 0, err
		}
		p.frames[v.Ref] = f
	}
	for _, piece := range f {
		size += int64(len(piece.Text))
		if !piece.IsSlot() {
			continue
		}
		e, err := p.at(piece.Slot, position)
		if err != nil {
			return 0, err
		}
		size += e.Record.Size
	}
	return size, nil
}
