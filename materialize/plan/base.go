package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A Base is the state of an aggregate file that a text of it was made from, as far as
// the log can tell: an editor may have read the file long before it wrote it back.
type Base struct {
	*State      // nil: the text has nothing in common with any state
	Stale  bool // the file has changed since
	Exact  bool // the text is that state, to the byte
	Gone   int  // entries of the state that the text has no more
	Common int  // entries that both have

	known      *State // what the file had when disk and store were compared; nil: nobody knows
	Unreadable error  // why the text has no entries, if something is wrong with it
}

// had reports whether the file itself had an entry when disk and store were compared:
// else who wrote it cannot have removed or changed it.
func (b Base) had(name record.Name) bool {
	if b.known == nil {
		return true
	}
	_, found := b.known.Entry(name)
	return found
}

// TooManyGone reports whether a text has lost so many entries of the state it was made
// from that nobody can have meant to: more than a few, or all of several.
func (b Base) TooManyGone() bool { return b.Gone > fewEntries || b.Gone > 1 && b.Common == 0 }

// isLost reports whether a text says so little of the file that the text around its entries
// is no guide either.
func (b Base) isLost() bool { return b.Gone > 0 && b.Common == 0 || b.Gone > fewEntries }

// fewEntries is how many entries may vanish from a file at once and still count as
// removed by hand.
const fewEntries = 3

// BaseOf finds the state that the text of an aggregate file was made from: of those
// that the file had of late, and of the one that it had at a position, the one which
// differs from the text in the fewest entries, and in the fewest of their lines. Who
// wrote an entry as it was stored at some time cannot have read the file before. Of two
// alike the state at that position counts, then the newer. A text without entries comes
// from what the file had last.
func (w Planner) BaseOf(ctx context.Context, f File, now *State, since uint64) (Base, error) {
	file, problems := parseAggregate(f)
	var best Base
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		known, err := Before(tx, now.Name(), since)
		if err != nil {
			return err
		}
		disk, err := nameEntries(tx, "", file, now, known.Aggregate())
		if err != nil {
			return err
		}
		p := newPast(tx)
		p.known = known.Aggregate()
		positions, err := p.changes(now)
		if err != nil {
			return err
		}
		if since > 0 {
			positions = slices.Insert(positions, 0, since)
		}
		best, err = p.nearest(now, disk, f.Digest(), positions, since)
		best.known = p.known
		return err
	})
	if len(file.Entries()) == 0 && len(problems) > 0 {
		best.Unreadable = problems[0]
	}
	return best, err
}

// nearest returns the state at one of some positions that differs least from a text.
func (p *past) nearest(
	now *State, disk *aggregate, digest record.Digest, positions []uint64, since uint64,
) (best Base, err error) {
	texts := make(map[record.Name]textDigests, len(disk.entries))
	for name, e := range disk.entries {
		texts[name] = digestsOf(e.Text)
	}
	seen := p.seen(texts)
	least, at := -1, uint64(0)
	for i, position := range positions {
		if position < seen && position != since && at > 0 {
			continue
		}
		distance, b, err := p.compare(now.Name(), disk, texts, position)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
			continue
		}
		if err != nil {
			return best, err
		}
		if distance == 0 { // several states may have these entries
			then, err := Before(p.tx, now.Name(), position)
			b.Exact = err == nil && then.Digest() == digest
		}
		isEmpty := b.Gone+b.Common == 0
		isLikely := (position >= seen || position == since) && (b.Common > 0 || len(texts) > 0 && isEmpty)
		switch {
		case b.Exact, isLikely && (least < 0 || distance < least):
			best, at, least = b, position, distance
		case at == 0: // without a likely one: what the file had last
			best, at = b, position
		}
		if b.Exact || i == 0 && isLikely && distance == (len(texts)-b.Common)*wholeEntry {
			break // nothing is gone, and nothing has changed
		}
	}
	if at == 0 {
		return best, nil
	}
	then, err := Before(p.tx, now.Name(), at)
	if then.Aggregate() == nil || err != nil {
		return Base{}, err
	}
	best.State, best.Stale = then, then.Digest() != now.Digest()
	return best, nil
}

