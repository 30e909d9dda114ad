package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/transcript"
	"filebus/store"
	"filebus/store/record"
)

// A RecoverRequest says whose turn is recovered from what.
type RecoverRequest struct {
	Round      int
	Agent      string    // in any case
	Transcript io.Reader // see transcriptText
	Origin     string    // where the transcript is, as the turn will name it
	Force      bool      // also over a turn that is good
	Search     bool      // a transcript that does not name the turn's file, or has no turn, is ErrNotHere
}

// ErrNotHere says that a transcript has no turn of the agent.
const ErrNotHere record.Reason = "the transcript has no turn"

// A Recovered is a turn that was recovered.
type Recovered struct {
	*materialize.PutResult
	// Why the turn was wanting: "missing", "empty", "a stub (reason)", "without markers", "good".
	Was        string `json:"was"`
	Transcript string `json:"transcript"` // where it is
	transcriptText
	Markers int `json:"markers"` // of the text
}

// Recover stores what an agent has written to its file, or else its last text, from its transcript, as
// its turn, and names the transcript in it by a link. The round must have begun, and the agent owe a
// file in it. It refuses to replace a turn that is good: one
// with markers, which is neither empty nor a stub. What was written to the turn's
// file meanwhile is a store.ErrConflict. See transcriptText for what the text must be.
func (f *Dialogues) Recover(ctx context.Context, key Key, r RecoverRequest) (*Recovered, error) {
	slot, err := f.Slot(ctx, key, r.Round, r.Agent)
	if err != nil {
		return nil, err
	}
	name := slot.name()
	// What the agent wrote a moment ago counts.
	if err := f.w.ImportNew(ctx, name.Kind, name.ID); err != nil {
		return nil, err
	}
	d, err := f.Read(ctx, key)
	var round *Round
	if err == nil {
		round, err = d.require(r.Round)
	}
	if err != nil {
		return nil, err
	}
	turn, err := round.replaced(name, r.Force)
	if err != nil {
		return nil, err
	}
	was, _ := turn.fault()
	dir, _ := path.Split(strings.ToLower(filepath.ToSlash(slot.File)))
	if !r.Search { // an agent may work elsewhere, as in a worktree
		dir = strings.ToLower(key.Slug()) + "/" + roundFolder(r.Round) + "/"
	}
	seen, err := readTranscript(ctx, r.Transcript, wanted{dir, slot.Agent, r.Search, MaxTurn})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.Origin, err)
	}
	if err := seen.check(r.Origin, MaxTurn); err != nil {
		const hint = "filebus dialogue put {1} {2} {3} --stub REASON"
		return nil, err.Because(ErrNotHere).Try(hint, key.String(), strconv.Itoa(r.Round), r.Agent)
	}
	expect := store.Absent()
	if turn != nil {
		expect = store.Current(turn.Version.Ref)
	}
	put, err := f.w.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: strings.NewReader(seen.Text), Source: record.SourceTranscript, Expect: expect,
		Links: []record.Link{{Type: "transcript", Target: fmt.Sprintf("%s:%d", r.Origin, seen.Line)}},
	})
	if err != nil {
		return nil, err
	}
	return &Recovered{put, was, r.Origin, *seen, len(layout.ParseMarkers([]byte(seen.Text)))}, nil
}

// replaced returns the turn of a name that a recovered one replaces, nil if there is none.
// A good one is an error, also in a file of the same agent that is called otherwise, as
// Muffin.md is.
func (r *Round) replaced(name record.Name, force bool) (turn *Turn, err error) {
	for _, t := range r.Turns {
		of, n := t.Version.Record.Name, len(t.Markers)
		if of.ID == name.ID {
			turn = t
		}
		if _, isGood := t.fault(); !isGood || force || !strings.EqualFold(of.ID, name.ID) {
			continue
		}
		what := "with " + markdown.CountOf(n, "marker")
		if n == 0 {
			what = "and too long to be checked"
		}
		return nil, record.Conflict.Errorf("%s is there, %s", of, what).
			Try("filebus get {1}, or run it again with --force", of.String())
	}
	return turn, nil
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

// A transcriptText is what a reader saw of the record that a run of agents leaves: a line of JSON for each
// message or call, in the forms that docs/dialogues.md names.
type transcriptText struct {
	Text     string `json:"-"`                // of the agent: see ranks
	Line     int    `json:"line"`             // of its last block, counted from 1; 0: there is no text
	Lines    int    `json:"lines"`            // that are not blank
	Messages int    `json:"messages"`         // lines of agents, with text or without
	Faults   int    `json:"-"`                // messages that another program wrote in the agent's name, and so are none
	Broken   int    `json:"broken,omitempty"` // lines that are not JSON

	isShort bool              // the text is a confirmation rather than a turn
	chains  map[string]*chain // by agents, or the first lines of side chains; "": whose transcript it is
	roots   map[string]string // by the ids of lines, the first line of their side chains
}

// A wanted is the file of a turn, in lower case, with slashes.
type wanted struct {
	dir, agent string // how its folder ends, with a slash behind; its name, without .md
	isNamed    bool   // only what names the file counts
	limit      int    // the longest text, in bytes
}

// readTranscript finds the turn of an agent in its transcript, or in that of who started it. It takes memory for a few
// messages of each agent, however long the transcript is. A line that is not JSON is passed over
// and counted. Of a text that has more than limit bytes there is the line alone.
func readTranscript(ctx context.Context, text io.Reader, w wanted) (*transcriptText, error) {
	t, lines := &transcriptText{chains: map[string]*chain{}, roots: map[string]string{}}, transcript.NewLineReader(text, w.limit)
	for at := 1; ; at++ {
		line, err := lines.Next(ctx)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, transcript.ErrEndless) {
			return nil, err
		}
		t.take(bytes.Trim(line, " \t\r\n"), at, w)
		if err != nil {
			return t, t.pick(w)
		}
	}
}

