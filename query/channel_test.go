package query_test

import (
	"testing"

	"filebus/query"
)

func TestChannel(t *testing.T) {
	tests := []struct {
		op, what string
		want     query.Channel
	}{
		{"wait", "003", query.ChannelWaits},
		{"task show", "003", query.ChannelHandoffs},
		{"get", "handoff/task-003", query.ChannelHandoffs},
		{"show", "lib:result/c/d", query.ChannelResults},
		{"issue wait", "issue_queue", query.ChannelIssues},
		{"status", "status", query.ChannelState},
		{"get", "state/session_state", query.ChannelState},
		{"knowledge", "auth", query.ChannelKnowledge},
		{"knowledge related", "pattern-001", query.ChannelKnowledge},
		{"component for", "a.go", query.ChannelMap},
		{"context", "a text", query.ChannelContext},
		{"search", "a/b", query.ChannelSearch},
		{"get", "note/a.md", query.ChannelOther},
		{"get", "???", query.ChannelOther},
		{"", "", query.ChannelOther},
	}
	for _, test := range tests {
		if got := (query.Read{Op: test.op, What: test.what}).Channel(); got != test.want {
			t.Errorf("Channel of %q %q = %q, want %q", test.op, test.what, got, test.want)
		}
	}
}
