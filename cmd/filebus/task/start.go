package task

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
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
	ID      ID              `json:"task"`
	Name    record.Name     `json:"name"` // of the journal: another than before if there was one
	Ref     record.ShortRef `json:"ref"`
	Journal string          `json:"journal"`           // absolute
	Marker  string          `json:"marker"`            // absolute: where it is expected when the task is complete
	Cleared int             `json:"cleared,omitempty"` // markers that were taken away
	Local   bool            `json:"local,omitempty"`   // other machines have not heard of it, and may start it as well
}

// lease is how long a task is its machine's, where somebody decides between machines.
const lease = 24 * time.Hour

// Start takes an old marker away and opens the journal. A journal that has ended
// at this place stays findable under its name, and the new one gets another. It
// returns errIsRunning if the task is running.
func (b *Tasks) Start(ctx context.Context, id ID, r StartRequest) (*Started, error) {
	if err := b.Free(ctx, id, r.Restart); err != nil {
		return nil, err
	}
	isLocal, err := b.work.Claim(ctx, record.Name{Kind: record.KindTask, ID: id.String()}, lease)
	if err != nil {
		return nil, err
	}
	s := &Started{ID: id, Journal: b.journalFile(id), Local: isLocal}
	// The marker goes first: with the new journal beside it, it would announce
	// the new task.
	cleared, err := b.clearMarkers(ctx, id, "")
	if err != nil {
		return nil, err
	}
	put, err := b.open(ctx, id, r)
	if err != nil {
		return nil, err
	}
	s.Name, s.Ref, s.Cleared = put.Name, record.ShortRef(put.Ref), cleared
	s.Marker = b.markerFile(id, layout.StatusComplete)
	// An agent that writes its marker by hand does not make the folder first.
	if err := os.MkdirAll(filepath.Dir(s.Marker), 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of markers: %w", err)
	}
	return s, nil
}

// open writes the journal of a task that begins. One that is too large to be
// edited becomes an older version of it.
func (b *Tasks) open(ctx context.Context, id ID, r StartRequest) (*materialize.PutResult, error) {
	put, err := b.work.EditText(ctx, record.KindHandoff, id.journal(), record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		before, _ := layout.ParseJournal(old) // what departs from the layout has no fields
		if old != nil && !layout.HasEnded(before.State()) {
			return nil, errRunning(id, &before)
		}
		started := b.stamp()
		if started == before.Started { // two journals are told apart by it
			started = b.now().UTC().Add(time.Second).Format(time.RFC3339)
		}
		return r.journal(id, started), nil
	})
	if errors.Is(err, materialize.ErrTooLarge) {
		return b.work.Put(ctx, materialize.PutRequest{
			Kind: record.KindHandoff, ID: id.journal(), Text: bytes.NewReader(r.journal(id, b.stamp())), Source: record.SourcePut,
		})
	}
	return put, err
}

// journal returns the text of a journal that begins.
func (r StartRequest) journal(id ID, started string) []byte {
	j := layout.Journal{Task: cmp.Or(r.Title, id.String()), Status: layout.StatusInProgress, Started: started}
	j.ID = path.Base(string(id))
	depends := markdown.Each(r.Depends, ID.String)
	j.Extra = []layout.Property{
		{Key: "Agent", Value: r.Agent}, {Key: "Run", Value: r.Run}, {Key: "Loop", Value: r.Loop},
		{Key: "Focus", Value: r.Focus}, {Key: "Depends", Value: strings.Join(depends, ", ")},
	}
	return layout.AppendJournal(nil, j)
}

// Free makes sure that a task's place is free: its journal has ended, or is
// closed because its marker is there, or because the task is to begin again.
func (b *Tasks) Free(ctx context.Context, id ID, restart bool) error {
	j, err := b.Look(ctx, id)
	if errors.Is(err, ErrNotStarted) {
		return nil
	}
	if err != nil {
		return err
	}
	status := j.Journal.State()
	marker, err := b.counting(ctx, id)
	switch {
	case err != nil:
		return err
	case layout.HasEnded(status) && j.Started != "":
		return nil
	case layout.HasEnded(status):
	case marker.File != "":
		status = marker.Status
	case restart:
		status = layout.StatusFailed + " (started anew)"
	default:
		return errRunning(id, &j.Journal)
	}
	_, err = b.edit(ctx, id, func(text []byte) ([]byte, error) { return b.closed(text, j, status), nil })
	if errors.Is(err, materialize.ErrTooLarge) {
		return nil // it stays as it is
	}
	return err
}

// closed returns the text of a journal that its agent has left open, with what
// tells it from the next one. If it has changed since it was read, it stays.
func (b *Tasks) closed(text []byte, seen *Journal, status string) []byte {
	j, _ := layout.ParseJournal(text) // what departs from the layout has no fields
	if j.Started != seen.Started {
		return text
	}
	if j.Started == "" {
		text = layout.SetJournalField(text, "Started", seen.Version.Record.Time.UTC().Format(time.RFC3339))
	}
	if !layout.HasEnded(j.State()) {
		text = layout.SetJournalField(text, "Status", status)
		text = layout.SetJournalField(text, "Completed", b.stamp())
	}
	return text
}

// A Prompt is what the agent of a task is told.
type Prompt struct {
	Task    ID     `json:"task"`
	Journal string `json:"journal"` // absolute, as is the marker
	Marker  string `json:"marker"`
	Text    string `json:"prompt"`
}

// Prompt returns what the agent of a task is told: where its journal and its
// marker are, how to note progress and how to hand over, by command and by hand.
// It has about 250 tokens at most beside the paths.
func (b *Tasks) Prompt(id ID, title string) Prompt {
	r := Prompt{Task: id, Journal: b.journalFile(id), Marker: b.markerFile(id, layout.StatusComplete)}
	var p strings.Builder
	fmt.Fprintf(&p, "Task %s", id)
	const maxTitle = 100 // how much of a title a prompt shows, in characters
	if title != "" && title != id.String() {
		fmt.Fprintf(&p, ": %s", markdown.Clip(strings.Join(strings.Fields(title), " "), maxTitle))
	}
	fmt.Fprintf(&p, "\nJournal: %s\nMarker: %s\n", r.Journal, r.Marker)
	fmt.Fprintf(&p, "Note each step: filebus task note %s TEXT\n", id)
	fmt.Fprintf(&p, "At the end: filebus task done %s --summary TEXT --files A,B [--pattern P] [--gotcha G]\n", id)
	fmt.Fprintf(&p, "or: filebus task fail %s --summary S --next STEP; filebus task block %s --summary S --blocker B\n", id, id)
	p.WriteString(byHand)
	if failed := b.markerFile(id, layout.StatusFailed); failed != r.Marker {
		fmt.Fprintf(&p, "If it failed or is blocked, the marker is %s\n", failed)
	}
	r.Text = p.String()
	return r
}

// byHand is the handoff form for agents that have no filebus.
const byHand = "By hand: `- [time] text` lines below \"## Progress Log\"; at the end Status and Completed, and below " +
	"\"## Handoff\" a table\n`| Field | Value |`: Outcome (completed, partial, failed or blocked), Summary, Files Changed, " +
	"Blockers,\nPatterns Discovered, Gotchas (None, if there are none); then write `done` to the marker, last of all.\n"
