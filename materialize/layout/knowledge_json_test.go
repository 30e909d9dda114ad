package layout

import (
	"encoding/json"
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
)

var nodeFields = nodeForm{knowledgeFields}

// setNode sets a member of a node that is a field, or another one.
func setNode(text []byte, key, value string) []byte {
	if key == "tags" {
		return nodeFields.Set(text, "Tags", value)
	}
	return setMember(text, key, value)
}

func TestKnowledgeNodeRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []knowledgeNode{
		{ID: "task-003", Type: "task", Tags: []string{"http", "a,b"}, Summary: "A <b> & \"c\"\nd", File: "journal/task-003.md",
			Created: "2026-02-03", Connections: []string{"gotcha-001"}},
		{ID: "x-1", Type: "insight", Tags: []string{}, Summary: ""},
	}
	for _, want := range tests {
		text := encodeJSON(want, "  ")
		got, err := parseNode(text)
		if err != nil {
			t.Fatalf("parseNode(%s): %v", text, err)
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("parseNode(%s) (-want +got):\n%s", text, diff)
		}
	}
}

func TestAppendKnowledgeNode(t *testing.T) {
	t.Parallel()
	got := string(nodeFields.Append([]byte("before"), Knowledge{ID: "a-1", Type: "task", Content: "a & b"}))
	want := "before{\n  \"id\": \"a-1\",\n  \"type\": \"task\",\n  \"tags\": [],\n  \"summary\": \"a & b\"\n}"
	if got != want {
		t.Errorf("Append = %s, want %s", got, want)
	}
}

func TestParseKnowledgeNode(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, id, err string }{
		{`{"id": "a"}`, "a", ""},
		{`{"id": "a", "tags": [1]}`, "a", `node "a": tags cannot be of type number`},
		{`{"id": {}, "type": "t"}`, "", `node "": id cannot be of type object`},
		{`{}`, "", `node "": id is missing`},
	}
	for _, test := range tests {
		node, err := parseNode([]byte(test.text))
		message := ""
		if err != nil {
			message = err.Error()
		}
		if node == nil || node.ID != test.id || message != test.err {
			t.Errorf("parseNode(%s) = %+v, %q, want id %q, %q", test.text, node, message, test.id, test.err)
		}
	}
	for _, text := range []string{"", "null", "[]", "1", `"a"`, "{"} {
		if node, err := parseNode([]byte(text)); node != nil || err == nil {
			t.Errorf("parseNode(%q) = %+v, %v, want an error alone", text, node, err)
		}
	}
}

func TestKnowledgeJSONErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"", ""},
		{" \n", ""},
		{"{\n\n}", `g.json:1: the array "nodes" is missing`},
		{"\n[]", "g.json:2: the file is not a JSON object"},
		{"{\n\"nodes\":\n3}", `g.json:3: "nodes" is not an array`},
		{"{\n\"a\": 1,\n}", "g.json:3: broken JSON: invalid character '}' looking for beginning of object key string"},
		{"{\"nodes\": [\n{}", "g.json:2: broken JSON: unexpected end of JSON input"},
		{"\ufeff{\n}}", "g.json:2: broken JSON: invalid character '}' after top-level value"},
	}
	for _, test := range tests {
		f, errs := checkAggregate(t, knowledgeJSON{}, "g.json", []byte(test.text))
		got := ""
		for _, err := range errs {
			got += err.Error()
		}
		if got != test.want || len(f.Entries()) != 0 {
			t.Errorf("errors of %q: %q, want %q; %d entries", test.text, got, test.want, len(f.Entries()))
		}
	}
}

func TestKnowledgeJSONInsert(t *testing.T) {
	t.Parallel()
	node := "{\n  \"id\": \"n\",\n  \"tags\": [\n    \"a\"\n  ]\n}"
	indented := "    {\n      \"id\": \"n\",\n      \"tags\": [\n        \"a\"\n      ]\n    }"
	runInserts(t, knowledgeJSON{}, []insertCase{
		{"empty file", "", "n", node, "{\n  \"nodes\": [\n" + indented + "\n  ],\n  \"tag_index\": {}\n}\n", []string{"n"}},
		{"empty array", "{\n  \"nodes\": [],\n  \"tag_index\": {}\n}\n", "n", node,
			"{\n  \"nodes\": [\n" + indented + "\n  ],\n  \"tag_index\": {}\n}\n", nil},
		{"empty array of lines", "{\n  \"nodes\": [\n  ]\n}\n", "n", node, "{\n  \"nodes\": [\n" + indented + "\n  ]\n}\n", nil},
		{"after one", "{\n  \"nodes\": [\n    {\n      \"id\": \"a\"\n    }\n  ]\n}\n", "n", node,
			"{\n  \"nodes\": [\n    {\n      \"id\": \"a\"\n    },\n" + indented + "\n  ]\n}\n", []string{"a", "n"}},
		{"CRLF", "{\r\n \"nodes\": [\r\n  {\r\n   \"id\": \"a\"\r\n  }\r\n ]\r\n}", "n", `{"id": "n"}`,
			"{\r\n \"nodes\": [\r\n  {\r\n   \"id\": \"a\"\r\n  },\r\n    {\r\n      \"id\": \"n\"\r\n    }\r\n ]\r\n}", nil},
		{"one line", `{"nodes":[{"id":"a"},{"id":"b"}],"x":1}`, "n", node,
			"{\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\"},\n" + indented + "],\"x\":1}", nil},
		{"one line, no node", `{"nodes": []}`, "n", node, "{\"nodes\": [\n" + indented + "\n  ]}", nil},
		{"behind what is no node", `{"nodes": [{"id":"a"}, 5]}`, "n", node, "{\"nodes\": [{\"id\":\"a\"}, 5,\n" + indented + "]}", []string{"a", "n"}},
		{"no array", "{\n  \"version\": 1\n}\n", "n", node, "{\n  \"version\": 1,\n  \"nodes\": [\n" + indented + "\n  ]\n}\n", nil},
		{"empty object", "{}", "n", node, "{\n  \"nodes\": [\n" + indented + "\n  ]\n}", nil},
		{"nodes that are none", "{\n  \"nodes\": 1\n}", "n", node, "{\n  \"nodes\": 1,\n  \"nodes\": [\n" + indented + "\n  ]\n}", nil},
	})
}

