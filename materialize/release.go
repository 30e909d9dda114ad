package materialize

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// Release destroys all versions of names that nothing else needs, and deletes
// their files. A name stays if a record that stays was made from a version of it
// or links to it, if it has an open conflict, or if its file holds what the store
// does not have. Names that are given up together may refer to each other.
//
// It works in batches, each complete in itself: it hides the names, deletes their
// files, and then drops their versions. What was interrupted is finished by the
// same request, as hidden names are given up too. The report says what was done,
// also beside an error.
func (w *Workspace) Release(ctx context.Context, request release.Request) (*release.Report, error) {
	var inTrees, left []string // those of the workspace go with their names
	texts := map[record.Digest]bool{}
	request.FilesOf = func(v store.Version) []string {
		texts[v.Record.Body] = true
		files := w.filesOf(ctx, v)
		switch {
		case v.Record.Name.Tree == "":
		case !request.Trees:
			left, files = append(left, files...), nil
		case !v.Record.Name.IsEntry():
			inTrees = append(inTrees, files...)
		}
		return files
	}
	request.SaidOf = func(tx *store.Tx, v store.Version) (said record.Digest) {
		content, err := tx.Content(v.Record)
		if err != nil {
			return said
		}
		text, err := content.Head(store.InlineLimit)
		if d := w.draftOf(v.Record, text); err == nil && d.Content != nil {
			said = d.Content()
		}
		return said
	}
	request.Heir = func(tx *store.Tx, v store.Version) error {
		files := plan.Files{}
		files.Add(tx, v.Record)
		_, err := w.planner().Mend(ctx, tx, files, w.recognise)
		return err
	}
	run, err := release.Choose(ctx, w.Store, request)
	slices.Sort(left)
	run.Report().Left = slices.Compact(left)
	for i := 0; i < len(inTrees) && err == nil && !request.DryRun; i++ {
		err = os.Remove(inTrees[i])
	}
	if err == nil && !request.DryRun {
		err = w.carryOutRelease(ctx, run)
	}
	if err == nil && !request.DryRun && len(texts) > 0 {
		err = w.removeTemporary(texts)
	}
	return run.Report(), err
}

// filesOf returns the files, absolute, that have the text of a version, or may have it.
func (w *Workspace) filesOf(ctx context.Context, v store.Version) (files []string) {
	at := filepath.FromSlash(v.Record.Path)
	if t, err := w.Tree(v.Record.Name.Tree); v.Record.Name.Tree != "" && err == nil && t.Dir != "" {
		files = []string{filepath.Join(t.Dir, at)}
	} else if v.Record.Name.Tree == "" && at != "" {
		files = []string{w.FilePath(v.Record.Path)}
		for _, root := range w.Roots() {
			if root != w.Root && !isOutside(v.Record.Path) {
				files = append(files, filepath.Join(root, at))
			}
		}
	}
	return slices.DeleteFunc(files, func(file string) bool { return w.staleFile(ctx, file, v) != "" })
}

// isLeft reports whether a file that was the store's has what the store destroyed.
func (w *Workspace) isLeft(tx *store.Tx, p string, known mirror.Memo) bool {
	return known.State != mirror.Deleted && !tx.HasBody(known.Digest) && w.recognise(p).Kind != record.KindFrame
}

// Left returns the files, absolute, that stand where the store, or a file made of what it had, was destroyed.
func (w *Workspace) Left(ctx context.Context) (files []string, err error) {
	for _, root := range w.Roots() {
		memory, memoryErr := w.mirrors.Remembered(root)
		err = errors.Join(err, memoryErr, w.Store.View(ctx, func(tx *store.Tx) error {
			for p, known := range memory.All() {
				file := filepath.Join(root, filepath.FromSlash(p))
				if isOutside(p) {
					file = w.FilePath(p)
				}
				if !w.isLeft(tx, p, known) {
					continue
				} else if _, err := os.Lstat(file); err != nil {
					continue
				}
				if now, err := plan.At(tx, "", p); err == nil && now == nil {
					files = append(files, file)
				}
			}
			return nil
		}))
	}
	slices.Sort(files)
	return slices.Compact(files), err
}

// removeTemporary removes copies of texts from the store's temporary folder, such as that of a
// file which could be moved there to be deleted, and not be deleted.
func (w *Workspace) removeTemporary(texts map[record.Digest]bool) (err error) {
	tmp := folder.At(w.Location.Store).Sub("tmp")
	entries, _ := tmp.ReadDir(".") // there may be none
	for _, e := range entries {
		f, openErr := tmp.Open(e.Name())
		if openErr != nil {
			continue // by now it is gone
		}
		digest := record.NewDigester()
		_, readErr := io.Copy(digest, f)
		if err = errors.Join(err, readErr, f.Close()); texts[digest.Digest()] {
			err = errors.Join(err, tmp.Remove(e.Name()))
		}
	}
	return err
}

