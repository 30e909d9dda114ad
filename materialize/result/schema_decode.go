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

// decodeJSON reads one JSON value, its numbers as they are written. It refuses what
// would take a validator too much time or memory.
func decodeJSON(text []byte) (any, *Problem) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &Problem{Message: "there is no JSON: the text is empty"}
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return nil, syntaxProblem(text, 0, err)
	}
	if problem := checkBounds(text); problem != nil {
		return nil, problem
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, syntaxProblem(text, 0, err) // it was JSON before
	}
	return value, nil
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

// checkBounds counts depth and values of a text that is JSON, and looks at its
// numbers: comparing two takes time that grows with their exponents.
func checkBounds(text []byte) *Problem {
	depth, values := 0, 1
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == '"':
			at = endOfString(text, at)
			continue
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return &Problem{Message: fmt.Sprintf("nested deeper than %d", maxDepth)}
			}
			values++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			if values++; values > maxValues {
				return &Problem{Message: fmt.Sprintf("more than %d values", maxValues)}
			}
		case c == '-' || c >= '0' && c <= '9':
			end := endOfNumber(text, at)
			if !isSmall(text[at:end]) {
				return &Problem{Message: fmt.Sprintf("a number beyond all bounds: %s", cut(string(text[at:min(end, at+200)]), 40))}
			}
			at = end
			continue
		}
		at++
	}
	return nil
}

func endOfString(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func endOfNumber(text []byte, at int) int {
	for at < len(text) && bytes.IndexByte([]byte("+-.eE0123456789"), text[at]) >= 0 {
		at++
	}
	return at
}

func isSmall(number []byte) bool {
	if len(number) > maxNumber {
		return false
	}
	if e := bytes.IndexAny(number, "eE"); e >= 0 {
		exponent, err := strconv.Atoi(string(number[e+1:]))
		return err == nil && exponent <= maxNumber && exponent >= -maxNumber
	}
	return true
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
