package layout

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

// A jsonSpan is where a JSON value stands in a text.
type jsonSpan struct{ start, end int }

// A jsonMember is one member of an object.
type jsonMember struct {
	key   string
	start int // of the key
	value jsonSpan
}

// A jsonObject is an object with the places of its members.
type jsonObject struct {
	span    jsonSpan
	members []jsonMember
}

// graphSpans are the places in a JSON knowledge graph.
type graphSpans struct {
	object     jsonSpan
	lastMember int // where the object's last member ends, 0 when it has none
	nodes      jsonSpan
	elements   []jsonSpan // of nodes
}

// scanGraph finds the array "nodes". Without it, the places of the object are
// given beside the error.
func scanGraph(text []byte) (graphSpans, *SyntaxError) {
	object, err := scanObject(text)
	if err != nil {
		return graphSpans{}, err
	}
	graph := graphSpans{object: object.span}
	err = problemAt(text, object.span.start, `the array "nodes" is missing`)
	for _, m := range object.members {
		graph.lastMember = m.value.end
		switch {
		case m.key != "nodes" || graph.nodes.end > 0:
		case text[m.value.start] != '[':
			err = problemAt(text, m.value.start, `"nodes" is not an array`)
		default:
			graph.nodes = m.value
			graph.elements = scanArray(text, m.value)
		}
	}
	if graph.nodes.end > 0 {
		err = nil
	}
	return graph, err
}

// scanObject finds the members of the object that text holds, after a byte
// order mark. The text is checked first, so that what follows may trust it.
func scanObject(text []byte) (jsonObject, *SyntaxError) {
	start := 0
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		start = len("\ufeff")
	}
	var whole json.RawMessage
	if err := decodeJSON(text, &whole); err != nil {
		err.Err = fmt.Errorf("broken JSON: %w", err.Err)
		return jsonObject{}, err
	}
	d := newJSONScan(text, start)
	span := d.next()
	if text[span.start] != '{' {
		return jsonObject{}, problemAt(text, span.start, "the file is not a JSON object")
	}
	object := jsonObject{span: span}
	for d = d.inside(span); d.More(); {
		at := d.start + int(d.InputOffset())
		at += len(text[at:]) - len(bytes.TrimLeft(text[at:], ", \t\r\n"))
		token, _ := d.Token() // a string: the text is JSON
		key, isKey := token.(string)
		if !isKey {
			break
		}
		object.members = append(object.members, jsonMember{key, at, d.next()})
	}
	return object, nil
}

// problemAt says what is wrong at an offset.
func problemAt(text []byte, at int, what string) *SyntaxError {
	return &SyntaxError{Line: 1 + bytes.Count(text[:at], []byte("\n")), Err: errors.New(what)}
}

// scanArray finds the elements of an array.
func scanArray(text []byte, array jsonSpan) []jsonSpan {
	var elements []jsonSpan
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
func (d jsonScan) inside(value jsonSpan) jsonScan {
	d = newJSONScan(d.text, value.start)
	d.Token() // the bracket: the text is JSON
	return d
}

// next returns where the next value stands.
func (d jsonScan) next() jsonSpan {
	var value json.RawMessage
	if d.Decode(&value) != nil {
		return jsonSpan{d.start, len(d.text)} // never: the text is JSON
	}
	end := d.start + int(d.InputOffset())
	return jsonSpan{end - len(value), end}
}

// readMembers takes the members of an object into the fields that are tagged with
// their keys, and calls wrong with the keys whose values do not fit.
func readMembers(members map[string]json.RawMessage, into any, wrong func(key string)) {
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

// A lineCounter gives the lines of offsets that grow.
type lineCounter struct {
	text []byte
	pos  int
	line int
}

// at returns the line of an offset, which is not before the last one asked for.
func (c *lineCounter) at(offset int) int {
	c.line += bytes.Count(c.text[c.pos:offset], []byte("\n"))
	c.pos = offset
	return c.line
}
