package dialogue

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// linkTranscript is the type of the link from a turn to the transcript that it was
// recovered from.
const linkTranscript = "transcript"

// A RecoverRequest says whose turn is recovered from what.
type RecoverRequest struct {
	Round      int
	Agent      string    // in any case
	Transcript io.Reader // see transcript
	Origin     string    // where the transcript is, as the turn will name it
	Force      bool      // also over a turn that is good
}

// A Recovered is a turn that was recovered.
type Recovered struct {
	*materialize.PutResult
	// Why the turn was wanting: "missing", "empty", "a stub (reason)", "without markers", "good".
	Was string `json:"was"`
	transcript
	Markers int `json:"markers"` // of the text
}

// Recover stores the last text of an agent, from its transcript, as its turn, and
// names the transcript in it by a link. The round must have begun, and the agent be in
// its panel or in the expert pool. It refuses to replace a turn that is good: one
// with markers, which is neither empty nor a stub. What was written to the turn's
// file meanwhile is a store.ErrConflict. See transcript for what the text must be.
func (f *Forum) Recover(ctx context.Context, key Key, r RecoverRequest) (*Recovered, error) {
	name, err := f.recoverable(ctx, key, r)
	if err != nil {
		return nil, err
	}
	// What the agent wrote a moment ago counts.
	if err := f.w.ImportNew(ctx, name.Kind, name.ID); err != nil {
		return nil, err
	}
	d, err := f.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	round, err := d.require(r.Round)
	if err != nil {
		return nil, err
	}
	turn, other := round.turnNamed(name)
	was, _ := turn.fault()
	for _, t := range []*Turn{other, turn} {
		if _, isGood := t.fault(); isGood && !r.Force {
			return nil, t.good()
		}
	}
	seen, err := readTranscript(ctx, r.Transcript, MaxTurn)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.Origin, err)
	}
	if err := seen.check(r.Origin, MaxTurn); err != nil {
		const hint = "filebus dialogue put {1} {2} {3} --stub REASON"
		return nil, err.Try(hint, key.String(), strconv.Itoa(r.Round), r.Agent)
	}
	expect := store.Absent()
	if turn != nil {
		expect = store.Current(turn.Version.Ref)
	}
	put, err := f.w.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: strings.NewReader(seen.Text), Source: record.SourceTranscript, Expect: expect,
		Links: []record.Link{{Type: linkTranscript, Target: fmt.Sprintf("%s:%d", r.Origin, seen.Line)}},
	})
	if err != nil {
		return nil, err
	}
	return &Recovered{put, was, *seen, len(layout.ParseMarkers([]byte(seen.Text)))}, nil
}

// recoverable returns the name of the turn that a request means.
func (f *Forum) recoverable(ctx context.Context, key Key, r RecoverRequest) (record.Name, error) {
	d, err := f.readOwn(ctx, key)
	if err != nil {
		return record.Name{}, err
	}
	agent, err := FoldName(r.Agent)
	if err != nil {
		return record.Name{}, err
	}
	round := d.Round(r.Round)
	if !round.hasBegun() {
		return record.Name{}, d.noRound(r.Round)
	}
	if round.Panel == nil || !isAmong(round.Panel.Experts, agent) {
		if _, err := d.expert(r.Round, agent); err != nil {
			return record.Name{}, err
		}
	}
	return turnName(key, r.Round, agent), nil
}

// turnNamed returns the turn of a round that has a name, and one of the same agent whose
// file is called otherwise, as Muffin.md is. Both are nil if they are not there.
func (r *Round) turnNamed(name record.Name) (turn, other *Turn) {
	for _, t := range r.Turns {
		switch id := t.Version.Record.Name.ID; {
		case id == name.ID:
			turn = t
		case strings.EqualFold(id, name.ID):
			other = t
		}
	}
	return turn, other
}

// fault says why a turn, which may be nil, is wanting, or that it is good.
func (t *Turn) fault() (why string, isGood bool) {
	switch state := t.state(); {
	case state == stateStub:
		return fmt.Sprintf("a stub (%s)", t.Stub), false
	case state != stateTurn:
		return state, false
	case len(t.Markers) == 0 && t.Text != nil:
		return "without markers", false
	}
	return "good", true
}

// good returns the error that a turn is good and was not replaced.
func (t *Turn) good() error {
	name, n := t.Version.Record.Name, len(t.Markers)
	what := "with " + markdown.CountOf(n, "marker")
	if n == 0 {
		what = "and too long to be checked"
	}
	return record.Conflict.Errorf("%s is there, %s", name, what).
		Try("filebus get {1}, or run it again with --force", name.String())
}

