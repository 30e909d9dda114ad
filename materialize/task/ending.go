package task

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

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
func (b *Board) origin(ctx context.Context, id ID) (o origin, err error) {
	err = b.work.Store.View(ctx, func(tx *store.Tx) error {
		v, err := occupant(tx, b.journalPath(id))
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
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
		err = nil
	}
	return o, err
}

// isOld reports whether a marker is from before the start of its task.
func (o origin) isOld(m Marker) bool {
	return !o.cleared && !o.since.IsZero() && m.Time.Before(o.since.Add(-markerSlack))
}

// isKnown reports whether anything is known of the start.
func (o origin) isKnown() bool { return o.cleared || !o.since.IsZero() }

// counting returns the marker of a task that counts, the one with the worst news
// if there are several; without a file: there is none.
func (b *Board) counting(ctx context.Context, id ID) (best Marker, err error) {
	all, err := b.markers(id)
	if len(all) == 0 {
		return Marker{}, err
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
func (m Marker) isWorse(other Marker) bool {
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
func (b *Board) ending(id ID, m Marker, o origin) Ending {
	e := Ending{ID: id, Status: layout.StatusComplete, Summary: m.Text, Marker: m.File}
	if !o.isKnown() {
		seconds := int(max(b.now().Sub(m.Time), 0).Seconds())
		e.Seconds = &seconds
	}
	if layout.HasEnded(m.Status) {
		e.Status = m.Status
	}
	file := b.JournalFile(id)
	j := readJournal(file)
	if j == nil {
		return e // there is none, or none that can be read: the marker counts
	}
	e.Journal = file
	if j.Handoff != nil {
		e.HasHandoff = true
		e.Summary = cmp.Or(j.Handoff.Summary, e.Summary)
	}
	status := Status(j)
	if badness(status) > badness(e.Status) || status == layout.StatusBlocked {
		e.Status = status
	}
	return e
}
