package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
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
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // as people call it
	Started time.Time `json:"started,omitzero"`
	Status  string    `json:"status"`
	Ended   time.Time `json:"ended,omitzero"`
	Archive string    `json:"archive,omitempty"` // the file that it was packed into, when its files went

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

// sessionMetas is the layout of a session's metadata.json: one record a file.
type sessionMetas struct{}

// Parse makes the whole file one artifact record, with the status that it states.
func (sessionMetas) Parse(path string, text []byte) (File, []*SyntaxError) {
	m, problem := ParseSessionMeta(text)
	f := Facts{Status: word(m.Status)}
	if m.ID != "" {
		f.Title = markdown.Clip(markdown.SingleSpaced("Session "+cmp.Or(m.Name, m.ID)), maxFactTitle)
	}
	var problems []*SyntaxError
	if problem != nil {
		problems = inFile(path, []*SyntaxError{problem})
	}
	return single(path, record.KindArtifact, text, f), problems
}
