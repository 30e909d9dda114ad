package result_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/result"
	"filebus/cmd/filebus/rule"
)

func parse(t testing.TB, text string) *result.Schema {
	t.Helper()
	s, err := result.ParseSchema("findings.json", []byte(text))
	if err != nil {
		t.Fatalf("ParseSchema(%q): %v", text, err)
	}
	return s
}

const described = `a concise 2-3 sentence summary of the key findings and conclusions`

func TestInject(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, want string }{
		{"list of fields", `[{"name": "path", "type": "string", "description": "of the file"}]`,
			`[{"name": "path", "type": "string", "description": "of the file"}, {"name": "summary", "type": "string", "required": true, "description": "` + described + `"}]`},
		{"compact list", `[{"name":"a","type":"integer"},{"name":"b","type":"any"}]`,
			`[{"name":"a","type":"integer"},{"name":"b","type":"any"}, {"name": "summary", "type": "string", "required": true, "description": "` + described + `"}]`},
		{"empty list", `[]`, `[{"name": "summary", "type": "string", "required": true, "description": "` + described + `"}]`},
		{"fields of an object", "{\r\n\t\"agent\": \"scout\",\r\n\t\"fields\": [\r\n\t\t{\"name\": \"a\", \"type\": \"number\"}\r\n\t]\r\n}\r\n",
			"{\r\n\t\"agent\": \"scout\",\r\n\t\"fields\": [\r\n\t\t{\"name\": \"a\", \"type\": \"number\"},\r\n\t\t{\"name\": \"summary\", \"type\": \"string\", \"required\": true, \"description\": \"" + described + "\"}\r\n\t]\r\n}\r\n"},
		{"indented", `{
  "type": "object",
  "properties": {
    "path": {
      "type": "string"
    }
  },
  "required": [
    "path"
  ]
}
`, `{
  "type": "object",
  "properties": {
    "path": {
      "type": "string"
    },
    "summary": {"type": "string", "description": "` + described + `"}
  },
  "required": [
    "path",
    "summary"
  ]
}
`},
		{"compact and closed", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}},"additionalProperties":false}`,
			`{"type":"object","required":["a", "summary"],"properties":{"a":{"type":"string"}, "summary": {"type": "string", "description": "` + described + `"}},"additionalProperties":false}`},
		{"nothing there", `{}`, `{"properties": {"summary": {"type": "string", "description": "` + described + `"}}, "required": ["summary"]}`},
		{"no properties", `{"type": "object"}`,
			`{"type": "object", "properties": {"summary": {"type": "string", "description": "` + described + `"}}, "required": ["summary"]}`},
		{"required already", `{"properties": {}, "required": ["summary"]}`,
			`{"properties": {"summary": {"type": "string", "description": "` + described + `"}}, "required": ["summary"]}`},
		{"byte order mark", "\ufeff[]", "\ufeff[{\"name\": \"summary\", \"type\": \"string\", \"required\": true, \"description\": \"" + described + "\"}]"},
		{"only a reference", `{"$ref":"#/$defs/R","$defs":{"R":{"type":"object","properties":{"a":true}}}}`,
			`{"$ref":"#/$defs/R","$defs":{"R":{"type":"object","properties":{"a":true}}}, "properties": {"summary": {"type": "string", "description": "` + described + `"}}, "required": ["summary"]}`},
		{"keys with quotes", `{"properties":{"say \"a\\":{"type":"string"}}}`,
			`{"properties":{"say \"a\\":{"type":"string"}, "summary": {"type": "string", "description": "` + described + `"}}, "required": ["summary"]}`},
		{"a field has it", `[{"name":"summary","type":"string"}]`, ``},
		{"a property is it", `{"type":"object","properties":{"summary":{"type":"string","minLength":20}}}`, ``},
	}
	for _, test := range tests {
		want := test.want
		if want == "" {
			want = test.schema
		}
		got, changed := parse(t, test.schema).Inject()
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: Inject of %s (-want +got):\n%s", test.name, test.schema, diff)
		}
		if changed != (test.want != "") {
			t.Errorf("%s: changed = %v", test.name, changed)
		}
		if again, changed := parse(t, string(got)).Inject(); changed || string(again) != string(got) {
			t.Errorf("%s: injecting again gives %s", test.name, again)
		}
	}
}

func TestParseSchemaErrors(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"properties":{"a":`, 150) + "true" + strings.Repeat("}}", 150)
	tests := []struct{ schema, want string }{
		{"", "the text is empty"},
		{"{\"type\": \"object\",\n  \"properties\": {,}}", "broken JSON at 2:18: invalid character ','"},
		{`{"type": "object"`, "the JSON ends too early"},
		{`true`, "a boolean is neither a JSON Schema nor a list of fields"},
		{`{"type": "array"}`, `its type is "array"; structured output is one object`},
		{`{"path": {"type": "string"}}`, "no keyword of JSON Schema at its top"},
		{`{"type": "object", "properties": {"a": {"type": "strng"}}}`, `unknown type "strng": one of array, boolean`},
		{`{"type": "object", "properties": {"a": {"required": true}}}`, `within "/properties/a/required"`},
		{`{"type": "object", "properties": {"a": {"pattern": "(?=b)"}}}`, "location=#/properties/a/pattern"},
		{`{"$ref": "https://example.com/s.json"}`, `"https://example.com/s.json" is not in the schema, and nothing is loaded`},
		{`{"properties": {"a": {"$ref": "other.json"}}}`, `"other.json" is not in the schema`},
		{`{"properties": {"a": {"$ref": "#/$defs/none"}}}`, `"#/$defs/none" is not in the schema`},
		{`{"$ref": "#/$defs/R", "$defs": {"R": {"properties": {"a": {}}, "additionalProperties": false}}}`, `a part of it allows no "summary"`},
		{`{"allOf": [{"properties": {"a": {}}, "additionalProperties": false}]}`, `a part of it allows no "summary"`},
		{`{"type": "object", "patternProperties": {"^s": {"type": "number"}}}`, `a part of it allows no "summary"`},
		{`{"type": "object", "propertyNames": {"maxLength": 3}}`, `a part of it allows no "summary"`},
		{`["path"]`, "field 1 is a string, not an object"},
		{`[{"type": "string"}]`, "field 1 has no name"},
		{`[{"name": "a"}]`, `field "a": unknown type "": one of any, array`},
		{`[{"name": "a", "type": "strng"}]`, `field "a": unknown type "strng"`},
		{`[{"name": "a", "type": "strng[]"}]`, `field "a": unknown type "strng[]"`},
		{`[{"name": "a", "type": "string"}, {"name": "a", "type": "string"}]`, `two fields have the name "a"`},
		{`[{"name": "a", "type": "object", "fields": [{"name": "b"}]}]`, `field "a": field "b": unknown type ""`},
		{`[{"name": "a", "type": "array", "items": "strng"}]`, `field "a": items: unknown type "strng"`},
		{deep, "nested deeper than 200"},
		{chain(600), "its references lead to 600 places"},
		{`{"maxProperties": 1e999999999}`, "a number beyond all bounds: 1e999999999"},
		{`{"type":"object","description":"` + strings.Repeat("x", 1<<20) + `"}`, "more than the 1048576"},
	}
	for _, test := range tests {
		_, err := result.ParseSchema("findings.json", []byte(test.schema))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "unusable schema findings.json: ") {
			t.Errorf("ParseSchema(%.200s) = %v\nwant an error with %q", test.schema, err, test.want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "unusable schema ") {
			t.Errorf("ParseSchema(%.200s): %v is not of an unusable schema", test.schema, err)
		}
	}
}