// A chain is what one agent says and writes.
type chain struct {
	named  bool       // the turn's file, or its prompt, is named in what it was told
	others bool       // it is told, tells others or writes of other files of the round's folder
	last   message    // its last
	best   [4]message // the last of each rank
}

// Ranks say how much a text is a turn: a call writes it to the turn's file, whatever became of the call; it has markers;
// it is too long for a confirmation; or it is none.
const (
	rankWritten = iota
	rankMarked
	rankLong
	rankShort
)

// A message is what is kept of a line, or of several with one id: a program may write
// a line for each block.
type message struct {
	id, text   string // the blocks, a blank line between two; "" if they are too long
	size, line int    // of the blocks, in bytes; the last
}

// keep keeps a text by its rank, or by a better one. A confirmation has no markers, is short and mostly names the file.
func (c *chain) keep(m message, rank int, w wanted) {
	const short, confirmed = 100, 1500 // bytes
	isConfirming := strings.Contains(m.text, sentinel) || namesFile(m.text, w.agent)
	switch {
	case len(layout.ParseMarkers([]byte(m.text))) > 0:
		rank = min(rank, rankMarked)
	case m.size < short && rank != rankWritten || m.size < confirmed && isConfirming:
		rank = rankShort
	}
	if m.size > w.limit {
		m.text = ""
	}
	c.last, c.best[rank] = m, m
}

// speakers are what lines are called that have words or calls of an agent: of Claude Code, Gemini, Codex, its exec, and OpenCode.
const speakers = " assistant gemini function_call custom_tool_call local_shell_call agent_message text tool tool_use "

// take counts a line, and keeps what it has of a turn.
func (t *transcriptText) take(line []byte, at int, w wanted) {
	if len(line) == 0 {
		return
	}
	t.Lines++
	var row map[string]any
	if err := json.Unmarshal(line, &row); err != nil || row == nil {
		t.Broken++
		return
	}
	body, c := row, t.chainOf(row)
	for _, name := range []string{"message", "payload", "item", "part"} { // in the forms of different programs
		if inner, is := row[name].(map[string]any); is {
			body = inner
		}
	}
	switch role := cmp.Or(field(body, "role"), field(row, "role"), field(row, "type")); {
	case role == "user":
		text := strings.ReplaceAll(strings.ToLower(string(line)), `\\`, "/")
		isTold := strings.Contains(text, w.dir+w.agent+".prompt.md") || strings.Contains(text, w.dir+w.agent+".md")
		if c.last.line == 0 { // before it has spoken
			c.named, c.others = c.named || isTold, c.others || strings.Contains(text, w.dir)
		}
	case !strings.Contains(speakers, " "+role+" ") && !strings.Contains(speakers, " "+cmp.Or(field(body, "type"), "-")+" "):
	case row["isApiErrorMessage"] == true || body["model"] == "<synthetic>": // no model wrote it
		t.Faults++
	default:
		t.Messages++
		if text := saidIn(body); text != "" {
			m := message{field(body, "id"), text, len(text), at}
			if m.id != "" && m.id == c.last.id {
				m.text, m.size = c.last.text+"\n\n"+text, m.size+c.last.size
			}
			turn, report, _ := strings.Cut(m.text, "\n"+sentinel+":") // what the prompt asks for behind a turn
			if len(layout.ParseMarkers([]byte(turn))) > 0 && len(layout.ParseMarkers([]byte(report))) == 0 && strings.Count(report, "\n") < 6 {
				m.text, m.size = turn, len(turn)
			}
			c.keep(m, rankLong, w)
		}
		if c.last.line = at; bytes.Contains(line, []byte(path.Base(w.dir))) { // most calls are about other files
			c.follow(row, at, w)
		}
	}
}

