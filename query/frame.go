package query

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"filebus/store"
	"filebus/store/record"
)

// A fileEntry is an entry of an aggregate file.
type fileEntry struct {
	Summary
	Line    int `json:"line"` // of the file, where it begins, counted from 1
	content store.Content
}

// A filePlan is an aggregate file as it stood at a position: what it is made of, in
// order, its text and its entries.
type filePlan struct {
	pieces  record.Frame
	lines   []int // of the file, where each piece begins
	text    []byte
	entries map[record.Name]*fileEntry
}

// readFile reads the file that a version of a frame stood for: with the entries
// of today while it is the newest, else with those of just before it was
// followed.
func (r *Reader) readFile(ctx context.Context, v store.Version) (*filePlan, error) {
	f := &filePlan{entries: make(map[record.Name]*fileEntry)}
	var at uint64
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		if f.pieces, err = piecesOf(tx, v); err != nil {
			return err
		}
		at, err = validUntil(tx, v)
		return err
	})
	if err == nil {
		err = EachOf(ctx, r, f.pieces, func(tx *store.Tx, p record.Piece) error { return f.readEntry(tx, p.Slot, at) })
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", v.Record.Name, err)
	}
	return f, f.write()
}

// validUntil returns the last position at which v was its name's head, or a
// position behind the log when it still is. All entries of a transaction have
// one time, so the position before it does not cut it in two.
func validUntil(tx *store.Tx, v store.Version) (uint64, error) {
	events, err := tx.History(v.Record.Name)
	if err != nil {
		return 0, err
	}
	for _, e := range events {
		movesHead := e.Change == store.ChangePut || e.Change == store.ChangeRetire || e.Change == store.ChangeDrop
		if e.Position > v.Position && movesHead {
			first, _, err := tx.Around(e.Position)
			return max(first, v.Position+1) - 1, err
		}
	}
	return tx.Position(), nil
}

// readEntry reads the entry that stood in a slot at a position.
func (f *filePlan) readEntry(tx *store.Tx, slot record.Name, at uint64) error {
	if slot.IsZero() {
		return nil
	}
	v, err := tx.HeadAt(slot, at)
	if err != nil {
		return err
	}
	content, err := tx.Content(v.Record)
	f.entries[slot] = &fileEntry{Summary: Summarize(tx, v), content: content}
	return err
}

// write puts the file together and notes where each entry begins. A text that does not
// end its line shares it with what follows.
func (f *filePlan) write() error {
	line := 1
	for _, p := range f.pieces {
		f.lines = append(f.lines, line)
		text := p.Text
		if e := f.entries[p.Slot]; e != nil {
			e.Line = line
			var err error
			if text, err = e.content.Bytes(); err != nil {
				return err
			}
		}
		line += bytes.Count(text, []byte("\n"))
		f.text = append(f.text, text...)
	}
	return nil
}

// offset returns how many lines of its mirrored file stand before a version: 0
// unless it is an entry of an aggregate file, -1 when that file has another
// version by now, or none.
func (f *finder) offset(ctx context.Context, v *store.Version) (int, error) {
	r := v.Record
	if !r.Name.IsEntry() || r.Path == "" {
		return 0, nil
	}
	value := store.PathValue(r.Name.Tree, r.Path)
	plan, err := f.planAt(ctx, value)
	if err != nil {
		return 0, err
	}
	if plan == nil || plan.entries[r.Name] == nil || plan.entries[r.Name].Version.Ref != v.Ref {
		return -1, nil
	}
	return plan.entries[r.Name].Line - 1, nil
}

// planAt is fileAt, once for each path.
func (f *finder) planAt(ctx context.Context, value string) (plan *filePlan, err error) {
	plan, known := f.files[value]
	if !known {
		if plan, err = f.fileAt(ctx, value); err == nil {
			f.files[value] = plan
		}
	}
	return plan, err
}

// around moves lines of what stands around the entries of a frame to where they stand in its file.
func (f *finder) around(ctx context.Context, r *record.Record, lines *Span) error {
	if r.Name.Kind != record.KindFrame || lines.From == 0 {
		return nil
	}
	plan, err := f.planAt(ctx, store.PathValue(r.Name.Tree, r.Path))
	if err != nil || plan == nil {
		return err
	}
	was, line := *lines, 1
	for i, p := range plan.pieces {
		if was.From >= line {
			lines.From = was.From - line + plan.lines[i]
		}
		if was.To >= line {
			lines.To = was.To - line + plan.lines[i]
		}
		line += bytes.Count(p.Text, []byte("\n"))
	}
	return nil
}

// fileAt returns the aggregate file at a path, or nil when there is none.
func (r *Reader) fileAt(ctx context.Context, value string) (*filePlan, error) {
	frame, err := View(ctx, r.store, func(tx *store.Tx) (*store.Version, error) { return frameAt(tx, value) })
	if err != nil || frame == nil {
		return nil, err
	}
	return r.readFile(ctx, *frame)
}

// frameAt returns the frame of the aggregate file at a path, or nil when there is none.
func frameAt(tx *store.Tx, value string) (*store.Version, error) {
	v, err := Occupant(tx, value)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil || v.Record.Name.Kind != record.KindFrame:
		return nil, err
	}
	return &v, nil
}

// AsInFiles puts entries into the order in which they stand in their files. The files come in the order of their first
// entries.
func (r *Reader) AsInFiles(ctx context.Context, all []Summary) error {
	var files []string
	first, at := map[string]int{}, map[record.Name]int{}
	file := func(s Summary) string { return store.PathValue(s.Name.Tree, s.Path) }
	for i, s := range all {
		if _, known := first[file(s)]; !known {
			first[file(s)], files = i, append(files, file(s))
		}
	}
	err := EachOf(ctx, r, files, func(tx *store.Tx, value string) error {
		frame, err := frameAt(tx, value)
		if err != nil || frame == nil {
			return err
		}
		pieces, err := piecesOf(tx, *frame)
		for i, name := range pieces.Slots() {
			at[name] = i
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b Summary) int {
		return cmp.Or(first[file(a)]-first[file(b)], at[a.Name]-at[b.Name])
	})
	return err
}

// piecesOf returns what a frame is made of.
func piecesOf(tx *store.Tx, v store.Version) (record.Frame, error) {
	content, err := tx.Content(v.Record)
	if err != nil {
		return nil, err
	}
	body, err := content.Bytes()
	if err != nil {
		return nil, err
	}
	pieces, err := record.DecodeFrame(v.Record.Name.Tree, body)
	if err != nil {
		err = fmt.Errorf("%w: frame %s: %w", store.ErrDamaged, v.Record.Name, err)
	}
	return pieces, err
}
