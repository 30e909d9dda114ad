package layout

import (
	"fmt"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
)

func TestParseQueuedTask(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       queuedTask
		errs       int
	}{
		{"empty", "", queuedTask{}, 1},
		{"no status", "### A-1: x\n", queuedTask{ID: "A-1", Title: "x"}, 1},
		{"bullets", "### A-1\n- **Status:** done\n- Priority: low\n- Other: no field\n",
			queuedTask{ID: "A-1", Status: "done", Priority: "low"}, 0},
		{"no dependencies", "### A-1\n**Status:** a\n**Dependencies:** None\n",
			queuedTask{ID: "A-1", Status: "a", Extra: []Property{{"Dependencies", "None"}}}, 0},
		{"steps as bullets", "### A-1\n**Status:** a\n**Steps:**\n- one\n- two\n  more\n",
			queuedTask{ID: "A-1", Status: "a", Extra: []Property{{"Steps", "- one\n- two\n  more"}}}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, errs := taskFields.parse(markdown.Lines([]byte(test.text)))
			if diff := cmp.Diff(test.want, got); diff != "" || len(errs) != test.errs {
				t.Errorf("parse(%q) (-want +got):\n%s\nerrors %v", test.text, diff, errs)
			}
		})
	}
}

func TestTaskQueueInsert(t *testing.T) {
	t.Parallel()
	text := "# Task Queue\n\n## Build\n\n### BUILD-001: a\nx\n\n### BUILD-002: b\ny\n\n---\n\n## Tests\n\n### Unit\n\n#### TEST-001: c\nz\n"
	runInserts(t, taskQueue, []insertCase{
		{"empty file", "", "BUILD-001", "### BUILD-001: a\n", "# Task Queue\n\n### BUILD-001: a\n", []string{"BUILD-001"}},
		{"of its series", text, "BUILD-003", "### BUILD-003: n\n",
			"# Task Queue\n\n## Build\n\n### BUILD-001: a\nx\n\n### BUILD-002: b\ny\n\n---\n\n### BUILD-003: n\n\n" +
				"## Tests\n\n### Unit\n\n#### TEST-001: c\nz\n", []string{"BUILD-001", "BUILD-002", "BUILD-003", "TEST-001"}},
		{"between series", "### A-1: a\n### B-1: b\n", "A-2", "### A-2: n\n", "### A-1: a\n\n### A-2: n\n\n### B-1: b\n", []string{"A-1", "A-2", "B-1"}},
		{"of a new series", text, "DOC-001", "### DOC-001: n\n", text + "\n### DOC-001: n\n", nil},
	})
}

func TestTaskQueueDocument(t *testing.T) {
	t.Parallel()
	f, errs := checkAggregate(t, taskQueue, "task_queue.md", docExample(t, "task-queue", "task_queue.md"))
	var got []string
	for _, e := range f.Entries() {
		got = append(got, e.ID+" "+e.Facts.Status)
	}
	want := []string{"BUILD-001 complete", "BUILD-002 in_progress", "TEST-UNIT-001 pending"}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("tasks of the document (-want +got):\n%s\nerrors %v", diff, errs)
	}
}

func FuzzTaskQueue(f *testing.F) { fuzzAggregate(f, taskQueue, "*-task_queue.md") }

// TestTaskQueueCheckList reads the items of check lists that stand in no task.
func TestTaskQueueCheckList(t *testing.T) {
	t.Parallel()
	text := "\ufeff# Liste\r\n\r\n- [x] T1: Größe prüfen\r\n  mehr dazu\r\n\r\n  - [ ] kein eigener\r\n* [ ] ohne Namen\r\nText\r\n" +
		"+ [~] **API-7** – später\r\n- [ ] T1: again\r\n- [ ]\r\n- [link](x)\r\n\r\n### BUILD-1: b\r\n**Status:** done\r\n- [ ] a step\r\n" +
		"## Rest\r\n```\r\n- [ ] T9: code\r\n```\r\n- [X] T2\r\n"
	file, errs := taskQueue.Parse("q/task_queue.md", []byte(text))
	var got []string
	for _, e := range file.Entries() {
		got = append(got, fmt.Sprintf("%d %s: %s, %s, %s, %d bytes", e.Line, e.ID, e.Facts.Title, e.Facts.Status, e.Facts.Task, len(e.Text)))
	}
	want := []string{
		"3 T1: Größe prüfen, complete, T1, 64 bytes",
		"7 q/task_queue.md#ohne-namen: ohne Namen, pending, , 18 bytes",
		"9 API-7: später, [~], API-7, 29 bytes",
		"14 BUILD-1: b, complete, BUILD-1, 48 bytes",
		"21 T2: T2, complete, T2, 10 bytes",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) != 1 || string(file.Append(nil)) != text {
		t.Errorf("(-want +got):\n%s\nerrors %v", diff, errs)
	}
}
