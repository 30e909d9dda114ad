package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// encoding/json says whether a text is JSON and what it means, but not where its
// values stand. The scanner here does that and nothing else: it runs on texts
// that encoding/json has accepted, in linear time and without recursion.

// A Span is where a JSON value stands in a text.
type Span struct{ Start, End int }

// A Member is one member of an object.
type Member struct {
	Key   string
	Start int // of the key
	Value Span
}

// A Object is an object with the places of its members.
type Object struct {
	Span    Span
	Members []Member
}

// ParseObject finds the members of the object that text holds, after a byte
// order mark. The text is checked first, so that what follows may trust it.
func ParseObject(text []byte) (Object, *SyntaxError) {
	start := 0
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		start = len("\ufeff")
	}
	var whole json.RawMessage
	if err := DecodeJSON(text, &whole); err != nil {
		err.Err = fmt.Errorf("broken JSON: %w", err.Err)
		return Object{}, err
	}
	d := newJSONScan(text, start)
	span := d.next()
	if text[span.Start] != '{' {
		return Object{}, ProblemAt(text, span.Start, "the file is not a JSON object")
	}
	object := Object{Span: span}
	for d = d.inside(span); d.More(); {
		at := d.start + int(d.InputOffset())
		at += len(text[at:]) - len(bytes.TrimLeft(text[at:], ", \t\r\n"))
		token, _ := d.Token() // a string: the text is JSON
		key, isKey := token.(string)
		if !isKey {
			break
		}
		object.Members = append(object.Members, Member{key, at, d.next()})
	}
	return object, nil
}

// ProblemAt says what is wrong at an offset.
func ProblemAt(text []byte, at int, what string) *SyntaxError {
	return &SyntaxError{Line: 1 + bytes.Count(text[:at], []byte("\n")), Err: errors.New(what)}
}

// Elements finds the elements of an array.
func Elements(text []byte, array Span) []Span {
	var elements []Span
	for d := newJSONScan(text, 0).inside(array); d.More(); {
		elements = append(elements, d.next())
	}
	return elements
}

// A jsonScan finds the values of a text that is known to be JSON.
type jsonScan struct {
	*json.Decoder
	text  []byte
	start int // of what the decoder reads
}

func newJSONScan(text []byte, start int) jsonScan {
	return jsonScan{json.NewDecoder(bytes.NewReader(text[start:])), text, start}
}

// inside returns a scan of the members or elements of a value.
func (d jsonScan) inside(value Span) jsonScan {
	d = newJSONScan(d.text, value.Start)
	d.Token() // the bracket: the text is JSON
	return d
}

// next returns where the next value stands.
func (d jsonScan) next() Span {
	var value json.RawMessage
	if d.Decode(&value) != nil {
		return Span{d.start, len(d.text)} // never: the text is JSON
	}
	end := d.start + int(d.InputOffset())
	return Span{end - len(value), end}
}

// ReadMembers takes the members of an object into the fields that are tagged with
// their keys, and calls wrong with the keys whose values do not fit.
func ReadMembers(members map[string]json.RawMessage, into any, wrong func(key string)) {
	fields := reflect.ValueOf(into).Elem()
	for i := range fields.NumField() {
		tag, isTagged := fields.Type().Field(i).Tag.Lookup("json")
		key, _, _ := strings.Cut(tag, ",")
		value, given := members[key]
		switch {
		case !isTagged || !given:
		case json.Unmarshal(value, fields.Field(i).Addr().Interface()) != nil:
			wrong(key)
		default:
			delete(members, key)
		}
	}
}

// A LineCounter gives the lines of offsets that grow.
type LineCounter struct {
	Text []byte
	pos  int
	Line int
}

// At returns the line of an offset, which is not before the last one asked for.
func (c *LineCounter) At(offset int) int {
	c.Line += bytes.Count(c.Text[c.pos:offset], []byte("\n"))
	c.pos = offset
	return c.Line
}

// DecodeJSON decodes text, with or without a byte order mark, into v and
// locates what is wrong with it.
func DecodeJSON(text []byte, v any) *SyntaxError {
	body := bytes.TrimPrefix(text, []byte(ByteOrderMark))
	err := json.Unmarshal(body, v)
	if err == nil {
		return nil
	}
	offset := int64(len(body)) // where the text ends too early
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mismatch):
		offset, err = mismatch.Offset, fmt.Errorf("JSON %s instead of an object", mismatch.Value)
	}
	offset = min(max(offset-1, 0), int64(len(body)))
	return &SyntaxError{Line: 1 + bytes.Count(body[:offset], []byte("\n")), Err: err}
}
