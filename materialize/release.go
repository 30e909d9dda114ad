package materialize

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize/mirror"
	"filebus/materialize/release"
	"filebus/store"
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
	run, err := release.Choose(ctx, w.Store, request)
	if err == nil && !request.DryRun {
		err = w.carryOutRelease(ctx, run)
	}
	slices.SortFunc(run.Report.Released, func(a, b release.Released) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	slices.SortFunc(run.Report.Kept, func(a, b release.Kept) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	return run.Report, err
}

// mirrorSlice is about how long a release holds the mirror lock at a time.
const mirrorSlice = 500 * time.Millisecond

func (w *Workspace) carryOutRelease(ctx context.Context, run *release.Run) error {
	for _, c := range run.Entries() {
		if err := w.Remove(ctx, c.Name); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		c.Retired = true
	}
	for isOver := false; !isOver; {
		err := w.withMirrors(ctx, func(mirrors []*reconciler) error {
			for end := time.Now().Add(mirrorSlice); !isOver && time.Now().Before(end); {
				batch, err := run.Next(ctx)
				if isOver = len(batch) == 0; err == nil && !isOver {
					err = w.releaseBatch(ctx, run, mirrors, batch)
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

// releaseBatch hides names, deletes their files and drops their versions. A process
// that dies on the way leaves hidden names, and the next sync deletes their files.
func (w *Workspace) releaseBatch(ctx context.Context, run *release.Run, mirrors []*reconciler, batch []*release.Candidate) error {
	if err := w.keepAltered(ctx, run, mirrors, batch); err != nil {
		return err
	}
	if err := run.Retire(ctx, run.Left(batch)); err != nil {
		return err
	}
	if err := deleteFiles(ctx, run, mirrors, run.Left(batch)); err != nil {
		return err
	}
	return run.Drop(ctx, run.Left(batch))
}

// keepAltered keeps the names whose files hold something else than the store. It
// is taken in by that.
func (w *Workspace) keepAltered(ctx context.Context, run *release.Run, mirrors []*reconciler, batch []*release.Candidate) error {
	for _, c := range run.Left(batch) {
		if !c.HasFile() {
			continue
		}
		because, err := w.alteration(ctx, mirrors, c)
		if err != nil {
			return err
		}
		if because != "" {
			run.Keep(c, because)
		}
	}
	// As for importFile: what a process that dies leaves on disk must be known.
	var err error
	for _, m := range mirrors {
		err = errors.Join(err, m.Memory.Save())
	}
	return err
}

// alteration says why the file of a name keeps it, in any of the roots, or "".
func (w *Workspace) alteration(ctx context.Context, mirrors []*reconciler, c *release.Candidate) (because string, err error) {
	known := false
	for _, m := range mirrors {
		disk, err := m.Look(ctx, c.Last.Path)
		if inStep := err == nil && disk.Exists && disk.Digest == c.Last.Body; !inStep || !c.Current || !m.knows(c.Last.Path) {
			because, err = m.alteration(ctx, c.Last.Path)
		}
		if because != "" || err != nil {
			return because, err
		}
		known = known || m.knows(c.Last.Path)
	}
	// A result is stored first, and its file is written without the mirror lock.
	fresh := w.now().Sub(c.Last.Time) < writingTime
	if c.Name.Kind == record.KindResult && c.Current && !known && fresh {
		return "its file is being written", nil
	}
	return "", nil
}

// writingTime is how long after a result was stored its file may be missing
// because its process has not come to it yet.
const writingTime = 5 * time.Minute

// alteration takes in what stands on disk at a path, and says what was found that
// the store did not have.
func (r *reconciler) alteration(ctx context.Context, p string) (string, error) {
	r.opts = SyncOptions{Announced: true, CaptureOnly: true}
	done, err := r.reconcile(ctx, p)
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNoStore)):
		return "", err
	case err != nil:
		return "its file: " + mirror.Cause(err), nil
	case done.Action == ActionAltered:
		return "its file was altered; the text is note/" + alteredID(p), nil
	case done.Action != "":
		return "its file was changed (" + string(done.Action) + ")", nil
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
func deleteFiles(ctx context.Context, run *release.Run, mirrors []*reconciler, batch []*release.Candidate) error {
	folders := map[string]bool{}
	for _, c := range batch {
		if !c.HasFile() {
			continue
		}
		for _, m := range mirrors {
			err := m.writeFile(ctx, c.Last.Path)
			if ctx.Err() != nil || errors.Is(err, store.ErrDamaged) {
				return err
			}
			if err != nil {
				run.Keep(c, "its file: "+mirror.Cause(err))
			}
		}
		if c.Name.Kind == record.KindResult {
			folders[path.Dir(c.Last.Path)] = true
		}
	}
	for folder := range folders {
		for _, m := range mirrors {
			if err := m.removeFolder(ctx, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// withMirrors runs fn while the mirror lock is held, with the mirror of the
// workspace and those of all other roots whose files were ever in step.
func (w *Workspace) withMirrors(ctx context.Context, fn func([]*reconciler) error) error {
	return w.mirrors.Hold(ctx, func() (err error) {
		var opened []*reconciler
		defer func() {
			for _, m := range opened {
				err = errors.Join(err, m.Close())
			}
		}()
		for _, root := range append([]string{w.Root}, w.Roots()...) {
			if len(opened) > 0 && (root == w.Root || !w.mirrors.Knows(root)) {
				continue
			}
			m, err := w.mirrors.Open(root, w.outside())
			if err != nil {
				return err
			}
			opened = append(opened, w.reconciler(m))
		}
		return fn(opened)
	})
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
