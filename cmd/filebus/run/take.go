package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// Take keeps the snapshot of a loop: diff.patch, state.md, issues_completed.md
// and manifest.json. An empty run and a loop of 0 are those of the session state.
// The snapshot of a loop that another one has followed ends where that one began.
// It is written once.
func (b *Runs) Take(ctx context.Context, id string, loop int) (*Snapshot, error) {
	if err := b.importFiles(ctx); err != nil {
		return nil, err
	}
	t, err := b.newTaking(ctx, id, loop)
	if err != nil {
		return nil, err
	}
	if err := t.keepFiles(ctx); err != nil {
		return nil, err
	}
	m := &t.manifest
	err = b.keep(ctx, m.Run, m.Loop, layout.SnapshotManifest, layout.AppendManifest(nil, *m))
	if store.IsWriteOnce(err) { // another process was faster
		return nil, taken(m.Run, m.Loop)
	}
	s := &Snapshot{Run: m.Run, Loop: m.Loop, Time: b.opts.Now().UTC()}
	s.describe(m)
	s.Files = markdown.Each(m.Files, func(f layout.SnapshotFile) snapshotFile { return snapshotFile{Path: f.Path} })
	return s, err
}

func taken(id string, loop int) error {
	return record.Conflict.Errorf("the snapshot %s/loop-%d was taken before, and is written once", id, loop).
		Try("filebus snapshot show {1}, or filebus run loop", fmt.Sprintf("%s/%d", id, loop))
}

func neverIn(id string, loop int) error {
	err := record.NotFound.Errorf("the session state never was in loop %d of the run %s", loop, id)
	return err.Try("filebus run show")
}

// A taking is a snapshot that is being taken.
type taking struct {
	*Runs
	state    layout.State
	text     []byte            // of the state, at the loop's end
	start    *layout.LoopStart // nil: nothing was noted
	next     *layout.LoopStart // nil: the loop goes on
	manifest layout.Manifest
}

// newTaking finds the loop that is meant and where it begins and ends.
func (b *Runs) newTaking(ctx context.Context, id string, loop int) (*taking, error) {
	t := &taking{Runs: b}
	current, _, text, err := b.state(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	now, _ := current.LoopNumber()
	if id = cmp.Or(id, current.RunID); id == "" {
		return nil, noRun("")
	}
	if err := checkID("id of a run", id); err != nil {
		return nil, err
	}
	if loop == 0 && id == current.RunID {
		loop = now
	}
	if loop < 1 {
		return nil, malformed("loop", fmt.Sprint(loop), "a number from 1 on: --loop N")
	}
	if id == current.RunID && loop > now {
		if now == 0 {
			return nil, neverIn(id, loop)
		}
		return nil, record.Conflict.Errorf("the run %s has not begun loop %d: it is in loop %d", id, loop, now).
			Try("filebus snapshot take --loop {1}", fmt.Sprint(now))
	}
	t.manifest = layout.Manifest{Run: id, Loop: loop, Taken: b.now().Format(time.RFC3339)}
	if _, _, err := b.stored(ctx, snapshotName(id, loop, layout.SnapshotManifest)); !errors.Is(err, store.ErrNotFound) {
		return nil, errors.Join(err, taken(id, loop))
	}
	if t.start, err = b.loopStart(ctx, id, loop); err != nil {
		return nil, err
	}
	if t.next, err = b.loopStart(ctx, id, loop+1); err != nil {
		return nil, err
	}
	if t.start == nil {
		t.note("where the loop began was not noted: run loop and run start do that")
	}
	return t, t.readState(ctx, current, text)
}

func (t *taking) note(format string, args ...any) {
	t.manifest.Notes = append(t.manifest.Notes, fmt.Sprintf(format, args...))
}

// readState finds the session state at the loop's end, of which the last version is
// that with which an earlier loop ended.
func (t *taking) readState(ctx context.Context, current layout.State, text []byte) error {
	m := &t.manifest
	t.state, t.text = current, text
	if loop, _ := current.LoopNumber(); current.RunID == m.Run && loop == m.Loop {
		return nil
	}
	all, err := t.states(ctx)
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(all) {
		if v.Record.Run == m.Run && v.Record.Loop == fmt.Sprint(m.Loop) {
			t.text, err = t.Runs.text(ctx, v)
			t.state, _ = layout.ParseState(t.text)
			return err
		}
	}
	return neverIn(m.Run, m.Loop)
}

// keepFiles makes and keeps the files of the snapshot.
func (t *taking) keepFiles(ctx context.Context) error {
	m := &t.manifest
	if t.start != nil {
		m.Started, m.From = t.start.Time, t.start.SnapshotPoint
	}
	if t.next != nil {
		m.To = t.next.SnapshotPoint
	}
	issues, err := t.issues(ctx)
	if err != nil {
		return err
	}
	m.Issues = markdown.Each(issues, func(i layout.CompletedIssue) string { return i.ID })
	diff, err := t.diff(ctx)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		text []byte
	}{
		{layout.SnapshotDiff, diff}, {layout.SnapshotState, t.text},
		{layout.SnapshotIssues, layout.AppendCompletedIssues(nil, issues)},
	} {
		if err := t.keep(ctx, f.name, f.text); err != nil {
			return err
		}
	}
	ended := endedIn(t.state, t.start)
	m.Running, m.Completed, m.Tasks = len(t.state.Running), len(ended), layout.OutcomesOf(ended, t.state.Running)
	return nil
}