// seen returns a position at which the writer of a text saw the file, or later: what
// commands have stored is in it.
func (p *past) seen(texts map[record.Name]textDigests) (position uint64) {
	for name, digests := range texts {
		events, err := p.history(name)
		if err != nil {
			continue // it is new
		}
		for _, event := range events {
			v, err := p.tx.Get(event.Ref)
			if err == nil && event.Change == store.ChangePut && digests.has(v.Record.Body) {
				if v.Record.Source != record.SourceSync { // else the writer may have stored it
					position = max(position, event.Position)
				}
				break
			}
		}
	}
	return position
}

// A textDigests are the digests that the text of an entry can have been stored under:
// with either ending of lines, with one at its end, and without.
type textDigests [5]record.Digest

func digestsOf(text []byte) textDigests {
	all := textDigests{record.DigestOf(text)}
	bare := bytes.TrimRight(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\r\n")
	for i, end := range []string{"\n", "\r\n"} {
		lines := bytes.ReplaceAll(bare, []byte("\n"), []byte(end))
		all[2*i+1], all[2*i+2] = record.DigestOf(lines), record.DigestOf(append(lines, end...))
	}
	return all
}

func (d textDigests) has(digest record.Digest) bool { return slices.Contains(d[:], digest) }

// wholeEntry is how many changed lines an entry counts that only one side has.
const wholeEntry = 10_000

// compare says how much the state at a position differs from a text: in how many entries,
// and less weightily in how many lines of those that both have. One that the file itself
// was known to have counts twice if the state does not have it yet: who changed it in the
// file is likelier than who made another of the same name in an older text.
func (p *past) compare(
	name record.Name, disk *aggregate, texts map[record.Name]textDigests, position uint64,
) (distance int, b Base, err error) {
	frame, err := p.frameAt(name, position)
	if err != nil {
		return 0, b, err
	}
	for _, slot := range frame.Slots() {
		e, err := p.at(slot, position)
		if err != nil {
			return 0, b, err
		}
		digests, found := texts[slot]
		if !found {
			b.Gone++
			distance += wholeEntry
			continue
		}
		b.Common++
		if !digests.has(e.Record.Body) {
			text, err := textOf(p.tx, e)
			if err != nil {
				return 0, b, err
			}
			distance += wholeEntry + min(changedLines(text, disk.entries[slot].Text), wholeEntry-1)
		}
	}
	distance += (len(texts) - b.Common) * wholeEntry
	slots := frame.Slots()
	for slot := range texts {
		if _, had := p.known.Entry(slot); had && !slices.Contains(slots, slot) {
			distance += wholeEntry
		}
	}
	return distance, b, nil
}

// changedLines returns how many lines only one of two texts has, whatever ends them.
func changedLines(a, b []byte) (n int) {
	count := map[string]int{}
	for line := range bytes.Lines(a) {
		count[string(bytes.TrimRight(line, "\r\n"))]++
	}
	for line := range bytes.Lines(b) {
		count[string(bytes.TrimRight(line, "\r\n"))]--
	}
	for _, more := range count {
		n += max(more, -more)
	}
	return n
}

// Onto makes a change of an aggregate file, from one state to another, in a text of it
// that may have other entries: git keeps one for each branch.
func (w Planner) Onto(ctx context.Context, f File, before, after *State) ([]byte, error) {
	file, _ := parseAggregate(f)
	here := &State{Version: after.Version, Entries: map[record.Name]Entry{}}
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		disk, err := nameEntries(tx, "", file, after, before.Aggregate())
		if err != nil {
			return err
		}
		here.Frame = disk.frame
		for name, e := range disk.entries {
			here.Entries[name] = Entry{Text: e.Text}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var added []layout.Entry
	for _, name := range after.Frame.Slots() {
		e := after.Entries[name]
		was, wasThere := before.Entry(name)
		_, isHere := here.Entries[name]
		switch {
		case wasThere && bytes.Equal(was.Text, e.Text):
		case isHere:
			here.Entries[name] = e
		default:
			added = append(added, layout.Entry{Kind: name.Kind, ID: name.ID, Text: e.Text})
		}
	}
	isGone := func(slot record.Name) bool {
		_, wasThere := before.Entry(slot)
		_, stays := after.Entry(slot)
		return wasThere && !stays
	}
	return Insert(f, here.Text(here.Frame.Without(isGone, IsList(f.Location))), added)
}

// Insert inserts entries into the text of an aggregate file, as its layout does.
func Insert(f File, text []byte, added []layout.Entry) ([]byte, error) {
	aggregate, ok := f.Location.Layout.(layout.Aggregate)
	if !ok {
		return nil, fmt.Errorf("the file %s has no entries", f.Path)
	}
	file, _ := f.Location.Parse(f.Path, text) // its problems were reported when it was captured
	return aggregate.Insert(file, added...).Append(nil), nil
}

// Missing returns the entries of an aggregate file that a text of it has not, in their
// order.
func (w Planner) Missing(ctx context.Context, f File, now *State) (missing []record.Name, err error) {
	file, _ := parseAggregate(f)
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		disk, err := nameEntries(tx, "", file, now, nil)
		if err != nil {
			return err
		}
		for _, slot := range now.Frame.Slots() {
			if disk.entries[slot] == nil {
				missing = append(missing, slot)
			}
		}
		return nil
	})
	return missing, err
}

