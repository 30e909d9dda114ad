package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// IsJSONLines reports whether the file at a path has a JSON value in each line.
func IsJSONLines(name string) bool {
	return slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(path.Ext(name)))
}

// jsonLines is the layout of notes that are JSON Lines: one record, whose lines are found
// and read by their numbers. What is no JSON is reported.
var jsonLines = &single{record.KindNote, func(name string, text []byte) (f Facts, problems []*SyntaxError) {
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))) {
		if number++; len(problems) < maxLineProblems && !isBlankText(line) && !json.Valid(line) {
			problems = append(problems, wrong(number, "the line is no JSON"))
		}
	}
	f.Title = titleOf(path.Base(name)) // no line speaks for the others
	return f, problems
}}

// maxLineProblems bounds how many lines of a file are reported that are no JSON.
const maxLineProblems = 20

// Readable returns the text of a file as it is searched and shown, in UTF-8. In JSON Lines each line
// becomes the names and values that it holds, as people read them; a line that is no
// object or array stays as it is. The lines of a file stay its lines.
func Readable(name string, text []byte) []byte {
	text = markdown.Decode(text)
	if !IsJSONLines(name) {
		return text
	}
	readable := readableLine
	if d, is := Recognize(name).Layout.(*declared); is && d.Kind == record.KindIssue {
		readable = d.readable
	}
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		body := bytes.TrimRight(line, "\r\n")
		out = append(append(out, readable(body)...), line[len(body):]...)
	}
	return out
}

// readable returns a line with an issue as people read it, with what it is first.
func (d *declared) readable(line []byte) []byte {
	s, err := d.readLine(line)
	if err != nil {
		return line
	}
	said := []string{s.vars["id"]}
	for _, field := range strings.Fields("title state priority type assignee details tags") {
		said = append(said, d.clean(d.said(field, line, s))...)
	}
	return []byte(strings.Join(factList(said, markdown.OneLine), "  "))
}

// readableLine returns a line of JSON as people read it.
func readableLine(line []byte) []byte {
	body := bytes.TrimSpace(bytes.TrimPrefix(line, []byte(markdown.ByteOrderMark)))
	if len(body) == 0 || body[0] != '{' && body[0] != '[' || !json.Valid(body) {
		return line
	}
	value, _ := markdown.ParseValue(body, nil) // it is JSON
	return appendReadable(nil, value, "  ")
}

// appendReadable appends what a value says; what is empty says nothing.
func appendReadable(dst []byte, value *markdown.Value, between string) []byte {
	if !value.IsObject() && !value.IsArray() {
		if data := value.Data(); data != nil {
			dst = append(dst, markdown.OneLine(fmt.Sprint(data))...)
		}
		return dst
	}
	start := len(dst)
	for _, inner := range value.Inner {
		before := len(dst)
		if before > start {
			dst = append(dst, between...)
		}
		if value.IsObject() {
			dst = append(append(dst, markdown.OneLine(inner.Key)...), ": "...)
		}
		named := len(dst)
		if dst = appendReadable(dst, inner, ", "); len(dst) == named {
			dst = dst[:before]
		}
	}
	return dst
}
