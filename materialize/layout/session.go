package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// SessionMetaFile is the name of the file that says what a session is.
const SessionMetaFile = "metadata.json"

// SessionLogFile is the name of a session's log.
const SessionLogFile = ".agent_log"

// A SessionMeta is metadata.json of a session: what it is, when it began and how it
// ended. Keys of others are kept as they are.
type SessionMeta struct {
	Type     string    `json:"type"`
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"` // as people call it
	Started  time.Time `json:"started,omitzero"`
	Status   string    `json:"status"`
	Ended    time.Time `json:"ended,omitzero"`
	Reopened time.Time `json:"reopened,omitzero"` // when work went on in one that had ended
	Asked    []string  `json:"asked,omitempty"`   // artifacts that it is complete with
	Archive  string    `json:"archive,omitempty"` // the file that it was packed into, when its files went

	others map[string]json.RawMessage
}

// ParseSessionMeta reads metadata.json. A field that is not of the form above is
// kept like one that is not known.
func ParseSessionMeta(text []byte) (m SessionMeta, problem *SyntaxError) {
	if problem = markdown.DecodeJSON(text, &m.others); problem != nil {
		return m, problem
	}
	markdown.ReadMembers(m.others, &m, func(string) {})
	return m, nil
}

// AppendSessionMeta appends the JSON of m, indented, with a line break at the end:
// its own fields first, then the others by their keys.
func AppendSessionMeta(dst []byte, m SessionMeta) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return dst, err
	}
	var own map[string]json.RawMessage
	if err := json.Unmarshal(text, &own); err != nil {
		return dst, err
	}
	text = text[:len(text)-1]
	for _, key := range slices.Sorted(maps.Keys(m.others)) {
		if _, taken := own[key]; taken {
			continue
		}
		name, err := json.Marshal(key)
		if err != nil {
			return dst, err
		}
		text = slices.Concat(text, []byte(","), name, []byte(":"), m.others[key])
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append(text, '}'), "", "  "); err != nil {
		return dst, err
	}
	return append(append(dst, out.Bytes()...), '\n'), nil
}

// sessionMetas is the layout of a session's metadata.json.
var sessionMetas = &single{record.KindArtifact, sessionMetaFacts}

func sessionMetaFacts(_ string, text []byte) (Facts, []*SyntaxError) {
	m, problem := ParseSessionMeta(text)
	f := Facts{Status: word(m.Status)}
	if m.ID != "" {
		f.Title = markdown.Clip(markdown.SingleSpaced("Session "+cmp.Or(m.Name, m.ID)), maxFactTitle)
	}
	if problem != nil {
		return f, []*SyntaxError{problem}
	}
	return f, nil
}

// An AgentEvent is one line of a session's log: when an agent began, or how it
// ended.
type AgentEvent struct {
	Time    string `json:"time"`  // ISO 8601, as written
	Event   string `json:"event"` // START: it has begun; SUCCESS or ERROR: it has ended
	Agent   string `json:"agent"`
	Message string `json:"message,omitempty"`
}

// eventStatuses are the events of a session's log, with the status of a session in
// which nothing happened after one.
var eventStatuses = map[string]string{
	"START": StatusInProgress, "SUCCESS": StatusComplete, "ERROR": StatusFailed,
}

// IsAgentEvent reports whether a word is an event of a session's log.
func IsAgentEvent(word string) bool { return eventStatuses[word] != "" }

// agentLogs is the layout of a session's .agent_log.
var agentLogs = &single{record.KindArtifact, agentLogFacts}

func agentLogFacts(_ string, text []byte) (Facts, []*SyntaxError) {
	events, problems := ParseAgentLog(text)
	f := Facts{Title: "Agent log"}
	counts := make(map[string]int)
	for _, e := range events {
		counts[e.Event]++
		f.Status = eventStatuses[e.Event] // the log is in the order of time
	}
	if len(events) > 0 {
		f.Summary = fmt.Sprintf("%d started, %d succeeded, %d failed",
			counts["START"], counts["SUCCESS"], counts["ERROR"])
	}
	return f, problems
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
		fields := append(markdown.Each(strings.SplitN(content, "|", 4), strings.TrimSpace), "", "", "")
		e := AgentEvent{fields[0], fields[1], fields[2], fields[3]}
		if !IsAgentEvent(e.Event) || strings.Count(content, "|") < 2 {
			const text = "%q is no event: time | START, SUCCESS or ERROR | agent | message"
			problems = append(problems, wrong(line, text, markdown.Clip(content, 60)))
			continue
		}
		events = append(events, e)
	}
	return events, problems
}
