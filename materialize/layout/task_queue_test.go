package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueuedTaskRoundTrip(t *testing.T) {
	tests := []QueuedTask{
		{ID: "BUILD-001", Title: "Upload", Priority: "must_have", Status: "pending", Category: "backend",
			Description: "One line", DependsOn: []string{"BUILD-002", "BUILD-003"}},
		{ID: "TEST-UNIT-001", Title: "Limit: upper", Status: "In Progress", Priority: "high",
			Description: "Two\n\n**Status:** no\n#### TEST-1\n- a", Steps: []string{"first", "second"},
			Expected: "413\n---\nend", Extra: []ExtraField{{"Assignee", "agent-3"}, {"Notes", "a\nb"}}},
		{ID: "T1", Title: "Small", Status: "pending"},
	}
	for _, want := range tests {
		text := AppendQueuedTask(nil, want)
		got, errs := ParseQueuedTask(text)
		if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
			t.Errorf("ParseQueuedTask(%s) (-want +got):\n%s\nerrors %v", text, diff, errs)
		}
		f, errs := checkAggregate(t, TaskQueue{}, "q.md", text)
		if entries := f.Entries(); len(entries) != 1 || entries[0].ID != want.ID || len(errs) > 0 {
			t.Errorf("%s\nhas %d entries, errors %v", text, len(entries), errs)
		}
	}
}

func TestAppendQueuedTask(t *testing.T) {
	got := string(AppendQueuedTask([]byte("before\n"), QueuedTask{
		ID: "TEST-INT-001", Title: "Polling", Priority: "high", Status: "pending", Category: "testing",
		Description: "d", Steps: []string{"a", "", "b"}, Expected: "e", DependsOn: []string{"BUILD-001"},
	}))
	want := `before
### TEST-INT-001: Polling
**Priority:** high
**Status:** pending
**Category:** testing
**Description:** d
**Steps:**
1. a
2. b
**Expected Result:** e
**Depends On:** [BUILD-001]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("AppendQueuedTask (-want +got):\n%s", diff)
	}
}

func TestParseQueuedTask(t *testing.T) {
	tests := []struct {
		name, text string
		want       QueuedTask
		errs       int
	}{
		{"empty", "", QueuedTask{}, 1},
		{"no status", "### A-1: x\n", QueuedTask{ID: "A-1", Title: "x"}, 1},
		{"bullets", "### A-1\n- **Status:** done\n- Priority: low\n- Other: no field\n", QueuedTask{ID: "A-1", Status: "done", Priority: "low"}, 0},
		{"no dependencies", "### A-1\n**Status:** a\n**Dependencies:** None\n", QueuedTask{ID: "A-1", Status: "a"}, 0},
		{"steps as bullets", "### A-1\n**Status:** a\n**Steps:**\n- one\n- two\n  more\n",
			QueuedTask{ID: "A-1", Status: "a", Steps: []string{"one", "two more"}}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, errs := ParseQueuedTask([]byte(test.text))
			if diff := cmp.Diff(test.want, got); diff != "" || len(errs) != test.errs {
				t.Errorf("ParseQueuedTask(%q) (-want +got):\n%s\nerrors %v", test.text, diff, errs)
			}
		})
	}
}

func TestSetQueuedTaskField(t *testing.T) {
	text := "### A-1: x\n**Priority:** high\n**Status:** pending\n**Steps:**\n1. a\n2. b\n**Depends On:** []\n\n---\n"
	runSets(t, SetQueuedTaskField, []setCase{
		{"status", text, "Status", "completed",
			"### A-1: x\n**Priority:** high\n**Status:** completed\n**Steps:**\n1. a\n2. b\n**Depends On:** []\n\n---\n"},
		{"list", text, "Depends On", "[B-1]",
			"### A-1: x\n**Priority:** high\n**Status:** pending\n**Steps:**\n1. a\n2. b\n**Depends On:** [B-1]\n\n---\n"},
		{"steps", text, "Steps", "none",
			"### A-1: x\n**Priority:** high\n**Status:** pending\n**Steps:** none\n**Depends On:** []\n\n---\n"},
		{"new field", text, "Assignee", "agent-3",
			"### A-1: x\n**Priority:** high\n**Assignee:** agent-3\n**Status:** pending\n**Steps:**\n1. a\n2. b\n**Depends On:** []\n\n---\n"},
		{"no fields", "#### A-1\n", "Status", "a", "#### A-1\n**Status:** a\n"},
	})
}

func TestTaskQueueInsert(t *testing.T) {
	text := "# Task Queue\n\n## Build\n\n### BUILD-001: a\nx\n\n### BUILD-002: b\ny\n\n---\n\n## Tests\n\n### Unit\n\n#### TEST-001: c\nz\n"
	runInserts(t, TaskQueue{}, []insertCase{
		{"empty file", "", "BUILD-001", "### BUILD-001: a\n", "# Task Queue\n\n### BUILD-001: a\n", []string{"BUILD-001"}},
		{"of its series", text, "BUILD-003", "### BUILD-003: n\n",
			"# Task Queue\n\n## Build\n\n### BUILD-001: a\nx\n\n### BUILD-002: b\ny\n\n---\n\n### BUILD-003: n\n\n" +
				"## Tests\n\n### Unit\n\n#### TEST-001: c\nz\n", []string{"BUILD-001", "BUILD-002", "BUILD-003", "TEST-001"}},
		{"between series", "### A-1: a\n### B-1: b\n", "A-2", "### A-2: n\n", "### A-1: a\n\n### A-2: n\n\n### B-1: b\n", []string{"A-1", "A-2", "B-1"}},
		{"of a new series", text, "DOC-001", "### DOC-001: n\n", text + "\n### DOC-001: n\n", nil},
	})
}

func TestTaskQueueDocument(t *testing.T) {
	f, errs := checkAggregate(t, TaskQueue{}, "task_queue.md", docExample(t, "task-queue", "task_queue.md"))
	var got []string
	for _, e := range f.Entries() {
		got = append(got, e.ID+" "+e.Facts.Status)
	}
	want := []string{"BUILD-001 completed", "BUILD-002 in_progress", "TEST-UNIT-001 pending"}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("tasks of the document (-want +got):\n%s\nerrors %v", diff, errs)
	}
}

func FuzzTaskQueue(f *testing.F) { fuzzAggregate(f, TaskQueue{}, "*-task_queue.md") }