// saidIn returns the text of a message, or those of its blocks with blank lines between.
func saidIn(body map[string]any) string {
	var texts []string
	blocks, _ := body["content"].([]any)
	for _, b := range append(blocks, map[string]any{"type": "text", "text": cmp.Or(field(body, "content"), field(body, "text"))}) {
		block, _ := b.(map[string]any)
		input, _ := block["input"].(map[string]any)
		text := field(input, "message") // of SubagentHandback, the report to who started it
		if kind := field(block, "type"); kind == "text" || kind == "output_text" {
			text = field(block, "text")
		}
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// chainOf returns the chain that a line is of.
func (t *transcriptText) chainOf(row map[string]any) *chain {
	id := field(row, "agentId")
	if id == "" && row["isSidechain"] == true {
		id = cmp.Or(t.roots[field(row, "parentUuid")], field(row, "uuid"))
		t.roots[field(row, "uuid")] = id
	}
	if t.chains[id] == nil {
		t.chains[id] = &chain{}
	}
	return t.chains[id]
}

// follow follows the calls of a line: what they write to the turn's file, and to whom they tell of the round.
func (c *chain) follow(v any, at int, w wanted) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			c.follow(e, at, w)
		}
	case string:
		var inner map[string]any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			c.follow(inner, at, w)
			return
		}
		for _, part := range strings.Split(v, "*** Add File: ")[1:] { // a patch
			file, body, _ := strings.Cut(part, "\n+")
			body, _, _ = strings.Cut(body, "\n***")
			c.write(map[string]any{"path": strings.TrimSpace(file), "content": strings.ReplaceAll(body, "\n+", "\n") + "\n"}, at, w)
		}
	case map[string]any:
		c.others = c.others || strings.Contains(strings.ToLower(field(v, "prompt")), w.dir)
		c.write(v, at, w)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.follow(v[key], at, w)
		}
	}
}

// write follows a call that writes the turn's file, or changes what it has written.
func (c *chain) write(call map[string]any, at int, w wanted) {
	file := strings.ReplaceAll(field(call, "file_path", "filePath", "path", "absolute_path", "notebook_path"), `\`, "/")
	file, own, before := strings.ToLower(path.Clean(file)), w.agent+".md", c.best[rankWritten].text
	if !strings.HasSuffix("/"+file, "/"+w.dir+own) && file != path.Base(w.dir)+"/"+own {
		c.others = c.others || strings.Contains("/"+file, "/"+w.dir)
		return
	}
	text := cmp.Or(field(call, "content", "file_text", "contents", "new_source"), before)
	edits, _ := call["edits"].([]any)
	for _, e := range append(edits, call) {
		edit, _ := e.(map[string]any)
		if old := field(edit, "old_string", "old_str", "oldString"); old != "" {
			count := map[bool]int{true: -1, false: 1}[edit["replace_all"] == true || edit["replaceAll"] == true]
			text = strings.Replace(text, old, field(edit, "new_string", "new_str", "newString"), count)
		}
	}
	if text != before {
		c.keep(message{text: text, size: len(text), line: at}, rankWritten, w)
	}
}

// field returns the first of the fields that is a text.
func field(fields map[string]any, names ...string) (text string) {
	for _, name := range names {
		if text, _ = fields[name].(string); text != "" {
			break
		}
	}
	return text
}

// pick takes the text of the agent whose turn is wanted: of who was told of its file, else of who wrote it, else of whose
// transcript it is. Who started the agents of the round is none of them.
func (t *transcriptText) pick(w wanted) error {
	var who []string
	least := "~"
	for id, c := range t.chains {
		rank := slices.IndexFunc(c.best[:], func(m message) bool { return m.size > 0 })
		if rank < 0 || !c.named && (c.others || w.isNamed && rank != rankWritten) {
			continue
		}
		order := fmt.Sprint(!c.named, rank != rankWritten, id != "") // false comes before true
		if order < least {
			least, who = order, nil
			t.Text, t.Line, t.isShort = c.best[rank].text, c.best[rank].line, rank == rankShort
		}
		if order == least {
			who = append(who, id)
		}
	}
	if len(who) > 1 {
		return record.Wanting.Errorf("it cannot be told which agent it is: %s", strings.Join(slices.Sorted(slices.Values(who)), ", "))
	}
	return nil
}

// check returns an error if there is no turn of at most limit bytes in a transcript that
// comes from origin.
func (t *transcriptText) check(origin string, limit int) *record.Error {
	switch {
	case t.isShort:
		return record.NotFound.Errorf("%s has no turn: the last text of the agent, in line %d, is short and has no markers", origin, t.Line)
	case t.Text != "":
		return nil
	case t.Line > 0:
		return record.Failed.Errorf("reading %s: the last text of the agent, in line %d, has more than %d bytes", origin, t.Line, limit)
	case t.Lines == 0:
		return record.NotFound.Errorf("%s is empty", origin)
	}
	const text = "%s has no text of the agent: of %d lines %d are messages of agents, %d are errors in their names, %d are not JSON"
	return record.NotFound.Errorf(text, origin, t.Lines, t.Messages, t.Faults, t.Broken)
}
