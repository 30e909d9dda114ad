package materialize

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// releaseRefs is how many records one transaction drops at most.
const releaseRefs = 512

// mirrorSlice is about how long a release holds the mirror lock at a time.
const mirrorSlice = 500 * time.Millisecond

// drop gives names up, batch by batch.
func (r *releaser) drop(ctx context.Context, order []*candidate) error {
	for next := 0; next < len(order); {
		err := r.w.withMirrors(ctx, func(mirrors []*reconciler) error {
			for end := time.Now().Add(mirrorSlice); next < len(order) && time.Now().Before(end); {
				if err := ctx.Err(); err != nil {
					return err
				}
				batch := cutRelease(order[next:])
				next += len(batch)
				if err := r.batch(ctx, mirrors, batch); err != nil {
					return err
				}
				if r.request.Dropped != nil {
					r.request.Dropped(next, len(order))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cutRelease returns the first names whose versions fit into one transaction; at
// least one.
func cutRelease(order []*candidate) []*candidate {
	refs := 0
	for i, c := range order {
		if refs += len(c.versions); refs > releaseRefs && i > 0 {
			return order[:i]
		}
	}
	return order
}

// batch hides names, deletes their files and drops their versions. A process that
// dies on the way leaves hidden names, and the next sync deletes their files.
func (r *releaser) batch(ctx context.Context, mirrors []*reconciler, batch []*candidate) error {
	if err := r.keepAlteredFiles(ctx, mirrors, batch); err != nil {
		return err
	}
	if err := r.retire(ctx, r.left(batch)); err != nil {
		return err
	}
	if err := r.deleteFiles(ctx, mirrors, r.left(batch)); err != nil {
		return err
	}
	return r.dropVersions(ctx, r.left(batch))
}

// left returns those of a batch that are still going.
func (r *releaser) left(batch []*candidate) []*candidate {
	return slices.DeleteFunc(slices.Clone(batch), func(c *candidate) bool { return r.going[c.name] == nil })
}

// hasFile reports whether a name has, or had, a file of its own in the mirror.
func (c *candidate) hasFile() bool {
	return c.name.Tree == "" && c.last.Path != "" && !c.name.Kind.IsEntry() && !c.replaced
}

// keepAlteredFiles keeps the names whose files hold something else than the
// store. It is taken in by that.
func (r *releaser) keepAlteredFiles(ctx context.Context, mirrors []*reconciler, batch []*candidate) error {
	if err := r.keepPlaces(ctx, batch); err != nil {
		return err
	}
	for _, c := range r.left(batch) {
		if !c.hasFile() {
			continue
		}
		because, err := r.alteration(ctx, mirrors, c)
		if err != nil {
			return err
		}
		if because != "" {
			r.keep(c, because)
		}
	}
	// As for takeIn: what a process that dies leaves on disk must be known.
	var err error
	for _, m := range mirrors {
		err = errors.Join(err, m.Memory.Save())
	}
	return err
}

// keepPlaces leaves the files alone at whose paths other names stand now.
func (r *releaser) keepPlaces(ctx context.Context, batch []*candidate) error {
	return r.inViews(ctx, batch, func(tx *store.Tx, c *candidate) error {
		if !c.hasFile() {
			return nil
		}
		there, err := occupant(tx, "", c.last.Path)
		c.replaced = err == nil && there.Record.Name != c.name
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
}

// alteration says why the file of a name keeps it, in any of the roots, or "".
func (r *releaser) alteration(ctx context.Context, mirrors []*reconciler, c *candidate) (because string, err error) {
	known := false
	for _, m := range mirrors {
		disk, err := m.Look(ctx, c.last.Path)
		if inStep := err == nil && disk.Exists && disk.Digest == c.last.Body; !inStep || !c.current || !m.knows(c.last.Path) {
			because, err = m.alteration(ctx, c.last.Path)
		}
		if because != "" || err != nil {
			return because, err
		}
		known = known || m.knows(c.last.Path)
	}
	// A result is stored first, and its file is written without the mirror lock.
	fresh := r.w.now().Sub(c.last.Time) < writingTime
	if c.name.Kind == record.KindResult && c.current && !known && fresh {
		return "its file is being written", nil
	}
	return "", nil
}

// writingTime is how long after a result was stored its file may be missing
// because its process has not come to it yet.
const writingTime = 5 * time.Minute

// knows reports whether disk and store ever agreed about a path.
func (r *reconciler) knows(p string) bool {
	_, remembered := r.Memory.Get(p)
	return remembered
}

// alteration takes in what stands on disk at a path, and says what was found that
// the store did not have.
func (r *reconciler) alteration(ctx context.Context, p string) (string, error) {
	r.opts = SyncOptions{Announced: true, CaptureOnly: true}
	done, err := r.settle(ctx, p)
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

// recheck keeps what has changed, or is referred to, since it was looked at.
// Nothing can come between this and what the transaction does.
func (r *releaser) recheck(tx *store.Tx, batch []*candidate) error {
	for r.refs.position < tx.Position() {
		// A name that was given up and is put again can refer to others.
		err := r.refs.read(tx, tx.Position(), func(name record.Name) { delete(r.gone, name) })
		if err != nil {
			return err
		}
	}
	for _, c := range r.left(batch) {
		if len(c.versions) != c.planned {
			r.keep(c, "it has changed meanwhile")
		}
	}
	for _, c := range r.left(batch) {
		if because := r.needed(c); because != "" {
			r.keep(c, because)
		}
	}
	return nil
}

// retire hides the names of a batch.
func (r *releaser) retire(ctx context.Context, batch []*candidate) error {
	if !slices.ContainsFunc(batch, func(c *candidate) bool { return c.current }) {
		return nil
	}
	err := r.w.Store.Update(ctx, func(tx *store.Tx) error {
		if err := r.recheck(tx, batch); err != nil {
			return err
		}
		for _, c := range r.left(batch) {
			err := tx.Retire(c.name, store.Expect{})
			if err != nil && !errors.Is(err, store.ErrNotFound) { // hidden by now
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range r.left(batch) {
		c.retired = c.retired || c.current
	}
	return nil
}

// deleteFiles deletes the files of names that are hidden. A name whose file could
// not be deleted stays hidden, and is given up another time.
func (r *releaser) deleteFiles(ctx context.Context, mirrors []*reconciler, batch []*candidate) error {
	folders := map[string]bool{}
	for _, c := range batch {
		if !c.hasFile() {
			continue
		}
		for _, m := range mirrors {
			err := m.putOut(ctx, c.last.Path)
			if ctx.Err() != nil || errors.Is(err, store.ErrDamaged) {
				return err
			}
			if err != nil {
				r.keep(c, "its file: "+mirror.Cause(err))
			}
		}
		if c.name.Kind == record.KindResult {
			folders[path.Dir(c.last.Path)] = true
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

// dropVersions destroys the versions of hidden names. Only a name that has more
// of them than a transaction takes loses them in several, the newest last.
func (r *releaser) dropVersions(ctx context.Context, batch []*candidate) error {
	for len(batch) == 1 && len(batch[0].versions) > releaseRefs {
		c := batch[0]
		err := r.dropIn(ctx, batch, func(c *candidate) []versionOf { return c.versions[:releaseRefs] })
		if err != nil || r.going[c.name] == nil {
			return err
		}
		c.versions = c.versions[releaseRefs:]
		c.planned = len(c.versions)
	}
	if len(batch) == 0 {
		return nil
	}
	if err := r.dropIn(ctx, batch, func(c *candidate) []versionOf { return c.versions }); err != nil {
		return err
	}
	for _, c := range r.left(batch) {
		delete(r.going, c.name)
		r.gone[c.name] = true
		if c.dropped > 0 {
			r.released(c)
		}
	}
	return nil
}

// dropIn drops some versions of each name in one transaction.
func (r *releaser) dropIn(ctx context.Context, batch []*candidate, which func(c *candidate) []versionOf) error {
	var freed int64
	err := r.w.Store.Update(ctx, func(tx *store.Tx) error {
		if err := r.recheck(tx, batch); err != nil {
			return err
		}
		for _, c := range r.left(batch) {
			for _, v := range which(c) {
				uses, err := tx.Uses(v.body)
				if err == nil {
					err = tx.Drop(v.ref)
				}
				switch {
				case errors.Is(err, store.ErrDropped): // another process was faster
					continue
				case err != nil:
					return err
				case uses == 1:
					freed += v.size
				}
				c.dropped++
			}
		}
		return nil
	})
	if err == nil {
		r.report.Bytes += freed
	}
	return err
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
