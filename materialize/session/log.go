package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// Note appends a line to the log of a session: that an agent has begun, or how it
// ended. Any number of processes may do so at once.
func (r *Registry) Note(ctx context.Context, key Key, event, agent, message string) (*materialize.PutResult, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	if event != layout.EventStart && event != layout.EventSuccess && event != layout.EventError {
		return nil, noWord("event", event, "it is START, SUCCESS or ERROR")
	}
	if strings.TrimSpace(agent) == "" {
		return nil, noWord("agent", agent, "the name is empty: is the variable that holds it set?")
	}
	e := layout.AgentEvent{Time: r.now().UTC().Format(time.RFC3339), Event: event, Agent: agent, Message: message}
	line := layout.AppendAgentEvent(nil, e)
	name := key.file(layout.SessionLogFile)
	noted, err := r.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		text := bytes.Clone(old)
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(text, '\n')
		}
		return append(text, line...), nil
	})
	return noted, r.orLink(ctx, name, err)
}

// An OpenAgent is an agent that has begun and not ended.
type OpenAgent struct {
	Agent   string
	Message string
	Since   time.Time // zero if the log has no time that can be read
}

// openAgents returns the agents that have begun and not ended, the one that began
// last first.
func openAgents(log []layout.AgentEvent) (open []OpenAgent) {
	begun := map[string][]OpenAgent{}
	for _, e := range log {
		key := layout.Slug(e.Agent)
		if e.Event == layout.EventStart {
			at, _ := time.Parse(time.RFC3339, e.Time) // zero if it is no time
			begun[key] = append(begun[key], OpenAgent{e.Agent, e.Message, at})
		} else if n := len(begun[key]); n > 0 {
			begun[key] = begun[key][:n-1]
		}
	}
	for _, agents := range begun {
		open = append(open, agents...)
	}
	slices.SortFunc(open, func(a, b OpenAgent) int { return cmp.Or(b.Since.Compare(a.Since), strings.Compare(a.Agent, b.Agent)) })
	return open
}

// readLog reads the log of a session, if it has one.
func (r *Registry) readLog(ctx context.Context, s *Session) error {
	text, err := r.text(ctx, s, layout.SessionLogFile)
	if err == nil {
		s.Log, s.LogProblems = layout.ParseAgentLog(text)
		for _, problem := range s.LogProblems {
			problem.File = layout.SessionLogFile
		}
	}
	return err
}

// text returns the body of a file of a session, nil if there is none.
func (r *Registry) text(ctx context.Context, s *Session, name string) ([]byte, error) {
	v, found := s.files[name]
	if !found {
		return nil, nil
	}
	text, err := r.w.TextOf(ctx, v)
	if errors.Is(err, store.ErrDropped) {
		return nil, nil
	}
	return text, err
}
