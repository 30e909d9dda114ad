package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"filebus/cmd/filebus/rule"
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
// object. The name stands in errors. What a schema refers to
// must be in it: nothing is ever loaded.
func ParseSchema(name string, text []byte) (*Schema, error) {
	s, err := parseSchema(text)
	if err != nil {
		return nil, record.Usage.Errorf("unusable schema %s: %w", name, err)
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
	if err := checkTop(value); err != nil {
		return nil, err
	}
	if n := len(countRefs(value, map[string]int{})); n > maxTargets {
		return nil, fmt.Errorf("its references lead to %d places, more than %d", n, maxTargets)
	}
	return compile(value)
}

// checkTop makes sure that a value is a JSON Schema for objects.
func checkTop(value any) error {
	schema, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is neither a JSON Schema nor a list of fields", typeOf(value))
	}
	kind, typed := schema["type"]
	kinds, _ := kind.([]any)
	switch {
	case !typed && len(schema) > 0 && !hasKeyword(schema):
		return errors.New(`no keyword of JSON Schema at its top, such as "type" or "properties"`)
	case typed && !slices.Contains(append(kinds, kind), any("object")):
		text, _ := json.Marshal(kind) // what was decoded can be encoded
		return fmt.Errorf("its type is %s; structured output is one object", markdown.Clip(string(text), 60))
	}
	return nil
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

// decodeJSON reads one JSON value. It refuses what would take a validator too much
// time or memory.
func decodeJSON(text []byte) (*markdown.Value, *rule.Finding) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, noJSON("there is no JSON: the text is empty")
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
			return fmt.Errorf("a number beyond all bounds: %s", markdown.Clip(string(number), 40))
		case isOpen && depth == maxDepth:
			return fmt.Errorf("nested deeper than %d", maxDepth)
		}
		return nil
	})
	if err != nil {
		return nil, noJSON("%v", err)
	}
	return root, nil
}

const byteOrderMark = "\ufeff"

// syntaxProblem says where in a text, in which JSON begins at start, it breaks.
func syntaxProblem(text []byte, start int, err error) *rule.Finding {
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
	return noJSON("broken JSON at %d:%d: %s", line, column, message)
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

// A list of fields is the short form of a schema: a name, a type and a description
// for each member of the output. Here it becomes JSON Schema.

// fieldList returns the fields of a list, alone or as the member "fields" of an
// object that has no keyword of JSON Schema.
func fieldList(value any) ([]any, bool) {
	if list, ok := value.([]any); ok {
		return list, true
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	_, typed := object["type"]
	list, ok := object["fields"].([]any)
	return list, ok && !typed && !hasKeyword(object)
}

// fieldsSchema returns the JSON Schema of an object with fields. A field is required
// unless it says "required": false. Further members are allowed.
func fieldsSchema(list []any) (map[string]any, error) {
	properties, required := map[string]any{}, []any{}
	for i, item := range list {
		field, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("field %d is %s, not an object with name, type and description", i+1, typeOf(item))
		}
		name, ok := field["name"].(string)
		if !ok || name == "" {
			return nil, fmt.Errorf("field %d has no name", i+1)
		}
		if _, twice := properties[name]; twice {
			return nil, fmt.Errorf("two fields have the name %q", name)
		}
		schema, err := fieldSchema(field)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		properties[name] = schema
		if field["required"] != false {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}, nil
}

// fieldTypes are the types of fields: those of JSON Schema, and "any", which has no type.
const fieldTypes = "any, array, boolean, integer, number, object, string"

// fieldSchema returns the JSON Schema of one field.
func fieldSchema(field map[string]any) (schema map[string]any, err error) {
	schema = map[string]any{}
	for _, keyword := range []string{"description", "enum"} {
		if value, found := field[keyword]; found {
			schema[keyword] = value
		}
	}
	name, _ := field["type"].(string)
	kind, isList := strings.CutSuffix(name, "[]")
	items, fields := field["items"], field["fields"]
	switch {
	case name == "" && schema["enum"] != nil:
		return schema, nil
	case !slices.Contains(strings.Split(fieldTypes, ", "), kind):
		return nil, fmt.Errorf("unknown type %q: one of %s", name, fieldTypes)
	case isList:
		items, kind = kind, "array"
	case kind == "array" && items == nil && fields != nil:
		items = "object"
	}
	if list, ok := fields.([]any); ok && kind == "object" {
		object, err := fieldsSchema(list)
		maps.Copy(schema, object)
		return schema, err
	}
	if kind != "any" {
		schema["type"] = kind
	}
	if kind == "array" && items != nil {
		item, ok := items.(map[string]any)
		if !ok {
			item = map[string]any{"type": items, "fields": fields}
		}
		if schema["items"], err = fieldSchema(item); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
	}
	return schema, nil
}