// chain returns a schema of n references, one behind the other.
func chain(n int) string {
	parts := []string{fmt.Sprintf(`"p%d": {}`, n)}
	for i := range n {
		parts = append(parts, fmt.Sprintf(`"p%d": {"allOf": [{"$ref": "#/$defs/p%d"}]}`, i, i+1))
	}
	return `{"$defs": {` + strings.Join(parts, ", ") + `}}`
}

// A schema of each form, for the same outputs.
const (
	listSchema = `[
  {"name": "path", "type": "string", "description": "of the file"},
  {"name": "line", "type": "integer", "required": false},
  {"name": "severity", "enum": ["low", "high"]},
  {"name": "tags", "type": "string[]", "required": false},
  {"name": "parts", "type": "array", "fields": [{"name": "id", "type": "number"}], "required": false}
]`
	jsonSchema = `{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 3, "maxLength": 20, "pattern": "\\.go$"},
    "when": {"type": "string", "format": "date"},
    "score": {"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.5},
    "owner": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "at": {"oneOf": [
      {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]},
      {"type": "object", "properties": {"page": {"type": "integer"}, "chapter": {"type": "string"}}, "required": ["page", "chapter"]}
    ]},
    "list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "uniqueItems": true},
    "kind": {"const": "finding"},
    "map": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1}
  },
  "required": ["path"],
  "dependencies": {"when": ["owner"]},
  "additionalProperties": false
}`
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema, output string
		want                 []string
	}{
		{"list, good", listSchema, `{"path": "a.go", "severity": "low", "summary": "One.", "tags": ["x"], "more": 1}`, nil},
		{"list, all wrong", listSchema,
			`{"pth": 3, "line": 1.5, "severity": "medium", "summary": null, "tags": "x", "parts": [{}, {"id": "7"}]}`,
			[]string{
				`Required property 'path' is missing`,
				`/line: Value is number but should be integer`,
				`/parts/0: Required property 'id' is missing`,
				`/parts/1/id: Value is string but should be number`,
				`/severity: Value medium should be one of the allowed values: low, high`,
				`/summary: Value is null but should be string`,
				`/tags: Value is string but should be array`,
			}},
		{"schema, good", jsonSchema, `{"path": "a.go", "summary": "One.", "owner": null, "at": {"line": 3}, "kind": "finding"}`, nil},
		{"keys", jsonSchema, `{"path": "a.go", "Summary": "One.", "scroe": 1, "zzzzzzzz": 1, "when": "2026-03-02"}`, []string{
			`Required property 'summary' is missing`,
			`Some required property dependencies are missing: {"when":["owner"]}`,
			`key "Summary" is not allowed`,
			`key "scroe" is not allowed`,
			`key "zzzzzzzz" is not allowed`,
		}},
		{"values", jsonSchema,
			`{"path": "a", "summary": "x", "owner": 1, "score": 1.7, "kind": "x", "list": ["a", "a", 1, 2], "map": {"A": 1}}`,
			[]string{
				`/kind: Value does not match the constant value`,
				`/list: Array items at indices 0 and 1 are not unique`,
				`/list: Value should have at most 3 items`,
				`/list/2: Value is integer but should be string`,
				`/list/3: Value is integer but should be string`,
				`/map: key "A" is not allowed`,
				`/owner: Value does not match anyOf schema`,
				`/owner: Value is integer but should be null`,
				`/owner: Value is integer but should be string`,
				`/path: Value does not match the required pattern \.go$`,
				`/path: Value should be at least 3 characters`,
				`/score: 1.7 should be a multiple of 0.5`,
				`/score: 1.7 should be at most 1`,
			}},
		{"alternatives", jsonSchema, `{"path": "a.go", "summary": "x", "at": {"page": 3}, "when": "tomorrow", "owner": "o", "list": [], "map": {}}`, []string{
			`/at: Required property 'chapter' is missing`,
			`/at: Required property 'line' is missing`,
			`/at: Value does not match the oneOf schema`,
			`/list: Value should have at least 1 items`,
			`/map: Value should have at least 1 properties`,
			`/when: Value does not match format 'date'`,
		}},
		{"several fit", `{"properties": {"n": {"oneOf": [{"type": "integer"}, {"minimum": 0}, {"type": "null"}]}}}`,
			`{"summary": "x", "n": 1}`, []string{
				`/n: Value should match exactly one schema but matches multiple at indexes 0, 1`,
			}},
		{"draft 4",
			`{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"n": {"minimum": 1, "exclusiveMinimum": true}}}`,
			`{"summary": "x", "n": 1}`, []string{`/n: 1 should be greater than 1`}},
		{"draft 2020-12",
			`{"$ref": "#/$defs/r", "$defs": {"r": {"type": "object", "properties": {"t": {"prefixItems": [{"format": "date"}], "items": false}}}}}`,
			`{"summary": "x", "t": ["no date", 2]}`,
			[]string{`/t/1: No values are allowed because the schema is set to 'false'`}},
		{"patterns",
			`{"patternProperties": {"^n": {"type": "number"}}, "dependentSchemas": {"n1": {"required": ["n2"]}}}`,
			`{"summary": "x", "n1": "1"}`, []string{`Required property 'n2' is missing`,
				`/n1: Value is string but should be number`}},
		{"content", `{"properties": {"c": {"contentEncoding": "base64", "contentMediaType": "text/html"}}}`,
			`{"summary": "x", "c": "<p>"}`, nil},
		{"no object", listSchema, "Nothing was found.\n", []string{"no JSON object in the output"}},
		{"empty", listSchema, " \n", []string{"no JSON object in the output, which is empty"}},
		{"array", listSchema, `[{"path": "a.go"}, 3]`, []string{
			`Required properties 'severity', 'summary' are missing`,
		}},
		{"broken", listSchema, "{\n  \"path\": \"a.go\",\n  \"summary\": \"say \"no\"\"\n}", []string{
			`broken JSON at 3:20: invalid character 'n' after object key:value pair`,
		}},
		{"cut off", listSchema, `{"path": "a.go", "list": [{"a": 1}, {"b": 2}`, []string{`broken JSON at 1:45: the JSON ends too early`}},
		{"many", `{"properties": {"n": {"items": {"type": "string"}}}}`, `{"summary": "x", "n": [` + strings.Repeat("1,", 29) + `1]}`, append(numbered(20), "and 10 more")},
		{"deep", `{}`, `{"summary": "x", "a": ` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, []string{"nested deeper than 200"}},
		{"slow number", `{"properties": {"n": {"minimum": 1}}}`, `{"summary": "x", "n": -1e-999999999}`, []string{"a number beyond all bounds: -1e-999999999"}},
		{"long number", `{}`, `{"summary": "x", "n": 1` + strings.Repeat("0", 5000) + `}`, []string{"a number beyond all bounds: 1" + strings.Repeat("0", 38) + "…"}},
		{"many values", `{}`, `{"summary": "x", "n": [` + strings.Repeat("1,", 50_000) + `1]}`, []string{"more than 50000 values"}},
	}
	for _, test := range tests {
		var got []string
		for _, p := range parse(t, test.schema).Check([]byte(test.output)) {
			got = append(got, p.Error())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: Check(%.200s) (-want +got):\n%s", test.name, test.output, diff)
		}
	}
}

