package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A node is a value of a JSON text, and where it stands there. What is not there is
// an empty node.
type node struct {
	key        string // of a member of an object
	first      int    // where the key begins, or the value that has none
	start, end int
	nodes      []*node // that an object or an array holds
	value      any     // numbers are as they are written
}

// member returns the value of an object's member; of several of one name the last,
// as readers of JSON do.
func (n *node) member(key string) *node {
	found := &node{}
	if _, isObject := n.value.(map[string]any); isObject {
		for _, member := range n.nodes {
			if member.key == key {
				found = member
			}
		}
	}
	return found
}

// decodeJSON reads one JSON value. It refuses what would take a validator too much
// time or memory.
func decodeJSON(text []byte) (*node, *Problem) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &Problem{Message: "there is no JSON: the text is empty"}
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return nil, syntaxProblem(text, 0, err)
	}
	d := decoder{Decoder: json.NewDecoder(bytes.NewReader(text)), text: text}
	d.UseNumber()
	return d.node(0)
}

// A decoder reads a text that is known to be JSON.
type decoder struct {
	*json.Decoder
	text   []byte
	values int // that were read
}

// next returns where the next token begins.
func (d *decoder) next() int {
	rest := d.text[d.InputOffset():]
	return len(d.text) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func (d *decoder) node(depth int) (*node, *Problem) {
	n := &node{first: d.next()}
	n.start = n.first
	token, _ := d.Token() // it is JSON
	if d.values++; d.values > maxValues {
		return nil, &Problem{Message: fmt.Sprintf("more than %d values", maxValues)}
	}
	n.value = token
	switch token := token.(type) {
	case json.Number:
		// To compare two takes time that grows with their exponents.
		if !isSmall(string(token)) {
			return nil, &Problem{Message: "a number beyond all bounds: " + cut(string(token), 40)}
		}
	case json.Delim:
		if depth == maxDepth {
			return nil, &Problem{Message: fmt.Sprintf("nested deeper than %d", maxDepth)}
		}
		if problem := d.fill(n, token == '{', depth+1); problem != nil {
			return nil, problem
		}
	}
	n.end = int(d.InputOffset())
	return n, nil
}

// fill reads what an object or an array holds.
func (d *decoder) fill(n *node, isObject bool, depth int) *Problem {
	object, array := map[string]any{}, []any{}
	for d.More() {
		first, key := d.next(), ""
		if isObject {
			token, _ := d.Token() // as before
			key, _ = token.(string)
		}
		inner, problem := d.node(depth)
		if problem != nil {
			return problem
		}
		inner.first, inner.key = first, key
		n.nodes, array, object[key] = append(n.nodes, inner), append(array, inner.value), inner.value
	}
	_, _ = d.Token() // the bracket
	if n.value = array; isObject {
		n.value = object
	}
	return nil
}

const byteOrderMark = "\ufeff"

// syntaxProblem says where in a text, in which JSON begins at start, it breaks.
func syntaxProblem(text []byte, start int, err error) *Problem {
	var syntax *json.SyntaxError
	message, offset := err.Error(), len(text)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), strings.HasPrefix(message, "unexpected end"):
		message = "the JSON ends too early"
	case errors.As(err, &syntax):
		offset = min(start+max(int(syntax.Offset)-1, 0), len(text))
	default:
		offset = start
	}
	line := 1 + bytes.Count(text[:offset], []byte("\n"))
	column := 1 + len([]rune(string(text[bytes.LastIndexByte(text[:offset], '\n')+1:offset])))
	return &Problem{Message: fmt.Sprintf("broken JSON at %d:%d: %s", line, column, message)}
}

func isSmall(number string) bool {
	exponent := 0
	if e := strings.IndexAny(number, "eE"); e >= 0 {
		var err error
		if exponent, err = strconv.Atoi(number[e+1:]); err != nil {
			return false
		}
	}
	return len(number) <= maxNumber && exponent <= maxNumber && exponent >= -maxNumber
}

// typeOf names the JSON type of a decoded value.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}
