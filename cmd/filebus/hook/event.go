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
	"slices"
	"strings"
	"time"

	"filebus/materialize/transcript"
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
	ToolFailure      = "PostToolUseFailure"
	StopFailure      = "StopFailure"

	Claude = "claude"
	Codex  = "codex" // which takes fewer answers than others
)

// Names returns the events that are known.
func Names() []string {
	return []string{
		SessionStart, SessionEnd, UserPromptSubmit, PreToolUse, PostToolUse, ToolFailure, SubagentStart, SubagentStop, StopFailure,
	}
}

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
	Failed   bool // it has ended, and not well
	Told     bool // the report is in the client's words: what the agent itself said is stronger
	Dumped   bool // it is none, but what stands for one that was stored
	from, to int  // the blocks of the response between those that the client counts as its own
	own      int  // the bytes of those

	Odd error // the first field of another type than expected
}

// A payload has the fields of all events. Others may come and go.
type payload struct {
	Session    string          `json:"session_id"`
	Dir        string          `json:"cwd"`
	Event      string          `json:"hook_event_name"`
	Agent      string          `json:"agent_id"`   // a sub-agent: whom the event is about
	Type       string          `json:"agent_type"` // its type, or that of the session
	Transcript string          `json:"agent_transcript_path"`
	Message    string          `json:"last_assistant_message"`
	Again      bool            `json:"stop_hook_active"` // a hook has made the agent go on
	Source     string          `json:"source"`
	Prompt     string          `json:"prompt"`
	Tool       string          `json:"tool_name"`
	Use        string          `json:"tool_use_id"`
	Input      json.RawMessage `json:"tool_input"`
	Response   json.RawMessage `json:"tool_response"`
	Error      string          `json:"error"` // of a call that failed
	Background []struct {      // what works in the background; of an agent in the foreground it is not there
		ID string `json:"id"`
	} `json:"background_tasks"`
}

// unmarshal is json.Unmarshal that leaves out fields of another type than expected, of which odd names the first.
func unmarshal(text []byte, to any) (odd, err error) {
	err = json.Unmarshal(text, to)
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is && wrong.Field != "" {
		return err, nil
	}
	return nil, err
}

// Read reads the payload of an event that has a name and a client.
func (e *Event) Read(text []byte) (err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	e.Odd, err = unmarshal(text, &e.payload)
	switch {
	case err != nil:
		return fmt.Errorf("the input of %d bytes is no JSON object: %w", len(text), err)
	case e.Event != "" && !strings.EqualFold(e.Event, e.Name):
		return fmt.Errorf("the input is of the event %q, not %q", e.Event, e.Name)
	case e.Session == "":
		return errors.New("the input names no session")
	}
	switch e.Name {
	case PreToolUse, PostToolUse:
		err = e.readTool()
	case SubagentStop:
		e.Report, e.Ended = e.Message, true
	case StopFailure:
		e.Report, e.Failed = cmp.Or(e.Message, e.Error), true
	case ToolFailure:
		e.readFailure()
	case SessionStart, SessionEnd, UserPromptSubmit, SubagentStart:
	default:
		err = fmt.Errorf("the event %q is none of %s", e.Name, strings.Join(Names(), ", "))
	}
	if strings.TrimSpace(e.Report) == "" {
		e.Report = ""
	}
	return err
}

// A tool is what the tools by which agents come back give, and, as in, what they are called with: another document,
// with fields of the same names.
type tool struct {
	in struct {
		Message, Prompt string
		Kind            string `json:"subagent_type"`
	}
	Status, AgentID, AgentType, Prompt string
	Content                            json.RawMessage
	HarnessNoteCount, HarnessTailCount int
	TotalDurationMs                    float64
	Success, Handback                  any
	HandbackReport                     struct{ Text string }
	Task                               struct {
		ID                             string `json:"task_id"`
		Kind                           string `json:"task_type"`
		Status, Result, Output, Prompt string
	}
}

// isCall reports whether the tool is that by which an agent is called.
func (e *Event) isCall() bool { return e.Tool == "Agent" || e.Tool == "Task" }

