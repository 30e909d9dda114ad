package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// An Agent is one that is at work or has ended.
type Agent struct {
	ID       string `json:"id"`
	Task     string `json:"task,omitempty"`
	Model    string `json:"model,omitempty"`
	Started  string `json:"started,omitempty"` // as the state has it
	Outcome  string `json:"outcome,omitempty"`
	Duration string `json:"duration,omitempty"`
}

// AgentStart adds an agent to those at work.
func (b *Book) AgentStart(ctx context.Context, a Agent) (*Outcome, error) {
	for _, f := range [][2]string{{"the id of the agent", a.ID}, {"the task", a.Task}, {"the model", a.Model}} {
		if err := checkField(f[0], f[1], a.ID, a.Task); err != nil {
			return nil, err
		}
	}
	if err := checkID("id of an agent", a.ID); err != nil {
		return nil, err
	}
	a.Started = b.now().Format(time.TimeOnly)
	return b.change(ctx, func(now layout.State, _ *store.Version) (c layout.StateChange, err error) {
		if !isOpen(now) {
			return c, noRun(now.RunID)
		}
		for _, other := range now.Running {
			if other.ID == a.ID {
				on := other.Task
				if on != "" {
					on = ", on " + on
				}
				return c, record.Conflict.Errorf("the agent %s is at work already%s", a.ID, on).Because(ErrAgentRunning,
					a.ID)
			}
		}
		c.Start = []layout.RunningAgent{{ID: a.ID, Task: a.Task, Model: a.Model, Started: a.Started}}
		return c, nil
	})
}

// AgentDone moves an agent from those at work to those that have ended, with how
// long it took. The outcome is a word or a short text, never what the agent wrote.
func (b *Book) AgentDone(ctx context.Context, id, outcome string) (*Outcome, error) {
	if err := checkField("the outcome", outcome, id, ""); err != nil {
		return nil, err
	}
	if err := checkID("id of an agent", id); err != nil {
		return nil, err
	}
	return b.change(ctx, func(now layout.State, _ *store.Version) (c layout.StateChange, err error) {
		i := slices.IndexFunc(now.Running, func(a layout.RunningAgent) bool { return a.ID == id })
		if i < 0 {
			return c, noAgent(now, id)
		}
		done := layout.CompletedAgent{ID: id, Task: now.Running[i].Task, Outcome: outcome}
		if took, known := Since(now.Running[i].Started, b.now()); known {
			done.Duration = DurationText(took)
		}
		c.Done = []layout.CompletedAgent{done}
		return c, nil
	})
}

// noAgent says why an agent is not at work.
func noAgent(s layout.State, id string) error {
	var running []string
	for _, a := range s.Running[:min(len(s.Running), 10)] {
		running = append(running, a.ID)
	}
	at := cmp.Or(strings.Join(running, ", "), "nobody is")
	if slices.ContainsFunc(s.Completed, func(a layout.CompletedAgent) bool { return a.ID == id }) {
		return record.Conflict.Errorf("the agent %s has ended already; at work: %s", id, at).Because(ErrAgentEnded)
	}
	return record.NotFound.Errorf("no agent %s is at work; at work: %s", id, at).Because(ErrNoAgent, id)
}

// Since returns how long ago an agent was started, from the text that its state
// has: a time of the last 24 hours, in UTC, or a whole timestamp. A clock that was
// put back makes no agent a day old.
func Since(started string, now time.Time) (took time.Duration, known bool) {
	started = strings.Trim(started, "` ")
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04"} {
		if t, err := time.Parse(form, started); err == nil {
			return max(now.Sub(t), 0), true
		}
	}
	for _, form := range []string{time.TimeOnly, "15:04", "15:04:05Z", "15:04Z"} {
		t, err := time.Parse(form, started)
		if err != nil {
			continue
		}
		now = now.UTC()
		took = now.Sub(time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC))
		if took < 0 {
			took += 24 * time.Hour
		}
		if took > 23*time.Hour {
			took = 0
		}
		return took, true
	}
	return 0, false
}

// DurationText returns a duration as states have it: 45s, 12m 30s, 48m, 6h 21m, 3d 4h.
func DurationText(d time.Duration) string {
	seconds := int(d / time.Second)
	hours, minutes := seconds/3600, seconds/60%60
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case hours == 0 && seconds%60 == 0:
		return fmt.Sprintf("%dm", minutes)
	case hours == 0:
		return fmt.Sprintf("%dm %ds", minutes, seconds%60)
	case hours >= 48:
		return fmt.Sprintf("%dd %dh", hours/24, hours%24)
	case minutes == 0:
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dh %dm", hours, minutes)
}
