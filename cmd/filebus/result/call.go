// Package result has the commands and the rules of results: the full output of one call of a
// sub-agent, stored once, for which the parent agent gets a reference.
//
// Put stores an output that is there, Exec runs the command that makes one, and
// Combine joins several. All of them answer with a Stored, whose Reference is the
// same four keys whatever the agent was. Conversations groups results by the run
// of the parent that they belong to, and Budget says what its context was spared.
//
// The package writes through materialize alone and keeps no state of its own.
package result

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"filebus/cmd/filebus/rule"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Call says whose output a result is and where it belongs. The zero Call is an
// output of which nothing is known; what is missing of its ids is made.
type Call struct {
	Conversation string       `json:"conversation"`    // made if empty
	ID           string       `json:"call"`            // of the call within its conversation; made if empty
	Agent        string       `json:"agent,omitempty"` // in any writing; it is stored as a slug
	Session      string       `json:"session,omitempty"`
	Task         string       `json:"task,omitempty"`
	Run          string       `json:"run,omitempty"`
	Tags         []string     `json:"tags,omitempty"`
	From         []record.Ref `json:"from,omitempty"`       // what the output was made from
	Preview      int          `json:"preview,omitempty"`    // most characters of the preview; 0: the setting
	Structured   bool         `json:"structured,omitempty"` // the output should be a JSON object
	Secrets      secrets.Mode `json:"secrets,omitempty"`    // what is done about them; "": what the settings say
	Status       string       `json:"status,omitempty"`
	Name         string       `json:"name,omitempty"`   // the whole id of the result, in place of conversation and call
	Listed       bool         `json:"listed,omitempty"` // an agent names it: see materialize.PutRequest
	Again        bool         `json:"again,omitempty"`  // it is stored also if it was destroyed before
	Keep         bool         `json:"keep,omitempty"`   // a text that the name refuses is kept under another, which the error names
	Schema       *Schema      `json:"-"`                // that the output must fit; nil: any

	Attributes map[string]string `json:"attributes,omitempty"` // further facts, such as how long it took
	Title      string            `json:"title,omitempty"`      // "": that of the output
	Written    time.Time         `json:"written,omitzero"`     // when, if anything tells
	Told       bool              `json:"told,omitempty"`       // a client tells the report, perhaps with words around it
	Resumed    bool              `json:"resumed,omitempty"`    // another text is another report, and replaces none
	Yields     bool              `json:"yields,omitempty"`     // a report that is there stays as it is

	Restores bool       `json:"-"`                        // it takes the place of what stands before it
	Raw      bool       `json:"raw,omitempty"`            // the text is stored as it is: see takeIn
	Program  string     `json:"program,omitempty"`        // that Exec runs: the agent, if none is given
	Command  string     `json:"command_digest,omitempty"` // the same for the same program and arguments
	Replaces record.Ref `json:"replaces,omitzero"`        // the version that ended badly, which this one follows
}

// id returns the id of the result, with an empty part for what is to be made.
func (c Call) id() (string, error) {
	if c.Name != "" {
		if !utf8.ValidString(c.Name) {
			return "", errCall("the id %q is not UTF-8", c.Name)
		}
		return c.Name, nil
	}
	for _, part := range []string{c.Conversation, c.ID} {
		if why := unfit(part); why != "" {
			return "", errCall("the id %q %s", part, why)
		}
	}
	switch {
	case len(c.Conversation) > maxID:
		return "", errCall("the id of a conversation has at most %d bytes", maxID)
	case c.Conversation == "" && c.ID != "":
		return "", errCall("call %q needs a conversation", c.ID)
	case c.Conversation == "":
		return "", nil
	}
	return c.Conversation + "/" + c.ID, nil
}

