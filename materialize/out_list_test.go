package materialize_test

import (
	"encoding/json"
	"testing"

	"filebus/materialize"
	"filebus/store/record"
)

// TestLayOutPickedNodes lays out some nodes of a JSON knowledge graph: the file
// stays JSON, whichever are picked.
func TestLayOutPickedNodes(t *testing.T) {
	t.Parallel()
	const file = ".claude/knowledge_graph.json"
	w := syncedWorkspace(t, map[string]string{file: `{
  "nodes": [
    {"id": "pattern-001", "tags": ["a", "b"]},
    {"id": "pattern-002", "tags": ["b"]},
    {"id": "pattern-003", "tags": ["c", "b"]}
  ],
  "tag_index": {}
}
`})
	for tag, want := range map[string]string{
		"a": "{\n  \"nodes\": [\n    {\"id\": \"pattern-001\", \"tags\": [\"a\", \"b\"]}\n  ],\n  \"tag_index\": {}\n}\n",
		"c": "{\n  \"nodes\": [\n    {\"id\": \"pattern-003\", \"tags\": [\"c\", \"b\"]}\n  ],\n  \"tag_index\": {}\n}\n",
		"b": textOfFile(t, w, file),
	} {
		got := layOut(t, w, materialize.Selection{Filter: record.Filter{Tags: []string{tag}}})[file]
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("with tag %s: %q, want %q", tag, got, want)
		}
	}
}

func textOfFile(t testing.TB, w *materialize.Workspace, path string) string {
	t.Helper()
	return readTree(t, w.Root)[path]
}
