package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"filebus/materialize"
)

// MaxStructured is how much of an output is read for its JSON object, in bytes.
const MaxStructured = 8 << 20

// examine reads the text of a request if the call wants it structured, takes the
// summary for the preview from it, and returns where it does not fit the schema.
// The request's Text gives all of it again. A request with problems has the status
// invalid, unless its command has ended worse.
func (c Call) examine(r *materialize.PutRequest) (problems []string, err error) {
	if !c.Structured && c.Schema == nil {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Text, MaxStructured+1))
	if err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	r.Text = io.MultiReader(bytes.NewReader(text), r.Text)
	summary, found := c.judge(text)
	if summary != "" {
		r.Facts.Summary = summary
	}
	for _, p := range found {
		problems = append(problems, p.Error())
	}
	ended := []string{
		materialize.StatusFailed, materialize.StatusTimeout, materialize.StatusKilled, materialize.StatusInterrupted,
	}
	if len(problems) > 0 && !slices.Contains(ended, r.Facts.Status) {
		r.Facts.Status = materialize.StatusInvalid
	}
	return problems, nil
}

// judge returns the summary of an output, and what is wrong with it.
func (c Call) judge(text []byte) (summary string, problems []Problem) {
	if len(text) > MaxStructured {
		return "", []Problem{{Message: fmt.Sprintf("the output has more than %d bytes: no JSON object was looked for", MaxStructured)}}
	}
	object, problem := FindObject(text)
	if problem != nil {
		return "", []Problem{*problem}
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
	var text string
	if json.Unmarshal(object, &raw) != nil || json.Unmarshal(raw.Summary, &text) != nil {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

// FindObject returns the JSON object of an output: the whole text; else what stands in
// its last code fence with an object; else its last object that is not within
// another. A text that begins as an object and is none is told where it breaks.
func FindObject(output []byte) (object []byte, problem *Problem) {
	start := len(output) - len(trimStart(output))
	text := bytes.TrimRight(output[start:], " \t\r\n")
	if len(text) == 0 {
		return nil, &Problem{Message: "no JSON object in the output, which is empty"}
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
func fencedObject(text []byte) (object []byte, broken *Problem) {
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
func syntaxIn(text []byte, from int) *Problem {
	var raw json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(text[from:])).Decode(&raw); err != nil {
		return syntaxProblem(text, from, err)
	}
	return &Problem{Message: "no JSON object in the output"}
}

// maxTries is how many braces that begin no object are looked at.
const maxTries = 10_000

// lastObject returns the last object of a text that is not within another. What
// follows a place where an object breaks may be a new one: each byte is read once.
func lastObject(text []byte, start int) (object []byte, problem *Problem) {
	problem = &Problem{Message: "no JSON object in the output"}
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
