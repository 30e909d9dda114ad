package result

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/markdown"
)

// What a schema without a summary gets.
const (
	summaryKey    = "summary"
	summaryAbout  = `"description": "a concise 2-3 sentence summary of the key findings and conclusions"`
	summaryField  = `{"name": "summary", "type": "string", "required": true, ` + summaryAbout + `}`
	summaryMember = `"summary": {"type": "string", ` + summaryAbout + `}`
	quotedSummary = `"summary"`
)

// injectSummary returns a sound schema with a summary. All bytes of text are kept.
func injectSummary(text []byte) ([]byte, error) {
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	root, problem := decodeJSON(body)
	if problem != nil {
		return nil, problem
	}
	e := &editor{text: body}
	properties := root.Member("properties")
	if list, ok := fieldList(root.Data()); ok {
		if hasField(list) {
			return text, nil
		}
		if fields := root.Member("fields"); fields.End > 0 {
			root = fields
		}
		e.append(root, summaryField)
	} else if properties.Member(summaryKey).End > 0 {
		return text, nil
	} else {
		e.addProperty(root, properties)
	}
	return slices.Concat(text[:len(text)-len(body)], e.apply()), nil
}

func hasField(list []any) bool {
	return slices.ContainsFunc(list, func(item any) bool {
		field, _ := item.(map[string]any)
		return field["name"] == summaryKey
	})
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
	all, err := s.compiled.problems(map[string]any{summaryKey: "Two of five endpoints leak."})
	if slices.ContainsFunc(all, refusesSummary) {
		return fmt.Errorf("a part of it allows no %q: add it by hand", summaryKey)
	}
	return err
}

// refusesSummary reports whether a part of a schema allows no string as the
// summary of an object that has nothing else.
func refusesSummary(f rule.Finding) bool {
	switch f.Rule {
	case "additionalProperties", "unevaluatedProperties", "propertyNames":
		return *f.Path == ""
	case "schema", "type":
		return strings.Count(*f.Path, "/") == 1
	}
	return false
}

// An editor adds members to a JSON text.
type editor struct {
	text       []byte
	insertions []insertion
}

type insertion struct {
	at   int
	text string
}

func (e *editor) apply() []byte {
	slices.SortFunc(e.insertions, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	at := 0
	for _, i := range e.insertions {
		out = append(append(out, e.text[at:i.at]...), i.text...)
		at = i.at
	}
	return append(out, e.text[at:]...)
}

// addProperty adds the summary to a JSON Schema with some properties, or none.
func (e *editor) addProperty(schema, properties *markdown.Value) {
	var members []string
	if properties.End > 0 {
		e.append(properties, summaryMember)
	} else {
		members = append(members, `"properties": {`+summaryMember+`}`)
	}
	required := schema.Member("required")
	if list, _ := required.Data().([]any); required.End == 0 {
		members = append(members, `"required": [`+quotedSummary+`]`)
	} else if !slices.Contains(list, any(summaryKey)) {
		e.append(required, quotedSummary)
	}
	e.append(schema, members...)
}

// append adds values or members at the end of an array or object, on a line of their own if the last one has that.
func (e *editor) append(to *markdown.Value, members ...string) {
	if len(members) == 0 {
		return
	}
	at, lead, between := to.Start+1, "", ", "
	if n := len(to.Inner); n > 0 {
		at = to.Inner[n-1].End
		before := e.text[:to.Inner[n-1].First]
		if space := before[len(bytes.TrimRight(before, " \t\r\n")):]; bytes.ContainsRune(space, '\n') {
			between = "," + string(space)
		}
		lead = between
	}
	e.insertions = append(e.insertions, insertion{at, lead + strings.Join(members, between)})
}