// unfit returns why an id cannot be a part of a path, which stands in a JSON
// reference, or a field of a record; "" if it can.
func unfit(id string) string {
	switch {
	case !utf8.ValidString(id):
		return "is not UTF-8"
	case strings.ContainsAny(id, `/\`):
		return "is not one word without a slash"
	case strings.ContainsFunc(id, unicode.IsControl) || strings.TrimSpace(id) != id:
		return "has a control character, as a line end is one, or a space at an end"
	case id == ".", id == "..", id == "~":
		return "means a folder already"
	}
	return ""
}

// Facts returns what the call says of its output, but for the conversation, which
// the name of a result says.
func (c Call) Facts() layout.Facts {
	facts := layout.Facts{
		Agent: layout.Slug(cmp.Or(c.Agent, c.Program)), Session: c.Session, Task: c.Task, Run: c.Run, Status: c.Status, Tags: c.Tags,
		Attributes: c.Attributes, Title: c.Title,
	}
	if !c.Written.IsZero() {
		facts.Dates = []time.Time{c.Written}
	}
	return facts
}

// request returns what the call asks of the workspace.
func (c Call) request(source record.Source, output io.Reader) (materialize.PutRequest, error) {
	id, err := c.id()
	return materialize.PutRequest{
		Kind: record.KindResult, ID: id, Text: output, Facts: c.Facts(), From: c.From, Preview: c.Preview, Source: source,
		Keep: c.Keep, Listed: c.Listed, Again: c.Again, Secrets: c.Secrets,
	}, err
}

// A Stored is a result with what was found wrong with it.
type Stored struct {
	*materialize.PutResult
	Problems []string // where the output does not fit its schema, a line each
}

// Put stores an output and writes its file. An output that does not fit the
// call's schema is stored too, as invalid: what was received is never lost.
func Put(ctx context.Context, w *materialize.Workspace, c Call, expect store.Expect, output io.Reader) (*Stored, error) {
	r, err := c.request(record.SourcePut, output)
	if err != nil {
		return nil, err
	}
	r.Expect = expect
	return c.put(ctx, w, r)
}

// put stores a text that may be there already, as when a call is made again. It
// is then given further tags as it is: its description, and with it the
// reference, stay what they were.
func (c Call) put(ctx context.Context, w *materialize.Workspace, r materialize.PutRequest) (*Stored, error) {
	again, err := c.isThere(ctx, w, r)
	if err != nil {
		return nil, err
	}
	tags := r.Facts.Tags
	if again {
		r.Facts.Tags = nil
	}
	stored, err := c.store(ctx, w, r)
	if err != nil || !again || len(tags) == 0 {
		return stored, err
	}
	stored.PutResult, err = w.Tag(ctx, stored.Name, tags, nil)
	return stored, err
}

// isThere reports whether a request is for a name that is there.
func (c Call) isThere(ctx context.Context, w *materialize.Workspace, r materialize.PutRequest) (bool, error) {
	name, err := record.NewName("", record.KindResult, r.ID)
	if err != nil {
		return false, nil // an id that is to be made, or that Put will refuse
	}
	_, err = query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// store examines the text of a request, if the call asks for it, and puts it.
func (c Call) store(ctx context.Context, w *materialize.Workspace, r materialize.PutRequest) (*Stored, error) {
	received, release, err := w.Store.Hold(ctx, r.Text)
	defer release()
	if err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	text, same, problems := c.takeIn(&r, received)
	if problems == nil {
		if problems, err = c.examine(&r, text()); err != nil {
			return nil, fmt.Errorf("reading the output: %w", err)
		}
	}
	put, err := c.putBoth(ctx, w, r, again(received), text, same)
	if err != nil {
		return nil, err
	}
	return &Stored{put, problems}, nil
}

// putBoth puts a text, and before it, if the name is new, what was received, unless it is the
// same: as the version before, so that nothing is lost.
func (c Call) putBoth(
	ctx context.Context, w *materialize.Workspace, r materialize.PutRequest, received, text func() io.Reader, same bool,
) (*materialize.PutResult, error) {
	if r.Text = text(); same {
		return w.Put(ctx, r)
	}
	whole := r
	whole.Text, whole.Facts.Attributes = received(), nil
	r.Keep = false // rather the whole is kept
	isThere, err := c.isThere(ctx, w, r)
	if err != nil {
		return nil, err
	}
	if isThere && !r.Replaces {
		if put, err := w.Put(ctx, r); !errors.Is(err, store.ErrConflict) {
			return put, err
		}
	}
	first, err := w.Put(ctx, whole) // it is there if a process was cut off here
	if err != nil {
		return nil, err
	}
	r.Text, r.ID, r.Expect, r.Replaces = text(), first.Name.ID, store.Current(first.Ref), true
	return w.Put(ctx, r)
}

// A Document is a PDF that was made from Markdown.
type Document struct {
	Source   *store.Version // that the Markdown is stored as; nil: it is not
	Markdown []byte         // it gives the document its preview and words
	Title    string         // empty: that of the Markdown
	PDF      []byte
}

// DocumentAgent is whose result a document is unless the call says otherwise.
const DocumentAgent = "pdf"

// documentSuffix ends the call of a document, and so the name of its file.
const documentSuffix = ".pdf"

// PutDocument stores a document as a result that is derived from its source, in the
// conversation of the call, else in that of the source, else in a new one. If the
// same document of the same source is there already, it is the result.
func PutDocument(ctx context.Context, w *materialize.Workspace, read *query.Reader, c Call, d Document) (*Stored, error) {
	c.Agent = cmp.Or(c.Agent, DocumentAgent)
	c.Structured, c.Schema = false, nil // a PDF has no object
	if d.Source != nil {
		c.From = append([]record.Ref{d.Source.Ref}, c.From...)
		c.Conversation = cmp.Or(c.Conversation, usableConversation(d.Source.Record.Conversation))
	}
	r, err := c.request(record.SourcePDF, nil)
	if err != nil {
		return nil, err
	}
	r.About, r.Facts.Title = d.Markdown, d.Title
	if r.ID, err = documentID(ctx, read, c, record.DigestOf(d.PDF)); err != nil {
		return nil, err
	}
	if r.ID != "" {
		r.Text = bytes.NewReader(d.PDF)
		return c.put(ctx, w, r)
	}
	for {
		conversation := c.Conversation
		if conversation == "" {
			if conversation, err = w.NewConversation(ctx); err != nil {
				return nil, err
			}
		}
		r.ID = conversation + "/" + w.NewID() + documentSuffix
		r.Text, r.Expect = bytes.NewReader(d.PDF), store.Absent()
		stored, err := c.store(ctx, w, r)
		if _, taken := errors.AsType[*store.ConflictError](err); !taken { // else another process made the same id
			return stored, err
		}
	}
}

// documentID returns the id that the call names, or that the document has already;
// empty: it needs a new one.
func documentID(ctx context.Context, read *query.Reader, c Call, body record.Digest) (string, error) {
	if c.ID == "" {
		before, err := c.madeBefore(ctx, read, record.SourcePDF)
		return idOfText(before, body), err
	}
	if !strings.HasSuffix(c.ID, documentSuffix) {
		c.ID += documentSuffix
	}
	name, err := resultName(c.Conversation, c.ID)
	return name.ID, err
}

// errCall says that a call cannot be that of a result.
func errCall(format string, args ...any) error {
	return record.Usage.Errorf("malformed call: "+format, args...)
}

// Why something was refused.
const (
	errTaken       record.Reason = "result taken" // the ids are those of another
	ErrOutputTaken record.Reason = "output taken" // the file holds another text
)

// MaxStructured is how much of an output is read for its JSON object, in bytes.
const MaxStructured = 8 << 20

// examine reads the output if the call wants it structured, takes the summary of the request
// for the preview from it, and returns where it does not fit the schema. A request with
// problems has the status invalid, unless its command has ended worse.
func (c Call) examine(r *materialize.PutRequest, output io.Reader) (problems []string, err error) {
	if !c.Structured && c.Schema == nil {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(output, MaxStructured+1))
	if err != nil {
		return nil, err
	}
	summary, found := c.judge(text)
	r.Facts.Summary = cmp.Or(summary, r.Facts.Summary)
	problems = markdown.Each(found, func(p rule.Finding) string { return p.Error() })
	if len(problems) > 0 {
		r.Facts.Status = worse(r.Facts.Status, materialize.StatusInvalid)
	}
	return problems, nil
}

// worse returns how an output has ended whose command ended with a status.
func worse(status, output string) string {
	if slices.Contains([]string{
		materialize.StatusFailed, materialize.StatusTimeout, materialize.StatusKilled, materialize.StatusInterrupted,
	}, status) {
		return status
	}
	return output
}

// judge returns the summary of an output, and what is wrong with it.
func (c Call) judge(text []byte) (summary string, problems []rule.Finding) {
	if len(text) > MaxStructured {
		return "", []rule.Finding{*noJSON("the output has more than %d bytes: no JSON object was looked for", MaxStructured)}
	}
	object, problem := FindObject(text)
	if problem != nil {
		return "", []rule.Finding{*problem}
	}
	if c.Schema != nil {
		problems = c.Schema.checkObject(object)
	}
	return summaryOf(object), problems
}

// summaryOf returns what an output says of itself: the string "summary" of its
// object, in one line, or "".
func summaryOf(object []byte) string {
	var raw struct{ Summary json.RawMessage }
	_ = json.Unmarshal(object, &raw) // what is no object has no summary
	return markdown.SingleSpaced(markdown.StringIn(raw.Summary))
}

// FindObject returns the JSON object of an output: the whole text; else what stands in
// its last code fence with an object; else its last object that is not within
// another. A text that begins as an object and is none is told where it breaks.
func FindObject(output []byte) (object []byte, problem *rule.Finding) {
	start := len(output) - len(trimStart(output))
	text := bytes.TrimRight(output[start:], " \t\r\n")
	if len(text) == 0 {
		return nil, noJSON("no JSON object in the output, which is empty")
	}
	if text[0] == '{' && json.Valid(text) {
		return text, nil
	}
	if object, problem = fencedObject(output); object != nil || problem != nil {
		return object, problem
	}
	return lastObject(output, start)
}

func trimStart(text []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(text, []byte(byteOrderMark)), " \t\r\n")
}

// fence matches a code fence to its end: what it is of, and its content.
var fence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?ms)^[ \\t]*```([^\\n]*)\\n(.*?)^[ \\t]*```[ \\t\\r]*$")
})

// fencedObject returns the object in the last code fence that has one. If there is
// none, but the last fence is of JSON, its problem is returned.
func fencedObject(text []byte) (object []byte, broken *rule.Finding) {
	for _, at := range fence().FindAllSubmatchIndex(text, -1) {
		kind, content := bytes.TrimSpace(text[at[2]:at[3]]), bytes.TrimSpace(text[at[4]:at[5]])
		switch {
		case len(content) == 0 || content[0] != '{':
		case json.Valid(content):
			object, broken = content, nil
		case object == nil && bytes.EqualFold(kind, []byte("json")):
			broken = syntaxIn(text, at[4])
		}
	}
	return object, broken
}

// syntaxIn says how the JSON breaks that begins at a place of a text.
func syntaxIn(text []byte, from int) *rule.Finding {
	var raw json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(text[from:])).Decode(&raw); err != nil {
		return syntaxProblem(text, from, err)
	}
	return noJSON("no JSON object in the output")
}

// lastObject returns the last object of a text that is not within another. What
// follows a place where an object breaks may be a new one: each byte is read once.
func lastObject(text []byte, start int) (object []byte, problem *rule.Finding) {
	problem = noJSON("no JSON object in the output")
	const maxTries = 10_000 // how many braces that begin no object are looked at
	for at, tries := start, 0; tries < maxTries; {
		i := bytes.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		at += i
		if next := trimStart(text[at+1:]); len(next) == 0 || next[0] != '"' {
			at++ // an empty object, or none
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(text[at:]))
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if err == nil {
			at += int(decoder.InputOffset())
			object = text[at-len(raw) : at]
			continue
		}
		tries++
		problem = syntaxProblem(text, at, err)
		var syntax *json.SyntaxError
		if at == start || !errors.As(err, &syntax) {
			break // the text is nothing but this object, or ends within it
		}
		at += max(1, int(syntax.Offset)-1)
	}
	if object == nil {
		return nil, problem
	}
	return object, nil
}
