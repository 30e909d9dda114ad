package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A Snapshot is what is kept of a loop.
type Snapshot struct {
	Run          string         `json:"run"`
	Loop         int            `json:"loop"`
	Time         time.Time      `json:"time"` // of its newest file
	FilesChanged int            `json:"files_changed"`
	LinesAdded   int            `json:"lines_added"`
	LinesRemoved int            `json:"lines_removed"`
	Issues       []string       `json:"issues,omitempty"`
	Completed    int            `json:"completed"`         // agents that ended in the loop
	Changed      []string       `json:"changed,omitempty"` // the first files
	Files        []snapshotFile `json:"files"`             // those of the documents first, then by name
	Notes        []string       `json:"notes,omitempty"`

	Tasks    layout.TaskOutcomes `json:"tasks,omitempty"` // that were worked on in the loop
	Manifest *layout.Manifest    `json:"-"`
}

// A snapshotFile is a file of a snapshot.
type snapshotFile struct {
	Path    string // below the loop's folder
	Version store.Version
	Summary string
}

// MarshalText returns the path.
func (f snapshotFile) MarshalText() ([]byte, error) { return []byte(f.Path), nil }

// Name returns RUN/loop-N.
func (s *Snapshot) Name() string { return fmt.Sprintf("%s/loop-%d", s.Run, s.Loop) }

// file returns a file of the snapshot.
func (s *Snapshot) file(name string) (snapshotFile, error) {
	var have []string
	for _, f := range s.Files {
		if f.Path == name {
			return f, nil
		}
		have = append(have, f.Path)
	}
	return snapshotFile{}, record.NotFound.Errorf("the snapshot %s has no %s; it has %s",
		s.Name(), name, strings.Join(have, ", ")).Try("filebus snapshot show {1}", fmt.Sprintf("%s/%d", s.Run, s.Loop))
}

// Snapshots returns the snapshots that were taken, the newest first: of one run,
// or of all. A loop that has only begun has none.
func (b *Runs) Snapshots(ctx context.Context, id string) ([]*Snapshot, error) {
	listing, err := b.read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindSnapshot}, Runs: record.Any(id)})
	if err != nil {
		return nil, err
	}
	var all []*Snapshot
	byName := map[string]*Snapshot{}
	for _, entry := range listing {
		parts := strings.SplitN(entry.Name.ID, "/", 3)
		loop, err := strconv.Atoi(entry.Loop)
		if len(parts) < 3 || err != nil {
			continue // of a profile that is not the workspace's
		}
		key := path.Join(parts[0], parts[1])
		s := byName[key]
		if s == nil { // the newest comes first
			s = &Snapshot{Run: entry.Run, Loop: loop, Time: entry.Time}
			byName[key] = s
			all = append(all, s)
		}
		s.Files = append(s.Files, snapshotFile{parts[2], entry.Version, entry.Description.Preview})
	}
	all = slices.DeleteFunc(all, func(s *Snapshot) bool {
		return !slices.ContainsFunc(s.Files, func(f snapshotFile) bool { return f.Path != layout.SnapshotStart })
	})
	for _, s := range all {
		slices.SortFunc(s.Files, func(a, b snapshotFile) int {
			return cmp.Or(fileOrder(a.Path)-fileOrder(b.Path), strings.Compare(a.Path, b.Path))
		})
	}
	slices.SortFunc(all, func(a, b *Snapshot) int { return cmp.Or(b.Time.Compare(a.Time), b.Loop-a.Loop) })
	return all, nil
}

func fileOrder(name string) int {
	known := []string{layout.SnapshotManifest, layout.SnapshotIssues, layout.SnapshotState, layout.SnapshotDiff}
	return -slices.Index(known, name) // of others 1
}

// Find returns the snapshot that a text names: RUN/LOOP, where the loop is 2 or
// loop-2, or a loop alone, of the run of the session state. Its manifest is nil
// where somebody else has kept it.
func (b *Runs) Find(ctx context.Context, text string) (*Snapshot, error) {
	id, loop, err := b.parseName(ctx, text)
	if err != nil {
		return nil, err
	}
	all, err := b.Snapshots(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Loop == loop {
			return s, b.ReadManifest(ctx, s)
		}
	}
	return nil, record.NotFound.Errorf("no snapshot %s/loop-%d", id, loop).Try("filebus snapshot list")
}

func (b *Runs) parseName(ctx context.Context, text string) (id string, loop int, err error) {
	id, number, found := strings.Cut(strings.Trim(text, "/"), "/")
	if !found {
		number = id
		if id, err = b.currentRun(ctx); err != nil {
			return "", 0, err
		}
	}
	loop, err = strconv.Atoi(strings.TrimPrefix(number, "loop-"))
	if err != nil || loop < 1 || id == "" {
		return "", 0, malformed("snapshot", text, "RUN/LOOP, such as run-2025-12-12-001/2")
	}
	return id, loop, nil
}

