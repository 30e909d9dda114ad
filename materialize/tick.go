package materialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

// ErrNoBox says that a file has no box that others may tick.
const ErrNoBox record.Reason = "no box to tick"

// Tick sets the box of an entry whose convention lets everybody do so: one byte of its file changes, or the words of a
// section, and the file is taken in. It returns the path and the line.
func (w *Workspace) Tick(ctx context.Context, name record.Name, status string) (p string, line int, err error) {
	head, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	if err != nil {
		return "", 0, err
	}
	p = head.Record.Path
	if err := w.checkStanding(p); err != nil {
		return p, 0, err
	}
	if w.recognise(p).Sets("status") {
		err = w.Amend(ctx, p, func(at layout.Location, old []byte) (text []byte, err error) {
			var box layout.Box
			box, line, err = boxOf(at, p, old, name.ID, status)
			return slices.Concat(old[:box.Offset], box.Now, old[box.Offset+len(box.Was):]), err
		})
		return p, line, err
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

// checkStanding is checkPlace for a file that has to be there itself: nothing is written through a link.
func (w *Workspace) checkStanding(p string) error {
	file := filepath.FromSlash(w.FilePath(p))
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = record.NotFound.Errorf("%s is not there any more", p).
			Try("put the file there again, then run it again; or filebus sync")
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(file) // it is a link
		err = record.Conflict.Errorf("%s is a symbolic link: nothing is written through it", p).
			Try("change {1} by hand, or put the file itself there", to)
	}
	return cmp.Or(w.checkPlace(p), err)
}

// boxOf returns where a text shows the status of an entry, or why nothing is written there. A line of 0: it is there already.
func boxOf(at layout.Location, p string, text []byte, id, status string) (box layout.Box, line int, err error) {
	box = at.Box(p, text, id, status)
	switch {
	case box.Line == 0:
		err = record.Conflict.Errorf("%s has no box of %s that others may tick", p, id).Try(byOwner(at.Owner())).Because(ErrNoBox)
	case box.Now == nil:
		err = record.Conflict.Errorf("%s, line %d, has no mark for %s", p, box.Line, status).Try(byOwner(at.Owner())).Because(ErrNoBox)
	case !bytes.Equal(box.Was, box.Now):
		line = box.Line
	}
	return box, line, err
}

// tick writes the mark of a status into the box of an entry. A line of 0: it is there already.
func tick(file, p string, at layout.Location, id, status string) (line int, err error) {
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
	box, line, err := boxOf(at, p, text, id, status)
	if err == nil && line > 0 {
		_, err = f.WriteAt(box.Now, int64(box.Offset))
	}
	return line, err
}

// Amend gives the file of a convention another text, where that lets everybody change it: what stands there is taken in,
// edit makes the new text of it, and what was written is taken in as a change of the file's owner. The old text is nil where
// there is no file. One that somebody else writes to meanwhile stays as that has left it.
func (w *Workspace) Amend(ctx context.Context, p string, edit func(at layout.Location, old []byte) ([]byte, error)) error {
	switch err := w.checkStanding(p); {
	case err != nil && !errors.Is(err, record.NotFound):
		return err
	case layout.IsObeyed(p):
		return record.Usage.Errorf("%s %s", p, whyObeyed)
	}
	return w.withMirror(ctx, w.Root, func(r *reconciler) error {
		if rule := r.rules().Find(p); rule != "" {
			return record.Conflict.Errorf("%s is left out by %s: filebus would not find what it writes there", p, rule)
		}
		err := r.importFile(ctx, p)
		if err == nil {
			err = r.mayStand(ctx, p)
		}
		if err != nil {
			return err
		}
		seen, old, err := r.readWhole(ctx, p)
		var text []byte
		if err == nil {
			text, err = edit(w.recognise(p), old)
		}
		if err == nil {
			text, err = w.guarded(p, w.secretMode(record.SourcePut), text, old)
		}
		if err != nil || seen.Exists && bytes.Equal(text, old) {
			return err
		}
		before, _ := r.Memory.Get(p)
		err = r.lateOr(ctx, p, before, r.Write(ctx, p, bytes.NewReader(text), 0, seen))
		r.Memory.Forget(p) // the store does not have it yet
		if errors.Is(err, mirror.ErrRaced) {
			err = fmt.Errorf("%s was not changed: %w, others write there", p, record.Busy)
		}
		return cmp.Or(err, r.importFile(ctx, p))
	})
}

// readWhole reads a file that is to be changed, as it stands.
func (r *reconciler) readWhole(ctx context.Context, p string) (seen mirror.File, text []byte, err error) {
	r.ReadAgain(p)
	if seen, err = r.Look(ctx, p); err != nil || !seen.Exists {
		return seen, nil, err
	}
	err = r.withFile(ctx, seen, func(f plan.File) error {
		if int64(len(f.Text)) < seen.Size {
			return record.Failed.Errorf("%s has %d bytes, too many to be edited", p, seen.Size).Because(ErrTooLarge, p)
		}
		text = append([]byte{}, f.Text...)
		return nil
	})
	return seen, text, err
}
