package result

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// An envelope is what the command line of an agent puts around its text: one JSON object,
// or a row of them. A condition is a path of keys, with the value that has to stand there
// if there is only one: "type=result". A "*" in a path is each key, at its end the keys.
type envelope struct {
	Client string
	First  []string // conditions of which the first object has to meet one list
	Begin  string   // what an object that was cut off begins with, without spaces
	Rows   []struct {
		When         string            // the conditions of an object that says the following
		Text         string            // the paths of a text, of which the first that is there counts
		Joins, Parts bool              // it goes on the text before, or a new one begins
		Facts        map[string]string // paths
		End, Why     string            // conditions under which the run ended well, and paths of why it did not
	}

	text    []byte // nil: there is none
	isEnded bool
	failure string
	facts   map[string]string
}

var (
	//go:embed envelopes.json
	envelopesJSON string
)

// envelopeWith returns the first envelope that is one.
func envelopeWith(is func(envelope) bool) *envelope {
	var all []envelope
	_ = json.Unmarshal([]byte(envelopesJSON), &all) // it is part of the program
	for _, e := range all {
		if is(e) {
			e.facts = map[string]string{"envelope": e.Client}
			return &e
		}
	}
	return nil
}

// maxTaken is the most that is held of an output, or of one object of an envelope, in bytes.
const maxTaken = 32 << 20

// unwrap reads an envelope, or a list of its objects. It returns nil of a text that does not
// begin as one; the error is what comes in place of the next object.
func unwrap(text io.Reader) (e *envelope, err error) {
	buffer := bufio.NewReader(text)
	head, _ := buffer.Peek(64) // an error comes again
	begin := strings.Join(strings.Fields(string(head)), "")
	limited := &io.LimitedReader{R: buffer, N: maxTaken}
	decoder := json.NewDecoder(limited)
	decoder.UseNumber()
	if strings.HasPrefix(begin, "[") {
		_, _ = decoder.Token()
	}
	for decoder.More() {
		var row any
		err = decoder.Decode(&row)
		if e == nil {
			e = envelopeWith(func(e envelope) bool {
				return slices.ContainsFunc(e.First, func(all string) bool { return meets(row, all) }) ||
					err != nil && e.Begin != "" && strings.HasPrefix(begin, e.Begin)
			})
		}
		if err != nil || e == nil {
			return e, err
		}
		e.take(row)
		limited.N = maxTaken
	}
	return e, nil
}

// take reads an object. One that no row knows says nothing.
func (e *envelope) take(row any) {
	for _, r := range e.Rows {
		if !meets(row, r.When) {
			continue
		}
		if r.Parts {
			e.text = nil
		}
		for path := range strings.FieldsSeq(r.Text) {
			if found := valuesAt(row, path); len(found) > 0 {
				if !r.Joins {
					e.text = nil
				}
				e.text = append(e.text, found[0]...)
				break
			}
		}
		for fact, path := range r.Facts {
			if found := said(row, path); found != "" {
				e.facts[fact] = found
			}
		}
		if r.End != "" {
			e.isEnded, e.failure = true, ""
		}
		if !meets(row, r.End) {
			e.failure = "tells of a failure: " + said(row, r.Why)
		}
		return
	}
}

// said returns what stands at some paths, in a line of the length of a fact.
func said(row any, paths string) string {
	var all []string
	for path := range strings.FieldsSeq(paths) {
		all = append(all, valuesAt(row, path)...)
	}
	return markdown.Clip(strings.Join(strings.Fields(strings.Join(all, ", ")), " "), 200)
}

func meets(row any, conditions string) bool {
	for condition := range strings.FieldsSeq(conditions) {
		path, want, isExact := strings.Cut(condition, "=")
		if got := valuesAt(row, path); len(got) == 0 || isExact && got[0] != want {
			return false
		}
	}
	return true
}

// valuesAt returns what stands at a path: text, or JSON; null is nothing.
func valuesAt(value any, path string) (found []string) {
	key, rest, _ := strings.Cut(path, ".")
	object, _ := value.(map[string]any)
	switch text, isText := value.(string); {
	case path == "" && isText:
		return []string{text}
	case path == "" && value != nil:
		text, _ := json.Marshal(value) // it was JSON
		return []string{string(text)}
	case key == "*" && rest == "":
		return slices.Sorted(maps.Keys(object))
	case key == "*":
		for _, key := range slices.Sorted(maps.Keys(object)) {
			found = append(found, valuesAt(object[key], rest)...)
		}
	case object != nil:
		return valuesAt(object[key], rest)
	}
	return found
}

