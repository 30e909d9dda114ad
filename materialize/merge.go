package materialize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// merge settles a file that both disk and store have changed since they agreed,
// or of which nobody knows whether they ever did.
func (r *reconciler) merge(ctx context.Context, f sourceFile, disk mirror.File, now storeState, known mirror.Memo) (SyncedFile, error) {
	if !now.seated.isFrame() || f.place.Kind != record.KindFrame {
		return r.mergeWhole(ctx, f, disk, now, known)
	}
	merged, err := r.mergeEntries(ctx, f, now, known)
	if err != nil {
		return SyncedFile{}, err
	}
	action, detail := ActionMerged, ""
	if len(merged.conflicts) > 0 {
		action, detail = ActionConflict, strings.Join(merged.conflicts, ", ")
	}
	return r.act(action, detail, func() error { return r.storeMerged(ctx, f.path, disk, merged.plan) })
}

// storeMerged stores a merge and writes what the store then has.
func (r *reconciler) storeMerged(ctx context.Context, p string, disk mirror.File, merged *plan) error {
	if _, err := r.w.carryOut(ctx, merged, nil); err != nil {
		return err
	}
	now, err := r.stored(ctx, p)
	if err != nil {
		return err
	}
	if !now.exists() {
		return mirror.ErrRaced
	}
	return r.writeStored(ctx, p, disk, now)
}

// takeLate stores what an agent wrote to a file that was being replaced: it is
// merged like any other change, known being the state that the file had before.
func (r *reconciler) takeLate(ctx context.Context, p string, late *mirror.LateError, known mirror.Memo) error {
	f := sourceFile{path: p, place: r.w.recognise(p), source: record.SourceSync}
	if late.Lost {
		f.place = layout.Place{Kind: record.KindNote, ID: p, Layout: layout.Notes{}}
	}
	if err := f.read(ctx, r.w.Store, late.File(), 0); err != nil {
		return errors.Join(late, err)
	}
	defer func() { _ = f.body.Discard() }() // a temporary file, swept later if it stays
	var err error
	for try := 1; !late.Lost; try++ {
		if err = r.storeLate(ctx, f, known); err == nil {
			return late.Discard()
		}
		if !IsRace(err) || try == raceTries {
			break
		}
	}
	id := p + "~" + r.w.NewID()
	if noteErr := r.w.keepNote(ctx, f, id, nil); noteErr != nil {
		return errors.Join(late, err, noteErr)
	}
	if late.Lost {
		err = errors.Join(late.Err, fmt.Errorf("it was written to while it changed; that text is note/%s", id))
	} else {
		err = fmt.Errorf("what was written to it meanwhile is note/%s: %w", id, err)
	}
	return errors.Join(err, late.Discard())
}

// storeLate merges the text of a late file, or keeps it as a conflict version.
func (r *reconciler) storeLate(ctx context.Context, f sourceFile, known mirror.Memo) error {
	now, err := r.stored(ctx, f.path)
	switch {
	case err != nil:
		return err
	case r.edit.meets(now, known):
		_, err := r.w.storeOver(ctx, f, now.seated)
		r.edit.redo = err == nil
		return err
	case frameOnly(now.seated) == nil || f.place.Kind != record.KindFrame:
		return r.keepBeside(ctx, f)
	}
	merged, err := r.mergeEntries(ctx, f, now, known)
	if err != nil {
		return err
	}
	_, err = r.w.carryOut(ctx, merged.plan, nil)
	return err
}

