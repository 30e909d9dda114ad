package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What a schema without a summary gets.
const (
	summaryKey         = "summary"
	summaryDescription = "a concise 2-3 sentence summary of the key findings and conclusions"
)

// injectSummary returns a sound schema with a summary. All bytes of text are kept,
// and what is added is written as its neighbours are.
func injectSummary(text []byte) ([]byte, error) {
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	value, problem := decodeJSON(body)
	if problem != nil {
		return nil, problem
	}
	e := editor{text: body, style: styleOf(body)}
	if list, ok := fieldList(value); ok {
		if hasField(list) {
			return text, nil
		}
		e.addField(value)
	} else {
		if declares(value, value, map[string]bool{}) {
			return text, nil
		}
		if err := e.addProperty(value); err != nil {
			return nil, err
		}
	}
	return slices.Concat(text[:len(text)-len(body)], e.apply()), nil
}

func hasField(list []any) bool {
	return slices.ContainsFunc(list, func(item any) bool {
		field, _ := item.(map[string]any)
		return field["name"] == summaryKey
	})
}

// declares reports whether a schema says what the summary is: itself, where it
// refers to, or in the schemas that it is made of. What a reference leads to is
// looked at once, and noted in seen.
func declares(document, value any, seen map[string]bool) bool {
	schema, _ := value.(map[string]any)
	if properties, ok := schema["properties"].(map[string]any); ok {
		if _, found := properties[summaryKey]; found {
			return true
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		if _, known := seen[ref]; !known {
			seen[ref] = false // of a circle
			target, found := resolvePointer(document, ref)
			seen[ref] = found && declares(document, target, seen)
		}
		if seen[ref] {
			return true
		}
	}
	one := func(part any) bool { return declares(document, part, seen) }
	if all, ok := schema["allOf"].([]any); ok && slices.ContainsFunc(all, one) {
		return true
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		parts, _ := schema[keyword].([]any)
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(part any) bool { return !one(part) }) {
			return true
		}
	}
	return false
}

// resolvePointer returns the value that "#/a/b" names in a document.
func resolvePointer(document any, ref string) (any, bool) {
	path, ok := pointerPath(ref)
	if !ok {
		return nil, false
	}
	value := document
	for _, key := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

// pointerPath returns the keys of a reference within its document.
func pointerPath(ref string) ([]string, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' || strings.Contains(pointer, "%") {
		return nil, false
	}
	path := strings.Split(pointer, "/")[1:]
	for i, key := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	}
	return path, true
}

// An editor adds members to a JSON text.
type editor struct {
	text       []byte
	style      jsonStyle
	insertions []insertion // in the order of their places
}

type insertion struct {
	at   int
	text string
}

func (e *editor) apply() []byte {
	var out []byte
	at := 0
	for _, i := range e.insertions {
		out = append(append(out, e.text[at:i.at]...), i.text...)
		at = i.at
	}
	return append(out, e.text[at:]...)
}

// addField adds the summary to a list of fields.
func (e *editor) addField(value any) {
	root := e.root()
	if _, isObject := value.(map[string]any); isObject {
		root, _ = root.member(e.text, "fields")
	}
	e.append(root, "", []part{{"name", summaryKey}, {"type", "string"}, {"required", true}, {"description", summaryDescription}})
}

// addProperty adds the summary to a JSON Schema, or to what that is a reference to.
func (e *editor) addProperty(document any) error {
	target, err := e.target(document)
	if err != nil {
		return err
	}
	description := []part{{"type", "string"}, {"description", summaryDescription}}
	properties, hasProperties := target.member(e.text, "properties")
	required, hasRequired := target.member(e.text, "required")
	edits := []func(){}
	if hasProperties {
		e.append(properties, summaryKey, description)
	} else {
		edits = append(edits, func() { e.append(target, "properties", []part{{summaryKey, description}}) })
	}
	switch {
	case !hasRequired:
		edits = append(edits, func() { e.append(target, "required", []any{summaryKey}) })
	case !contains(e.text, required, summaryKey):
		e.append(required, "", summaryKey)
	}
	for _, edit := range edits { // at the end of the target, after the edits within it
		edit()
	}
	slices.SortStableFunc(e.insertions, func(a, b insertion) int { return a.at - b.at })
	return nil
}

// target returns the object that a summary is added to: the schema, or the
// definition that it is nothing but a reference to.
func (e *editor) target(document any) (span, error) {
	target, value, seen := e.root(), document, []string{}
	for {
		schema, _ := value.(map[string]any)
		ref, isRef := schema["$ref"].(string)
		if _, own := schema["properties"]; !isRef || own {
			return target, nil
		}
		path, ok := pointerPath(ref)
		next, found := resolvePointer(document, ref)
		if _, isObject := next.(map[string]any); !ok || !found || !isObject || slices.Contains(seen, ref) {
			return span{}, fmt.Errorf(`its top is a reference, %q, that does not lead to an object in it: add "summary" by hand`, ref)
		}
		if countRefs(document, map[string]int{})[ref] > 1 {
			return span{}, fmt.Errorf(`its top is a reference, %q, which is used elsewhere too: add "summary" by hand`, ref)
		}
		target, value, seen = e.root(), next, append(seen, ref)
		for _, key := range path {
			target, _ = target.member(e.text, key)
		}
	}
}

// countRefs counts the references of a schema by what they lead to.
func countRefs(value any, counts map[string]int) map[string]int {
	switch value := value.(type) {
	case map[string]any:
		if ref, ok := value["$ref"].(string); ok {
			counts[ref]++
		}
		for _, member := range value {
			countRefs(member, counts)
		}
	case []any:
		for _, item := range value {
			countRefs(item, counts)
		}
	}
	return counts
}

// probe makes sure that an output can have a summary: a part of the schema may
// refuse it.
func (s *Schema) probe() error {
	if _, changed := s.Inject(); !changed {
		return nil
	}
	all, err := s.compiled.findings(map[string]any{summaryKey: "Two of five endpoints leak."})
	if slices.ContainsFunc(all, refusesSummary) {
		return errors.New(`a part of it allows no "summary": add it by hand`)
	}
	return err
}

// refusesSummary reports whether a part of a schema allows no string as the
// summary of an object that has nothing else.
func refusesSummary(f finding) bool {
	switch f.keyword {
	case "additionalProperties", "unevaluatedProperties", "propertyNames":
		return len(f.path) == 0
	case "schema", "type":
		return len(f.path) == 1
	}
	return false
}

// contains reports whether an array of a text has a string.
func contains(text []byte, array span, want string) bool {
	var list []any
	return json.Unmarshal(text[array.start:array.end], &list) == nil && slices.Contains(list, any(want))
}
