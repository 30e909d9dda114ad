package result

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/markdown"
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
	root, problem := decodeJSON(body)
	if problem != nil {
		return nil, problem
	}
	e := newEditor(body)
	if list, ok := fieldList(root.Data()); ok {
		if hasField(list) {
			return text, nil
		}
		if fields := root.Member("fields"); fields.End > 0 {
			root = fields
		}
		e.append(root, "", e.object(
			"name", quoted(summaryKey), "type", `"string"`, "required", "true", "description",
			quoted(summaryDescription),
		))
	} else {
		if declares(root, root, map[string]bool{}) {
			return text, nil
		}
		target, err := target(root)
		if err != nil {
			return nil, err
		}
		e.addProperty(target)
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
func declares(root, schema *markdown.Value, seen map[string]bool) bool {
	if schema.Member("properties").Member(summaryKey).End > 0 {
		return true
	}
	if ref, ok := schema.Member("$ref").Data().(string); ok {
		if _, known := seen[ref]; !known {
			seen[ref] = false // of a circle
			seen[ref] = declares(root, resolve(root, ref), seen)
		}
		if seen[ref] {
			return true
		}
	}
	one := func(part *markdown.Value) bool { return declares(root, part, seen) }
	other := func(part *markdown.Value) bool { return !one(part) }
	if slices.ContainsFunc(schema.Member("allOf").Inner, one) {
		return true
	}
	return slices.ContainsFunc([]string{"anyOf", "oneOf"}, func(keyword string) bool {
		parts := schema.Member(keyword).Inner
		return len(parts) > 0 && !slices.ContainsFunc(parts, other)
	})
}

// resolve returns the value that "#/a/b" names in a document.
func resolve(root *markdown.Value, ref string) *markdown.Value {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' || strings.Contains(pointer, "%") {
		return &markdown.Value{}
	}
	for _, key := range strings.Split(pointer, "/")[1:] {
		root = root.Member(strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
	}
	return root
}

// target returns the object that a summary is added to: the schema, or the
// definition that it is nothing but a reference to.
func target(root *markdown.Value) (*markdown.Value, error) {
	for at, seen := root, []string{}; ; {
		ref, isRef := at.Member("$ref").Data().(string)
		if !isRef || at.Member("properties").End > 0 {
			return at, nil
		}
		at = resolve(root, ref)
		if !at.IsObject() || slices.Contains(seen, ref) {
			return nil, fmt.Errorf(`its top is a reference, %q, that does not lead to an object in it: add "summary" by hand`, ref)
		}
		if countRefs(root.Data(), map[string]int{})[ref] > 1 {
			return nil, fmt.Errorf(`its top is a reference, %q, which is used elsewhere too: add "summary" by hand`,
				ref)
		}
		seen = append(seen, ref)
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

// An editor adds members to a JSON text, in its style.
type editor struct {
	text         []byte
	colon, comma string // as they stand on one line: without spaces if there is none after the first colon
	insertions   []insertion
}

type insertion struct {
	at   int
	text string
}

func newEditor(text []byte) *editor {
	e := &editor{text: text, colon: ": ", comma: ", "}
	_, rest, found := bytes.Cut(text, []byte(`":`))
	if found && len(rest) > 0 && !strings.ContainsRune(" \t\r\n", rune(rest[0])) {
		e.colon, e.comma = ":", ","
	}
	return e
}

func (e *editor) apply() []byte {
	slices.SortStableFunc(e.insertions, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	at := 0
	for _, i := range e.insertions {
		out = append(append(out, e.text[at:i.at]...), i.text...)
		at = i.at
	}
	return append(out, e.text[at:]...)
}

// addProperty adds the summary to a JSON Schema.
func (e *editor) addProperty(schema *markdown.Value) {
	summary := e.object("type", `"string"`, "description", quoted(summaryDescription))
	if properties := schema.Member("properties"); properties.End > 0 {
		e.append(properties, summaryKey, summary)
	} else {
		e.append(schema, "properties", e.object(summaryKey, summary("", "")))
	}
	name := func(string, string) string { return quoted(summaryKey) }
	required := schema.Member("required")
	if list, _ := required.Data().([]any); required.End == 0 {
		e.append(schema, "required", func(string, string) string { return "[" + quoted(summaryKey) + "]" })
	} else if !slices.Contains(list, any(summaryKey)) {
		e.append(required, "", name)
	}
}

// A writer returns the text of a value. An object has its members on lines of their
// own if it is told what stands before them, and before its closing bracket.
type writer func(inner, closing string) string

// object returns the writer of an object of keys and values in turns.
func (e *editor) object(members ...string) writer {
	return func(inner, closing string) string {
		var all []string
		for i := 0; i < len(members); i += 2 {
			all = append(all, quoted(members[i])+e.colon+members[i+1])
		}
		if inner == "" {
			return "{" + strings.Join(all, e.comma) + "}"
		}
		return "{" + inner + strings.Join(all, ","+inner) + closing + "}"
	}
}

// append adds a value at the end of an object, under a key, or of an array.
func (e *editor) append(to *markdown.Value, key string, value writer) {
	text := ""
	if key != "" {
		text = quoted(key) + e.colon
	}
	n := len(to.Inner)
	if n == 0 {
		text, at := text+value("", ""), to.Start+1
		if i := len(e.insertions); i > 0 && e.insertions[i-1].at == at {
			text = e.comma + text // the second into what was empty
		}
		e.insertions = append(e.insertions, insertion{at, text})
		return
	}
	last := to.Inner[n-1]
	lead, inner, closing := e.spaceBefore(last.First), "", ""
	if n == 1 && lead == "" {
		lead = e.comma[1:]
	}
	if len(last.Inner) > 0 {
		if space := e.spaceBefore(last.Inner[0].First); strings.Contains(space, "\n") {
			inner, closing = space, e.spaceBefore(last.End-1)
		}
	}
	e.insertions = append(e.insertions, insertion{last.End, "," + lead + text + value(inner, closing)})
}

// spaceBefore returns the white space that ends before an offset.
func (e *editor) spaceBefore(end int) string {
	return string(e.text[len(bytes.TrimRight(e.text[:end], " \t\r\n")):end])
}

// quoted returns a string of plain letters in JSON.
func quoted(text string) string { return `"` + text + `"` }
