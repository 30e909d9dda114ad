package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"filebus/materialize/markdown"
)

// decodeJSON reads one JSON value. It refuses what would take a validator too much
// time or memory.
func decodeJSON(text []byte) (*markdown.Value, *Problem) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &Problem{Message: "there is no JSON: the text is empty"}
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return nil, syntaxProblem(text, 0, err)
	}
	values := 0
	root, err := markdown.ParseValue(text, func(depth int, token json.Token) error {
		number, isNumber := token.(json.Number)
		_, isOpen := token.(json.Delim)
		switch values++; {
		case values > maxValues:
			return fmt.Errorf("more than %d values", maxValues)
		case isNumber && !isSmall(string(number)): // to compare two takes time that grows with their exponents
			return fmt.Errorf("a number beyond all bounds: %s", cut(string(number), 40))
		case isOpen && depth == maxDepth:
			return fmt.Errorf("nested deeper than %d", maxDepth)
		}
		return nil
	})
	if err != nil {
		return nil, &Problem{Message: err.Error()}
	}
	return root, nil
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
