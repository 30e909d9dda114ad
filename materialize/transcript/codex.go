package transcript

import (
	"cmp"
	"strings"
)

// takeCodex takes what a row of Codex tells.
func (r *Run) takeCodex(w row) {
	p := w.Payload
	text, size := p.Content.text()
	head, body, isMail := strings.Cut(text, "\nPayload:\n")
	switch what := w.Type + " " + p.Type; {
	case w.Type == "session_meta" && r.Session == "": // a fork has those of what it was made from behind its own
		r.begin(w)
	case what == "response_item message" && p.Role == "assistant" && text != "":
		r.Text, r.Time, r.Ended, r.resume = text, w.time(), false, r.at
	case what == "response_item agent_message" && strings.Contains(head, "Message Type: FINAL_ANSWER"):
		r.receive(size)
	case what == "response_item agent_message" && isMail:
		r.Prompt = cmp.Or(r.Prompt, body)
	case what == "response_item message" && p.Role == "user" && !strings.HasPrefix(text, "<") &&
		!strings.HasPrefix(text, "# AGENTS.md"): // the client has added those
		r.Prompt = cmp.Or(r.Prompt, text)
	case what == "event_msg task_complete", what == "event_msg turn_complete":
		if p.Last != "" {
			r.Text, r.Time = p.Last, w.time()
		}
		r.Ended = r.Text != ""
	case what == "event_msg task_started", what == "event_msg turn_started", what == "event_msg turn_aborted",
		w.Type == "response_item" && strings.HasSuffix(p.Type, "_call"):
		r.resumed()
		r.Text, r.Ended = "", false
	}
}

// begin takes whose transcript it is.
func (r *Run) begin(w row) {
	p, spawn := w.Payload, w.Payload.Source.Subagent.Spawn
	r.Cwd, r.Session = p.Cwd, cmp.Or(p.ID, p.Session)
	r.IsForeign = p.ThreadSource != "" && p.ThreadSource != "user" && p.ThreadSource != "subagent"
	if spawn.Parent == "" && p.ThreadSource != "subagent" {
		return
	}
	r.ID, r.Session = r.Session, cmp.Or(spawn.Parent, p.Parent)
	if p.Session != "" && p.Session != r.ID {
		r.Session = p.Session // of an agent that was started by another: that of the first
	}
	r.Agent = cmp.Or(spawn.AgentRole, p.AgentRole, "default") // as its hooks call it
}