// mergeWhole settles a file that is one record: if one text goes on where the
// other ends, the longer one is meant; else the store's stays and the file's is
// kept as a conflict version, unless the store's is an edit that can be redone.
func (r *reconciler) mergeWhole(ctx context.Context, f sourceFile, disk mirror.File, now storeState, known mirror.Memo) (SyncedFile, error) {
	var stored []byte
	err := r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		if now.seated.version.Record.Size <= store.InlineLimit {
			stored, err = textOf(tx, now.seated.version)
		}
		return err
	})
	if err != nil {
		return SyncedFile{}, err
	}
	switch {
	case f.body.Size > 0 || stored == nil:
	case r.edit.meets(now, known):
		return r.act(ActionMerged, "", func() error {
			err := r.capture(ctx, f, disk, now)
			r.edit.redo = err == nil
			return err
		})
	case bytes.HasPrefix(f.text, stored):
		return r.act(ActionMerged, "", func() error { return r.capture(ctx, f, disk, now) })
	case bytes.HasPrefix(stored, f.text):
		return r.act(ActionMerged, "", func() error { return r.writeStored(ctx, f.path, disk, now) })
	}
	name := now.seated.version.Record.Name
	return r.act(ActionConflict, name.String(), func() error {
		if err := f.prepare(ctx, r.w.Store); err != nil {
			return err
		}
		d := r.w.conflictDraft(name, f.path, f.text, f.body, layout.Facts{}, now.seated.version.Ref.String())
		if _, err := r.w.Store.Put(ctx, d); err != nil {
			return err
		}
		return r.writeStored(ctx, f.path, disk, now)
	})
}

// A mergedFile is the outcome of merging an aggregate.
type mergedFile struct {
	plan      *plan
	conflicts []string // names of which the file's text is kept beside
}

// A merger merges the entries of one aggregate file: base is what both began
// with, disk and now are what became of it.
type merger struct {
	s    *reconciler
	f    sourceFile
	base *seated // nil if it cannot be told any more
	disk *aggregate
	now  *seated
	text map[record.Name][]byte // of the entries that come from the file
	out  mergedFile
}

func (r *reconciler) mergeEntries(ctx context.Context, f sourceFile, now storeState, known mirror.Memo) (mergedFile, error) {
	m := &merger{s: r, f: f, now: now.seated, text: map[record.Name][]byte{}}
	file, problems := parseAggregate(f)
	err := r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		base, err := seatedBefore(tx, m.now.name(), known.Position)
		if err != nil {
			return err
		}
		m.base = frameOnly(base)
		m.disk, err = nameEntries(tx, "", file, m.now, m.base)
		return err
	})
	if err != nil {
		return m.out, err
	}
	if len(m.disk.entries) == 0 && len(m.now.entries) > 0 && len(problems) > 0 {
		return m.out, fmt.Errorf("%w: %w", errNoEntries, problems[0])
	}
	m.out.plan = &plan{problems: problems}
	kept, err := m.entries(ctx)
	if err != nil {
		return m.out, err
	}
	fr, err := m.frame(ctx, kept)
	if err != nil {
		return m.out, err
	}
	return m.out, r.w.planFrame(ctx, f, fr, m.now, m.out.plan)
}

// baseText returns an entry's text as both began with it, and nil if it was not
// there.
func (m *merger) baseText(name record.Name) []byte {
	if m.base == nil {
		return nil
	}
	return m.base.entries[name].text
}