// olderVersions is how many past states of a file are compared with what is on
// disk. Who goes back further than that means to.
const olderVersions = 50

// Had reports whether a text is that of an earlier state of a file that is one record: of
// what stands at its path, or of a thing whose place that took.
func (s *State) Had(tx *store.Tx, digest record.Digest) (bool, error) {
	r, p := s.Version.Record, newPast(tx)
	for at, err := range tx.Lookup(store.FieldPath, store.PathValue(r.Name.Tree, r.Path)) {
		if err != nil {
			return false, err
		}
		head, err := tx.Find(at)
		if err != nil {
			return false, err
		}
		events, err := p.history(head.Record.Name)
		if err != nil {
			return false, err
		}
		for _, e := range slices.Backward(events[max(0, len(events)-olderVersions):]) {
			v, err := tx.Get(e.Ref)
			if err == nil && e.Change == store.ChangePut && v.Record.Body == digest {
				return true, nil
			}
		}
	}
	return false, nil
}

func newPast(tx *store.Tx) *past {
	return &past{
		tx: tx, events: map[record.Name][]store.Event{}, versions: map[record.Ref]store.Version{},
		frames: map[record.Ref]Frame{},
	}
}

// A past looks up what was current earlier. It reads each history and each
// record once, so that many states of a file cost little more than one.
type past struct {
	tx       *store.Tx
	events   map[record.Name][]store.Event
	versions map[record.Ref]store.Version
	frames   map[record.Ref]Frame
	known    *State // of the file whose texts are compared; nil: nobody knows
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
	ref, current, _ := p.tx.StateAt(events, position)
	if !current {
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
	const olderStates = 5000 // how many past states of an aggregate file are: one for each change
	return positions[:min(len(positions), olderStates)], nil
}

// frameAt returns the frame that an aggregate file had at a position.
func (p *past) frameAt(name record.Name, position uint64) (Frame, error) {
	v, err := p.at(name, position)
	if err != nil {
		return nil, err
	}
	f, known := p.frames[v.Ref]
	if !known {
		if f, err = frameOfBody(p.tx, v); err != nil {
			return nil, err
		}
		p.frames[v.Ref] = f
	}
	return f, nil
}
