// Package transcript reads the records that clients of agents keep of their sessions, a line of JSON for each message
// or call: those of Claude Code and of Codex. It knows which text of an agent is its report, whose it is, and what the
// agent has read. It reads in flat memory, passes over what it does not know, and neither writes nor sees a store.
//
// Run.Read reads one transcript; Claude and Codex find those of a project.
package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"filebus/store/record"
)

// MaxText is the longest text of a transcript that is read, in bytes, unless a caller says otherwise.
const MaxText = 16 << 20

// AskedForLine ends what an agent is told whose report is stored: what it says then, if short, is no report.
const AskedForLine = "The caller needs nothing but that line as the last answer:"

// ErrTooLong says that a report has more bytes than are read.
const ErrTooLong record.Reason = "the report is too long"

// A Run is what one transcript tells of the run of an agent.
type Run struct {
	Session, ID string // whose conversation it is of: that of who started the first agent; "": the session itself
	Agent, Cwd  string // its type, if it tells, and where it began
	Prompt      string // the first
	Text        string // its report: see Read; "": there is none yet
	Time        time.Time
	Earlier     []Report       // of an agent that was resumed, those that it gave before
	Ended       bool           // it tells that nothing follows. Else a call may still be written behind the text
	IsForeign   bool           // no agent was asked for: the client has done something on its own
	Reads       []Read         // of files, by the agent's own tool
	Rows        int            // that could be read
	Offset      int64          // from which reading can go on when it has grown
	Progress    func(at int64) // is told where each row begins; nil: nobody

	Received      int // texts that came from sub-agents
	ReceivedBytes int64

	isHandback    bool
	isAsked       bool              // for a line, by the last row of a user
	reply, spoken string            // the id of the last reply that has one, and its text
	settled       string            // the report before it
	calls         map[string]string // the files of calls that read, by their ids; "" for calls of sub-agents
	at, resume    int64             // where the row begins, and the last reply
	begins        bool              // only the beginning is read
}

// A Read is one call of an agent's tool for reading files.
type Read struct {
	Time time.Time
	File string // as the agent named it
	Size int64  // of what it got, in bytes
}

// mostBegin is how many rows are looked at for how a run begins.
const mostBegin = 100

// Read reads a transcript from its Offset, where in begins. The report of a run is the message of its last hand-back;
// else the text of its last reply that called no tool. One of more than limit bytes is ErrTooLong. With ErrEndless it
// has what the rows before tell.
func (r *Run) Read(ctx context.Context, in io.Reader, limit int) (err error) {
	lines, begin, line := NewLineReader(in, limit), r.Offset, []byte(nil)
	r.resume, r.calls = -1, map[string]string{}
	for {
		if r.at = begin + lines.read; r.Progress != nil {
			r.Progress(r.at)
		}
		line, err = lines.Next(ctx)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrEndless) {
			return err
		}
		if w, ok := parseRow(line); ok {
			r.Rows++
			r.take(w)
		}
		if isBegun := r.begins && (r.Cwd != "" && r.Prompt != "" || r.Rows == mostBegin); err != nil || isBegun {
			break
		}
	}
	if r.Offset = r.at; r.resume >= 0 {
		r.Offset = r.resume
	}
	if len(r.Text) > limit {
		return record.Failed.Errorf("its report has more than %d bytes", limit).Because(ErrTooLong)
	}
	if errors.Is(err, ErrEndless) {
		return err
	}
	return nil
}

// take takes what a row tells.
func (r *Run) take(w row) {
	switch {
	case w.Payload.Type != "" || w.Type == "session_meta":
		r.takeCodex(w)
		return
	case r.Rows == 1 && r.Session == "" && w.IsSidechain:
		r.ID = w.AgentID
	case w.IsSidechain && r.ID == "": // of a sub-agent that older versions wrote into the session
		return
	}
	if r.Session == "" {
		r.Session = w.SessionID
	}
	if r.Cwd == "" {
		r.Cwd = w.Cwd
	}
	if w.Type == "user" {
		r.takeUser(w)
	} else if w.Type == "assistant" && !w.IsAPIErrorMessage && w.Message.Model != "<synthetic>" {
		r.takeReply(w)
	}
}