// ReadManifest reads the manifest of a snapshot, if it has one of ours.
func (b *Runs) ReadManifest(ctx context.Context, s *Snapshot) error {
	f, err := s.file(layout.SnapshotManifest)
	if err != nil {
		return nil // one without is a snapshot too
	}
	text, err := b.text(ctx, f.Version)
	if err != nil {
		return err
	}
	if m, err := layout.ParseManifest(text); err == nil {
		s.describe(&m)
	}
	return nil
}

// describe takes over what a manifest says.
func (s *Snapshot) describe(m *layout.Manifest) {
	s.Manifest, s.Issues, s.Completed, s.Tasks, s.Notes = m, m.Issues, m.Completed, m.Tasks, m.Notes
	s.FilesChanged, s.LinesAdded, s.LinesRemoved = m.FilesChanged, m.LinesAdded, m.LinesRemoved
	s.Changed = markdown.Each(m.Changed[:min(len(m.Changed), 10)], changeText)
}

// changeText says how a file was changed: added, deleted, changed, renamed.
func changeText(c layout.SnapshotChange) string {
	text := c.Status + " " + c.Path
	if c.Was != "" {
		text += " from " + c.Was
	}
	if c.Added+c.Removed > 0 {
		text += fmt.Sprintf(" +%d -%d", c.Added, c.Removed)
	}
	if c.Binary {
		text += " binary"
	}
	return text
}

// FileOf returns the file of a snapshot that a text names.
func (b *Runs) FileOf(ctx context.Context, text, name string) (store.Version, error) {
	s, err := b.Find(ctx, text)
	if err != nil {
		return store.Version{}, err
	}
	f, err := s.file(name)
	return f.Version, err
}

// A Restored says what restoring the session state did.
type Restored struct {
	From      string          `json:"from"` // the snapshot
	Ref       record.ShortRef `json:"ref"`
	File      string          `json:"file"`            // absolute
	Before    record.ShortRef `json:"before,omitzero"` // the version that stood there, unless it is the same
	Unchanged bool            `json:"unchanged"`
}

// RestoreState puts the session state back as it was at the end of a loop. What
// stands there now stays a version of the file.
func (b *Runs) RestoreState(ctx context.Context, text string) (*Restored, error) {
	s, err := b.Find(ctx, text)
	if err != nil {
		return nil, err
	}
	f, err := s.file(layout.SnapshotState)
	if err != nil {
		return nil, err
	}
	state, err := b.text(ctx, f.Version)
	if err != nil {
		return nil, err
	}
	r := &Restored{From: s.Name()}
	edit := func(_ []byte, head *store.Version) ([]byte, error) {
		if r.Before = (record.ShortRef{}); head != nil {
			r.Before = record.ShortRef(head.Ref)
		}
		return state, nil
	}
	result, err := b.w.EditText(ctx, record.KindState, stateID, record.SourcePut, edit)
	if err != nil {
		return nil, err
	}
	r.Ref, r.File, r.Unchanged = record.ShortRef(result.Ref), result.File, result.Unchanged
	if r.Unchanged {
		r.Before = record.ShortRef{}
	}
	return r, nil
}

// An OldRun is a run whose snapshots are kept no longer.
type OldRun struct {
	ID    string
	Names []record.Name // of its snapshots' files
}

// OldRuns returns the runs whose snapshots are kept no longer, the oldest last: all
// but the newest keep ones, and of these only those of which nothing was stored
// since before, unless that is zero. The run of the session state always stays.
func (b *Runs) OldRuns(ctx context.Context, keep int, before time.Time) ([]OldRun, error) {
	current, err := b.currentRun(ctx)
	if err != nil {
		return nil, err
	}
	all, err := b.read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindSnapshot}})
	if err != nil {
		return nil, err
	}
	var order []string // the newest first
	newest := map[string]time.Time{}
	names := map[string][]record.Name{}
	for _, entry := range all {
		if names[entry.Run] == nil {
			order, newest[entry.Run] = append(order, entry.Run), entry.Time
		}
		names[entry.Run] = append(names[entry.Run], entry.Name)
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
func (b *Runs) currentRun(ctx context.Context) (string, error) {
	state, _, _, err := b.state(ctx)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return state.RunID, err
}

// Sweep deletes what was kept of the work trees of runs that have no snapshots any
// more.
func (b *Runs) Sweep(ctx context.Context) error {
	entries, err := folder.At(b.w.Location.Store).ReadDir(loopsFolder)
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
		kept[s.Run] = true
	}
	for _, entry := range entries {
		if err == nil && !kept[entry.Name()] {
			err = folder.At(b.w.Location.Store).RemoveAll(path.Join(loopsFolder, entry.Name()))
		}
	}
	return err
}
