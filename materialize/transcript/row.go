package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// A row is a line of a transcript, of Claude Code or of Codex, as far as it is of use. What has
// another type than is known is passed over.
type row struct {
	Type, Timestamp, SessionID, AgentID, Cwd                 string
	IsSidechain, IsMeta, IsCompactSummary, IsAPIErrorMessage bool
	Origin                                                   struct{ Kind string }
	Message                                                  struct {
		ID, Model  string
		StopReason string `json:"stop_reason"`
		Content    blocks
	}
	Payload struct { // of Codex
		spawn
		Type, Role, ID, Cwd string
		Content             blocks
		Session             string `json:"session_id"`
		Last                string `json:"last_agent_message"`
		ThreadSource        string `json:"thread_source"`
		Source              struct {
			Subagent struct {
				Spawn spawn `json:"thread_spawn"`
			}
		}
	}
}

type spawn struct {
	Parent    string `json:"parent_thread_id"`
	AgentRole string `json:"agent_role"`
}

// blocks are the parts of a message, which may stand as one text.
type blocks []struct {
	Type, Text, Name, ID string
	ToolUse              string `json:"tool_use_id"`
	Content              json.RawMessage
	Input                struct {
		Message string
		File    string `json:"file_path"`
	}
}

func (b *blocks) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		text = bytes.Join([][]byte{[]byte(`[{"type":"text","text":`), text, []byte(`}]`)}, nil)
	}
	type plain blocks
	_ = json.Unmarshal(text, (*plain)(b)) // what has another shape is passed over
	return nil
}

// text returns the texts of blocks, with blank lines between; size, how long all are, in bytes.
func (b blocks) text() (text string, size int64) {
	var texts []string // there may be very many
	for _, part := range b {
		size += int64(len(part.Text))
		if strings.HasSuffix(part.Type, "text") && strings.TrimSpace(part.Text) != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n\n"), size
}

// TextOf returns the text of a content: a string, or blocks.
func TextOf(content json.RawMessage) string {
	var b blocks
	_ = json.Unmarshal(content, &b) // what has another shape has no text
	text, _ := b.text()
	return text
}

// parseRow reads a line; ok reports whether it is an object.
func parseRow(line []byte) (r row, ok bool) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 || line[0] != '{' || line[len(line)-1] != '}' {
		return r, false
	}
	err := json.Unmarshal(line, &r)
	_, isShape := err.(*json.UnmarshalTypeError)
	return r, err == nil || isShape
}

func (r row) time() time.Time {
	t, _ := time.Parse(time.RFC3339, r.Timestamp) // zero: it tells none
	return t.UTC()
}
