package run

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
)

// The folders below the store where trees of git are kept, one for each run, so
// that they go with the run's snapshots.
const (
	loopsFolder   = "loops"
	objectsFolder = "objects"
)

// ObjectsFolder returns the folder, absolute, that holds what was kept of a run's
// work trees. It may be deleted with the run's snapshots.
func ObjectsFolder(store, id string) string { return filepath.Join(store, loopsFolder, id) }

// git returns the git tree of the workspace, with the objects of a run.
func (b *Book) git(ctx context.Context, id string) (*gitTree, error) {
	objects := filepath.Join(ObjectsFolder(b.w.Location.Store, id), objectsFolder)
	return openGit(ctx, b.w.Root, objects, b.excluded(), b.opts.Variables)
}

// excluded returns what of the workspace is no change of a loop: the store and the
// files of agents, which have records of their own.
func (b *Book) excluded() []string {
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
func (b *Book) note(ctx context.Context, id string, before []layout.SnapshotFile) (
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
