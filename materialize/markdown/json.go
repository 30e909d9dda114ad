package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Value is a value of a JSON text, and where it stands there. What is not there is
// an empty Value.
type Value struct {
	Key        string // of a member of an object
	First      int    // where the key begins, or a value that has none
	Start, End int
	Line       int      // of Start, counted from 1
	Inner      []*Value // the members of an object, the elements of an array
	token      json.Token
}

// IsObject reports whether v is an object.
func (v *Value) IsObject() bool { return v.token == json.Delim('{') }

// IsArray reports whether v is an array.
func (v *Value) IsArray() bool { return v.token == json.Delim('[') }

// Member returns the value of an object's member; of several of one name the last,
// as readers of JSON do.
func (v *Value) Member(key string) *Value {
	for _, member := range slices.Backward(v.Inner) {
		if v.IsObject() && member.Key == key {
			return member
		}
	}
	return &Value{}
}

// Data returns what encoding/json makes of v, numbers as they are written.
func (v *Value) Data() any {
	switch {
	case v.IsObject():
		members := make(map[string]any, len(v.Inner))
		for _, member := range v.Inner {
			members[member.Key] = member.Data()
		}
		return members
	case v.IsArray():
		elements := make([]any, len(v.Inner))
		for i, element := range v.Inner {
			elements[i] = element.Data()
		}
		return elements
	}
	return v.token
}

// ParseValue reads a text that encoding/json accepts, after a byte order mark. Each
// token of a value is shown to check, which may be nil, with the number of objects and
// arrays around it; its error ends the reading.
func ParseValue(text []byte, check func(depth int, token json.Token) error) (*Value, error) {
	skip := len(text) - len(bytes.TrimPrefix(text, []byte(ByteOrderMark)))
	decoder := json.NewDecoder(bytes.NewReader(text[skip:]))
	p := valueParser{Decoder: decoder, text: text, skip: skip, line: 1, check: check}
	p.UseNumber()
	return p.value(0)
}

// A valueParser reads a text that is known to be JSON.
type valueParser struct {
	*json.Decoder
	text    []byte
	skip    int // before what the decoder reads
	counted int // where line is
	line    int
	check   func(depth int, token json.Token) error
}

// next returns where the next token begins.
func (p *valueParser) next() int {
	rest := p.text[p.skip+int(p.InputOffset()):]
	at := len(p.text) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
	p.line += bytes.Count(p.text[p.counted:at], []byte("\n"))
	p.counted = at
	return at
}

func (p *valueParser) value(depth int) (*Value, error) {
	v := &Value{First: p.next()}
	v.Start, v.Line = v.First, p.line
	v.token, _ = p.Token() // it is JSON
	if p.check != nil {
		if err := p.check(depth, v.token); err != nil {
			return nil, err
		}
	}
	if v.IsObject() || v.IsArray() {
		for p.More() {
			first, key := p.next(), ""
			if v.IsObject() {
				token, _ := p.Token() // as before
				key, _ = token.(string)
			}
			inner, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			inner.First, inner.Key = first, key
			v.Inner = append(v.Inner, inner)
		}
		_, _ = p.Token() // the bracket
	}
	v.End = p.skip + int(p.InputOffset())
	return v, nil
}

// ParseObject reads the object that a text holds, after a byte order mark.
func ParseObject(text []byte) (*Value, *SyntaxError) {
	if err := DecodeJSON(text, new(json.RawMessage)); err != nil {
		err.Err = fmt.Errorf("broken JSON: %w", err.Err)
		return nil, err
	}
	object, _ := ParseValue(text, nil) // there is no check that could fail
	if !object.IsObject() {
		return nil, &SyntaxError{Line: object.Line, Err: errors.New("the file is not a JSON object")}
	}
	return object, nil
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
	case !utf8.Valid(text):
		offset, err = 0, errors.New("it is not UTF-8")
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mismatch):
		offset, err = mismatch.Offset, fmt.Errorf("JSON %s instead of an object", mismatch.Value)
	}
	offset = min(max(offset-1, 0), int64(len(body)))
	return &SyntaxError{Line: 1 + bytes.Count(body[:offset], []byte("\n")), Err: err}
}
