package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A StartRequest says what a journal begins with. Empty fields are left out.
type StartRequest struct {
	Title            string // default: the id
	Agent, Run, Loop string
	Focus            string
	Depends          []ID // tasks whose handoffs it builds on
	Restart          bool // also if the task is running
}

// A Started is a task that was started.
type Started struct {
	ID      ID
	Name    record.Name // of the journal: another than before if there was one
	Ref     record.Ref
	Journal string // absolute
	Marker  string // absolute: where it is expected when the task is complete
	Cleared int    // markers that were taken away
}

// Start takes an old marker away and opens the journal. A journal that has ended
// at this place stays findable under its name, and the new one gets another. It
// returns a *RunningError if the task is running.
func (b *Board) Start(ctx context.Context, id ID, r StartRequest) (*Started, error) {
	file, err := b.MarkerFile(id, layout.StatusComplete)
	if err != nil {
		return nil, err
	}
	s := &Started{ID: id, Marker: file}
	if s.Journal, err = b.JournalFile(id); err != nil {
		return nil, err
	}
	if err := b.free(ctx, id, r.Restart); err != nil {
		return nil, err
	}
	// The marker goes first: with the new journal beside it, it would announce
	// the new task.
	if s.Cleared, err = b.clearMarkers(ctx, id, ""); err != nil {
		return nil, err
	}
	put, err := b.open(ctx, id, r)
	if err != nil {
		return nil, err
	}
	s.Name, s.Ref = put.Name, put.Ref
	// An agent that writes its marker by hand does not make the folder first.
	if err := os.MkdirAll(filepath.Dir(s.Marker), 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of markers: %w", err)
	}
	return s, nil
}

// open writes the journal of a task that begins. One that is too large to be
// edited becomes an older version of it.
func (b *Board) open(ctx context.Context, id ID, r StartRequest) (*materialize.PutResult, error) {
	put, err := b.work.EditText(ctx, record.KindHandoff, id.Journal(), record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		before, _ := layout.ParseJournal(old) // what departs from the layout has no fields
		if old != nil && !layout.HasEnded(Status(&before)) {
			return nil, b.running(id, &before)
		}
		return r.journal(id, b.startAfter(before.Started)), nil
	})
	if errors.Is(err, materialize.ErrTooLarge) {
		return b.work.Put(ctx, materialize.PutRequest{
			Kind: record.KindHandoff, ID: id.Journal(), Text: bytes.NewReader(r.journal(id, b.stamp())), Source: record.SourcePut,
		})
	}
	return put, err
}

// journal returns the text of a journal that begins.
func (r StartRequest) journal(id ID, started string) []byte {
	j := layout.Journal{Task: r.Title, Status: layout.StatusInProgress, Started: started}
	if j.Task == "" {
		j.Task = string(id)
	}
	var depends []string
	for _, d := range r.Depends {
		depends = append(depends, string(d))
	}
	j.Extra = []layout.Property{
		{Key: "Agent", Value: r.Agent}, {Key: "Run", Value: r.Run}, {Key: "Loop", Value: r.Loop},
		{Key: "Focus", Value: r.Focus}, {Key: "Depends", Value: strings.Join(depends, ", ")},
	}
	return layout.AppendJournal(nil, j)
}

// startAfter returns the time of a start, which must not be that of the one
// before: the two journals are told apart by it.
func (b *Board) startAfter(before string) string {
	at := b.stamp()
	if at != before {
		return at
	}
	return b.now().UTC().Add(time.Second).Format(time.RFC3339)
}

func (b *Board) running(id ID, j *layout.Journal) *RunningError {
	e := &RunningError{ID: id, Started: j.Started}
	e.File, _ = b.JournalFile(id) // it was read there
	for _, p := range j.Extra {
		if strings.EqualFold(p.Key, "agent") {
			e.Agent = p.Value
		}
	}
	return e
}

// free makes sure that a task's place is free: its journal has ended, or is
// closed because its marker is there, or because the task is to begin again.
func (b *Board) free(ctx context.Context, id ID, restart bool) error {
	p, err := b.journalPath(id)
	if err != nil {
		return err
	}
	if err := b.work.TakeIn(ctx, p); err != nil {
		return err
	}
	j, err := b.Get(ctx, id)
	if missing := (*NotStartedError)(nil); errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return err
	}
	status := Status(&j.Journal)
	marker, marked, err := b.counting(ctx, id)
	switch {
	case err != nil:
		return err
	case layout.HasEnded(status) && j.Started != "":
		return nil
	case layout.HasEnded(status):
	case marked:
		status = marker.Status
	case restart:
		status = layout.StatusFailed + " (started anew)"
	default:
		return b.running(id, &j.Journal)
	}
	_, err = b.edit(ctx, id, func(text []byte) ([]byte, error) { return b.closed(text, j, status), nil })
	if errors.Is(err, materialize.ErrTooLarge) {
		return nil // it stays as it is
	}
	return err
}

// closed returns the text of a journal that its agent has left open, with what
// tells it from the next one. If it has changed since it was read, it stays.
func (b *Board) closed(text []byte, seen *Journal, status string) []byte {
	j, _ := layout.ParseJournal(text) // what departs from the layout has no fields
	if j.Started != seen.Started {
		return text
	}
	if j.Started == "" {
		text = layout.SetJournalField(text, "Started", seen.Version.Record.Time.UTC().Format(time.RFC3339))
	}
	if !layout.HasEnded(Status(&j)) {
		text = layout.SetJournalField(text, "Status", status)
		text = layout.SetJournalField(text, "Completed", b.stamp())
	}
	return text
}
