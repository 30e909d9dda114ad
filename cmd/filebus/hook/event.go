// Package hook reads what a client of agents tells its hooks, and decides what is to be done about it. It is
// pure: bytes come in, a decision goes out, so that any input can be tried on it. It sees neither store nor
// disk; package main does what it decides.
//
// An Event is one payload, a Note a line of what is remembered of a session, and a Decision what follows from
// both. What is not understood is an error that names it, and changes nothing for the client.
package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The names of events, as clients write them.
const (
	SessionStart     = "SessionStart"
	SessionEnd       = "SessionEnd"
	UserPromptSubmit = "UserPromptSubmit"
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	SubagentStart    = "SubagentStart"
	SubagentStop     = "SubagentStop"
)

// Names returns the events that are known.
func Names() []string {
	return []string{SessionStart, SessionEnd, UserPromptSubmit, PreToolUse, PostToolUse, SubagentStart, SubagentStop}
}

// The clients.
const (
	Claude = "claude"
	Codex  = "codex"
)

// An Event is what a client tells of one moment. Fields that it does not have are empty.
type Event struct {
	Name, Client string
	payload
	Report   string // what the agent has to say in the end, as far as the event says it
	Duration time.Duration

	Handback bool // the report is on its way by a tool of its own
	Launched bool // the agent works on in the background
	Refused  bool // the hand-back did not come through
	Ended    bool // the agent has ended well
}

// A payload has the fields of all events. Others may come and go.
type payload struct {
	Session    string          `json:"session_id"`
	Dir        string          `json:"cwd"`
	Event      string          `json:"hook_event_name"`
	Agent      string          `json:"agent_id"`   // a sub-agent: whom the event is about
	Type       string          `json:"agent_type"` // its type, or that of the session
	Transcript string          `json:"agent_transcript_path"`
	Message    *string         `json:"last_assistant_message"`
	Again      bool            `json:"stop_hook_active"` // a hook has made the agent go on
	Source     string          `json:"source"`
	Prompt     string          `json:"prompt"`
	Tool       string          `json:"tool_name"`
	Use        string          `json:"tool_use_id"`
	Input      json.RawMessage `json:"tool_input"`
	Response   json.RawMessage `json:"tool_response"`
}

// unmarshal is json.Unmarshal that leaves out fields of another type than expected.
func unmarshal(text []byte, to any) error {
	err := json.Unmarshal(text, to)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		return nil
	}
	return err
}

// Read reads the payload of an event.
func Read(client, name string, text []byte) (Event, error) {
	e := Event{Name: name, Client: client}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := unmarshal(text, &e.payload); err != nil {
		return e, fmt.Errorf("the input of %d bytes is no JSON object: %w", len(text), err)
	}
	switch {
	case e.Event != "" && !strings.EqualFold(e.Event, name):
		return e, fmt.Errorf("the input is of the event %q, not %q", e.Event, name)
	case e.Session == "":
		return e, errors.New("the input names no session")
	}
	switch name {
	case PreToolUse, PostToolUse:
		return e, e.readTool()
	case SubagentStop:
		if e.Ended = true; e.Message != nil {
			e.Report = *e.Message
		}
	case SessionStart, SessionEnd, UserPromptSubmit, SubagentStart:
	default:
		return e, fmt.Errorf("%q is none of %s", name, strings.Join(Names(), ", "))
	}
	return e, nil
}

// readTool reads what an event says of one of the tools that agents come back by.
func (e *Event) readTool() error {
	if e.Tool == "SubagentHandback" {
		return e.readHandback()
	}
	e.Agent, e.Type = "", "" // they were the caller's
	switch {
	case e.Name == PreToolUse:
	case e.isCall():
		return e.readCall()
	case e.Tool == "TaskOutput" || e.Tool == "AgentOutputTool":
		return e.readOutput()
	}
	return nil
}

// isCall reports whether the tool is that by which an agent is called.
func (e *Event) isCall() bool { return e.Tool == "Agent" || e.Tool == "Task" }