// entries merges entry by entry and returns the names that remain.
func (m *merger) entries(ctx context.Context) (kept map[record.Name]bool, err error) {
	kept = map[record.Name]bool{}
	for _, name := range m.names() {
		onDisk, stored := m.disk.entries[name], m.now.entries[name]
		_, inStore := m.now.entries[name]
		base := m.baseText(name)
		switch {
		case onDisk == nil && !inStore:
		case onDisk == nil && base != nil && sameText(stored.text, base): // deleted on disk
			m.out.plan.retires = append(m.out.plan.retires, retirement{name, store.Current(stored.version.Ref)})
		case onDisk == nil:
			kept[name] = true // added by the store, or changed while the file lost it
		case inStore && sameText(onDisk.Text, stored.text), base != nil && inStore && sameText(onDisk.Text, base):
			kept[name] = true
		case !inStore && base != nil && sameText(onDisk.Text, base): // retired by the store
		case inStore && base != nil && sameText(stored.text, base):
			kept[name] = true
			err = m.put(ctx, name, onDisk, store.Current(stored.version.Ref))
		case !inStore && base == nil:
			kept[name] = true
			err = m.put(ctx, name, onDisk, store.Absent())
		default:
			kept[name] = inStore
			err = m.conflict(ctx, name, onDisk)
		}
		if err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// names returns the names of all entries, those of the file first.
func (m *merger) names() []record.Name {
	names := m.disk.frame.slots()
	for _, name := range m.now.frame.slots() {
		if m.disk.entries[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

func (m *merger) put(ctx context.Context, name record.Name, e *layout.Entry, expect store.Expect) error {
	d, err := m.s.w.entryDraft(ctx, m.f, name, e.Text, e.Facts)
	d.Expect = expect
	m.text[name] = e.Text
	m.out.plan.puts = append(m.out.plan.puts, d)
	return err
}

// conflict keeps the file's text of an entry beside the store's.
func (m *merger) conflict(ctx context.Context, name record.Name, e *layout.Entry) error {
	body, err := m.s.w.Store.Prepare(ctx, e.Text)
	if err != nil {
		return err
	}
	target := name.String()
	if stored, found := m.now.entries[name]; found {
		target = stored.version.Ref.String()
	}
	m.out.conflicts = append(m.out.conflicts, name.String())
	m.out.plan.puts = append(m.out.plan.puts, m.s.w.conflictDraft(name, m.f.path, e.Text, body, e.Facts, target))
	return nil
}

// frame merges what surrounds the entries. The side that changed the literal
// text gives the order; the entries that only the other has are put behind the
// entry that they follow there. If both changed the text, or nobody knows who
// did, the store's stays and the file's frame is kept as a conflict version.
func (m *merger) frame(ctx context.Context, kept map[record.Name]bool) (frame, error) {
	main, other := m.now.frame, m.disk.frame
	stored, onDisk := main.literal(), other.literal()
	collides := !bytes.Equal(stored, onDisk)
	if m.base != nil {
		switch before := m.base.frame.literal(); {
		case bytes.Equal(stored, before):
			main, other, collides = m.disk.frame, m.now.frame, false
		case bytes.Equal(onDisk, before):
			collides = false
		}
	}
	merged := m.weave(main, other, kept)
	if !m.canBeRead(merged) {
		merged, collides = m.weave(other, main, kept), !bytes.Equal(stored, onDisk)
	}
	if !m.canBeRead(merged) {
		return nil, errUnmergeable
	}
	if collides {
		return merged, m.frameConflict(ctx)
	}
	return merged, nil
}

// errUnmergeable is what a file is reported with that stays as it is because no
// file can be made of both sides in which every entry is found again.
var errUnmergeable = errors.New("it was changed on disk and in the store, and cannot be merged")

// weave returns main with the kept entries of other and without those that are
// not kept. Entries that come to stand side by side are set apart as others are.
func (m *merger) weave(main, other frame, kept map[record.Name]bool) frame {
	gone := func(slot record.Name) bool { return !kept[slot] }
	before := main.neighbours()
	var merged frame
	for _, p := range addSlots(main, other.without(gone, m.list()), m.separator()).without(gone, m.list()) {
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
func (m *merger) endLine(f frame) frame {
	last := len(f) - 1
	if last < 0 || !f[last].IsSlot() || m.list() {
		return f
	}
	if text := m.textOf(f[last].Slot); len(text) > 0 && text[len(text)-1] != '\n' {
		return f.addText([]byte(markdown.LineEnding(m.f.text)))
	}
	return f
}

// between returns the first literal text that stands between two slots, of those
// that fit, in the store's frame or in the file's.
func (m *merger) between(fits func(p record.Piece) bool) []byte {
	for _, f := range []frame{m.now.frame, m.disk.frame} {
		for i := 1; i+1 < len(f); i++ {
			if !f[i].IsSlot() && f[i-1].IsSlot() && f[i+1].IsSlot() && fits(f[i]) {
				return f[i].Text
			}
		}
	}
	return nil
}

// list reports whether the entries are the elements of a JSON array.
func (m *merger) list() bool { return isList(m.f.place) }

func isList(place layout.Place) bool {
	_, json := place.Layout.(layout.KnowledgeJSON)
	return json
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
func (m *merger) canBeRead(merged frame) bool {
	var text []byte
	var want [][]byte
	for _, p := range merged {
		if p.IsSlot() {
			p.Text = m.textOf(p.Slot)
			want = append(want, p.Text)
		}
		text = append(text, p.Text...)
	}
	file, _ := parseAggregate(sourceFile{path: m.f.path, place: m.f.place, text: text})
	return slices.EqualFunc(file.Entries(), want, func(e *layout.Entry, text []byte) bool { return sameText(e.Text, text) })
}

// textOf returns the text that an entry has in the merged file.
func (m *merger) textOf(slot record.Name) []byte {
	if text, fromDisk := m.text[slot]; fromDisk {
		return text
	}
	return m.now.entries[slot].text
}

func (m *merger) frameConflict(ctx context.Context) error {
	encoded := record.Frame(m.disk.frame).Encode()
	body, err := m.s.w.Store.Prepare(ctx, encoded)
	if err != nil {
		return err
	}
	name := m.now.version.Record.Name
	m.out.conflicts = append(m.out.conflicts, fmt.Sprintf("text around the entries of %s", name.ID))
	m.out.plan.puts = append(m.out.plan.puts,
		m.s.w.conflictDraft(name, m.f.path, encoded, body, layout.Facts{}, m.now.version.Ref.String()))
	return nil
}

// addSlots returns f with the slots that only other has, each behind the slot
// that it follows in other, or before all if it follows none: with the blank
// space that follows it there, or in a list with the separator.
func addSlots(f, other frame, separator []byte) frame {
	have := map[record.Name]bool{}
	for _, name := range f.slots() {
		have[name] = true
	}
	behind := map[record.Name][]record.Piece{} // what to add, by the slot before
	var before record.Name
	for i, p := range other {
		switch {
		case !p.IsSlot():
		case have[p.Slot]:
			before = p.Slot
		case separator != nil && before.IsZero():
			behind[before] = append(behind[before], p, record.Piece{Text: separator})
		case separator != nil:
			behind[before] = append(behind[before], record.Piece{Text: separator}, p)
		default:
			behind[before] = append(behind[before], p)
			if i+1 < len(other) && isBlank(other[i+1]) {
				behind[before] = append(behind[before], other[i+1])
			}
		}
	}
	return weaveIn(f, behind)
}

// weaveIn returns f with pieces behind its slots, or before all of them.
func weaveIn(f frame, behind map[record.Name][]record.Piece) frame {
	var out frame
	first := behind[record.Name{}]
	for i, p := range f {
		if p.IsSlot() {
			out, first = append(out, first...), nil
		}
		out = append(out, p)
		if slot := slotBefore(f, i); !slot.IsZero() {
			out = append(out, behind[slot]...)
		}
	}
	return append(out, first...)
}

// slotBefore returns the slot whose followers stand behind the i-th piece: the
// piece itself, or the one before if the piece is the blank space after it.
func slotBefore(f frame, i int) record.Name {
	if f[i].IsSlot() {
		if i+1 < len(f) && isBlank(f[i+1]) {
			return record.Name{}
		}
		return f[i].Slot
	}
	if i > 0 && isBlank(f[i]) {
		return f[i-1].Slot
	}
	return record.Name{}
}

// isBlank reports whether a piece is nothing but blank space.
func isBlank(p record.Piece) bool { return !p.IsSlot() && len(bytes.TrimSpace(p.Text)) == 0 }

// sameText reports whether two texts of an entry differ at most in the newline
// at their end, which an entry gets when another is appended to it.
func sameText(a, b []byte) bool {
	return bytes.Equal(bytes.TrimRight(a, "\r\n"), bytes.TrimRight(b, "\r\n"))
}
