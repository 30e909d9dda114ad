// Package transcript reads the records that clients of agents keep of their sessions, a line of JSON for each message
// or call: those of Claude Code and of Codex. It knows which text of an agent is its report, whose it is, and what the
// agent has read. It reads in flat memory, passes over what it does not know, and neither
// writes nor sees a store.
//
// Run.Read reads one transcript; SubAgents lists those of a session's sub-agents; Claude and Codex find those of a project.
package transcript

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"filebus/store/record"
)

// MaxText is the longest text of a transcript that is read, in bytes, unless a caller says otherwise.
const MaxText = 16 << 20

// ErrTooLong says that a report has more bytes than are read.
const ErrTooLong record.Reason = "the report is too long"

// A Run is what one transcript tells of the run of an agent.
type Run struct {
	Session string // whose conversation it belongs to: of a sub-agent, that of who started the first agent
	ID      string // of a sub-agent; "": it is the session itself
	Agent   string // its type, if the transcript tells
	Cwd     string // where it began
	Prompt  string // the first
	Text    string // its report: see Read; "": there is none yet
	// Ended says that the transcript tells that nothing follows. Else a call may still be written behind the text.
	Ended    bool
	Started  time.Time
	Time     time.Time // of the text
	Reads    []Read    // of files, by its own tool
	Received []Receipt // what came back from sub-agents into its context
	Rows     int       // that could be read
	Broken   int       // lines that are no object; a half line at the end is none
	Offset   int64     // behind the last whole line
	IsCodex  bool
	// IsForeign says that no agent was asked for: the client has done something on its own, as a review of a command.
	IsForeign bool

	isHandback    bool
	reply, spoken string            // the id of the last reply that has one, and its text
	settled       string            // the report before it
	calls         map[string]string // the files of calls that read, by their ids; "" for calls of sub-agents

}

// A Read is one call of an agent's tool for reading files.
type Read struct {
	Time time.Time
	File string // as the agent named it
	Size int64  // of what it got, in bytes
}

// A Receipt is a text that came from a sub-agent.
type Receipt struct {
	Time time.Time
	Size int64 // in bytes
}

// Read reads a transcript into a run, which may have been read up to where in begins. The report of a run is the message
// of its last hand-back; else the text of its last reply that called no tool. A text of more than limit bytes
// is ErrTooLong, with all else.
func (r *Run) Read(ctx context.Context, in io.Reader, limit int) error {
	begin, lines := r.Offset, NewLineReader(in, limit)
	for {
		line, err := lines.Next(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		row, ok := parseRow(line)
		isWhole := err == nil || ok
		switch {
		case ok:
			r.Rows++
			r.take(row)
		case err == nil && strings.TrimSpace(string(line)) != "":
			r.Broken++
		}
		if isWhole {
			r.Offset = begin + lines.Offset()
		}
		if err != nil {
			break
		}
	}
	if len(r.Text) > limit {
		return record.Failed.Errorf("it has more than %d bytes", limit).Because(ErrTooLong)
	}
	return nil
}

// take takes what a row tells.
func (r *Run) take(w row) {
	if r.calls == nil {
		r.calls = map[string]string{}
	}
	if t := w.time(); r.Started.IsZero() && !t.IsZero() {
		r.Started = t
	}
	if w.Payload.Type != "" || w.Type == "session_meta" {
		r.IsCodex = true
		r.takeCodex(w)
		return
	}
	if r.Rows == 1 && w.IsSidechain {
		r.ID = w.AgentID
	}
	if w.IsSidechain && r.ID == "" {
		return // of a sub-agent that older versions wrote into the session
	}
	if r.Session == "" {
		r.Session = w.Session
	}
	if r.Cwd == "" {
		r.Cwd = w.Cwd
	}
	switch {
	case w.Type == "user":
		r.takeUser(w)
	case w.Type == "assistant" && !w.IsError && w.Message.Model != "<synthetic>":
		r.takeReply(w)
	}
}

// takeUser takes the first prompt, and what tools and sub-agents gave back.
func (r *Run) takeUser(w row) {
	text := w.Message.Content.text()
	isOwn := !w.IsMeta && !w.IsSummary && text != ""
	if r.Prompt == "" && isOwn && w.Origin.Kind != "task-notification" {
		r.Prompt = text
	}
	isNote := strings.HasPrefix(text, "<agent-message") || strings.HasPrefix(text, "<task-notification>")
	if w.Origin.Kind == "peer" || w.Origin.Kind == "task-notification" || isNote {
		r.Received = append(r.Received, Receipt{w.time(), int64(len(text))})
	}
	for _, b := range w.Message.Content {
		call, known := r.calls[b.ToolUseID]
		if b.Type != "tool_result" || !known {
			continue
		}
		delete(r.calls, b.ToolUseID)
		if call == "" {
			r.Received = append(r.Received, Receipt{w.time(), b.Content.size()})
		} else {
			r.Reads = append(r.Reads, Read{w.time(), call, b.Content.size()})
		}
	}
}

// takeReply takes a row of a reply, of which each block may have its own.
func (r *Run) takeReply(w row) {
	isSame := w.Message.ID != "" && w.Message.ID == r.reply
	if !isSame {
		r.reply, r.spoken, r.settled = w.Message.ID, "", r.Text
	}
	called := false
	for _, b := range w.Message.Content {
		if b.Type != "tool_use" && b.Type != "server_tool_use" {
			continue
		}
		switch called = true; b.Name {
		case "SubagentHandback":
			if b.Input.Message != "" {
				r.Text, r.Time, r.Ended, r.isHandback = b.Input.Message, w.time(), true, true
			}
		case "Read":
			r.calls[b.ID] = b.Input.FilePath
		case "Agent", "Task", "TaskOutput", "AgentOutputTool":
			r.calls[b.ID] = ""
		}
	}
	text := w.Message.Content.text()
	if text != "" {
		r.spoken = strings.TrimPrefix(r.spoken+"\n\n"+text, "\n\n")
	}
	r.settle(w, called, text != "")
}

// settle decides whether what was spoken is the report. Of an agent that is at work again it is what it was.
func (r *Run) settle(w row, called, isText bool) {
	switch {
	case r.isHandback: // what is said behind it are closing words
	case called || w.Message.StopReason == "tool_use":
		r.Text, r.Ended = r.settled, r.settled != ""
	case isText:
		r.Text, r.Time, r.Ended = r.spoken, w.time(), w.Message.StopReason != ""
	}
}

// Title returns the first line of the prompt that says something.
func (r *Run) Title() string {
	for line := range strings.Lines(r.Prompt) {
		if line = strings.Trim(strings.TrimSpace(line), "#*<> "); line != "" {
			return strings.ToValidUTF8(line, "\ufffd")
		}
	}
	return ""
}

// ClaudeReport returns the final report of a sub-agent's transcript, for one that is known to have ended: the message of
// its last hand-back, else the text of its last reply that called no tool. ok says whether there is any. A report of more
// than max bytes is ErrTooLong.
func ClaudeReport(path string, max int64) (text string, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }() // only read
	run := &Run{}
	if err := run.Read(context.Background(), f, int(max)); err != nil {
		return "", false, err
	}
	return run.Text, run.Text != "", nil
}
