package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A merger merges the entries of one aggregate file: base is what both began
// with, disk and now are what became of it.
type merger struct {
	Planner
	f    File
	base Base // without a State if it cannot be told any more
	disk *aggregate
	now  *State
	keep bool                   // no entry is retired
	text map[record.Name][]byte // of the entries that come from the file
	out  *Plan
}

// Merge plans an aggregate file that both disk and store have changed since they had
// a base, which is nil if that is not known. With keep, what the file has no more
// stays: it was git that took it out, or nobody knows who.
func (w Planner) Merge(ctx context.Context, f File, now *State, base Base, keep bool) (*Plan, error) {
	file, problems := parseAggregate(f)
	m := &merger{Planner: w, f: f, base: base, now: now, keep: keep, text: map[record.Name][]byte{}}
	m.out = &Plan{Problems: problems}
	err := w.Store.View(ctx, func(tx *store.Tx) (err error) {
		m.disk, err = nameEntries(tx, "", file, now, base.State)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(m.disk.entries) == 0 && len(now.Entries) > 0 && len(problems) > 0 {
		return nil, fmt.Errorf("%w: %w", errNoEntries, problems[0])
	}
	kept, err := m.entries(ctx)
	if err != nil {
		return nil, err
	}
	fr, err := m.frame(ctx, kept)
	if err != nil {
		return nil, err
	}
	return m.out, w.frame(ctx, m.out, f, fr, now)
}

// Reframe plans another frame for the entries that an aggregate file has now, which
// it was not made for.
func (w Planner) Reframe(ctx context.Context, f File, theirs Frame, now *State) (*Plan, error) {
	kept := map[record.Name]bool{}
	for name := range now.Entries {
		kept[name] = true
	}
	m := &merger{f: f, now: now, disk: &aggregate{frame: theirs}}
	merged := m.weave(theirs, now.Frame, kept)
	if !m.canBeRead(merged) {
		return nil, fmt.Errorf("%s: the file's text around the entries does not fit them any more: take store", f.Path)
	}
	p := new(Plan)
	return p, w.frame(ctx, p, f, merged, now)
}

// entries merges entry by entry and returns the names that remain.
func (m *merger) entries(ctx context.Context) (kept map[record.Name]bool, err error) {
	kept = map[record.Name]bool{}
	for _, name := range m.names() {
		onDisk := m.disk.entries[name]
		stored, inStore := m.now.Entry(name)
		base, _ := m.base.Entry(name) // as both began with it; no text if it was not there
		isBase := func(text []byte) bool { return base.Text != nil && sameText(text, base.Text) }
		switch {
		case onDisk == nil && !inStore:
		case onDisk == nil && isBase(stored.Text) && !m.keep && m.base.had(name): // deleted on disk
			m.out.retire(stored.Version)
		case onDisk == nil:
			kept[name] = true // added by the store, or changed while the file lost it
		case inStore && (sameText(onDisk.Text, stored.Text) || isBase(onDisk.Text)):
			kept[name] = true
		case !inStore && isBase(onDisk.Text): // retired by the store
		case inStore && isBase(stored.Text) && m.base.had(name):
			kept[name] = true
			err = m.put(ctx, name, onDisk, store.Current(stored.Version.Ref))
		case !inStore && base.Text == nil:
			kept[name] = true
			err = m.put(ctx, name, onDisk, store.Absent())
		default:
			kept[name] = inStore
			target := name.String()
			if inStore {
				target = stored.Version.Ref.String()
			}
			err = m.conflict(ctx, name, onDisk, target, name.String())
		}
		if err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// names returns the names of all entries, those of the file first.
func (m *merger) names() []record.Name {
	names := m.disk.frame.Slots()
	for _, name := range m.now.Frame.Slots() {
		if m.disk.entries[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// put takes the file's text of an entry.
func (m *merger) put(ctx context.Context, name record.Name, e *layout.Entry, expect store.Expect) error {
	m.text[name] = e.Text
	return m.Planner.put(ctx, m.out, m.f, name, e, expect)
}

// conflict keeps a text of the file beside the store's version.
func (m *merger) conflict(ctx context.Context, name record.Name, of *layout.Entry, target, label string) error {
	f := m.f
	f.Content, f.Facts = Content{Text: of.Text}, of.Facts
	d, err := m.Beside(ctx, name, f, Conflict(target))
	m.out.Conflicts = append(m.out.Conflicts, label)
	m.out.Puts = append(m.out.Puts, d)
	return err
}

// frame merges what surrounds the entries. The side that changed the literal
// text gives the order; the entries that only the other has are put behind the
// entry that they follow there. If both changed the text, or nobody knows who
// did, the store's stays and the file's frame is kept as a conflict version.
func (m *merger) frame(ctx context.Context, kept map[record.Name]bool) (Frame, error) {
	main, other := m.now.Frame, m.disk.frame
	stored, onDisk := record.Frame(main).Words(), record.Frame(other).Words()
	collides := stored != onDisk
	if m.base.State != nil && !(m.keep && m.base.isLost()) {
		switch before := record.Frame(m.base.Frame).Words(); {
		case stored == before:
			main, other, collides = m.disk.frame, m.now.Frame, false
		case onDisk == before:
			collides = false
		}
	}
	merged := m.weave(main, other, kept)
	if !m.canBeRead(merged) {
		merged, collides = m.weave(other, main, kept), stored != onDisk
	}
	if problems := m.out.Problems; !m.canBeRead(merged) && len(problems) > 0 {
		return nil, fmt.Errorf("%w: %w", errUnmergeable, problems[0])
	} else if !m.canBeRead(merged) {
		return nil, errUnmergeable
	}
	if collides && !m.keep { // else git has the file's text, or it is kept whole
		name, text := m.now.Name(), &layout.Entry{Text: record.Frame(m.disk.frame).Encode()}
		return merged, m.conflict(ctx, name, text, m.now.Version.Ref.String(), "text around the entries of "+name.ID)
	}
	return merged, nil
}

// errUnmergeable is what a file is reported with that stays as it is because no
// file can be made of both sides in which every entry is found again.
var errUnmergeable = errors.New("it was changed on disk and in the store, and cannot be merged")

// weave returns main with the kept entries of other and without those that are
// not kept. Entries that come to stand side by side are set apart as others are.
func (m *merger) weave(main, other Frame, kept map[record.Name]bool) Frame {
	gone := func(slot record.Name) bool { return !kept[slot] }
	before := main.neighbours()
	var merged Frame
	for _, p := range addSlots(main, other.Without(gone, m.list()), m.separator()).Without(gone, m.list()) {
		if !p.IsSlot() {
			merged = m.endLine(merged).addText(p.Text)
			continue
		}
		if last := len(merged) - 1; last >= 0 && merged[last].IsSlot() && before[p.Slot] != merged[last].Slot {
			merged = m.endLine(merged).addText(m.between(isBlank)) // nothing for rows
		}
		merged = append(m.endLine(merged), p)
	}
	return merged
}

// endLine ends the last line of an entry that was the last of its file and had no
// newline: what follows it now must not join that line.
func (m *merger) endLine(f Frame) Frame {
	last := len(f) - 1
	if last < 0 || !f[last].IsSlot() || m.list() {
		return f
	}
	if text := m.textOf(f[last].Slot); len(text) > 0 && text[len(text)-1] != '\n' {
		return f.addText([]byte(markdown.LineEnding(m.f.Text)))
	}
	return f
}

// between returns the first literal text that stands between two slots, of those
// that fit, in the store's frame or in the file's.
func (m *merger) between(fits func(p record.Piece) bool) []byte {
	for _, f := range []Frame{m.now.Frame, m.disk.frame} {
		for i := 1; i+1 < len(f); i++ {
			if !f[i].IsSlot() && f[i-1].IsSlot() && f[i+1].IsSlot() && fits(f[i]) {
				return f[i].Text
			}
		}
	}
	return nil
}

func (m *merger) list() bool { return IsList(m.f.Location) }

// IsList reports whether the entries of a file are the elements of a JSON array.
func IsList(place layout.Location) bool {
	return place.Kind == record.KindFrame && strings.HasSuffix(place.ID, ".json")
}

// separator returns what stands between the elements of a list, and nil if the
// file is none.
func (m *merger) separator() []byte {
	if !m.list() {
		return nil
	}
	if comma := m.between(func(p record.Piece) bool { return string(bytes.TrimSpace(p.Text)) == "," }); comma != nil {
		return comma
	}
	return []byte(",\n    ")
}

// canBeRead reports whether a merged file has just the entries that it was made
// of when it is read again.
func (m *merger) canBeRead(merged Frame) bool {
	var text []byte
	var want [][]byte
	for _, p := range merged {
		if p.IsSlot() {
			p.Text = m.textOf(p.Slot)
			want = append(want, p.Text)
		}
		text = append(text, p.Text...)
	}
	file, _ := parseAggregate(File{Path: m.f.Path, Location: m.f.Location, Content: Content{Text: text}})
	return slices.EqualFunc(file.Entries(), want, func(e *layout.Entry, text []byte) bool { return sameText(e.Text, text) })
}

// textOf returns the text that an entry has in the merged file.
func (m *merger) textOf(slot record.Name) []byte {
	if text, fromDisk := m.text[slot]; fromDisk {
		return text
	}
	return m.now.Entries[slot].Text
}

// isBlank reports whether a piece is nothing but blank space.
func isBlank(p record.Piece) bool { return !p.IsSlot() && len(bytes.TrimSpace(p.Text)) == 0 }

// sameText reports whether two texts of an entry differ at most in the newline
// at their end, which an entry gets when another is appended to it.
func sameText(a, b []byte) bool {
	return bytes.Equal(bytes.TrimRight(a, "\r\n"), bytes.TrimRight(b, "\r\n"))
}
