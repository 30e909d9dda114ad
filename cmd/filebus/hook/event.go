// Package hook reads what a client of agents tells its hooks, and decides what is to be
// done about it. It is pure: bytes come in, a decision goes out. It sees neither store nor
// disk, so that any input can be tried on it; package main does what it decides.
//
// An Event is one payload, a Note a line of what is remembered of a session, and a
// Decision what follows from both. What is not understood is an error that names it, and
// changes nothing for the client.
package hook

import (
	"bytes"
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
	Name, Client, Session string

	Agent, Type string // whom it is about: the id and the type of a sub-agent
	Report      string // what the agent has to say in the end, as far as the event says it
	Prompt      string // what the agent, or the session, was told
	Source      string // of a session's start or a prompt
	Dir         string // the session's working directory
	Transcript  string // the agent's
	Duration    time.Duration

	Handback bool // the report is on its way by a tool of its own
	Launched bool // the agent works on in the background
	Refused  bool // the hand-back did not come through
	Ended    bool // the agent has ended well
	Again    bool // a hook has made the agent go on

	tool            string
	input, response json.RawMessage
}

// A payload has the fields of all events. Others may come and go.
type payload struct {
	Session    string          `json:"session_id"`
	Dir        string          `json:"cwd"`
	Name       string          `json:"hook_event_name"`
	Agent      string          `json:"agent_id"`
	Type       string          `json:"agent_type"`
	Transcript string          `json:"agent_transcript_path"`
	Message    *string         `json:"last_assistant_message"`
	Again      bool            `json:"stop_hook_active"`
	Source     string          `json:"source"`
	Prompt     string          `json:"prompt"`
	Tool       string          `json:"tool_name"`
	Use        string          `json:"tool_use_id"`
	Input      json.RawMessage `json:"tool_input"`
	Response   json.RawMessage `json:"tool_response"`
	Millis     float64         `json:"duration_ms"`
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
func Read(client, name string, text []byte) (e Event, err error) {
	var p payload
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(text) == 0 {
		return e, errors.New("there is nothing on standard input")
	}
	if err := unmarshal(text, &p); err != nil {
		return e, fmt.Errorf("the input is no JSON object of %d bytes: %w", len(text), err)
	}
	if p.Name != "" && !strings.EqualFold(p.Name, name) {
		return e, fmt.Errorf("the input is of the event %q, not %q", p.Name, name)
	}
	if p.Session == "" {
		return e, errors.New("the input names no session")
	}
	e = Event{
		Name: name, Client: client, Session: p.Session, Agent: p.Agent, Type: p.Type, Dir: p.Dir, Source: p.Source,
		Prompt: p.Prompt, Transcript: p.Transcript, Again: p.Again, Duration: millis(p.Millis),
		tool: p.Tool, input: p.Input, response: p.Response,
	}
	switch name {
	case PreToolUse, PostToolUse:
		err = e.readTool(p.Use)
	case SubagentStop:
		if e.Ended = true; p.Message != nil {
			e.Report = *p.Message
		}
	case SessionStart, SessionEnd, UserPromptSubmit, SubagentStart:
	default:
		err = fmt.Errorf("%q is none of %s", name, strings.Join(Names(), ", "))
	}
	return e, err
}

func millis(n float64) time.Duration {
	if n < 0 || n > 1e12 {
		return 0
	}
	return time.Duration(n * float64(time.Millisecond))
}

// readTool reads what an event says of one of the tools that agents come back by.
func (e *Event) readTool(use string) error {
	switch e.tool {
	case "SubagentHandback":
		return e.readHandback()
	case "Agent", "Task":
		e.Agent, e.Type, e.Duration = "", "", 0 // they were the caller's
		if e.Name == PostToolUse {
			return e.readAgent(use)
		}
	case "TaskOutput", "AgentOutputTool":
		e.Agent, e.Type, e.Duration = "", "", 0
		if e.Name == PostToolUse {
			return e.readOutput()
		}
	}
	return nil
}

// readHandback reads the call of an agent that hands its report back.
func (e *Event) readHandback() error {
	var input struct{ Message string }
	if err := unmarshal(e.input, &input); err != nil || input.Message == "" {
		return fmt.Errorf("a hand-back without a message: %w", cmpError(err))
	}
	var answer struct{ Success *bool }
	_ = unmarshal(e.response, &answer) // there is none before the call
	e.Handback, e.Report, e.Duration = true, input.Message, 0
	if answer.Success != nil && !*answer.Success {
		e.Refused, e.Report = true, ""
	}
	e.Ended = e.Name == PostToolUse && !e.Refused
	return nil
}

func cmpError(err error) error {
	if err == nil {
		return errors.New("the field is missing, empty or no text")
	}
	return err
}

// A block is a part of a content.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// readAgent reads what the call of an agent gave its caller.
func (e *Event) readAgent(use string) error {
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
	if err := unmarshal(e.response, &answer); err != nil {
		return fmt.Errorf("the result of %s is no object: %w", e.tool, cmpError(err))
	}
	_ = unmarshal(e.input, &input) // it only says more
	e.Agent, e.Type, e.Prompt = answer.AgentID, first(answer.AgentType, input.Type), first(answer.Prompt, input.Prompt)
	switch answer.Status {
	case "completed":
	case "async_launched", "remote_launched":
		e.Launched = true
		return nil
	default:
		return fmt.Errorf("the result of %s has the unknown status %q", e.tool, answer.Status)
	}
	e.Agent, e.Type = first(e.Agent, use), first(e.Type, "agent") // the type is left out where it is usual
	e.Ended, e.Duration = true, millis(answer.TotalDurationMs)
	if answer.HandbackReport.Text != "" {
		e.Handback, e.Report = true, answer.HandbackReport.Text
		return nil
	}
	text, err := textOf(answer.Content)
	if isNote(text) || answer.Handback != nil {
		e.Handback = true
		return nil // the report came by another way
	}
	e.Report = text
	return err
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// trailer begins what the client itself puts behind the text of an agent.
const trailer = "agentId: "

// textOf returns the text of a content: a string, or blocks.
func textOf(content json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var blocks []block
	if err := json.Unmarshal(content, &blocks); err != nil {
		return "", fmt.Errorf("a content that is neither text nor blocks: %w", err)
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" && !strings.HasPrefix(b.Text, trailer) {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// isNote reports whether a text stands in place of a report that was handed back.
func isNote(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "This agent's report was delivered to you as a message from") ||
		strings.HasPrefix(text, "[Subagent hand-back]")
}

// readOutput reads what a tool tells of an agent in the background. Commands in the
// background are none, and what an agent has put out until now is no report.
func (e *Event) readOutput() error {
	type output struct {
		ID     string `json:"task_id"`
		Kind   string `json:"task_type"`
		Status string
		Result string
		Output string
		Prompt string
	}
	var answer struct{ Task output }
	if err := unmarshal(e.response, &answer); err != nil {
		return fmt.Errorf("the result of %s is no object: %w", e.tool, cmpError(err))
	}
	task := answer.Task
	if !strings.HasSuffix(task.Kind, "_agent") || task.Status != "completed" || task.ID == "" {
		return nil
	}
	e.Agent, e.Type, e.Prompt, e.Ended = task.ID, "agent", task.Prompt, true
	if e.Report = first(task.Result, task.Output); isNote(e.Report) || isRows(e.Report) {
		e.Report = ""
	}
	return nil
}

// isRows reports whether a text is the rows of a transcript.
func isRows(text string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.HasPrefix(line, "{") && strings.Contains(line, `"type":`) && json.Valid([]byte(line))
}
