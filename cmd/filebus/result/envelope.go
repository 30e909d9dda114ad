package result

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/transcript"
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

	text    []string // its parts; nil: there is none
	size    int      // of these, in bytes
	isEnded bool
	failure string
	facts   map[string]string
}

var (
	//go:embed envelopes.json
	envelopesJSON []byte
)

// envelopes returns those of the table.
var envelopes = sync.OnceValue(func() (all []envelope) {
	_ = json.Unmarshal(envelopesJSON, &all) // it is part of the program
	return all
})

// The most that is held of an object of an envelope, as it is written, and of its text, in bytes.
const (
	maxRow   = 32 << 20
	maxTaken = 4 << 20
)

// unwrap reads an envelope, or a list of its objects. It returns nil of a text that does not
// begin as one; the error is what comes in place of the next object.
func unwrap(text io.Reader) (e *envelope, err error) {
	source := bufio.NewReader(text)
	head, _ := source.Peek(64) // an error comes again
	begin := strings.Join(strings.Fields(string(head)), "")
	limited := &io.LimitedReader{R: transcript.Shortened(source, maxTaken), N: maxRow}
	decoder := json.NewDecoder(limited)
	decoder.UseNumber()
	if strings.HasPrefix(begin, "[") {
		_, _ = decoder.Token()
	}
	for decoder.More() {
		var row any
		err = decoder.Decode(&row)
		if e == nil {
			e = envelopeOf(row, begin, err)
		}
		if err != nil || e == nil {
			return e, err
		}
		e.take(row)
		limited.N = maxRow
	}
	return e, nil
}

// envelopeOf returns the envelope that a row begins, or a text that breaks in its first row.
func envelopeOf(row any, begin string, broken error) *envelope {
	i := slices.IndexFunc(envelopes(), func(e envelope) bool {
		return slices.ContainsFunc(e.First, func(all string) bool { return meets(row, all) }) ||
			broken != nil && e.Begin != "" && strings.HasPrefix(begin, e.Begin)
	})
	if i < 0 {
		return nil
	}
	e := envelopes()[i]
	e.facts = map[string]string{"envelope": e.Client}
	return &e
}