// A Report is what an agent has said in the end of one of its runs.
type Report struct {
	Text string
	Time time.Time
}

// Reports returns all that the agent has reported, oldest first.
func (r *Run) Reports() []Report { return append(slices.Clone(r.Earlier), Report{r.Text, r.Time}) }

// resumed keeps the report of an agent that has ended, as it is asked for something else.
func (r *Run) resumed() {
	if n := len(r.Earlier); r.ID != "" && r.Ended && r.Text != "" && (n == 0 || r.Earlier[n-1].Text != r.Text) {
		r.Earlier = append(r.Earlier, Report{r.Text, r.Time})
	}
}

// takeUser takes the first prompt, and what tools and sub-agents gave back.
func (r *Run) takeUser(w row) {
	text, size := w.Message.Content.text()
	if r.isAsked = strings.Contains(text, AskedForLine); text != "" && !r.isAsked {
		r.resumed()
	}
	isMail := strings.HasPrefix(text, "<agent-message") || strings.HasPrefix(text, "<task-notification>")
	switch {
	case isMail || w.Origin.Kind == "peer" || w.Origin.Kind == "task-notification":
		r.receive(size)
	case r.Prompt == "" && !w.IsMeta && !w.IsCompactSummary:
		r.Prompt = text
	}
	for _, b := range w.Message.Content {
		call, known := r.calls[b.ToolUse]
		if b.Type != "tool_result" || !known {
			continue
		}
		delete(r.calls, b.ToolUse)
		var answer blocks
		_ = json.Unmarshal(b.Content, &answer) // what has another shape has no size
		if _, size := answer.text(); call == "" {
			r.receive(size)
		} else {
			r.Reads = append(r.Reads, Read{w.time(), call, size})
		}
	}
}

func (r *Run) receive(size int64) { r.Received, r.ReceivedBytes = r.Received+1, r.ReceivedBytes+size }

// takeReply takes a row of a reply, of which each block may have its own. Of an agent that is at work again the report
// is what it was, and what it says behind a hand-back are closing words.
func (r *Run) takeReply(w row) {
	if w.Message.ID == "" || w.Message.ID != r.reply {
		r.reply, r.spoken, r.settled, r.resume = w.Message.ID, "", r.Text, r.at
	}
	called := w.Message.StopReason == "tool_use"
	for _, b := range w.Message.Content {
		called = called || b.Type == "tool_use"
		switch b.Name {
		case "SubagentHandback":
			if b.Input.Message != "" {
				r.Text, r.Time, r.Ended, r.isHandback = b.Input.Message, w.time(), true, true
			}
		case "Read":
			r.calls[b.ID] = b.Input.File
		case "Agent", "Task", "TaskOutput", "AgentOutputTool":
			r.calls[b.ID] = ""
		}
	}
	text, _ := w.Message.Content.text()
	if text != "" {
		r.spoken = strings.TrimPrefix(r.spoken+"\n\n"+text, "\n\n")
	}
	switch {
	case r.isHandback:
	case called, r.isAsked && len(r.spoken) <= 400:
		r.Text, r.Ended = r.settled, r.settled != ""
	case text != "":
		r.Text, r.Time, r.Ended = r.spoken, w.time(), w.Message.StopReason != ""
	}
}

// Title returns the first line of the prompt that says something.
func (r *Run) Title() string {
	for line := range strings.Lines(r.Prompt) {
		if line = strings.Trim(line, "#*<> \t\r\n"); line != "" {
			return line
		}
	}
	return ""
}

// ReadFile reads a transcript on from its Offset.
func (r *Run) ReadFile(ctx context.Context, path string, limit int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	if _, err := f.Seek(r.Offset, io.SeekStart); err != nil {
		return err
	}
	return r.Read(ctx, f, limit)
}
