package run

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Snapshot is what is kept of a loop.
type Snapshot struct {
	Run      string
	Loop     int
	Time     time.Time // of its newest file
	Files    []File    // those of the documents first, then by name
	Manifest *layout.Manifest
}

// A File is a file of a snapshot.
type File struct {
	Path    string // below the loop's folder
	Version store.Version
	Summary string
}

// Name returns RUN/loop-N.
func (s *Snapshot) Name() string { return fmt.Sprintf("%s/loop-%d", s.Run, s.Loop) }

// file returns a file of the snapshot.
func (s *Snapshot) file(name string) (File, error) {
	var have []string
	for _, f := range s.Files {
		if f.Path == name {
			return f, nil
		}
		have = append(have, f.Path)
	}
	return File{}, record.NotFound.Errorf("the snapshot %s has no %s; it has %s", s.Name(), name, strings.Join(have, ", ")).
		Because(ErrNoFile, fmt.Sprintf("%s/%d", s.Run, s.Loop))
}

// Snapshots returns the snapshots that were taken, the newest first: of one run,
// or of all. A loop that has only begun has none.
func (b *Book) Snapshots(ctx context.Context, id string) ([]*Snapshot, error) {
	listing, err := b.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindSnapshot}, Trees: []record.Tree{""}, Runs: record.Any(id)}})
	if err != nil {
		return nil, err
	}
	var all []*Snapshot
	byName := map[string]*Snapshot{}
	for _, entry := range listing.Entries {
		r := entry.Version.Record
		key, file, found := cutSnapshotID(r.Name.ID)
		loop, err := strconv.Atoi(r.Loop)
		if !found || err != nil {
			continue // of a profile that is not the workspace's
		}
		s := byName[key]
		if s == nil {
			s = &Snapshot{Run: r.Run, Loop: loop}
			byName[key] = s
			all = append(all, s)
		}
		if r.Time.After(s.Time) {
			s.Time = r.Time
		}
		s.Files = append(s.Files, File{file, entry.Version, entry.Description.Preview})
	}
	all = slices.DeleteFunc(all, func(s *Snapshot) bool {
		return !slices.ContainsFunc(s.Files, func(f File) bool { return f.Path != layout.SnapshotStart })
	})
	for _, s := range all {
		slices.SortFunc(s.Files, func(a, b File) int {
			if order := fileOrder(a.Path) - fileOrder(b.Path); order != 0 {
				return order
			}
			return strings.Compare(a.Path, b.Path)
		})
	}
	slices.SortFunc(all, func(a, b *Snapshot) int {
		if order := b.Time.Compare(a.Time); order != 0 {
			return order
		}
		return b.Loop - a.Loop
	})
	return all, nil
}

// cutSnapshotID cuts an id into run/loop and the file.
func cutSnapshotID(id string) (loop, file string, found bool) {
	parts := strings.SplitN(id, "/", 3)
	if len(parts) < 3 {
		return "", "", false
	}
	return path.Join(parts[0], parts[1]), parts[2], true
}

func fileOrder(name string) int {
	known := []string{layout.SnapshotDiff, layout.SnapshotState, layout.SnapshotIssues, layout.SnapshotManifest}
	if i := slices.Index(known, name); i >= 0 {
		return i
	}
	return len(known)
}

// Find returns the snapshot that a text names: RUN/LOOP, where the loop is 2 or
// loop-2, or a loop alone, of the run of the session state. Its manifest is nil
// where somebody else has kept it.
func (b *Book) Find(ctx context.Context, text string) (*Snapshot, error) {
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
	return nil, record.NotFound.Errorf("no snapshot %s/loop-%d", id, loop).Because(ErrNoSnapshot)
}

func (b *Book) parseName(ctx context.Context, text string) (id string, loop int, err error) {
	id, number, found := strings.Cut(strings.Trim(text, "/"), "/")
	if !found {
		number = id
		view, err := b.View(ctx)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", 0, err
		}
		if id = ""; view != nil {
			id = view.RunID
		}
	}
	loop, err = strconv.Atoi(strings.TrimPrefix(number, "loop-"))
	if err != nil || loop < 1 || id == "" {
		return "", 0, malformed("snapshot", text, "RUN/LOOP, such as run-2025-12-12-001/2")
	}
	return id, loop, nil
}

// ReadManifest reads the manifest of a snapshot, if it has one of ours.
func (b *Book) ReadManifest(ctx context.Context, s *Snapshot) error {
	f, err := s.file(layout.SnapshotManifest)
	if err != nil {
		return nil // one without is a snapshot too
	}
	text, err := b.text(ctx, f.Version)
	if err != nil {
		return err
	}
	if m, err := layout.ParseManifest(text); err == nil {
		s.Manifest = &m
	}
	return nil
}

// FileOf returns the file of a snapshot that a text names.
func (b *Book) FileOf(ctx context.Context, text, name string) (store.Version, error) {
	s, err := b.Find(ctx, text)
	if err != nil {
		return store.Version{}, err
	}
	f, err := s.file(name)
	return f.Version, err
}

// A Restored says what restoring the session state did.
type Restored struct {
	Outcome
	From      string      // the snapshot
	Before    *record.Ref // the version that stood there; nil: nothing did
	Unchanged bool
}

// RestoreState puts the session state back as it was at the end of a loop. What
// stands there now stays a version of the file.
func (b *Book) RestoreState(ctx context.Context, text string) (*Restored, error) {
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
	result, err := b.w.EditText(ctx, record.KindState, stateID, record.SourcePut, func(_ []byte, head *store.Version) ([]byte, error) {
		if r.Before = nil; head != nil {
			r.Before = &head.Ref
		}
		return state, nil
	})
	if err != nil {
		return nil, err
	}
	r.Ref, r.File, r.Unchanged = result.Ref, result.File, result.Unchanged
	r.State, _ = layout.ParseState(state)
	return r, nil
}
