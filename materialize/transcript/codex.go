package transcript

import (
	"cmp"
	"path"
	"strings"
)

// takeCodex takes what a row of Codex tells.
func (r *Run) takeCodex(w row) {
	p := w.Payload
	switch w.Type + " " + p.Type {
	case "session_meta ":
		if r.Session == "" { // a fork has those of what it was made from behind its own
			r.begin(p)
		}
	case "response_item message":
		r.takeMessage(w)
	case "response_item agent_message":
		r.takeMail(w)
	case "event_msg task_started", "event_msg turn_started", "event_msg turn_aborted":
		r.Text, r.Ended = "", false
	case "event_msg task_complete", "event_msg turn_complete":
		if p.LastMessage != "" {
			r.Text, r.Time = p.LastMessage, w.time()
		}
		r.Ended = r.Text != ""
	default:
		if w.Type == "response_item" && strings.HasSuffix(p.Type, "_call") {
			r.Text, r.Ended = "", false
		}
	}
}

// begin takes whose transcript it is.
func (r *Run) begin(p payload) {
	spawn := p.Source.Subagent.Spawn
	parent := cmp.Or(spawn.Parent, p.Parent)
	r.Cwd, r.Session = p.Cwd, cmp.Or(p.ID, p.Session)
	r.IsForeign = p.ThreadSource != "" && p.ThreadSource != "user" && p.ThreadSource != "subagent"
	if spawn.Parent == "" && p.ThreadSource != "subagent" {
		return
	}
	r.ID, r.Session = r.Session, parent
	if p.Session != "" && p.Session != r.ID {
		r.Session = p.Session // of an agent that was started by another: that of the first
	}
	r.Agent = cmp.Or(spawn.AgentRole, p.AgentRole)
	if at := cmp.Or(spawn.AgentPath, p.AgentPath); r.Agent == "" && at != "" {
		r.Agent = path.Base(at)
	}
}

// takeMessage takes a prompt or a reply.
func (r *Run) takeMessage(w row) {
	text := w.Payload.Content.text()
	switch {
	case text == "":
	case w.Payload.Role == "assistant":
		r.Text, r.Time, r.Ended = text, w.time(), false
	case w.Payload.Role == "user" && r.Prompt == "" && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "# AGENTS.md"):
		r.Prompt = text // others are what the client has added
	}
}

// takeMail takes a message between agents: the first to a sub-agent is its prompt, and final answers are reports.
func (r *Run) takeMail(w row) {
	text := w.Payload.Content.text()
	head, body, found := strings.Cut(text, "\nPayload:\n")
	switch {
	case !found:
	case strings.Contains(head, "Message Type: FINAL_ANSWER"):
		r.Received = append(r.Received, Receipt{w.time(), int64(len(text))})
	case r.Prompt == "":
		r.Prompt = body
	}
}
