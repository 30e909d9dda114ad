package dialogue

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"filebus/store/record"
)

// A Transcript is what a reader saw of the record that a run of an agent leaves: a
// line of JSON for each message, {"type":"assistant","message":{"role":"assistant",
// "content":[{"type":"text","text":…}]}}, where content may be a string too.
type Transcript struct {
	Text     string `json:"-"`                // the last text of the agent: all blocks of its message, a blank line between two
	Line     int    `json:"line"`             // of its last block, counted from 1; 0: there is no text
	Lines    int    `json:"lines"`            // that are not blank
	Messages int    `json:"messages"`         // lines of the agent, with text or without
	Faults   int    `json:"-"`                // messages that the program around the agent wrote in its name, and so are none
	Broken   int    `json:"broken,omitempty"` // lines that are not JSON
	Size     int64  `json:"-"`                // bytes of the whole transcript
}

// ReadTranscript finds the last text of an agent in its transcript. It takes memory
// for the texts of two messages, however long the transcript and its lines are. A
// line that is not JSON is passed over and counted. Of a text that has more than limit
// bytes there is the line alone.
func ReadTranscript(text io.Reader, limit int) (*Transcript, error) {
	r := &transcriptReader{lexer: lexer{source: text, buffer: make([]byte, 64<<10)}, limit: limit}
	for {
		err := r.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	r.seen.Size = r.lexer.size
	r.seen.Text, r.seen.Line = strings.Join(r.last.blocks, "\n\n"), r.last.line
	return &r.seen, nil
}

// check returns an error if there is no text of at most limit bytes in a transcript that
// comes from origin.
func (t *Transcript) check(origin string, limit int) *record.Error {
	switch {
	case t.Text != "":
		return nil
	case t.Line > 0:
		return record.Failed.Errorf("reading %s: the last text of the agent, in line %d, has more than %d bytes", origin, t.Line, limit)
	case t.Lines == 0:
		return record.NotFound.Errorf("%s is empty", origin)
	}
	text := fmt.Sprintf("%s has no text of an agent: of %d lines %d are messages of it", origin, t.Lines, t.Messages)
	if t.Faults > 0 {
		text += fmt.Sprintf(", %d are errors in its name", t.Faults)
	}
	if t.Broken > 0 {
		text += fmt.Sprintf(", %d are not JSON", t.Broken)
	}
	return record.NotFound.Errorf("%s", text)
}

// A message is what is kept of a line, or of several with one id: a program may write
// a line for each block.
type message struct {
	kind, role, id, model string
	isFault               bool
	blocks                []string
	size                  int  // of the blocks
	isLong                bool // more than the limit; the blocks are gone
	line                  int
}

// isAgents reports whether a message is one of the agent.
func (m *message) isAgents() bool {
	return m.role == "assistant" || m.role == "" && m.kind == "assistant"
}

// synthetic is the model of messages that no model wrote, such as "API Error".
const synthetic = "<synthetic>"

// A transcriptReader goes over a transcript once.
type transcriptReader struct {
	lexer lexer
	limit int
	seen  Transcript
	last  message // the last one with text
	at    int     // the number of the line
}

// line reads one line. The error is io.EOF behind the last one.
func (r *transcriptReader) line() error {
	c, err := r.lexer.space()
	r.at++
	switch {
	case err != nil:
		return err
	case c == '\n':
		return r.lexer.skipLine()
	}
	r.seen.Lines++
	m := message{line: r.at}
	err = r.lexer.object(func(key string) error { return r.field(&m, key) })
	if err == nil {
		err = r.lexer.lineEnd()
	}
	switch {
	case err == nil:
		r.take(m)
	case errors.Is(err, errNotJSON), errors.Is(err, io.EOF):
		r.seen.Broken++
	default:
		return err
	}
	if err := r.lexer.skipLine(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// take counts a message that was read whole, and keeps it if it is the agent's and has
// text.
func (r *transcriptReader) take(m message) {
	switch {
	case !m.isAgents():
		return
	case m.isFault || m.model == synthetic:
		r.seen.Faults++
		return
	}
	r.seen.Messages++
	if len(m.blocks) == 0 && !m.isLong {
		return
	}
	if m.id != "" && m.id == r.last.id {
		m.blocks = append(r.last.blocks, m.blocks...)
		m.size += r.last.size
		m.isLong = m.isLong || r.last.isLong || m.size > r.limit
	}
	if m.isLong {
		m.blocks = nil
	}
	r.last = m
}

// field reads a field of a line.
func (r *transcriptReader) field(m *message, key string) error {
	switch key {
	case "type":
		return r.word(&m.kind)
	case "role":
		return r.word(&m.role)
	case "isApiErrorMessage":
		c, err := r.lexer.space()
		m.isFault = c == 't'
		if err != nil {
			return err
		}
	case "content":
		return r.content(m)
	case "message":
		return r.nested(m)
	}
	return r.lexer.skip()
}

// nested reads the message within a line.
func (r *transcriptReader) nested(m *message) error {
	if c, err := r.lexer.space(); err != nil || c != '{' {
		return errors.Join(err, r.lexer.skip())
	}
	return r.lexer.object(func(key string) error {
		switch key {
		case "role":
			return r.word(&m.role)
		case "id":
			return r.word(&m.id)
		case "model":
			return r.word(&m.model)
		case "content":
			return r.content(m)
		}
		return r.lexer.skip()
	})
}

// maxWord bounds the words that tell messages apart, in bytes.
const maxWord = 256

// word reads a short string; any other value, and a long one, is none.
func (r *transcriptReader) word(to *string) error {
	if c, err := r.lexer.space(); err != nil || c != '"' {
		return errors.Join(err, r.lexer.skip())
	}
	text, _, err := r.lexer.text(maxWord)
	*to = text
	return err
}

// content reads what a message says: a string, or a list of blocks.
func (r *transcriptReader) content(m *message) error {
	c, err := r.lexer.space()
	switch {
	case err != nil:
		return err
	case c == '"':
		text, isLong, err := r.lexer.text(r.limit)
		m.add(text, isLong, r.limit)
		return err
	case c != '[':
		return r.lexer.skip()
	}
	return r.lexer.list(func() error {
		if c, err := r.lexer.space(); err != nil || c != '{' {
			return errors.Join(err, r.lexer.skip())
		}
		return r.block(m)
	})
}

// block reads one block, and keeps its text if it is one of text.
func (r *transcriptReader) block(m *message) error {
	kind, text, isLong := "", "", false
	err := r.lexer.object(func(key string) (err error) {
		switch key {
		case "type":
			return r.word(&kind)
		case "text":
			var c byte
			if c, err = r.lexer.space(); err == nil && c == '"' {
				text, isLong, err = r.lexer.text(r.limit)
				return err
			}
		}
		return errors.Join(err, r.lexer.skip())
	})
	if kind == "text" {
		m.add(text, isLong, r.limit)
	}
	return err
}

// add adds a block of text, unless it is blank.
func (m *message) add(text string, isLong bool, limit int) {
	m.size += len(text)
	m.isLong = m.isLong || isLong || m.size > limit
	switch {
	case m.isLong:
		m.blocks = nil
	case strings.TrimSpace(text) != "":
		m.blocks = append(m.blocks, text)
	}
}
