package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A Schema says what the structured output of an agent must look like: a JSON
// object, with a summary in it that becomes the preview.
type Schema struct {
	given    []byte
	injected []byte
	compiled *validator
}

// What bounds the work that a schema or an output can make.
const (
	maxSchema  = 1 << 20 // bytes of a schema
	maxTargets = 500     // parts of a schema that are referred to; the library needs their square
	maxDepth   = 200     // objects and arrays within each other
	maxValues  = 50_000  // values in an output
	maxNumber  = 400     // characters of a number, and the size of its exponent
)

// ParseSchema reads the schema of an output: a JSON Schema, or a list of fields, each
// with "name", "type" and "description", alone or as the member "fields" of an
// object. The name stands in errors, which are ErrSchema. What a schema refers to
// must be in it: nothing is ever loaded.
func ParseSchema(name string, text []byte) (*Schema, error) {
	s, err := parseSchema(text)
	if err != nil {
		return nil, record.Usage.Errorf("%w %s: %w", ErrSchema, name, err)
	}
	return s, nil
}

func parseSchema(text []byte) (*Schema, error) {
	if len(text) > maxSchema {
		return nil, fmt.Errorf("%d bytes are more than the %d that a schema may have", len(text), maxSchema)
	}
	// It is compiled as given first, so that what is injected meets a sound one.
	if _, err := compileText(text); err != nil {
		return nil, err
	}
	injected, err := injectSummary(text)
	if err != nil {
		return nil, err
	}
	s := &Schema{given: text, injected: injected}
	if s.compiled, err = compileText(injected); err != nil {
		return nil, err
	}
	return s, s.probe()
}

// Inject returns the schema as it was given, with a string "summary", required, where
// it had none, and whether it was added. Everything else keeps its bytes.
func (s *Schema) Inject() (text []byte, changed bool) {
	return s.injected, len(s.injected) != len(s.given)
}

// compileText compiles a schema of either form.
func compileText(text []byte) (*validator, error) {
	root, problem := decodeJSON(text)
	if problem != nil {
		return nil, problem
	}
	value := root.Data()
	if list, ok := fieldList(value); ok {
		fields, err := fieldsSchema(list)
		if err != nil {
			return nil, err
		}
		return compile(fields)
	}
	if !isObjectSchema(value) {
		return nil, notObject(value)
	}
	if n := len(countRefs(value, map[string]int{})); n > maxTargets {
		return nil, fmt.Errorf("its references lead to %d places, more than %d", n, maxTargets)
	}
	return compile(value)
}

// isObjectSchema reports whether value is a JSON Schema for objects.
func isObjectSchema(value any) bool {
	schema, ok := value.(map[string]any)
	if !ok {
		return false
	}
	switch t := schema["type"].(type) {
	case string:
		return t == "object"
	case []any:
		return slices.Contains(t, any("object"))
	}
	return len(schema) == 0 || hasKeyword(schema)
}

// hasKeyword tells a JSON Schema without a type from any other object.
func hasKeyword(schema map[string]any) bool {
	keywords := []string{
		"$schema", "$id", "id", "$ref", "$dynamicRef", "$defs", "definitions", "properties", "patternProperties",
		"additionalProperties", "unevaluatedProperties", "required", "allOf", "anyOf", "oneOf", "not", "if",
		"dependentSchemas", "dependentRequired", "propertyNames", "minProperties", "maxProperties",
	}
	return slices.ContainsFunc(keywords, func(keyword string) bool {
		_, found := schema[keyword]
		return found
	})
}

func notObject(value any) error {
	schema, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is neither a JSON Schema nor a list of fields", typeOf(value))
	}
	if t, ok := schema["type"]; ok {
		text, _ := json.Marshal(t) // what was decoded can be encoded
		return fmt.Errorf("its type is %s; structured output is one object", cut(string(text), 60))
	}
	return errors.New(`no keyword of JSON Schema at its top, such as "type" or "properties"`)
}

func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

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
