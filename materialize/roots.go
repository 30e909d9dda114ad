package materialize

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filebus/materialize/mirror"
)

// Roots returns the folders whose files mirror the store: the workspace and the
// linked worktrees of its repository.
func (w *Workspace) Roots() []string {
	return append([]string{w.Main}, worktrees(w.Main)...)
}

// worktrees returns the tops of the linked worktrees of the repository whose
// main work tree is main.
func worktrees(main string) []string {
	files, err := filepath.Glob(filepath.Join(main, ".git", "worktrees", "*", "gitdir"))
	if err != nil {
		return nil // only a malformed pattern, which this is not
	}
	var tops []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		top := filepath.Dir(strings.TrimSpace(string(text)))
		if info, statErr := os.Stat(top); err == nil && statErr == nil && info.IsDir() {
			tops = append(tops, top)
		}
	}
	return tops
}

// withMirror runs fn while the mirror lock is held, for a root.
func (w *Workspace) withMirror(ctx context.Context, root string, fn func(r *reconciler) error) error {
	return w.withMirrors(ctx, []string{root}, func(all []*reconciler) error { return fn(all[0]) })
}

// withMirrors runs fn while the mirror lock is held, for roots.
func (w *Workspace) withMirrors(ctx context.Context, roots []string, fn func(all []*reconciler) error) error {
	hold, err := w.mirrors.Lock(ctx)
	if err != nil {
		return err
	}
	var all []*reconciler
	for _, root := range roots {
		m, openErr := w.mirrors.Open(root, w.outside())
		if err = openErr; err != nil {
			break
		}
		all = append(all, w.reconciler(m))
	}
	if err == nil {
		err = fn(all)
	}
	for _, r := range all {
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, hold.Release())
}

// reconciler returns the one of a mirror, for a command.
func (w *Workspace) reconciler(m *mirror.Mirror) *reconciler {
	return &reconciler{Mirror: m, w: w, opts: SyncOptions{Announced: true}, report: &SyncReport{}, start: time.Now()}
}
