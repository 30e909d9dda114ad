package materialize

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// ErrNoBox says that a file has no box that others may tick.
const ErrNoBox record.Reason = "no box to tick"

// Tick sets the box of an entry whose convention lets everybody do so: one byte of its file changes, and the file is
// taken in. It returns the path and the line.
func (w *Workspace) Tick(ctx context.Context, name record.Name, status string) (p string, line int, err error) {
	head, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	if err != nil {
		return "", 0, err
	}
	p = head.Record.Path
	if err := w.checkPlace(p); err != nil {
		return p, 0, err
	}
	err = w.withMirror(ctx, w.Root, func(r *reconciler) error {
		if err := r.importFile(ctx, p); err != nil { // what an agent wrote there comes first
			return err
		}
		for range raceTries { // until the mark is seen there: an editor may have put another file in its place meanwhile
			at, err := tick(w.FilePath(p), p, w.recognise(p), name.ID, status)
			if err != nil || at == 0 {
				return err
			}
			line = at
			if err := r.importFile(ctx, p); err != nil {
				return err
			}
		}
		return fmt.Errorf("%s was not ticked in %s: %w, others write there", name.ID, p, record.Busy)
	})
	return p, line, err
}

// tick writes the mark of a status into the box of an entry. A line of 0: it is there already.
func tick(file, p string, at layout.Location, id, status string) (line int, err error) {
	owner := func(format string, args ...any) error {
		return record.Conflict.Errorf(format, args...).Try(byOwner(at.Owner())).Because(ErrNoBox)
	}
	f, err := os.OpenFile(filepath.FromSlash(file), os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // what was written is looked at again
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", p)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(f)
	}
	if err != nil {
		return 0, err
	}
	box := at.Box(p, text, id, status)
	switch {
	case box.Line == 0:
		return 0, owner("%s has no box of %s that others may tick", p, id)
	case box.Mark == 0:
		return 0, owner("the boxes of %s have no mark for %s", p, status)
	case text[box.Offset] == box.Mark:
		return 0, nil
	}
	_, err = f.WriteAt([]byte{box.Mark}, int64(box.Offset))
	return box.Line, err
}
