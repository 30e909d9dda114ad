package task_test

import (
	"errors"
	"strings"
	"testing"

	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/store/record"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string // "": an error
		journal    string
		fit        string // of an error: what is proposed in its place, "" if nothing is
	}{
		{"003", "task-003", "task-003", ""},
		{"task-003", "task-003", "task-003", ""},
		{"TASK-V01", "TASK-V01", "task-TASK-V01", ""},
		{"B-1.failed", "B-1", "task-B-1", ""},
		{"v1.2.3", "v1.2.3", "task-v1.2.3", ""},
		{"prüfung", "prüfung", "task-prüfung", ""},
		{"handoff/task-003", "", "", "handoff-task-003"},
		{".claude/journal/task-003.md", "", "", "task-003"},
		{`C:\p\.claude\agent_complete\B-3.done`, "", "", "B-3"},
		{"feat/login", "", "", "feat-login"},
		{`feat\login`, "", "", "feat-login"},
		{"x-loop-2", "", "", "x-loop2"},
		{"task-x-loop-2", "", "", "task-x-loop2"},
		{"", "", "", ""},
		{"task-", "", "", ""},
		{"..", "", "", ""},
		{".done", "", "", "done"},
		{"-x", "", "", "x"},
		{"a b", "", "", "a-b"},
		{"a,b", "", "", "a-b"},
		{"task-003~2", "", "", "task-003-2"},
		{"a\nb", "", "", "a-b"},
		{"a\xffb", "", "", ""},
		{strings.Repeat("x", 201), "", "", ""},
	}
	for _, test := range tests {
		got, err := task.ParseID(test.text)
		known := (*record.Error)(nil)
		switch {
		case test.want == "" && (!errors.As(err, &known) || !strings.Contains(err.Error(), "is no id of a task: ")):
			t.Errorf("ParseID(%q) = %q, %v; want a refusal", test.text, got, err)
		case test.want == "" && test.fit != "" && (!strings.HasPrefix(known.Hint, "run it again") || known.Names[0] != test.fit):
			t.Errorf("ParseID(%q) proposes %q of %q; want %q", test.text, known.Hint, known.Names, test.fit)
		case test.want == "" && test.fit == "" && known.Hint != "filebus task list":
			t.Errorf("ParseID(%q) proposes %q of %q; want nothing", test.text, known.Hint, known.Names)
		case test.want != "" && (err != nil || got.String() != test.want):
			t.Errorf("ParseID(%q) = %q, %v; want %q", test.text, got, err, test.want)
		case test.want != "" && task.JournalOf(got) != test.journal:
			t.Errorf("the journal of %q is %q, want %q", got, task.JournalOf(got), test.journal)
		}
	}
}

// FuzzParseID holds that each id has a journal and markers, in every profile: the
// rules of tasks count on it.
func FuzzParseID(f *testing.F) {
	for _, text := range []string{"003", "task-", "task-task-1", ".x", "a/b", "x.failed.done", "-", "~1", "con",
		"reports", "x-loop-2", "a..b", "index", "é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := task.ParseID(text)
		if err != nil {
			return
		}
		for _, profile := range layout.Profiles() {
			p, err := profile.Path(record.KindHandoff, task.JournalOf(id))
			if place := profile.Recognize(p); err == nil && place.ID != task.JournalOf(id) {
				t.Errorf("%s: the journal of %q lies at %q", profile.Name, text, p)
			}
			for _, marker := range []string{string(id), strings.TrimPrefix(string(id), "task-"), "task-" + string(id)} {
				_, markerErr := profile.Path(record.KindMarker, marker)
				_, failedErr := profile.Path(record.KindMarker, marker+".failed")
				err = errors.Join(err, markerErr, failedErr)
			}
			if err != nil {
				t.Errorf("%s: the id %q of %q: %v", profile.Name, id, text, err)
			}
		}
	})
}
