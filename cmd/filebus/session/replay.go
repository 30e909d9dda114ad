package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// A Step is an entry of the log about a record of a session. Its event is put, for a first
// version; change, for a further one; conflict, for one that was kept beside the head;
// retire, when the name has no current version any more; drop, when a content was
// destroyed.
type Step struct {
	Position  uint64          `json:"position"`
	Time      time.Time       `json:"time"`
	Event     string          `json:"event"`
	Name      record.Name     `json:"name"`
	Ref       record.ShortRef `json:"ref"`
	Agent     string          `json:"agent,omitempty"`
	Destroyed bool            `json:"destroyed,omitempty"` // what it put is not there any more
}

// Replay gathers a session as it was at a position of the log, with what its
// records cited as that was then. What was current and is destroyed is among what
// is left out. Of trees, if any are given, the session's own records in others are
// not gathered. Before the session's first step there is nothing to gather.
func (r *Sessions) Replay(ctx context.Context, id string, position uint64, closure bool, trees ...record.Tree) (*Bundle, error) {
	if position == 0 {
		return nil, r.nothingAt(ctx, id, 0)
	}
	return r.Gather(ctx, GatherRequest{Session: id, Closure: closure,
		Pick: materialize.Selection{At: position, Filter: record.Filter{Trees: trees}}})
}

// nothingAt returns the error that a session had nothing at a position.
func (r *Sessions) nothingAt(ctx context.Context, id string, position uint64) error {
	steps, err := r.Steps(ctx, id)
	switch {
	case err != nil:
		return err
	case steps[0].Position > position:
		first := strconv.FormatUint(steps[0].Position, 10)
		const message = "session %q had nothing at position %d of the log: it begins at %s"
		return record.NotFound.Errorf(message, id, position, first).
			Try("filebus session replay {1} --to DIR --until @{2}", id, first)
	}
	return fmt.Errorf("session %q at position %d: everything was taken away: %w", id, position, store.ErrNotFound)
}

// Moment returns the position of the last entry of the transaction that a position
// is in: what changed at once is never seen in part. Behind the end it is the end.
func (r *Sessions) Moment(ctx context.Context, position uint64) (moment uint64, err error) {
	err = r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		moment = min(position, tx.Position())
		if moment == 0 {
			return nil
		}
		_, moment, err = tx.Around(moment)
		return err
	})
	return moment, err
}

// Steps returns what happened in a session, oldest first. It reads the whole log.
// A session of which nothing was ever stored is a record.NotFound.
func (r *Sessions) Steps(ctx context.Context, id string) ([]Step, error) {
	s := &stepper{id: id, names: map[record.Name]bool{}, dropped: map[record.Ref][]store.Entry{}}
	err := r.w.Store.EachEntry(ctx, 1, s.read)
	if err == nil && len(s.dropped) > 0 {
		// Only the histories of names know contents that were destroyed.
		err = store.ViewAll(ctx, r.w.Store, (*store.Tx).NamesEver, s.addLost)
	}
	if err == nil && len(s.steps) == 0 {
		err = r.nothing(ctx, id)
	}
	slices.SortStableFunc(s.steps, func(a, b Step) int { return cmp.Compare(a.Position, b.Position) })
	return s.steps, err
}

// A stepper collects the steps of a session.
type stepper struct {
	id      string
	steps   []Step
	names   map[record.Name]bool
	dropped map[record.Ref][]store.Entry // about contents that were destroyed
}

// read looks at an entry of the log.
func (s *stepper) read(tx *store.Tx, e store.Entry) error {
	v, err := tx.Get(e.Ref)
	switch {
	case errors.Is(err, store.ErrDropped):
		s.dropped[e.Ref] = append(s.dropped[e.Ref], e)
		return nil
	case err == nil && v.Record.Session == s.id:
		s.add(e, v.Record)
	}
	return err
}

func (s *stepper) add(e store.Entry, r *record.Record) {
	event := "change"
	switch {
	case e.Op != store.OpPut:
		event = string(e.Op)
	case r.IsConflict():
		event = "conflict"
	case !s.names[r.Name] && r.Prev.IsZero():
		event = "put"
	}
	s.names[r.Name] = true
	s.steps = append(s.steps, Step{e.Position, e.Time, event, r.Name, record.ShortRef(e.Ref), r.Agent, false})
}

// addLost adds the steps about contents of a name that were destroyed, if it is the session's. Of
// artifacts whose envelopes are all gone the id tells the session.
func (s *stepper) addLost(tx *store.Tx, name record.Name) error {
	if !s.names[name] && !isOf(name, s.id) {
		return nil
	}
	events, err := tx.History(name)
	for _, e := range events {
		if e.Change != store.ChangeDrop {
			continue
		}
		for _, entry := range s.dropped[e.Ref] {
			s.steps = append(s.steps, Step{entry.Position, entry.Time, string(entry.Op), name, record.ShortRef(e.Ref), "", true})
		}
		delete(s.dropped, e.Ref) // it is told once
	}
	return err
}

// isOf reports whether a name is that of an artifact of a session, below its type.
func isOf(name record.Name, id string) bool {
	return name.Kind == record.KindArtifact && strings.Contains(name.ID, "/"+id+"/")
}