func (w *Workspace) carryOutRelease(ctx context.Context, run *release.Run) error {
	for _, c := range run.Entries() {
		if err := w.Remove(ctx, c.Name); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		c.Retired = true
	}
	roots := []string{w.Root} // and all others whose files were ever in step
	for _, root := range w.Roots() {
		if root != w.Root && w.mirrors.Knows(root) {
			roots = append(roots, root)
		}
	}
	const mirrorSlice = 500 * time.Millisecond // about how long a release holds the mirror lock at a time
	for isOver := false; !isOver; {
		err := w.withMirrors(ctx, roots, func(mirrors []*reconciler) error {
			r := &releaser{w, run, mirrors}
			for end := time.Now().Add(mirrorSlice); !isOver && time.Now().Before(end); {
				batch, err := run.Next(ctx)
				if isOver = len(batch) == 0; err == nil && !isOver {
					err = r.batch(ctx, batch)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return run.Finish(ctx)
}

// A releaser deletes the files of what is released, in all roots.
type releaser struct {
	w       *Workspace
	run     *release.Run
	mirrors []*reconciler
}

// batch hides names, deletes their files and drops their versions. A process that
// dies on the way leaves hidden names, and the next sync deletes their files.
func (r *releaser) batch(ctx context.Context, batch []*release.Candidate) error {
	for _, step := range []func(context.Context, []*release.Candidate) error{
		r.keepAltered, r.run.Retire, r.deleteFiles, r.run.Drop,
	} {
		if err := step(ctx, r.run.Left(batch)); err != nil {
			return err
		}
	}
	return nil
}

// keepAltered keeps the names whose files hold something else than the store. It
// is imported by that.
func (r *releaser) keepAltered(ctx context.Context, batch []*release.Candidate) error {
	for _, c := range batch {
		if !c.HasFile() {
			continue
		}
		because, err := r.alteration(ctx, c)
		if err != nil {
			return err
		}
		if because != "" {
			r.run.Keep(c, because)
		}
	}
	// As for importFile: what a process that dies leaves on disk must be known.
	var err error
	for _, m := range r.mirrors {
		err = errors.Join(err, m.Memory.Save())
	}
	return err
}

// alteration says why the file of a name keeps it, in any of the roots, or "".
func (r *releaser) alteration(ctx context.Context, c *release.Candidate) (because string, err error) {
	known := false
	for _, m := range r.mirrors {
		m.ReadAgain(c.Last.Path)
		disk, err := m.Look(ctx, c.Last.Path)
		inStep := err == nil && disk.Exists && disk.Digest == c.Last.Body
		if !inStep || !c.Current || !m.knows(c.Last.Path) {
			because, err = m.alteration(ctx, c.Last.Path)
		}
		if because != "" || err != nil {
			return because, err
		}
		known = known || m.knows(c.Last.Path)
	}
	// A result is stored first, and its file is written without the mirror lock.
	fresh := r.w.now().Sub(c.Last.Time) < writingTime
	if c.Name.Kind == record.KindResult && c.Current && !known && fresh {
		return "its file is being written", nil
	}
	return "", nil
}

// writingTime is how long after a result was stored its file may be missing
// because its process has not come to it yet.
const writingTime = 5 * time.Minute

// alteration imports what stands on disk at a path, and says what was found that
// the store did not have.
func (r *reconciler) alteration(ctx context.Context, p string) (string, error) {
	r.opts = SyncOptions{Announced: true, CaptureOnly: true}
	done, err := r.reconcile(ctx, p)
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNoStore)):
		return "", err
	case err != nil:
		return "its file: " + mirror.Cause(err), nil
	case done.Action == actionAltered:
		return "its file was altered; the text is note/" + alteredID(p), nil
	case done.Action != "":
		return "its file was changed (" + done.Action + ")", nil
	}
	return "", nil
}

// knows reports whether disk and store ever agreed about a path.
func (r *reconciler) knows(p string) bool {
	_, remembered := r.Memory.Get(p)
	return remembered
}

// deleteFiles deletes the files of names that are hidden. A name whose file could
// not be deleted stays hidden, and is given up another time.
func (r *releaser) deleteFiles(ctx context.Context, batch []*release.Candidate) error {
	folders := map[string]bool{}
	for _, c := range batch {
		if !c.HasFile() {
			continue
		}
		for _, m := range r.mirrors {
			err := m.writeFile(ctx, c.Last.Path)
			if ctx.Err() != nil || errors.Is(err, store.ErrDamaged) {
				return err
			}
			if err != nil {
				r.run.Keep(c, "its file: "+mirror.Cause(err))
			}
		}
		if c.Name.Kind == record.KindResult {
			folders[path.Dir(c.Last.Path)] = true
		}
	}
	for folder := range folders {
		for _, m := range r.mirrors {
			if err := m.removeFolder(ctx, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFolder removes the folder of a conversation once it is empty and no
// result stands in it. A result is stored before its file is written, and its
// folder is made after that: so none can lose its folder here, as long as the
// store is held while the folder goes. This one call is all that is done to the
// disk in that transaction.
func (r *reconciler) removeFolder(ctx context.Context, folder string) error {
	return r.RemoveFolder(ctx, folder+"/-", func(remove func()) error {
		return r.w.Store.View(ctx, func(tx *store.Tx) error {
			for _, err := range tx.Values(store.FieldPath, store.PathValue("", folder+"/")) {
				return err // something stands there
			}
			remove()
			return nil
		})
	})
}