// keep puts a file of the snapshot. One that stands there, as agents, another
// process or a taking that was cut short have left it, stays.
func (t *taking) keep(ctx context.Context, file string, text []byte) error {
	name := snapshotName(t.manifest.Run, t.manifest.Loop, file)
	_, there, err := t.stored(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		there = text
		if err = t.Runs.keep(ctx, t.manifest.Run, t.manifest.Loop, file, text); store.IsWriteOnce(err) {
			_, there, err = t.stored(ctx, name)
		}
	}
	if err != nil {
		return err
	}
	if string(there) != string(text) {
		t.note("%s was there before, and stays as it is", file)
	}
	t.manifest.Files = append(t.manifest.Files, layout.SnapshotFile{
		Path: file, Size: int64(len(there)), Digest: record.DigestOf(there).String(),
	})
	return nil
}

// issues returns the issues that were completed in the loop, by id: those that are
// complete at its end and were not at its beginning.
func (t *taking) issues(ctx context.Context) (done []layout.CompletedIssue, err error) {
	all, err := t.read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindIssue}})
	if err != nil {
		return nil, err
	}
	err = query.EachOf(ctx, t.read, all, func(tx *store.Tx, entry query.Summary) error {
		completed, err := t.completedInLoop(tx, entry.Version)
		if err != nil || !completed {
			return err
		}
		content, err := tx.Content(entry.Version.Record)
		if err != nil {
			return err
		}
		text, err := content.Bytes()
		issue := layout.ReadIssue(entry.Path, text)
		done = append(done, layout.CompletedIssue{ID: entry.Name.ID, Summary: cmp.Or(issue.Summary, issue.Title)})
		return err
	})
	slices.SortFunc(done, func(a, b layout.CompletedIssue) int { return strings.Compare(a.ID, b.ID) })
	return done, err
}

// completedInLoop reports whether the issue with this head became complete in
// the loop.
func (t *taking) completedInLoop(tx *store.Tx, head store.Version) (is bool, err error) {
	at := func(position uint64) (bool, error) {
		v, err := tx.HeadAt(head.Record.Name, position)
		if query.IsAbsent(err) {
			return false, nil
		}
		return err == nil && v.Record.Status == layout.StatusComplete, err
	}
	is = head.Record.Status == layout.StatusComplete
	if t.next != nil {
		is, err = at(t.next.Position)
	}
	if err != nil || !is {
		return false, err
	}
	if t.start == nil {
		started, err := time.Parse(time.RFC3339, t.state.Started)
		return err != nil || !head.Record.Time.Before(started), nil // since the run began, if it says when
	}
	was, err := at(t.start.Position)
	return !was && err == nil, err
}