// readTool reads what an event says of one of these tools; others do not concern an agent.
func (e *Event) readTool() error {
	var t tool
	_, _ = unmarshal(e.Input, &t.in)        // which only says more, but for a message
	_, unknown := unmarshal(e.Response, &t) // there is none before the call
	isOutput := e.Tool == "TaskOutput" || e.Tool == "AgentOutputTool"
	switch {
	case e.Tool == "SubagentHandback" && t.in.Message == "":
		return errors.New("a hand-back without a message")
	case e.Tool == "SubagentHandback":
		if e.Handback, e.Refused = true, t.Success == false; !e.Refused {
			e.Report, e.Ended = t.in.Message, e.Name == PostToolUse
		}
		return nil
	}
	e.Agent, e.Type = "", "" // they were the caller's
	switch {
	case e.Name == PreToolUse || !e.isCall() && !isOutput:
		return nil
	case unknown != nil:
		return fmt.Errorf("the result of %s is no object: %w", e.Tool, unknown)
	case isOutput:
		e.readOutput(t)
		return nil
	}
	return e.readCall(t)
}

// readFailure reads what a call says that has failed: of an agent, if it names its type.
func (e *Event) readFailure() {
	var in struct {
		Kind string `json:"subagent_type"`
	}
	_ = json.Unmarshal(e.Input, &in) // which only says more
	if e.Agent, e.Type = "", ""; e.isCall() {
		e.Agent, e.Type, e.Report, e.Failed, e.Told = e.Use, cmp.Or(in.Kind, "agent"), e.Error, true, true
	}
}

// readCall reads what the call of an agent gave its caller.
func (e *Event) readCall(t tool) error {
	e.Agent, e.Type, e.Prompt = t.AgentID, cmp.Or(t.AgentType, t.in.Kind, "agent"), cmp.Or(t.in.Prompt, t.Prompt)
	switch t.Status {
	case "async_launched", "remote_launched":
		e.Launched = true
		return nil
	case "completed":
	default:
		return fmt.Errorf("the result of %s has the unknown status %q", e.Tool, t.Status)
	}
	if e.Agent, e.Ended, e.Told = cmp.Or(e.Agent, e.Use), true, true; t.TotalDurationMs > 0 && t.TotalDurationMs < 1e12 {
		e.Duration = time.Duration(t.TotalDurationMs) * time.Millisecond
	}
	e.readContent(t)
	if e.Handback = isNote(e.Report) || t.Handback != nil; e.Handback { // the report came by another way
		e.Report = t.HandbackReport.Text
	} else if e.Report == "" {
		return fmt.Errorf("the result of %s has no text of a shape that is known", e.Tool)
	}
	return nil
}

// readContent reads a report without what the client has put around it, by its counts of blocks or, for a note that is
// known, without them. Counts that leave no text are wrong.
func (e *Event) readContent(t tool) {
	var blocks []json.RawMessage
	_ = json.Unmarshal(t.Content, &blocks) // one text has none
	if e.from, e.to = max(0, t.HarnessNoteCount), len(blocks)-max(0, t.HarnessTailCount); e.from < e.to {
		own, _ := json.Marshal(blocks[e.from:e.to]) // it was JSON before
		e.Report = transcript.TextOf(own)
	}
	if e.Report == "" {
		e.from, e.to, e.Report = 0, len(blocks), transcript.TextOf(t.Content)
	}
	for _, block := range slices.Concat(blocks[:e.from], blocks[e.to:]) {
		e.own += len(block)
	}
	note, rest, found := strings.Cut(e.Report, "</tools-used-before-summary>")
	if found && strings.HasPrefix(note, "<tools-used-before-summary>") {
		e.Report = strings.TrimLeft(rest, "\r\n")
	}
}

// Room returns how many bytes a reference may have for a parent to get 1,000 in all: a client puts some 690 around it, and
// blocks of its own.
func (e *Event) Room() int { return 310 - e.own }

// isNote reports whether a text stands in place of a report that was handed back.
func isNote(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "This agent's report was delivered to you as") || strings.HasPrefix(text, "[Subagent hand-back]")
}

// readOutput reads what a tool tells of an agent in the background. Commands in the background are none, and
// what an agent has put out until now is no report.
func (e *Event) readOutput(t tool) {
	text := cmp.Or(t.Task.Result, t.Task.Output)
	if strings.HasSuffix(t.Task.Kind, "_agent") && t.Task.Status == "completed" && !isNote(text) {
		e.Agent, e.Type, e.Prompt, e.Report, e.Ended, e.Told = t.Task.ID, "agent", t.Task.Prompt, text, true, true
		e.Dumped = isRows(text)
	}
}

// isRows reports whether a text is of rows of a transcript, with no more other lines: the first and the last may be
// cut, and the client may say so.
func isRows(text string) bool {
	rows, others := 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		begins, ends := strings.HasPrefix(line, "{"), strings.HasSuffix(line, "}")
		switch {
		case begins && strings.Contains(line, `"type":`) && strings.Contains(line, `"message":`):
			rows++
		case !begins && !ends && line != "":
			others++
		}
	}
	return rows > 0 && rows >= others
}
