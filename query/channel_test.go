package query_test

import (
	"testing"

	"filebus/query"
)

func TestChannel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		op, what string
		want     string
	}{
		{"wait", "003", "waits"},
		{"task show", "003", "handoffs"},
		{"get", "handoff/task-003", "handoffs"},
		{"show", "lib:result/c/d", "results"},
		{"issue wait", "issue_queue", "issue queue"},
		{"status", "status", "session state"},
		{"get", "state/session_state", "session state"},
		{"knowledge", "auth", "knowledge graph"},
		{"knowledge related", "pattern-001", "knowledge graph"},
		{"component for", "a.go", "context map"},
		{"context", "a text", "context"},
		{"search", "a/b", "search"},
		{"get", "note/a.md", "other"},
		{"get", "???", "other"},
		{"", "", "other"},
	}
	for _, test := range tests {
		if got := (query.Read{Op: test.op, What: test.what}).Channel(); got != test.want {
			t.Errorf("Channel of %q %q = %q, want %q", test.op, test.what, got, test.want)
		}
	}
}