func TestKnowledgeJSONInsertBroken(t *testing.T) {
	t.Parallel()
	f, _ := knowledgeJSON{}.Parse("g.json", []byte("{broken"))
	out := knowledgeJSON{}.Insert(f, Entry{ID: "n", Text: []byte(`{"id": "n"}`)})
	if got, want := string(out.Append(nil)), "{broken\n\n{\"id\": \"n\"}\n"; got != want || len(out.Entries()) != 1 {
		t.Errorf("Insert into broken JSON = %q with %d entries, want %q with one", got, len(out.Entries()), want)
	}
}

func TestSetKnowledgeNodeField(t *testing.T) {
	t.Parallel()
	node := "{\n  \"id\": \"a\",\n  \"tags\": [\"x\"],\n  \"weight\": 1.50\n}"
	runSets(t, setNode, []setCase{
		{"string", node, "id", "b \"c\"", strings.Replace(node, `"a"`, `"b \"c\""`, 1)},
		{"list", node, "tags", "y, z", strings.Replace(node, `["x"]`, `["y","z"]`, 1)},
		{"empty list", node, "tags", "", strings.Replace(node, `["x"]`, `[]`, 1)},
		{"new", node, "summary", "s", strings.Replace(node, "1.50\n", "1.50,\n  \"summary\": \"s\"\n", 1)},
		{"new in one line", `{"id":"a"}`, "type", "t", `{"id":"a", "type": "t"}`},
		{"new in none", `{}`, "type", "t", `{"type": "t"}`},
		{"no object", `[1]`, "type", "t", `[1]`},
		{"no JSON", `{`, "type", "t", `{`},
	})
}

func TestKnowledgeJSONDocument(t *testing.T) {
	t.Parallel()
	text := docExample(t, "knowledge-graph", "knowledge_graph.json")
	f, errs := checkAggregate(t, knowledgeJSON{}, "knowledge_graph.json", text)
	var got []string
	for _, e := range f.Entries() {
		got = append(got, e.ID+" "+e.Facts.Attributes["type"])
		if !json.Valid(e.Text) {
			t.Errorf("node %s is no JSON: %s", e.ID, e.Text)
		}
	}
	if diff := cmp.Diff([]string{"task-003 task", "gotcha-001 gotcha"}, got); diff != "" || len(errs) > 0 {
		t.Errorf("nodes of the document (-want +got):\n%s\nerrors %v", diff, errs)
	}
}

func FuzzKnowledgeJSON(f *testing.F) { fuzzAggregate(f, knowledgeJSON{}, "*-knowledge_graph.json") }

// FuzzKnowledgeJSONInsert checks that a JSON object stays one.
func FuzzKnowledgeJSONInsert(f *testing.F) {
	f.Add([]byte(`{"nodes": [{"id": "a"}]}`))
	f.Add([]byte("{\"x\": [1, \"]\"],\n\t\"nodes\": [ ]\n}"))
	f.Add([]byte(`{"nodes": 1, "nodes": []}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := markdown.ParseObject(text); err != nil {
			return
		}
		before, _ := knowledgeJSON{}.Parse("g.json", text)
		out := knowledgeJSON{}.Insert(before, Entry{ID: "new", Text: []byte(`{"id": "new"}`)}).Append(nil)
		if !json.Valid([]byte(strings.TrimPrefix(string(out), "\ufeff"))) {
			t.Fatalf("Insert into %q gives broken JSON %q", text, out)
		}
		after, _ := checkAggregate(t, knowledgeJSON{}, "g.json", out)
		if len(after.Entries()) < len(before.Entries()) {
			t.Errorf("Insert into %q gives %d entries, before %d", text, len(after.Entries()), len(before.Entries()))
		}
	})
}

// TestScanGraphDeep checks that depth costs neither stack nor a panic, and that
// what encoding/json refuses is an error.
func TestScanGraphDeep(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{100, 9_000, 20_000} {
		text := `{"nodes": [{"id": "a", "x": ` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}]}`
		graph, err := scanGraph([]byte(text))
		if refused := depth > 10_000; refused != (err != nil) || !refused && len(graph.nodes.Inner) != 1 {
			t.Errorf("%d arrays in each other: %d nodes, error %v", depth, len(graph.nodes.Inner), err)
		}
	}
}
