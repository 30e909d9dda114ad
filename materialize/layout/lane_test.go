package layout_test

import (
	"strings"
	"testing"

	"filebus/materialize/layout"
)

func TestLaneOf(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"a1b2c3d4e5f60718293a4b5c6d7e8f90": "a1b2c",
		"0123456789abcdef0123456789abcdef": "cdef0", // abcde and bcdef are words
		"12345f00d0000000000000000000000a": "f00d0",
		"abcdefabcdefabcdefabcdefabcdefab": "a0abc",
		"01234567890123456789012345678901": "a0012",
	} {
		got := layout.LaneOf(origin)
		if _, lane := layout.CutLane("task-001-" + got); got != want || lane != got {
			t.Errorf("LaneOf(%s) = %s, want %s; it is read as %q", origin, got, want, lane)
		}
	}
}

func TestCutLane(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, numbered, lane string }{
		{"ISSUE-20261124-003-a1b2c", "ISSUE-20261124-003", "a1b2c"},
		{"run-2026-11-24-001-f0000", "run-2026-11-24-001", "f0000"},
		{"3-a1b2c", "3", "a1b2c"},
		{"ISSUE-20261124-003", "ISSUE-20261124-003", ""},
		{"task-003-12345", "task-003-12345", ""}, // a number
		{"task-003-added", "task-003-added", ""}, // a word
		{"task-003-A1B2C", "task-003-A1B2C", ""},
		{"task-003-a1b2", "task-003-a1b2", ""},
		{"task-003-a1b2g", "task-003-a1b2g", ""},
		{"task-a1b2c", "task-a1b2c", ""},
		{"-a1b2c", "-a1b2c", ""},
		{"a1b2c", "a1b2c", ""},
		{"", "", ""},
	} {
		numbered, lane := layout.CutLane(c.id)
		if numbered != c.numbered || lane != c.lane || layout.WithLane(numbered, lane) != c.id {
			t.Errorf("CutLane(%q) = %q, %q, want %q, %q", c.id, numbered, lane, c.numbered, c.lane)
		}
	}
}

// TestLanes reads ids with a lane where layouts tell ids from other text.
func TestLanes(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"003-a1b2c": "task-003-a1b2c", "sub/3-a1b2c": "sub/task-3-a1b2c", "003-added": "003-added"} {
		if got := layout.TaskID(given); got != want {
			t.Errorf("TaskID(%q) = %q, want %q", given, got, want)
		}
	}
	for path, text := range map[string]string{
		".claude/issue_queue.md":     "# Q\n\n### ISSUE-20261124-003-a1b2c\n\n**Summary:** x\n",
		".claude/knowledge_graph.md": "# K\n\n### pattern-005-a1b2c: A title\n\ntext\n\n### UTF-8-a1b2c in names\n\ntext\n",
		".claude/task_queue.md":      "# T\n\n### BUILD-001-a1b2c: x\n\n**Status:** pending\n",
	} {
		file, problems := layout.Recognize(path).Layout.Parse(path, []byte(text))
		if e := file.Entries(); len(e) != 1 || !strings.HasSuffix(e[0].ID, "-a1b2c") || strings.Contains(e[0].ID, "#") {
			t.Errorf("%s has the entries %v, want one in a lane; problems %v", path, e, problems)
		}
	}
	got := layout.ParseCompletedIssues([]byte("- ISSUE-20261124-003-a1b2c: done\n- ISSUE-20261124-004 - a1b2c\n- **ISSUE-1-a1b2c**\nISSUE-2-a1b2cd x\n"))
	ids := ""
	for _, i := range got {
		ids += i.ID + "|" + i.Summary + "\n"
	}
	const want = "ISSUE-20261124-003-a1b2c|done\nISSUE-20261124-004|a1b2c\nISSUE-1-a1b2c|\nISSUE-2|a1b2cd x\n"
	if ids != want {
		t.Errorf("ParseCompletedIssues:\n%swant:\n%s", ids, want)
	}
}