// wanting says why an envelope is not taken off, and what the status of that is.
func (e *envelope) wanting(broken error, text []byte) (why, status string) {
	malformed, isMalformed := errors.AsType[*json.SyntaxError](broken)
	switch {
	case !e.isEnded && isMalformed && bytes.HasSuffix(bytes.TrimSpace(text), []byte("}")): // else it was cut off
		return "cannot be read: " + malformed.Error(), materialize.StatusInvalid
	case !e.isEnded:
		return "has no end", materialize.StatusInterrupted
	case e.failure != "":
		return e.failure, materialize.StatusFailed
	case broken != nil || e.text == nil:
		return "has no text, or is not all of it", materialize.StatusInvalid
	}
	return "", ""
}

// takeIn makes the text of a request of what was received, and returns that: out of the
// envelope of a client, or without what only a terminal understands. An envelope that tells
// of no good end stays as it is, which is a problem.
func (c Call) takeIn(r *materialize.PutRequest) (received io.Reader, problems []string, err error) {
	if c.Raw || r.Source != record.SourcePut && r.Source != record.SourceExec {
		return nil, nil, nil
	}
	head, err := io.ReadAll(io.LimitReader(r.Text, maxTaken+1))
	rest, isLong := r.Text, len(head) > maxTaken
	r.Text = io.MultiReader(bytes.NewReader(head), rest)
	whole := func() io.Reader { return bytes.NewReader(head) }
	if isLong {
		file, isFile := rest.(io.ReaderAt)
		if isFile {
			_, err = file.ReadAt(head[:1], 0) // a pipe has no places
		}
		if !isFile || err != nil {
			return nil, nil, nil
		}
		whole = func() io.Reader { return io.NewSectionReader(file, 0, math.MaxInt64) }
	}
	if err != nil {
		return nil, nil, err
	}
	e, broken := unwrap(transform.NewReader(whole(), unicode.BOMOverride(transform.Nop)))
	text := head
	if !isLong && (e == nil || broken != nil) {
		text = plainText(head)
		behind := messages().ReplaceAll(text, []byte("$1"))
		if e, broken = unwrap(bytes.NewReader(behind)); broken != nil && len(behind) < len(text) {
			e = nil // a text with an example
		}
	}
	if e != nil {
		if why, status := e.wanting(broken, head); why != "" {
			r.Facts.Status = worse(r.Facts.Status, status)
			return nil, []string{"stored as it is: the envelope of " + e.Client + " " + why}, nil
		}
		text, r.Facts.Attributes = e.text, e.facts
	}
	if bytes.Equal(text, head) {
		return nil, nil, nil
	}
	r.Text = bytes.NewReader(text)
	return whole(), nil, nil
}

var (
	// Lines in which a client speaks of itself before an object: "Loaded cached credentials."
	messages = layout.Pattern(`^(?:[^{[\s].*[^:\s]\r?\n){1,20}([{[])`)
	toBegin  = layout.Pattern(`\x1b\[(?:2K|[01]?G)`) // the line is written anew
	controls = layout.Pattern(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-OQ-WYZ\\` + "`" + `a-~])`)
	redrawn  = layout.Pattern(`(?m)^[^\n]*\r([^\r\n]+\r*)$`)
)

// plainText returns in UTF-8 what is to be read when a terminal has shown a text.
func plainText(text []byte) []byte {
	plain, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), text)
	if err != nil || bytes.IndexByte(plain, 0) >= 0 || markdown.IsBinary(plain) {
		return text
	}
	hasLines := bytes.ContainsAny(plain, "\n\x1b") // else carriage returns are line ends
	plain = controls().ReplaceAll(toBegin().ReplaceAll(plain, []byte("\r")), nil)
	if hasLines && bytes.IndexByte(plain, '\r') >= 0 {
		plain = redrawn().ReplaceAll(plain, []byte("$1"))
	}
	parts := bytes.Split(plain, []byte("\b"))
	plain = parts[0]
	for _, part := range parts[1:] {
		if n := len(plain); n > 0 && plain[n-1] != '\n' {
			_, size := utf8.DecodeLastRune(plain)
			plain = plain[:n-size]
		}
		plain = append(plain, part...)
	}
	return plain
}
