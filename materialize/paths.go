package materialize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// outside begins the recorded path of a file below an absolute outside root:
// a record's path never begins with a slash.
const outside = "file:"

func isOutside(p string) bool { return strings.HasPrefix(p, "~/") || strings.HasPrefix(p, outside) }

// outside returns the roots of the profile that lie outside of the workspace.
func (w *Workspace) outside() []mirror.Outside {
	var roots []mirror.Outside
	for _, root := range []string{w.Settings.Profile.Results, w.Settings.Profile.Dialogues} {
		if rest, found := strings.CutPrefix(root, "~/"); found {
			roots = append(roots, mirror.Outside{Prefix: root + "/", Dir: filepath.Join(w.Settings.Home, rest)})
		} else if strings.HasPrefix(root, "/") {
			roots = append(roots, mirror.Outside{Prefix: outside + root + "/", Dir: root, Shared: true})
		}
	}
	return roots
}

// RecordPath returns the path that the record of a name of the own tree has: of its
// file, slash-separated below the workspace, in a form of its own for a file of an
// outside root. See FilePath.
func (w *Workspace) RecordPath(kind record.Kind, id string) (string, error) {
	p, err := w.Settings.Profile.Path(kind, id)
	if strings.HasPrefix(p, "/") {
		p = outside + p
	}
	return p, err
}

// PathOf returns the file, absolute, that a name of the own tree has or would
// have.
func (w *Workspace) PathOf(name record.Name) (string, error) {
	p, err := w.RecordPath(name.Kind, name.ID)
	if err != nil {
		return "", err
	}
	return w.FilePath(p), nil
}

// FilePath returns the file, absolute, that a record's path stands for.
func (w *Workspace) FilePath(recordPath string) string {
	if rest, found := strings.CutPrefix(recordPath, "~/"); found && strings.HasPrefix(w.Settings.Profile.Results, "~/") {
		return filepath.Join(w.Settings.Home, filepath.FromSlash(rest))
	}
	if rest, found := strings.CutPrefix(recordPath, outside+"/"); found {
		return "/" + rest
	}
	return filepath.Join(w.Root, filepath.FromSlash(recordPath))
}

// recognise returns what the file at a record's path is in this workspace.
func (w *Workspace) recognise(p string) layout.Place {
	if rest, found := strings.CutPrefix(p, outside); found && strings.HasPrefix(rest, "/") {
		p = rest
	}
	return w.Settings.Profile.Recognize(p)
}

// ErrProtected says that a path leads into the folder of git or of the store,
// where nothing is ever written for a record.
const ErrProtected record.Reason = "a folder that filebus does not write to"

// checkWritable refuses paths into .git and .filebus, in any letter case: some
// disks do not tell them apart.
func checkWritable(p string) error {
	for segment := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(segment, ".git") || strings.EqualFold(segment, StoreFolder) {
			return record.Usage.Errorf("%s leads into %s: %w", p, segment, ErrProtected)
		}
	}
	return nil
}

// MakeFolder makes the folder that the file of a name of the own tree lies in, so
// that an agent can write there at once, and returns it, absolute. Where it is there
// already, nothing happens. It returns mirror.ErrLink if the way there leads over a
// symbolic link out of the workspace or, in an outside root, over any.
func (w *Workspace) MakeFolder(ctx context.Context, name record.Name) (string, error) {
	_, p, err := w.locationOf(name.Kind, name.ID)
	if err != nil {
		return "", err
	}
	err = w.withMirror(ctx, w.Root, func(r *reconciler) error { return r.MakeFolder(ctx, p) })
	return filepath.Dir(w.FilePath(p)), err
}

// Await waits as mirror.Await does for what happens in folders, which are paths as
// records have them and are made if they are missing.
func (w *Workspace) Await(ctx context.Context, limit time.Duration, look mirror.Look, folders ...string) (over bool, err error) {
	var dirs []string
	for _, folder := range folders {
		dir := w.FilePath(folder)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return false, fmt.Errorf("watching %s: %w", folder, err)
		}
		dirs = append(dirs, dir)
	}
	return mirror.Await(ctx, limit, look, dirs...)
}

// scan lists the files on disk that belong to the mirror: those that a layout
// recognises below the folders that layouts know, those of the configured note
// folders, and below outside roots those of the conversations and dialogues that this
// store has.
func (r *reconciler) scan(ctx context.Context, deadline time.Time) (*mirror.Walk, error) {
	p := r.w.Settings.Profile
	folders := []string{".claude", ".orchestrator", ".blue", "agent_tool_results"}
	for _, root := range []string{p.Root, p.Markers, p.Results, p.Dialogues, p.Sessions} {
		if root != "" && !strings.HasPrefix(root, "/") && !strings.HasPrefix(root, "~/") {
			folders = append(folders, root)
		}
	}
	for _, folder := range r.w.Settings.NoteFolders {
		folders = append(folders, strings.Trim(folder, "/"))
	}
	below := map[string][]string{}
	for _, o := range r.w.outside() {
		found, err := view(ctx, r.w.Store, func(tx *store.Tx) ([]string, error) { return foldersBelow(tx, o.Prefix) })
		if err != nil {
			return nil, err
		}
		below[o.Prefix] = found
	}
	return r.Scan(ctx, folders, below, r.w.isMirrored, deadline)
}

// isMirrored reports whether sync may look at a file of the workspace.
func (w *Workspace) isMirrored(p string) bool {
	return w.recognise(p).Kind != record.KindNote || slices.ContainsFunc(w.Settings.NoteFolders, func(folder string) bool {
		return strings.HasPrefix(p, strings.Trim(folder, "/")+"/")
	})
}

// foldersBelow returns the first folders of the paths below a prefix that the store
// has, each once.
func foldersBelow(tx *store.Tx, prefix string) ([]string, error) {
	var folders []string
	prefix = store.PathValue("", prefix)
	for value, err := range tx.Values(store.FieldPath, prefix) {
		if err != nil {
			return nil, err
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(value.Text, prefix), "/")
		if n := len(folders); n == 0 || folders[n-1] != folder {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}
