package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// A row is a line of a transcript, of Claude Code and of Codex, as far as it is of use. What has another type than
// is known is passed over.
type row struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`

	// Of Claude Code.
	Session     string  `json:"sessionId"`
	AgentID     string  `json:"agentId"`
	Cwd         string  `json:"cwd"`
	IsSidechain bool    `json:"isSidechain"`
	IsMeta      bool    `json:"isMeta"`
	IsSummary   bool    `json:"isCompactSummary"`
	IsError     bool    `json:"isApiErrorMessage"`
	Message     message `json:"message"`
	Origin      struct {
		Kind string `json:"kind"`
	} `json:"origin"`

	// Of Codex.
	Payload payload `json:"payload"`
}

type message struct {
	ID         string `json:"id"`
	Role       string `json:"role"`
	Model      string `json:"model"`
	StopReason string `json:"stop_reason"`
	Content    blocks `json:"content"`
}

type payload struct {
	Type         string `json:"type"`
	Role         string `json:"role"`
	ID           string `json:"id"`
	Session      string `json:"session_id"`
	Parent       string `json:"parent_thread_id"`
	Cwd          string `json:"cwd"`
	ThreadSource string `json:"thread_source"`
	AgentRole    string `json:"agent_role"`
	AgentPath    string `json:"agent_path"`
	Content      blocks `json:"content"`
	Message      string `json:"message"`
	LastMessage  string `json:"last_agent_message"`
	Author       string `json:"author"`
	Recipient    string `json:"recipient"`
	Source       struct {
		Subagent struct {
			Spawn struct {
				Parent    string `json:"parent_thread_id"`
				AgentRole string `json:"agent_role"`
				AgentPath string `json:"agent_path"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	} `json:"source"`
}

// A block is a part of a message.
type block struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Name      string `json:"name"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
	Content   blocks `json:"content"`
	Input     struct {
		Message  string `json:"message"`
		FilePath string `json:"file_path"`
	} `json:"input"`
}

// blocks are the parts of a message, which may stand as one text.
type blocks []block

func (b *blocks) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		one := block{Type: "text"}
		*b = blocks{one}
		return json.Unmarshal(text, &(*b)[0].Text)
	}
	_ = json.Unmarshal(text, (*[]block)(b)) // what has another shape is passed over
	return nil
}

// text returns the texts of blocks, a blank line between two.
func (b blocks) text() string {
	var texts []string
	for _, part := range b {
		isText := part.Type == "text" || part.Type == "output_text" || part.Type == "input_text"
		if isText && strings.TrimSpace(part.Text) != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// size returns how long the texts of blocks are, in bytes.
func (b blocks) size() (sum int64) {
	for _, part := range b {
		sum += int64(len(part.Text)) + part.Content.size()
	}
	return sum
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