// take reads an object. One that no row knows says nothing.
func (e *envelope) take(row any) {
	for _, r := range e.Rows {
		if !meets(row, r.When) {
			continue
		}
		if r.Parts {
			e.text, e.size = nil, 0
		}
		for path := range strings.FieldsSeq(r.Text) {
			if found := valuesAt(row, path); len(found) > 0 {
				if !r.Joins {
					e.text, e.size = nil, 0
				}
				if e.size <= maxTaken {
					e.text, e.size = append(e.text, found[0]), e.size+len(found[0])
				}
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
	case broken != nil || e.text == nil || e.size > maxTaken:
		return "has no text, or is not all of it", materialize.StatusInvalid
	}
	return "", ""
}

// takeIn returns what gives the text of a request, and whether that is what was received: else it
// is out of the envelope of a client, or without what only a terminal understands. An envelope that
// tells of no good end stays as it is, which is a problem.
func (c Call) takeIn(r *materialize.PutRequest, received *io.SectionReader) (text func() io.Reader, same bool, problems []string) {
	if c.Raw || r.Source != record.SourcePut && r.Source != record.SourceExec {
		return again(received), true, nil
	}
	e, broken := unwrap(inUTF8(received))
	if text, same = again(received), true; e == nil || broken != nil {
		text, same = plainText(received)
		behind, at := bufio.NewReaderSize(text(), maxMessages), 0
		head, _ := behind.Peek(maxMessages) // an error comes again
		if found := messages().FindSubmatchIndex(head); found != nil {
			at, _ = behind.Discard(found[2])
		}
		if !same || at > 0 {
			e, broken = unwrap(behind)
		}
		if broken != nil && at > 0 {
			e = nil // a text with an example
		}
	}
	if e == nil {
		if said := FailureIn(text()); said != "" {
			r.Facts.Status = worse(r.Facts.Status, materialize.StatusFailed)
			problems = []string{"stored as failed: a client wrote it, not the model: " + said}
		}
		return text, same, problems
	}
	end := make([]byte, min(received.Size(), 4<<10))
	_, _ = received.ReadAt(end, received.Size()-int64(len(end))) // as before
	if why, status := e.wanting(broken, end); why != "" {
		r.Facts.Status = worse(r.Facts.Status, status)
		return again(received), true, []string{"stored as it is: the envelope of " + e.Client + " " + why}
	}
	r.Facts.Attributes = e.facts
	return func() io.Reader { return strings.NewReader(strings.Join(e.text, "")) }, false, nil
}

// again returns what gives a text from its beginning.
func again(text *io.SectionReader) func() io.Reader {
	return func() io.Reader { return io.NewSectionReader(text, 0, text.Size()) }
}

func inUTF8(text *io.SectionReader) io.Reader {
	return transform.NewReader(again(text)(), unicode.BOMOverride(transform.Nop))
}

// maxMessages is how much of a text is looked at for what a client says before an object, in bytes.
const maxMessages = 64 << 10

var (
	// Lines in which a client speaks of itself before an object: "Loaded cached credentials."
	messages = layout.Pattern(`^(?:[^{[\s].*[^:\s]\r?\n){1,20}([{[])`)
	toBegin  = layout.Pattern(`\x1b\[(?:2K|[01]?G)`) // the line is written anew
	controls = layout.Pattern(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-OQ-WYZ\\` + "`" + `a-~])`)
)

// plainText returns what gives in UTF-8 what is to be read when a terminal has shown a text, and
// whether that is the text.
func plainText(text *io.SectionReader) (plain func() io.Reader, same bool) {
	size, p := 0, newPlainReader(text)
	for same = true; p.Scan(); size += len(p.Bytes()) {
		if bytes.IndexByte(p.Bytes(), 0) >= 0 || size == 0 && markdown.IsBinary(p.Bytes()) {
			return again(text), true
		}
		same = same && bytes.Equal(p.plain(), p.Bytes())
	}
	if same && int64(size) == text.Size() {
		return again(text), true
	}
	return func() io.Reader { return newPlainReader(text) }, false
}

// A plainReader reads a text in parts that end with a line, and gives what is to be read of them.
type plainReader struct {
	*bufio.Scanner
	ready    []byte
	hasLines bool // else carriage returns are line ends
}

func newPlainReader(text *io.SectionReader) *plainReader {
	const partSize = 256 << 10 // a line that is longer counts as several
	p := &plainReader{Scanner: bufio.NewScanner(inUTF8(text))}
	p.Buffer(make([]byte, partSize), partSize)
	p.Split(func(data []byte, isAll bool) (int, []byte, error) {
		end := len(data)
		switch {
		case end == 0 || end < partSize && !isAll:
			return 0, nil, nil
		case !isAll:
			end = cmp.Or(bytes.LastIndexByte(data, '\n')+1, max(bytes.LastIndexAny(data, "\r\x1b"), 0), end)
		}
		return end, data[:end], nil
	})
	return p
}

func (p *plainReader) Read(to []byte) (n int, err error) {
	for len(p.ready) == 0 {
		if !p.Scan() {
			return 0, cmp.Or(p.Err(), io.EOF)
		}
		p.ready = p.plain()
	}
	n = copy(to, p.ready)
	p.ready = p.ready[n:]
	return n, nil
}

// plain returns what is to be read of a part.
func (p *plainReader) plain() []byte {
	plain := p.Bytes()
	p.hasLines = p.hasLines || bytes.ContainsAny(plain, "\n\x1b")
	if !bytes.ContainsAny(plain, "\b\r\x1b") {
		return plain
	}
	if toBegin().Match(plain) {
		plain = toBegin().ReplaceAll(plain, []byte("\r"))
	}
	plain = controls().ReplaceAll(plain, nil)
	if p.hasLines && bytes.Count(plain, []byte("\r")) > bytes.Count(plain, []byte("\r\n")) {
		plain = redrawn(plain)
	}
	kept := plain[:0] // which is no longer
	for part := range bytes.SplitSeq(plain, []byte("\b")) {
		if n := len(kept); n > 0 && kept[n-1] != '\n' {
			_, size := utf8.DecodeLastRune(kept)
			kept = kept[:n-size]
		}
		kept = append(kept, part...)
	}
	return kept
}

// redrawn returns of each line what was drawn last.
func redrawn(text []byte) []byte {
	last := text[:0] // as before
	for line := range bytes.Lines(text) {
		drawn := bytes.TrimRight(line, "\r\n")
		last = append(last, line[bytes.LastIndexByte(drawn, '\r')+1:]...)
	}
	return last
}
