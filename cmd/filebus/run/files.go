package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/folder"
	"filebus/store/record"
)

// The limits of a scan of files without git.
const (
	maxScanned = 20_000   // files
	maxHashed  = 64 << 20 // bytes of a file whose content is read
)

// scanFiles lists the files of a folder with size, time and digest, in the order
// of their paths. Folders that hold what tools have made or fetched are left out,
// as there is no list of what git would ignore.
func scanFiles(
	ctx context.Context, root string, exclude []string, before []layout.SnapshotFile,
) (files []layout.SnapshotFile, leftOut []string, err error) {
	known := map[string]layout.SnapshotFile{}
	for _, f := range before {
		known[f.Path] = f
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		if err := errors.Join(relErr, ctx.Err()); err != nil {
			return err
		}
		path := filepath.ToSlash(rel)
		switch {
		case err != nil:
			leftOut = append(leftOut, path+": cannot be read")
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && path != "." && (strings.Contains(made, "/"+d.Name()+"/") || isBelow(path, exclude)):
			return fs.SkipDir
		case !d.Type().IsRegular() || isBelow(path, exclude):
			return nil
		case len(files) == maxScanned:
			leftOut = append(leftOut, fmt.Sprintf("%s and all files after it: more than %d", path, maxScanned))
			return fs.SkipAll
		}
		f, err := scanFile(name, path, known[path])
		if err != nil {
			leftOut = append(leftOut, path+": cannot be read")
			return nil
		}
		files = append(files, f)
		return nil
	})
	return files, leftOut, err
}

// made are the folders that hold what a tool has made or fetched.
const made = "/.git/.hg/.svn/node_modules/__pycache__/.venv/.cache/"

// scanFile describes a file. One with the size and time that it had before has
// the digest of before.
func scanFile(name, path string, before layout.SnapshotFile) (layout.SnapshotFile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return layout.SnapshotFile{}, err
	}
	f := layout.SnapshotFile{
		Path: strings.ToValidUTF8(path, "\ufffd"), Size: info.Size(), Modified: info.ModTime().UTC().Format(time.RFC3339Nano),
	}
	switch {
	case f.Size == before.Size && f.Modified == before.Modified:
		f.Digest = before.Digest
		return f, nil
	case f.Size > maxHashed:
		return f, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return f, err
	}
	digester := record.NewDigester()
	_, err = io.Copy(digester, file)
	f.Digest = digester.Digest().String()
	return f, errors.Join(err, file.Close())
}

// A fileChange is a file that was added, deleted or changed, with its line of diff.patch.
type fileChange struct{ path, status, line string }

// compareFiles returns how files have changed, in the order of their paths.
func compareFiles(from, to []layout.SnapshotFile) (changes []fileChange) {
	add := func(path, status string, sides ...layout.SnapshotFile) {
		texts := markdown.Each(sides, func(f layout.SnapshotFile) string {
			return fmt.Sprintf("%d bytes, %s", f.Size, cmp.Or(f.Digest, "too large to be read"))
		})
		line := fmt.Sprintf("%-8s %s  (%s)\n", status, path, strings.Join(texts, " -> "))
		changes = append(changes, fileChange{path, status, line})
	}
	old := map[string]layout.SnapshotFile{}
	for _, f := range from {
		old[f.Path] = f
	}
	for _, f := range to {
		was, found := old[f.Path]
		delete(old, f.Path)
		switch {
		case !found:
			add(f.Path, "added", f)
		case was.Digest != f.Digest, f.Digest == "" && (was.Size != f.Size || was.Modified != f.Modified):
			add(f.Path, "changed", was, f)
		}
	}
	for path, f := range old {
		add(path, "deleted", f)
	}
	slices.SortFunc(changes, func(a, b fileChange) int { return strings.Compare(a.path, b.path) })
	return changes
}

// The folders below the store where trees of git are kept, one for each run, so
// that they go with the run's snapshots.
const (
	loopsFolder   = "loops"
	objectsFolder = "objects"
)

// objectsOf returns the folder, absolute, that holds what was kept of a run's
// work trees. It may be deleted with the run's snapshots.
func objectsOf(store, id string) string { return filepath.Join(store, loopsFolder, id) }

// git returns the git tree of the workspace, with the objects of a run.
func (b *Runs) git(ctx context.Context, id string) (*gitTree, error) {
	// Git opens by their paths what lies there.
	err := folder.At(b.w.Location.Store).Check(path.Join(loopsFolder, id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	objects := filepath.Join(objectsOf(b.w.Location.Store, id), objectsFolder)
	return openGit(ctx, b.w.Root, objects, b.excluded(), b.opts.Variables)
}

// excluded returns what of the workspace is no change of a loop: the store and the
// files of agents, which have records of their own.
func (b *Runs) excluded() []string {
	all := []string{materialize.StoreFolder, ".claude"}
	if below, err := filepath.Rel(b.w.Root, b.w.Location.Store); err == nil && filepath.IsLocal(below) && below != "." {
		all = append(all, filepath.ToSlash(below))
	}
	p := b.w.Settings.Profile
	for _, root := range []string{p.Root, p.Markers, p.Results, p.Dialogues, p.Sessions} {
		if root != "" && filepath.IsLocal(filepath.FromSlash(root)) && root != "." && !strings.HasPrefix(root, "~") {
			all = append(all, root)
		}
	}
	if p.Root == "." {
		all = append(all, "session_state.md", "issue_queue.md", "knowledge_graph.md", "journal", "loop_snapshots")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// note notes the files as they are: as a tree of git or, without git, each with
// its digest. The files of before spare reading those that have not changed.
func (b *Runs) note(ctx context.Context, id string, before []layout.SnapshotFile) (
	point layout.SnapshotPoint, files []layout.SnapshotFile, leftOut []string, err error,
) {
	g, err := b.git(ctx, id)
	if errors.Is(err, errNoGit) {
		files, leftOut, err = scanFiles(ctx, b.w.Root, b.excluded(), before)
		return point, files, leftOut, err
	}
	if err != nil {
		return point, nil, nil, err
	}
	point.Commit = g.commit(ctx)
	point.Tree, leftOut, err = g.capture(ctx)
	return point, nil, leftOut, err
}
