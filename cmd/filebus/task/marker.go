package task

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// failedSuffix ends the id of a marker that says that a task has failed.
const failedSuffix = ".failed"

// markerPath returns the path of a marker by its id.
func (b *Tasks) markerPath(id string) string {
	p, _ := b.work.Settings.Profile.Path(record.KindMarker, id) // as for journalPath
	return p
}

// markerID returns the id of the marker that a task leaves with an outcome.
func (b *Tasks) markerID(id ID, status string) string {
	failed := status == layout.StatusFailed || status == layout.StatusBlocked
	if failed && b.work.Settings.Profile.FailedMarkers() {
		return b.spelled(id) + failedSuffix
	}
	return b.spelled(id)
}

// spelled returns an id as its marker has it: as the start got it, which the journal says, else
// as in a marker that is there, else as it was given.
func (b *Tasks) spelled(id ID) string {
	if j := readJournal(b.journalFile(id)); j != nil {
		if own := path.Join(path.Dir(string(id)), j.ID); slices.Contains(layout.TaskForms(string(id)), own) {
			return own
		}
	}
	for _, markerID := range b.markerIDs(id) {
		if isThere(b.work.FilePath(b.markerPath(markerID))) {
			return strings.TrimSuffix(markerID, failedSuffix)
		}
	}
	return string(id)
}

// markerFile returns the file of the marker, absolute, that a task leaves when it
// ends with a status.
func (b *Tasks) markerFile(id ID, status string) string {
	return b.work.FilePath(b.markerPath(b.markerID(id, status)))
}

// markerIDs returns the ids of all markers that announce a task.
func (b *Tasks) markerIDs(id ID) []string {
	var ids []string
	for _, form := range layout.TaskForms(string(id)) {
		ids = append(ids, form, form+failedSuffix)
	}
	return ids
}

// A marker is the file that announces that a task has ended.
type marker struct {
	File   string // absolute
	Time   time.Time
	Text   string // beyond "done"
	Status string // of the file's name and text: complete, failed, ...
	path   string // below the workspace
	empty  bool
}

// markers returns the markers of a task that are on disk. What stands in the
// place of one and is none is ErrNotMarker beside them.
func (b *Tasks) markers(id ID) (found []marker, err error) {
	for _, markerID := range b.markerIDs(id) {
		m, is, lookErr := b.lookAt(b.markerPath(markerID))
		if is {
			found = append(found, m)
		}
		err = errors.Join(err, lookErr)
	}
	return found, err
}

// lookAt reads the marker at a path, if there is one.
func (b *Tasks) lookAt(p string) (m marker, found bool, err error) {
	file := b.work.FilePath(p)
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return marker{}, false, nil
	}
	if err != nil {
		return marker{}, false, fmt.Errorf("looking at the marker: %w", err)
	}
	if !info.Mode().IsRegular() {
		err := record.Conflict.Errorf("%s is %s, not a marker", file, folder.TypeName(info.Mode()))
		return marker{}, false, err.Try("mv {1} {2}, then run it again", file, file+".old")
	}
	m = marker{File: file, Time: info.ModTime(), path: p, empty: info.Size() == 0, Status: layout.StatusComplete}
	text, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return marker{}, false, nil
	}
	if err != nil {
		m.Text = "" // that it is there is the signal
		return m, true, nil
	}
	const maxMarker = 4 << 10 // how much of a marker is read, in bytes
	c := layout.ParseCompletion(text[:min(len(text), maxMarker)])
	if !strings.EqualFold(c.Text, "done") {
		m.Text = c.Text
	}
	m.Status = cmp.Or(c.Outcome, m.Status)
	if strings.HasSuffix(p, failedSuffix) && c.Outcome != layout.StatusBlocked {
		m.Status = layout.StatusFailed
	}
	return m, true, nil
}

// clearMarkers takes the markers of a task away, on disk and in the store.
func (b *Tasks) clearMarkers(ctx context.Context, id ID, keep string) (cleared int, err error) {
	if _, err := b.markers(id); err != nil {
		return 0, err
	}
	for _, markerID := range b.markerIDs(id) {
		if markerID == keep {
			continue
		}
		done, err := b.clear(ctx, markerID)
		if err != nil {
			return cleared, fmt.Errorf("clearing the marker of %s: %w", id, err)
		}
		if done {
			cleared++
		}
	}
	return cleared, nil
}

// clear retires one marker, and deletes its file.
func (b *Tasks) clear(ctx context.Context, markerID string) (cleared bool, err error) {
	p, name := b.markerPath(markerID), record.Name{Kind: record.KindMarker, ID: markerID}
	file := b.work.FilePath(p)
	const clearTries = 5 // how often a marker is cleared that its agent writes meanwhile
	for range clearTries {
		if isThere(file) {
			cleared = true
			if err := b.work.Import(ctx, p); err != nil {
				return false, err
			}
		}
		err := b.work.Remove(ctx, name)
		cleared = cleared || err == nil
		switch {
		case err != nil && !errors.Is(err, store.ErrNotFound) && !materialize.IsRace(err):
			return false, err
		case !errors.Is(err, store.ErrConflict) && !isThere(file):
			return cleared, nil
		}
	}
	return false, fmt.Errorf("%s is being written to: %w", file, store.ErrConflict)
}