func numbered(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, "/n/"+strings.TrimSpace(string(mustJSON(i)))+": Value is integer but should be string")
	}
	return lines
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// TestPaths holds that the paths of problems are JSON pointers.
func TestPaths(t *testing.T) {
	t.Parallel()
	s := parse(t, `{"properties": {"a/b": {"properties": {"c~d": {"type": "string"}}}}}`)
	got := s.Check([]byte(`{"summary": "x", "a/b": {"c~d": 1}}`))
	want := []rule.Finding{{Rule: "type", Level: rule.Must, Path: new("/a~1b/c~0d"), Message: "Value is integer but should be string"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Check (-want +got):\n%s", diff)
	}
}

func FuzzSchemaInject(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{}`, listSchema, jsonSchema, `{"fields":[{"name":"a","type":"string"}]}`, `{"properties":{},"required":[]}`,
		`{"$ref":"#/$defs/R","$defs":{"R":{"properties":{"a":{}}}}}`, "\ufeff{ \"type\" :\"object\" }\n", `{"properties":{"\"":{}},"properties":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := result.ParseSchema("fuzz", text)
		if err != nil {
			return
		}
		injected, changed := s.Inject()
		if changed != (string(injected) != string(text)) {
			t.Fatalf("Inject(%q) = %q, changed %v", text, injected, changed)
		}
		again, err := result.ParseSchema("fuzz", injected)
		if err != nil {
			t.Fatalf("Inject(%q) = %q, which is no schema: %v", text, injected, err)
		}
		if twice, changed := again.Inject(); changed {
			t.Fatalf("Inject(%q) = %q, and again %q", text, injected, twice)
		}
		if rest := withoutAdded(injected, text); rest != string(text) {
			t.Fatalf("Inject(%q) = %q: more than a piece or two was added", text, injected)
		}
		before, after := decoded(t, text), decoded(t, injected)
		if diff := cmp.Diff(before, withoutSummary(after, before)); changed && diff != "" {
			t.Fatalf("Inject(%q) = %q: other values changed (-before +after):\n%s", text, injected, diff)
		}
	})
}

