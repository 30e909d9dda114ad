package result

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
		given := field["required"]
		must, isBool := given.(bool)
		switch {
		case given != nil && !isBool:
			return nil, fmt.Errorf(`field %q: "required" is %s, not true or false`, name, typeOf(given))
		case given == nil || must:
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}, nil
}

// fieldSchema returns the JSON Schema of one field.
func fieldSchema(field map[string]any) (map[string]any, error) {
	schema := map[string]any{}
	if description, ok := field["description"].(string); ok {
		schema["description"] = description
	}
	if values, found := field["enum"]; found {
		list, ok := values.([]any)
		if !ok || len(list) == 0 {
			return nil, errors.New(`"enum" is not a list of values`)
		}
		schema["enum"] = list
	}
	name, ok := field["type"].(string)
	switch _, isEnum := schema["enum"]; {
	case isEnum && (name == "" || name == "enum"):
		return schema, nil
	case !ok:
		return nil, fmt.Errorf("it has no type: one of %s", fieldTypes())
	}
	inner, isList := strings.CutSuffix(name, "[]")
	kind, ok := typeNames()[strings.ToLower(inner)]
	if !ok {
		return nil, fmt.Errorf("unknown type %q: one of %s", name, fieldTypes())
	}
	if isList {
		return listSchema(schema, map[string]any{"type": inner, "fields": field["fields"]})
	}
	return typedSchema(schema, kind, field)
}

// typedSchema completes the schema of a field of a kind.
func typedSchema(schema map[string]any, kind string, field map[string]any) (map[string]any, error) {
	if kind != "any" {
		schema["type"] = kind
	}
	fields, hasFields := field["fields"].([]any)
	switch {
	case kind == "object" && hasFields:
		object, err := fieldsSchema(fields)
		maps.Copy(schema, object)
		return schema, err
	case kind == "array" && field["items"] != nil:
		switch items := field["items"].(type) {
		case string:
			return listSchema(schema, map[string]any{"type": items, "fields": field["fields"]})
		case map[string]any:
			return listSchema(schema, items)
		}
		return nil, fmt.Errorf(`"items" is %s, not a type or a field`, typeOf(field["items"]))
	case kind == "array" && hasFields:
		return listSchema(schema, map[string]any{"type": "object", "fields": fields})
	}
	return schema, nil
}

func listSchema(schema, item map[string]any) (map[string]any, error) {
	items, err := fieldSchema(item)
	if err != nil {
		return nil, fmt.Errorf("items: %w", err)
	}
	schema["type"], schema["items"] = "array", items
	return schema, nil
}

// typeNames maps the types of fields, as people write them, to those of JSON
// Schema; "any" has no type.
func typeNames() map[string]string {
	return map[string]string{
		"string": "string", "str": "string", "text": "string",
		"number": "number", "float": "number",
		"integer": "integer", "int": "integer",
		"boolean": "boolean", "bool": "boolean",
		"array": "array", "list": "array",
		"object": "object", "dict": "object",
		"any": "any",
	}
}

func fieldTypes() string {
	kinds := slices.Compact(slices.Sorted(maps.Values(typeNames())))
	return strings.Join(kinds, ", ")
}
