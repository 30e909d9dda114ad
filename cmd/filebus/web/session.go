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

type sessionsPage struct {
	Sessions []session
	More     int
}

// A session is a line of the list of sessions.
type session struct {
	Session, Name, Status, Archive string
	Changed, Started, Ended        *time.Time
	Artifacts, Tokens              int
	Agents                         []string
}

// A sessionPage is one session: what it has made, what its agents have noted, and how it came about.
type sessionPage struct {
	session
	Files []struct {
		Artifact, Ref, Agent, Title string
		Tokens                      int
	}
	AtWork []event `json:"at_work"`
	Log    struct {
		Events []event
		More   int
	} `json:"-"`
	Work, Stored timeline // the log, and the changes

	Steps                           []step
	At, Before, Next                *step  // what is looked at, and its neighbours
	State                           []step // what there was then
	MoreFiles, MoreSteps, MoreState int
	Count, Step                     int // how many steps there are, and which one is looked at
}

// A timeline is events on lines, by agent.
type timeline struct {
	ID    string // of the session
	Lines map[string][]event
	Ticks []tick
}

// An event is a line of the log, or a step. Its place on a line, and how long it lasts, are in hundredths.
type event struct {
	Time, Event, Agent, Message string
	Position                    uint64
	Place, Length               float64 `json:"-"`
	at                          time.Time
}

// A step is a change of a record of the session.
type step struct {
	Position                uint64
	Time                    time.Time
	Event, Name, Ref, Agent string
	Destroyed               bool
}

func loadSession(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v, id, until := &sessionPage{}, r.FormValue("id"), r.FormValue("at")
	var all, then struct{ Steps []step }
	err := cmp.Or(s.Ask(ctx, v, "session", "show", "--max-tokens=0", "--", id),
		s.Ask(ctx, &v.Log, "session", "log", fmt.Sprint("--limit=", mostShown), "--", id),
		s.Ask(ctx, &all, "session", "replay", "--steps", "--limit=0", "--", id))
	if n, _ := strconv.Atoi(r.FormValue("step")); err == nil && until == "" && n > 0 && n <= len(all.Steps) {
		until = fmt.Sprint(all.Steps[n-1].Position)
	}
	err = cmp.Or(err, s.Ask(ctx, &then, "session", "replay", "--steps", "--limit=0", "--until="+cmp.Or(until, "0"), "--", id))
	if err != nil {
		return nil, err
	}
	if until != "" {
		v.replay(all.Steps, len(then.Steps))
	}
	v.Count, v.Step = len(all.Steps), len(then.Steps)
	if until == "" {
		v.Step = v.Count
	}
	v.Files, v.MoreFiles = cut(v.Files, mostShown)
	v.MoreSteps = max(0, len(all.Steps)-mostShown)
	v.Steps = all.Steps[v.MoreSteps:]
	var steps []event
	for _, s := range v.Steps {
		steps = append(steps, event{s.Time.Format(time.RFC3339Nano), s.Event, s.Agent, s.Name, s.Position, 0, 0, s.Time})
	}
	v.Work, v.Stored = newTimeline(v.Session, v.Log.Events), newTimeline(v.Session, steps)
	return v, nil
}

func (v *sessionPage) title() string { return v.Session }

// replay shows a session as it was after n steps. Those of one transaction are seen together.
func (v *sessionPage) replay(all []step, n int) {
	v.At = &step{}
	if n > 0 {
		v.At = &all[n-1]
	}
	for i, s := range all[:n] {
		if !s.Time.Equal(v.At.Time) {
			v.Before = &all[i]
		}
		if s.Event == "put" || s.Event == "change" || s.Event == "retire" { // others leave what there is
			v.State = slices.DeleteFunc(v.State, func(old step) bool { return old.Name == s.Name })
		}
		if s.Event != "retire" && s.Event != "drop" {
			v.State = append(v.State, s)
		}
	}
	if n < len(all) {
		v.Next = &all[n]
	}
	v.State, v.MoreState = cut(v.State, mostShown)
}

// newTimeline puts the events that tell their time on lines; what has begun lasts until the agent's next one.
func newTimeline(id string, events []event) timeline {
	var times []time.Time
	l := timeline{ID: id, Lines: map[string][]event{}}
	for _, e := range events {
		if t, err := time.Parse(time.RFC3339, e.Time); err == nil {
			e.at, times = t, append(times, t)
			l.Lines[e.Agent] = append(l.Lines[e.Agent], e)
		}
	}
	if len(times) == 0 {
		return l
	}
	first, last := slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times, time.Time.Compare)
	for _, line := range l.Lines {
		for i := range line {
			line[i].Place = 99 * line[i].at.Sub(first).Seconds() / max(last.Sub(first).Seconds(), 1)
			if line[i].Length = 1; line[i].Event == "START" {
				line[i].Length = 100 - line[i].Place
			}
			if i > 0 && line[i-1].Event == "START" {
				line[i-1].Length = max(line[i].Place-line[i-1].Place, 0)
			}
		}
	}
	l.Ticks = []tick{{0, first.UTC().Format(time.DateTime)}, {100, last.UTC().Format(time.DateTime)}}
	return l
}
