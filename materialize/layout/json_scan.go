package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// A jsonError says where a text is not what it should be.
type jsonError struct {
	offset int
	err    error
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
func scanGraph(text []byte) (graphSpans, *jsonError) {
	object, err := scanObject(text)
	if err != nil {
		return graphSpans{}, err
	}
	graph := graphSpans{object: object.span}
	err = &jsonError{object.span.start, errors.New(`the array "nodes" is missing`)}
	for _, m := range object.members {
		graph.lastMember = m.value.end
		switch {
		case m.key != "nodes" || graph.nodes.end > 0:
		case text[m.value.start] != '[':
			err = &jsonError{m.value.start, errors.New(`"nodes" is not an array`)}
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
func scanObject(text []byte) (jsonObject, *jsonError) {
	start := 0
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		start = len("\ufeff")
	}
	if err := checkJSON(text[start:]); err != nil {
		err.offset += start
		return jsonObject{}, err
	}
	start = skipSpace(text, start)
	if text[start] != '{' {
		return jsonObject{}, &jsonError{start, errors.New("the file is not a JSON object")}
	}
	object := jsonObject{span: jsonSpan{start, skipValue(text, start)}}
	for at := skipSpace(text, start+1); text[at] != '}'; at = skipComma(text, at) {
		keyEnd := skipValue(text, at)
		value := skipSpace(text, skipSpace(text, keyEnd)+1) // past the colon
		end := skipValue(text, value)
		object.members = append(object.members, jsonMember{decodeKey(text[at:keyEnd]), at, jsonSpan{value, end}})
		at = end
	}
	return object, nil
}

// decodeKey returns the text of a key, its escapes resolved.
func decodeKey(text []byte) string {
	var key string
	if json.Unmarshal(text, &key) != nil {
		return ""
	}
	return key
}

// scanArray finds the elements of an array.
func scanArray(text []byte, array jsonSpan) []jsonSpan {
	var elements []jsonSpan
	for at := skipSpace(text, array.start+1); text[at] != ']'; at = skipComma(text, at) {
		end := skipValue(text, at)
		elements = append(elements, jsonSpan{at, end})
		at = end
	}
	return elements
}

// checkJSON returns what is wrong with text as JSON, and where.
func checkJSON(text []byte) *jsonError {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	if err == nil {
		return nil
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return &jsonError{max(0, min(int(syntax.Offset), len(text))-1), fmt.Errorf("broken JSON: %w", err)}
	}
	return &jsonError{0, fmt.Errorf("broken JSON: %w", err)}
}

// The functions below skip parts of a text that is known to be JSON.

// skipSpace returns the place of the next byte that is no white space.
func skipSpace(text []byte, at int) int {
	for at < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[at]) >= 0 {
		at++
	}
	return at
}

// skipComma returns the place of the next element or closing bracket.
func skipComma(text []byte, at int) int {
	if at = skipSpace(text, at); text[at] == ',' {
		at = skipSpace(text, at+1)
	}
	return at
}

// skipValue returns where the value that begins at an offset ends. It counts
// brackets instead of recursing: depth costs no stack.
func skipValue(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = skipString(text, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			at++
		default:
			at = skipScalar(text, at)
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// skipString returns where the string that begins at an offset ends.
func skipString(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at+1, len(text))
}

// skipScalar returns where a number, true, false or null ends.
func skipScalar(text []byte, at int) int {
	for at < len(text) && bytes.IndexByte([]byte(",:]} \t\r\n"), text[at]) < 0 {
		at++
	}
	return at
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
