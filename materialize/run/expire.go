package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// An OldRun is a run whose snapshots are kept no longer.
type OldRun struct {
	ID    string
	Names []record.Name // of its snapshots' files
}

// OldRuns returns the runs whose snapshots are kept no longer, the oldest last: all
// but the newest keep ones, and of these only those of which nothing was stored
// since before, unless that is zero. The run of the session state always stays.
func (b *Book) OldRuns(ctx context.Context, keep int, before time.Time) ([]OldRun, error) {
	current, err := b.currentRun(ctx)
	if err != nil {
		return nil, err
	}
	all, err := b.list(ctx, record.Filter{Kinds: []record.Kind{record.KindSnapshot}})
	if err != nil {
		return nil, err
	}
	var order []string // the newest first
	newest := map[string]time.Time{}
	names := map[string][]record.Name{}
	for _, entry := range all {
		r := entry.Version.Record
		if names[r.Run] == nil {
			order, newest[r.Run] = append(order, r.Run), r.Time
		}
		names[r.Run] = append(names[r.Run], r.Name)
	}
	var old []OldRun
	for _, id := range order[min(keep, len(order)):] {
		if id != current && (before.IsZero() || newest[id].Before(before)) {
			old = append(old, OldRun{id, names[id]})
		}
	}
	return old, nil
}

// currentRun returns the run of the session state, or "".
func (b *Book) currentRun(ctx context.Context) (string, error) {
	state, _, _, err := b.state(ctx)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return state.RunID, err
}

// Sweep deletes what was kept of the work trees of runs that have no snapshots any
// more.
func (b *Book) Sweep(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(b.w.Location.Store, loopsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The state is read after the folders: a run that begins is named there before
	// it has one, and its snapshots come later.
	current, err := b.currentRun(ctx)
	if err != nil {
		return err
	}
	left, err := b.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindSnapshot}}})
	kept := map[string]bool{current: true}
	for _, s := range left.Entries {
		kept[s.Version.Record.Run] = true
	}
	for _, entry := range entries {
		if err == nil && !kept[entry.Name()] {
			err = os.RemoveAll(ObjectsFolder(b.w.Location.Store, entry.Name()))
		}
	}
	return err
}