func isThere(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// mark writes the marker of a task, and takes another one away that says
// something else.
func (b *Tasks) mark(ctx context.Context, id ID, status string) (file string, err error) {
	if _, err := b.markers(id); err != nil {
		return "", err
	}
	markerID := b.markerID(id, status)
	var c layout.Completion
	if strings.HasSuffix(markerID, failedSuffix) {
		c.Text = status
	}
	for try := 1; ; try++ {
		put, err := b.work.Put(ctx, materialize.PutRequest{
			Kind: record.KindMarker, ID: markerID, Source: record.SourcePut,
			Text: bytes.NewReader(layout.AppendCompletion(nil, c)),
		})
		if err != nil {
			return "", fmt.Errorf("writing the marker of %s: %w", id, err)
		}
		file = put.File
		// A marker that was deleted by hand is cleared by the first try.
		if _, err := os.Lstat(file); err == nil || try == 2 {
			break
		}
	}
	if b.work.Settings.Profile.FailedMarkers() {
		_, err = b.clearMarkers(ctx, id, markerID)
	}
	return file, err
}

// markerSlack is how much older than the start of its task a marker's file may
// seem: some disks keep even seconds only.
const markerSlack = 2 * time.Second

// An origin says how a task began, as far as that tells an old marker from a new
// one.
type origin struct {
	cleared bool      // by a start that took old markers away
	since   time.Time // zero if it is not known
}

// origin reads how the task whose journal is in the store began. A command's
// start has cleared the markers, so whatever is there came later, whatever the
// clocks say. An agent that writes its journal by hand states a time; one without
// a zone, or in the future, says nothing.
func (b *Tasks) origin(ctx context.Context, id ID) (o origin, err error) {
	err = b.work.Store.View(ctx, func(tx *store.Tx) error {
		v, err := query.Occupant(tx, store.PathValue("", b.journalPath(id)))
		if err != nil {
			return err
		}
		if at, err := time.Parse(time.RFC3339, tx.Description(v.Ref).Attributes[layout.AttributeStarted]); err == nil && !at.After(b.now()) {
			o.since = at
		}
		events, err := tx.History(v.Record.Name)
		if err != nil || len(events) == 0 {
			return err
		}
		first, err := tx.Get(events[0].Ref)
		o.cleared = err == nil && first.Record.Source == record.SourcePut
		return err
	})
	if query.IsAbsent(err) {
		err = nil
	}
	return o, err
}

// isOld reports whether a marker is from before the start of its task.
func (o origin) isOld(m marker) bool {
	return !o.cleared && !o.since.IsZero() && m.Time.Before(o.since.Add(-markerSlack))
}

// isKnown reports whether anything is known of the start.
func (o origin) isKnown() bool { return o.cleared || !o.since.IsZero() }

// counting returns the marker of a task that counts, the one with the worst news
// if there are several; without a file: there is none.
func (b *Tasks) counting(ctx context.Context, id ID) (best marker, err error) {
	all, err := b.markers(id)
	if len(all) == 0 {
		return marker{}, err
	}
	o, err := b.origin(ctx, id)
	for _, m := range all {
		if !o.isOld(m) && m.isWorse(best) {
			best = m
		}
	}
	return best, err
}

// isWorse reports whether a marker has worse news than another one, or there is no
// other.
func (m marker) isWorse(other marker) bool {
	return other.File == "" || badness(m.Status) > badness(other.Status)
}

// badness orders outcomes: the worst of what marker and journal say counts.
func badness(status string) int {
	return 1 + slices.Index([]string{layout.StatusPartial, layout.StatusBlocked, layout.StatusFailed}, status)
}

// An Ending is how a task has ended.
type Ending struct {
	ID         ID     `json:"task"`
	Status     string `json:"status"`            // complete, partial, blocked or failed
	Summary    string `json:"summary,omitempty"` // of the handoff, else what the marker says
	HasHandoff bool   `json:"handoff"`
	Marker     string `json:"marker"`            // absolute
	Journal    string `json:"journal,omitempty"` // absolute; empty if there is none
	// Seconds is the age of the marker where nothing is known of the start of the task.
	Seconds *int `json:"seconds,omitempty"`
}

// Failed reports whether the task failed or is blocked.
func (e Ending) Failed() bool { return badness(e.Status) > 1 }

// ending puts together what the marker and the journal on disk say.
func (b *Tasks) ending(id ID, m marker, o origin) Ending {
	e := Ending{ID: id, Status: layout.StatusComplete, Summary: m.Text, Marker: m.File}
	if !o.isKnown() {
		e.Seconds = new(int(max(b.now().Sub(m.Time), 0).Seconds()))
	}
	if layout.HasEnded(m.Status) {
		e.Status = m.Status
	}
	file := b.journalFile(id)
	j := readJournal(file)
	if j == nil {
		return e // there is none, or none that can be read: the marker counts
	}
	e.Journal = file
	if j.Handoff != nil {
		e.HasHandoff = true
		e.Summary = cmp.Or(j.Handoff.Summary, e.Summary)
	}
	status := j.State()
	if badness(status) > badness(e.Status) || status == layout.StatusBlocked {
		e.Status = status
	}
	return e
}
