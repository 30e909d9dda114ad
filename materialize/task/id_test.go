package task_test

import (
	"errors"
	"strings"
	"testing"

	"filebus/materialize/task"
)

func TestParseID(t *testing.T) {
	tests := []struct {
		text, want string // "": an error
		journal    string
	}{
		{"003", "task-003", "task-003"},
		{"task-003", "task-003", "task-003"},
		{"TASK-V01", "TASK-V01", "task-TASK-V01"},
		{"handoff/task-003", "task-003", "task-003"},
		{".claude/journal/task-003.md", "task-003", "task-003"},
		{`C:\p\.claude\agent_complete\003.done`, "task-003", "task-003"},
		{"B-1.failed", "B-1", "task-B-1"},
		{"prüfung", "prüfung", "task-prüfung"},
		{"", "", ""},
		{"task-", "", ""},
		{"..", "", ""},
		{".done", "", ""},
		{"-x", "", ""},
		{"a b", "", ""},
		{"a,b", "", ""},
		{"task-003~2", "", ""},
		{"a\nb", "", ""},
		{"a\xffb", "", ""},
		{strings.Repeat("x", 201), "", ""},
	}
	for _, test := range tests {
		got, err := task.ParseID(test.text)
		var malformed *task.IDError
		switch {
		case test.want == "" && !errors.As(err, &malformed):
			t.Errorf("ParseID(%q) = %q, %v; want an IDError", test.text, got, err)
		case test.want != "" && (err != nil || string(got) != test.want):
			t.Errorf("ParseID(%q) = %q, %v; want %q", test.text, got, err, test.want)
		case test.want != "" && got.Journal() != test.journal:
			t.Errorf("the journal of %q is %q, want %q", got, got.Journal(), test.journal)
		}
	}
}