// A transcript is what a reader saw of the record that a run of an agent leaves: a
// line of JSON for each message, {"type":"assistant","message":{"role":"assistant",
// "content":[{"type":"text","text":…}]}}, where content may be a string too.
type transcript struct {
	Text     string `json:"-"`                // the last text of the agent: all blocks of its message, with blank lines between
	Line     int    `json:"line"`             // of its last block, counted from 1; 0: there is no text
	Lines    int    `json:"lines"`            // that are not blank
	Messages int    `json:"messages"`         // lines of the agent, with text or without
	Faults   int    `json:"-"`                // messages that another program wrote in the agent's name, and so are none
	Broken   int    `json:"broken,omitempty"` // lines that are not JSON
}

// readTranscript finds the last text of an agent in its transcript. It takes memory
// for the texts of two messages, however long the transcript is. A line that is not JSON
// is passed over and counted. Of a text that has more than limit bytes there is the line
// alone.
func readTranscript(ctx context.Context, text io.Reader, limit int) (*transcript, error) {
	t, in := &transcript{}, bufio.NewReaderSize(text, 64<<10)
	var last message
	var line []byte
	for at := 1; ; at++ {
		var err error
		line, err = appendLine(ctx, line[:0], in, limit)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if m := t.message(line); m.size > 0 {
			if m.id != "" && m.id == last.id {
				m.text, m.size = last.text+"\n\n"+m.text, m.size+last.size
			}
			if m.size > limit {
				m.text = ""
			}
			last, t.Line = m, at
		}
		if err != nil {
			t.Text = last.text
			return t, nil
		}
	}
}

// appendLine appends the next line, in which a string that is too long for a text is one
// of limit+1 bytes.
func appendLine(ctx context.Context, line []byte, in *bufio.Reader, limit int) ([]byte, error) {
	most := len(`\u001f`) * limit // as JSON has a text of limit bytes
	start, inside, escaped := 0, false, false
	const maxLine = 32 << 20 // how much is read of a line, in bytes, without its longest strings
	for {
		if err := ctx.Err(); err != nil {
			return line, err
		}
		part, err := in.ReadSlice('\n')
		for _, c := range part {
			isQuote := c == '"' && !escaped
			switch {
			case isQuote && !inside:
				start = len(line)
			case isQuote && len(line)-start > most+1:
				line = append(line[:start+1], strings.Repeat("x", limit+1)...)
			}
			inside = inside != isQuote
			escaped = c == '\\' && inside && !escaped
			if (!inside || len(line)-start <= most+1) && len(line) < maxLine {
				line = append(line, c)
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// A message is what is kept of a line, or of several with one id: a program may write
// a line for each block.
type message struct {
	id, text string // the blocks, a blank line between two; "" if they are too long
	size     int    // of the blocks
}

// synthetic is the model of messages that no model wrote, such as "API Error".
const synthetic = "<synthetic>"

// A said is what a line, or the message in it, has of what somebody said.
type said struct {
	ID, Role, Model string
	Content         blocks
}

// blocks are texts, or one.
type blocks []string

// UnmarshalJSON reads a string or a list of blocks. What is neither says nothing.
func (b *blocks) UnmarshalJSON(raw []byte) error {
	var list []struct{ Type, Text string }
	if text := ""; json.Unmarshal(raw, &text) == nil {
		*b = blocks{text}
	} else if err := json.Unmarshal(raw, &list); isBroken(err) {
		return err
	}
	for _, block := range list {
		if block.Type == "text" {
			*b = append(*b, block.Text)
		}
	}
	return nil
}

// isBroken reports whether an error says that a text is no JSON, and not merely of
// another form.
func isBroken(err error) bool {
	var form *json.UnmarshalTypeError
	return err != nil && !errors.As(err, &form)
}

// message counts a line, and returns what the agent says in it.
func (t *transcript) message(line []byte) (m message) {
	line = bytes.Trim(line, " \t\r\n")
	if len(line) == 0 {
		return m
	}
	t.Lines++
	var read struct {
		said
		Type              string
		IsAPIErrorMessage bool
		Message           said
	}
	err := json.Unmarshal(line, &read)
	switch {
	case line[0] != '{' || isBroken(err):
		t.Broken++
		return m
	case cmp.Or(read.Message.Role, read.Role, read.Type) != "assistant":
		return m
	case read.IsAPIErrorMessage || read.Message.Model == synthetic:
		t.Faults++
		return m
	}
	t.Messages++
	m.id = read.Message.ID
	var texts []string
	for _, text := range append(read.Content, read.Message.Content...) {
		if strings.TrimSpace(text) != "" {
			texts, m.size = append(texts, text), m.size+len(text)
		}
	}
	m.text = strings.Join(texts, "\n\n")
	return m
}

// check returns an error if there is no text of at most limit bytes in a transcript that
// comes from origin.
func (t *transcript) check(origin string, limit int) *record.Error {
	switch {
	case t.Text != "":
		return nil
	case t.Line > 0:
		const text = "reading %s: the last text of the agent, in line %d, has more than %d bytes"
		return record.Failed.Errorf(text, origin, t.Line, limit)
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