// withoutAdded returns the bytes of injected that are those of text, in order.
func withoutAdded(injected, text []byte) string {
	var kept []byte
	for _, c := range injected {
		if len(kept) < len(text) && c == text[len(kept)] {
			kept = append(kept, c)
		}
	}
	return string(kept)
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "\ufeff")), &value); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
	return value
}

// withoutSummary takes the summary out of an injected schema again, down to where
// before does not have it.
func withoutSummary(after, before any) any {
	switch after := after.(type) {
	case map[string]any:
		before, _ := before.(map[string]any)
		clean := maps.Clone(after)
		for key, value := range after {
			old, had := before[key]
			if !had && (key == "summary" || key == "properties" || key == "required") {
				delete(clean, key)
				continue
			}
			clean[key] = withoutSummary(value, old)
		}
		return clean
	case []any:
		before, _ := before.([]any)
		clean := []any{}
		for i, value := range after[:min(len(after), len(before))] {
			clean = append(clean, withoutSummary(value, before[i]))
		}
		return clean
	}
	return after
}

// TestSchemaBranches gives up on schemas whose references multiply without end.
func TestSchemaBranches(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	tests := []struct{ keyword, end, rest string }{
		{"allOf", `{}`, `"properties": {"x": {"$ref": "#/$defs/p0"}}`},
		{"oneOf", `{"type": "string"}`, `"properties": {"x": {"$ref": "#/$defs/p0"}}`},
		{"anyOf", `{"type": "string"}`, `"properties": {"x": {"$ref": "#/$defs/p0"}}`},
		{"allOf", `{"type": "object"}`, `"allOf": [{"$ref": "#/$defs/p0"}]`}, // where a summary is added
	}
	for _, test := range tests {
		parts := []string{`"p40": ` + test.end}
		for i := range 40 {
			parts = append(parts, fmt.Sprintf(`"p%d": {%q: [{"$ref": "#/$defs/p%d"}, {"$ref": "#/$defs/p%d"}]}`, i, test.keyword, i+1, i+1))
		}
		schema := `{"type": "object", ` + test.rest + `, "$defs": {` + strings.Join(parts, ", ") + `}}`
		s, err := result.ParseSchema("s.json", []byte(schema))
		if err == nil {
			if problems := s.Check([]byte(`{"summary": "One.", "x": 1}`)); len(problems) == 1 {
				err = &problems[0]
			}
		}
		if err == nil || !strings.Contains(err.Error(), "branch too often") {
			t.Errorf("a schema with %s, %s of %s: %v, want that it branches too often", test.rest, test.keyword, test.end, err)
		}
	}
}

// TestSchemaWork gives up on a check that compares too much, though nothing branches.
func TestSchemaWork(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	values, keys := []string{}, []string{}
	for i := range 20_000 {
		values, keys = append(values, fmt.Sprint(i)), append(keys, fmt.Sprintf(`"k%d": 1`, i))
	}
	tests := []struct{ name, schema, output string }{
		{"a long list of values", `{"items": {"enum": [` + strings.Join(values, ",") + `]}}`, `[` +
			strings.Repeat("-1,", 10_000) + `1]`},
		{"many patterns", `{"patternProperties": {"^` + strings.Join(values[:1000], `": {}, "^`) + `": {}}}`, `{` +
			strings.Join(keys, ",") + `}`},
	}
	for _, test := range tests {
		s := parse(t, `{"properties": {"x": `+test.schema+`}}`)
		problems := s.Check([]byte(`{"summary": "x", "x": ` + test.output + `}`))
		if len(problems) != 1 || !strings.Contains(problems[0].Message, "more than 250000 steps") {
			t.Errorf("%s: %.300v, want that it takes too many steps", test.name, problems)
		}
	}
}
