package run

import (
	"context"
	"errors"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A View is the session state as it is now, each value cut where it is too long.
type View struct {
	Run       string          `json:"run,omitempty"`
	Started   string          `json:"started,omitempty"`
	Ended     string          `json:"ended,omitempty"`
	Loop      int             `json:"loop"`
	Loops     int             `json:"loops,omitempty"` // planned
	Focus     string          `json:"focus,omitempty"`
	Running   []Agent         `json:"running"`
	Completed []Agent         `json:"completed"`
	History   []string        `json:"history"`
	Left      int             `json:"left,omitempty"` // entries that First has left out
	Ref       record.ShortRef `json:"ref"`
	File      string          `json:"file"`   // absolute
	Tokens    int             `json:"tokens"` // of the file
	State     layout.State    `json:"-"`      // uncut
}

// View returns the session state. Without one the error is ErrNoRun.
func (b *Book) View(ctx context.Context) (*View, error) {
	s, at, _, err := b.state(ctx)
	if errors.Is(err, store.ErrNotFound) {
		err = noRun("")
	}
	if err != nil {
		return nil, err
	}
	v := &View{
		Run: clip(s.RunID), Started: clip(s.Started), Ended: clip(s.Ended), Focus: clip(s.Focus), State: s,
		Ref: record.ShortRef(at.Ref), Tokens: record.EstimateTokens(at.Record.Size),
	}
	v.Loop, v.Loops = s.LoopNumber()
	for _, a := range s.Running {
		v.Running = append(v.Running, Agent{ID: clip(a.ID), Task: clip(a.Task), Model: clip(a.Model),
			Started: a.Started})
	}
	for _, a := range s.Completed {
		ended := Agent{ID: clip(a.ID), Task: clip(a.Task), Outcome: clip(a.Outcome), Duration: a.Duration}
		v.Completed = append(v.Completed, ended)
	}
	for _, line := range s.History {
		v.History = append(v.History, clip(line))
	}
	v.File, err = b.w.PathOf(stateName())
	return v, err
}

// clip cuts a value that somebody else has written.
func clip(text string) string { return markdown.Clip(text, 120) }

// Entries returns how many entries the lists of a view have.
func (v *View) Entries() int { return len(v.Running) + len(v.History) + len(v.Completed) }

// First returns the view with n of its entries: those at work first, then the last
// lines of the history, then the agents that ended last.
func (v *View) First(n int) *View {
	first := *v
	first.Left = v.Entries() - n
	first.Running = v.Running[:min(n, len(v.Running))]
	n -= len(first.Running)
	first.History = last(v.History, n)
	first.Completed = last(v.Completed, n-len(first.History))
	return &first
}

func last[T any](list []T, n int) []T { return list[max(len(list)-n, 0):] }
