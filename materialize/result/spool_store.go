package result

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// store stores the output under the call's ids; end is nil if nobody knows how
// the command has ended. Ids that hold another text by now are left to it.
func (s *spool) store(ctx context.Context, w *materialize.Workspace, c Call, end *ending) (*Stored, error) {
	f, err := os.Open(s.path(outputFile))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	output := io.NewSectionReader(f, 0, info.Size()) // what a background process adds is not waited for
	if end == nil {
		end = &ending{Status: materialize.StatusInterrupted}
	}
	for {
		stored, err := c.putOutput(ctx, w, *end, store.Absent(), output)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			return stored, err
		}
		same, err := isBodyOf(ctx, w, conflict.Actual, output)
		switch {
		case err != nil:
			return nil, err
		case !same:
			c.ID = w.NewID()
		case end.Exit == nil: // stored before, and better
			return c.putOutput(ctx, w, ending{}, store.Expect{}, output)
		default:
			return c.putOutput(ctx, w, *end, store.Expect{}, output)
		}
	}
}

func (c Call) putOutput(ctx context.Context, w *materialize.Workspace, end ending, expect store.Expect, output *io.SectionReader) (*Stored, error) {
	if _, err := output.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	c.Status = end.Status
	r, err := c.request(record.SourceExec, output)
	if err != nil {
		return nil, err
	}
	r.Exit, r.Expect = end.Exit, expect
	return c.store(ctx, w, r)
}

// isBodyOf reports whether a text is the body of a version.
func isBodyOf(
	ctx context.Context, w *materialize.Workspace, ref record.Ref, text *io.SectionReader,
) (same bool, err error) {
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	digest, err := digestOf(ctx, text)
	if err != nil {
		return false, err
	}
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Get(ref)
		same = err == nil && v.Record.Body == digest
		return err
	})
	return same, err
}

// Recover stores the outputs of commands whose Exec was ended before it could
// store them, as interrupted if nobody saw the command end. What a living command
// still writes is left to it. Processes that do this at once store each output
// once.
//
// It returns what it has stored, and an error that names each folder of the spool
// that it left alone, because it could not be stored or is none of filebus. It costs
// the listing of a folder that is mostly not there.
func Recover(ctx context.Context, w *materialize.Workspace) ([]*Stored, error) {
	folder := filepath.Join(w.Location.Store, spoolFolder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	all, failed := []*Stored(nil), []error{err}
	for _, entry := range entries {
		dir := filepath.Join(folder, entry.Name())
		stored, err := recoverFolder(ctx, w, dir)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s is left alone: %w", dir, err))
		}
		if stored != nil {
			all = append(all, stored)
		}
	}
	if len(all) > 0 || len(entries) == 0 {
		_ = os.Remove(folder) // unless something is in it
	}
	return all, errors.Join(failed...)
}

// errForeign says of a folder or file of the spool that it did not come there by
// Exec.
var errForeign = errors.New("it is not the output of a command")

// recoverFolder stores the output of one folder of the spool, or finishes what was
// begun with it. It returns nil if there is nothing to store, or not yet.
func recoverFolder(ctx context.Context, w *materialize.Workspace, dir string) (*Stored, error) {
	s, err := lockSpool(dir)
	if s == nil || err != nil {
		return nil, err
	}
	call, err := s.waiting()
	switch {
	case err != nil:
		return nil, errors.Join(err, s.release())
	case call == nil:
		return nil, s.discard()
	}
	if free, err := isFree(s.path(outputFile)); err != nil || !free {
		return nil, errors.Join(err, s.release())
	}
	end := readEnding(s.path(endFile))
	if end != nil {
		call.Schema = s.readSchema()
	}
	stored, err := s.store(ctx, w, *call, end)
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	_ = s.discard() // it is stored; what could not be removed the next command removes
	return stored, nil
}

// lockSpool locks a folder that nobody else has. It returns nil if somebody has
// it, or if it is gone by now.
func lockSpool(dir string) (*spool, error) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil, unlessGone(cmp.Or(err, errForeign))
	}
	s := &spool{dir: dir}
	info, err := os.Lstat(s.path(lockFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, removeEmpty(dir)
	case err != nil || !info.Mode().IsRegular():
		return nil, unlessGone(cmp.Or(err, errForeign))
	}
	if s.lock, err = os.OpenFile(s.path(lockFile), os.O_RDWR, 0); err != nil {
		return nil, unlessGone(err)
	}
	free, err := tryLock(s.lock)
	if err != nil || !free {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

// unlessGone takes what is not there any more for the work of another process.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeEmpty removes a folder without a lock that was only begun, or that is all
// but removed. One that has a lock by now is being filled.
func removeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return unlessGone(err)
	}
	for _, entry := range entries {
		switch entry.Name() {
		case lockFile:
			return nil
		case storedFile: // the last to go
		default:
			return errForeign
		}
	}
	_ = os.Remove(filepath.Join(dir, storedFile)) // it may be gone
	_ = os.Remove(dir)                            // a process that is making it makes another
	return nil
}

// waiting returns whose output a locked folder holds. Nil means that nothing in it
// is to be stored: it was only begun, or its output is stored.
func (s *spool) waiting() (*Call, error) {
	output, outputErr := os.Lstat(s.path(outputFile))
	if _, err := os.Lstat(s.path(storedFile)); err == nil {
		return nil, nil
	}
	call, err := readCall(s.path(callFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.Is(outputErr, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrNotExist) && outputErr == nil && output.Mode().IsRegular() && output.Size() == 0:
		return nil, nil // no command starts before there is a call
	case err != nil:
		return nil, err
	case outputErr != nil:
		return nil, outputErr
	case !output.Mode().IsRegular():
		return nil, errForeign
	}
	return &call.Call, nil
}
