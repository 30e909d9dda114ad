package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A session is a line of the list of sessions.
type session struct {
	Session, Type, Name, Status, Archive string
	Changed                              time.Time
	Started, Ended                       *time.Time
	Artifacts, Tokens                    int
	Agents                               []string
}

type sessionsPage struct {
	Sessions []session
	More     int
}

func loadSessions(ctx context.Context, s *Site, _ *http.Request) (any, error) {
	v := &sessionsPage{}
	return v, s.Ask(ctx, v, "session", "list", "--limit=200")
}

// A sessionPage is one session: what it has made, what its agents have noted, and how it came about.
type sessionPage struct {
	session
	Files []struct {
		Artifact, Ref, Agent, Title string
		Tokens                      int
	}
	AtWork []struct {
		Agent, Message string
		Seconds        float64
	} `json:"at_work"`
	Others int

	MoreFiles int
	Events    []event
	Earlier   int // events that are not shown
	Summaries map[string]string
	Moments   []moment
	At        int // the moment that is looked at, from 0; -1: none
	State     []step
	MoreState int
	Steps     []step // the last ones, up to some after the moment that is looked at
	Earliest  int    // earlier steps
}

// An event is a line of the log of a session.
type event struct {
	Time, Event, Agent, Message string
}

// A step is a change of a record of the session.
type step struct {
	Position         uint64
	Time             time.Time
	Event, Name, Ref string
	Agent            string
	Destroyed        bool
}

// A moment is the steps of one transaction.
type moment struct {
	Place    int // from 1
	Position uint64
	Time     time.Time
	Steps    []step
}

func loadSession(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v, id := &sessionPage{At: -1}, r.FormValue("id")
	if err := s.Ask(ctx, v, "session", "show", "--max-tokens=0", "--", id); err != nil {
		return nil, err
	}
	var log struct {
		Events []event
		More   int
	}
	if err := s.Ask(ctx, &log, "session", "log", "--limit=200", "--", id); err != nil {
		return nil, err
	}
	v.Events, v.Earlier = log.Events, log.More
	if err := v.summarize(ctx, s, id); err != nil {
		return nil, err
	}
	v.Files, v.MoreFiles = cut(v.Files, mostShown)
	return v, v.replay(ctx, s, id, r.FormValue("at"))
}

// summarize asks what the artifacts say.
func (v *sessionPage) summarize(ctx context.Context, s *Site, id string) error {
	var said struct {
		Summaries []struct{ Artifact, Summary string }
	}
	v.Summaries = map[string]string{}
	err := s.Ask(ctx, &said, "session", "summary", "--", id)
	for _, summary := range said.Summaries {
		v.Summaries[summary.Artifact] = summary.Summary
	}
	return err
}

// replay asks for the steps of the session, and finds the moment of a position.
func (v *sessionPage) replay(ctx context.Context, s *Site, id, position string) error {
	var said struct{ Steps []step }
	if err := s.Ask(ctx, &said, "session", "replay", "--steps", "--limit=0", "--", id); err != nil {
		return err
	}
	for _, next := range said.Steps {
		last := len(v.Moments) - 1
		if last < 0 || !v.Moments[last].Time.Equal(next.Time) {
			last++
			v.Moments = append(v.Moments, moment{Place: last + 1, Time: next.Time})
		}
		m := &v.Moments[last]
		m.Position, m.Steps = next.Position, append(m.Steps, next)
	}
	v.Earliest = max(0, len(said.Steps)-mostShown)
	v.Steps = said.Steps[v.Earliest:]
	if position == "" {
		return nil
	}
	at, err := strconv.ParseUint(position, 10, 64)
	if err != nil {
		return &Refusal{Code: "usage", Message: fmt.Sprintf("%q is no position of the log", position)}
	}
	i := slices.IndexFunc(v.Moments, func(m moment) bool { return m.Position >= at })
	if v.At = i; i < 0 {
		v.At = len(v.Moments) - 1
	}
	v.State, v.MoreState = cut(stateOf(v.Moments[:v.At+1]), mostShown)
	if i := slices.IndexFunc(said.Steps, func(s step) bool { return s.Position > at }); i >= 0 {
		v.Earliest = min(v.Earliest, max(0, i-mostShown/2))
		v.Steps = said.Steps[v.Earliest:min(len(said.Steps), v.Earliest+mostShown)]
	}
	return nil
}

// Replay returns the command that lays the session out as it was.
func (v *sessionPage) Replay() []string {
	at := strconv.FormatUint(v.Moments[v.At].Position, 10)
	return []string{"session", "replay", "--until=@" + at, "--to=FOLDER", "--", v.Session}
}

// stateOf returns what a session has after some moments: the last version of each name, and those
// kept beside it.
func stateOf(moments []moment) (state []step) {
	for _, m := range moments {
		for _, s := range m.Steps {
			if s.Event == "drop" {
				continue // the content went; its name did so in a step of its own
			}
			if s.Event != "conflict" {
				state = slices.DeleteFunc(state, func(old step) bool { return old.Name == s.Name })
			}
			if s.Event != "retire" {
				state = append(state, s)
			}
		}
	}
	slices.SortStableFunc(state, func(a, b step) int { return cmp.Compare(a.Name, b.Name) })
	return state
}

// Moment returns the moment that is some after the one that is looked at, or nil.
func (v *sessionPage) Moment(after int) *moment {
	if i := v.At + after; v.At >= 0 && i >= 0 && i < len(v.Moments) {
		return &v.Moments[i]
	}
	return nil
}

// A work is a time in which an agent was at work, by the log of the session.
type work struct {
	agent    string
	from, to time.Time
	class    string // as of the legend of [sessionPage.Work]
	said     string
}

// works returns when agents were at work, and how many events tell no time.
func (v *sessionPage) works() (all []work, from, to time.Time, untimed int) {
	open := map[string]int{} // by agent
	for _, e := range v.Events {
		t, err := time.Parse(time.RFC3339, e.Time)
		if err != nil {
			untimed++
			continue
		}
		if from.IsZero() || t.Before(from) {
			from = t
		}
		if t.After(to) {
			to = t
		}
		i, known := open[e.Agent]
		if delete(open, e.Agent); e.Event == "START" || !known {
			all = append(all, work{e.Agent, t, time.Time{}, "series0", e.Message})
			i = len(all) - 1
		}
		switch e.Event {
		case "START":
			open[e.Agent] = i
		case "SUCCESS":
			all[i].to, all[i].class = t, "series1"
		default:
			all[i].to, all[i].class = t, "series2"
		}
		all[i].said = e.Message
	}
	return all, from, to, untimed
}

// Work draws when agents were at work.
func (v *sessionPage) Work() chart {
	c := chart{Columns: []string{"agent"}, Legend: []string{"at work", "done", "failed"}}
	all, from, to, untimed := v.works()
	c.Title = "Agents at work, by the log of the session (UTC)"
	if untimed > 0 {
		c.Title += fmt.Sprintf("; %d events tell no time", untimed)
	}
	along, ticks := timeAxis(from, to)
	c.Ticks = ticks
	for _, w := range all {
		i := slices.IndexFunc(c.Rows, func(row chartRow) bool { return row.Label == w.agent })
		if i < 0 {
			i = len(c.Rows)
			c.Rows = append(c.Rows, chartRow{Label: w.agent})
		}
		if w.to.IsZero() {
			w.to = to
		}
		m := along.span(seconds(w.from), seconds(w.to), w.class, w.said)
		c.Rows[i].Marks = append(c.Rows[i].Marks, m)
	}
	c.Rows, c.More = cut(c.Rows, mostShown)
	return c
}
