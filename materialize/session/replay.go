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

// The events of a session's steps.
const (
	EventPut      = "put"      // a first version
	EventChange   = "change"   // a further one
	EventConflict = "conflict" // one that was kept beside the head
	EventRetire   = "retire"   // the name has no current version any more
	EventDrop     = "drop"     // a content was destroyed
)

// A Step is an entry of the log about a record of a session.
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
// not gathered. Before the session's first step it is ErrTooEarly.
func (r *Registry) Replay(ctx context.Context, id string, position uint64, closure bool, trees ...record.Tree) (*Bundle, error) {
	if position == 0 {
		return nil, r.nothingAt(ctx, id, 0)
	}
	return r.Gather(ctx, GatherRequest{Session: id, Closure: closure, Pick: materialize.Selection{At: position, Filter: record.Filter{Trees: trees}}})
}

// nothingAt returns the error that a session had nothing at a position.
func (r *Registry) nothingAt(ctx context.Context, id string, position uint64) error {
	steps, err := r.Steps(ctx, id)
	switch {
	case err != nil:
		return err
	case steps[0].Position > position:
		first := strconv.FormatUint(steps[0].Position, 10)
		return record.NotFound.Errorf("session %q had nothing at position %d of the log: it begins at %s", id, position, first).
			Because(ErrTooEarly, id, first)
	}
	return fmt.Errorf("session %q at position %d: everything was taken away: %w", id, position, store.ErrNotFound)
}

// Moment returns the position of the last entry of the transaction that a position
// is in: what changed at once is never seen in part. Behind the end it is the end.
func (r *Registry) Moment(ctx context.Context, position uint64) (moment uint64, err error) {
	err = r.w.Store.View(ctx, func(tx *store.Tx) error {
		moment = min(position, tx.Position())
		if moment == 0 {
			return nil
		}
		e, err := tx.Entry(moment)
		if err == nil {
			moment, err = tx.AsOf(e.Time)
		}
		return err
	})
	return moment, err
}

// stepSlice is how many log entries one transaction looks at.
const stepSlice = 2000

// Steps returns what happened in a session, oldest first. It reads the whole log.
// A session of which nothing was ever stored is ErrNothingStored.
func (r *Registry) Steps(ctx context.Context, id string) ([]Step, error) {
	s := &stepper{id: id, names: map[record.Name]bool{}, lost: map[record.Ref]record.Name{}}
	for more := true; more; {
		err := r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
			more, err = s.read(tx)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := r.findLost(ctx, s); err != nil {
		return nil, err
	}
	s.addLost()
	if len(s.steps) == 0 {
		return nil, r.nothing(ctx, id)
	}
	slices.SortStableFunc(s.steps, func(a, b Step) int { return cmp.Compare(a.Position, b.Position) })
	return s.steps, nil
}

// A stepper collects the steps of a session.
type stepper struct {
	id      string
	done    uint64 // the last position that was looked at
	steps   []Step
	names   map[record.Name]bool
	dropped []store.Entry              // about contents that were destroyed
	lost    map[record.Ref]record.Name // what these contents were
}

// read looks at some entries of the log and reports whether there are more.
func (s *stepper) read(tx *store.Tx) (more bool, err error) {
	seen := 0
	for e, err := range tx.Log(s.done + 1) {
		if err != nil {
			return false, err
		}
		if seen++; seen > stepSlice {
			return true, nil
		}
		s.done = e.Position
		v, err := tx.Get(e.Ref)
		switch {
		case errors.Is(err, store.ErrDropped):
			s.dropped = append(s.dropped, e)
		case err != nil:
			return false, err
		case v.Record.Session == s.id:
			s.add(e, v.Record)
		}
	}
	return false, nil
}

func (s *stepper) add(e store.Entry, r *record.Record) {
	event := EventChange
	switch {
	case e.Op == store.OpRetire:
		event = EventRetire
	case r.IsConflict():
		event = EventConflict
	case !s.names[r.Name] && r.Prev.IsZero():
		event = EventPut
	}
	s.names[r.Name] = true
	s.steps = append(s.steps, Step{Position: e.Position, Time: e.Time, Event: event, Name: r.Name, Ref: record.ShortRef(e.Ref), Agent: r.Agent})
}

// findLost finds the names of contents that were destroyed: only the histories of
// names know them still. Of artifacts whose envelopes are all gone the id tells the
// session.
func (r *Registry) findLost(ctx context.Context, s *stepper) error {
	if len(s.dropped) == 0 {
		return nil
	}
	var from record.Name
	for more := true; more; {
		more = false
		err := r.w.Store.View(ctx, func(tx *store.Tx) error {
			seen := 0
			for name, err := range tx.NamesEver(from) {
				if err != nil {
					return err
				}
				if seen++; seen > stepSlice {
					from, more = name, true
					return nil
				}
				if err := s.takeLost(tx, name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// takeLost notes which contents of a name were destroyed, if it is the session's.
func (s *stepper) takeLost(tx *store.Tx, name record.Name) error {
	if !s.names[name] && !isOf(name, s.id) {
		return nil
	}
	events, err := tx.History(name)
	for _, e := range events {
		if e.Change == store.ChangeDrop {
			s.lost[e.Ref] = name
		}
	}
	return err
}

// isOf reports whether a name is that of an artifact of a session, below its type.
func isOf(name record.Name, id string) bool {
	return name.Kind == record.KindArtifact && strings.Contains(name.ID, "/"+id+"/")
}

// addLost adds the steps about contents that were destroyed.
func (s *stepper) addLost() {
	for _, e := range s.dropped {
		name, ours := s.lost[e.Ref]
		if !ours {
			continue
		}
		step := Step{Position: e.Position, Time: e.Time, Event: EventPut, Name: name, Ref: record.ShortRef(e.Ref), Destroyed: true}
		switch e.Op {
		case store.OpRetire:
			step.Event = EventRetire
		case store.OpDrop:
			step.Event = EventDrop
		}
		s.steps = append(s.steps, step)
	}
}

// ownLost names what was the session's own at the position and is destroyed.
func (g *gatherer) ownLost(ctx context.Context) error {
	var from record.Name
	for more := true; more; {
		more = false
		err := g.registry.w.Store.View(ctx, func(tx *store.Tx) error {
			seen := 0
			for n, err := range tx.DroppedAt(from, g.Position) {
				if err != nil {
					return err
				}
				if seen++; seen > stepSlice {
					from, more = n.Name, true
					return nil
				}
				if isOf(n.Name, g.Session) {
					g.leaveOut(Gone{What: n.Name.String(), Reason: destroyed})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
