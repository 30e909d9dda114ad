package layout

import (
	"bytes"
	"fmt"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// An AgentEvent is one line of a session's log: when an agent began, or how it
// ended.
type AgentEvent struct {
	Time    string `json:"time"`  // ISO 8601, as written
	Event   string `json:"event"` // EventStart, EventSuccess or EventError
	Agent   string `json:"agent"`
	Message string `json:"message,omitempty"`
}

// The events of a session's log.
const (
	EventStart   = "START"
	EventSuccess = "SUCCESS"
	EventError   = "ERROR"
)

// agentLogs is the layout of a session's .agent_log: one record a file.
type agentLogs struct{}

// Parse makes the whole file one artifact record. The status is complete when
// the last thing that happened was a success, failed for an error, in progress
// for a start. Lines that are no events are reported.
func (agentLogs) Parse(path string, text []byte) (File, []*SyntaxError) {
	events, problems := ParseAgentLog(text)
	f := Facts{Title: "Agent log"}
	counts := make(map[string]int)
	for _, e := range events {
		counts[e.Event]++
		// The log is in the order of time, so the last event tells where it stands.
		switch e.Event {
		case EventStart:
			f.Status = StatusInProgress
		case EventSuccess:
			f.Status = StatusComplete
		case EventError:
			f.Status = StatusFailed
		}
	}
	if len(events) > 0 {
		f.Summary = fmt.Sprintf("%d started, %d succeeded, %d failed",
			counts[EventStart], counts[EventSuccess], counts[EventError])
	}
	return single(path, record.KindArtifact, text, f), inFile(path, problems)
}

// AppendAgentEvent appends the line of e: "time | event | agent | message".
func AppendAgentEvent(dst []byte, e AgentEvent) []byte {
	// Only the message may hold what separates the fields.
	field := func(text string) string { return strings.ReplaceAll(markdown.SingleSpaced(text), "|", "/") }
	return fmt.Appendf(dst, "%s | %s | %s | %s\n", field(e.Time), field(e.Event), field(e.Agent),
		markdown.SingleSpaced(e.Message))
}

// ParseAgentLog reads the events of a log. Empty lines are skipped; others that
// are no event are reported by line. The message may hold "|" or be missing.
func ParseAgentLog(text []byte) (events []AgentEvent, problems []*SyntaxError) {
	line := 0
	for raw := range bytes.Lines(text) {
		line++
		content := strings.TrimSpace(strings.TrimPrefix(string(raw), markdown.ByteOrderMark))
		if content == "" {
			continue
		}
		e, found := cutAgentEvent(content)
		if !found {
			problems = append(problems,
				&SyntaxError{Line: line,
					Err: fmt.Errorf("%q is no event: time | START, SUCCESS or ERROR | agent | message",
						markdown.Clip(content, 60))})
			continue
		}
		events = append(events, e)
	}
	return events, problems
}

// cutAgentEvent reads one line that is not empty.
func cutAgentEvent(line string) (AgentEvent, bool) {
	fields := strings.SplitN(line, "|", 4)
	if len(fields) < 3 {
		return AgentEvent{}, false
	}
	for i, field := range fields {
		fields[i] = strings.TrimSpace(field)
	}
	e := AgentEvent{Time: fields[0], Event: fields[1], Agent: fields[2]}
	if len(fields) == 4 {
		e.Message = fields[3]
	}
	switch e.Event {
	case EventStart, EventSuccess, EventError:
		return e, true
	}
	return AgentEvent{}, false
}