// readHandback reads the call of an agent that hands its report back.
func (e *Event) readHandback() error {
	var input struct{ Message string }
	var answer struct{ Success *bool }
	_ = unmarshal(e.Response, &answer) // there is none before the call
	if unmarshal(e.Input, &input) != nil || input.Message == "" {
		return errors.New("a hand-back without a message")
	}
	e.Handback, e.Refused = true, answer.Success != nil && !*answer.Success
	if e.Ended = e.Name == PostToolUse && !e.Refused; !e.Refused {
		e.Report = input.Message
	}
	return nil
}

// readCall reads what the call of an agent gave its caller.
func (e *Event) readCall() error {
	var answer struct {
		Status, AgentID, AgentType, Prompt string
		Content                            json.RawMessage
		TotalDurationMs                    float64
		Handback                           any
		HandbackReport                     struct{ Text string }
	}
	var input struct {
		Prompt string
		Type   string `json:"subagent_type"`
	}
	if err := unmarshal(e.Response, &answer); err != nil {
		return fmt.Errorf("the result of %s is no object: %w", e.Tool, err)
	}
	_ = unmarshal(e.Input, &input)                         // it only says more
	e.Type = cmp.Or(answer.AgentType, input.Type, "agent") // it is left out where it is usual
	e.Agent, e.Prompt = answer.AgentID, cmp.Or(answer.Prompt, input.Prompt)
	switch answer.Status {
	case "completed":
	case "async_launched", "remote_launched":
		e.Launched = true
		return nil
	default:
		return fmt.Errorf("the result of %s has the unknown status %q", e.Tool, answer.Status)
	}
	if e.Agent, e.Ended = cmp.Or(e.Agent, e.Use), true; answer.TotalDurationMs > 0 && answer.TotalDurationMs < 1e12 {
		e.Duration = time.Duration(answer.TotalDurationMs) * time.Millisecond
	}
	text, err := textOf(answer.Content)
	if e.Handback = isNote(text) || answer.Handback != nil; e.Handback { // the report came by another way
		text, err = answer.HandbackReport.Text, nil
	}
	e.Report = text
	return err
}

// A block is a part of a content.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// isReport reports whether a block is an agent's own text, and not what the client puts behind it.
func (b block) isReport() bool { return b.Type == "text" && !strings.HasPrefix(b.Text, "agentId: ") }

// textOf returns the text of a content: a string, or blocks.
func textOf(content json.RawMessage) (text string, err error) {
	var blocks []block
	if json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return "", fmt.Errorf("a content that is neither text nor blocks: %w", err)
	}
	for _, b := range blocks {
		if b.isReport() {
			text += b.Text + "\n\n"
		}
	}
	return strings.TrimSuffix(text, "\n\n"), nil
}

// isNote reports whether a text stands in place of a report that was handed back.
func isNote(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "This agent's report was delivered to you as") || strings.HasPrefix(text, "[Subagent hand-back]")
}

// readOutput reads what a tool tells of an agent in the background. Commands in the background are none, and
// what an agent has put out until now is no report.
func (e *Event) readOutput() error {
	var answer struct {
		Task struct {
			ID                             string `json:"task_id"`
			Kind                           string `json:"task_type"`
			Status, Result, Output, Prompt string
		}
	}
	if err := unmarshal(e.Response, &answer); err != nil {
		return fmt.Errorf("the result of %s is no object: %w", e.Tool, err)
	}
	task := answer.Task
	text := cmp.Or(task.Result, task.Output)
	line, _, _ := strings.Cut(text, "\n")
	isRows := strings.HasPrefix(line, "{") && json.Valid([]byte(line)) // of a transcript
	if strings.HasSuffix(task.Kind, "_agent") && task.Status == "completed" && !isNote(text) && !isRows {
		e.Agent, e.Type, e.Prompt, e.Report, e.Ended = task.ID, "agent", task.Prompt, text, true
	}
	return nil
}
