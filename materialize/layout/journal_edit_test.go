package layout

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetJournalField(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, key, value, want string }{
		{"# Task: A\n\n## Metadata\n- Status: in_progress\n- Started: x\n\n## Notes\n", "Status", "completed",
			"# Task: A\n\n## Metadata\n- Status: completed\n- Started: x\n\n## Notes\n"},
		{"# Task: A\n\n## Metadata\n- Status: in_progress\n\n## Notes\n", "Completed", "y",
			"# Task: A\n\n## Metadata\n- Status: in_progress\n- Completed: y\n\n## Notes\n"},
		{"# Task: A\r\n\r\n## Metadata\r\n- **Status:** wip  \r\n", "status", "failed",
			"# Task: A\r\n\r\n## Metadata\r\n- **Status:** failed  \r\n"},
		{"# Task: A\n\n## Metadata\n- Status: in_progress\u00a0\n", "Status", "completed",
			"# Task: A\n\n## Metadata\n- Status: completed\u00a0\n"},
		{"# Task: A\n\n## Metadata\n- Status:\n", "Status", "failed", "# Task: A\n\n## Metadata\n- Status: failed\n"},
		{"# Task: A\n\nText.\n", "Status", "done", "# Task: A\n\n## Metadata\n- Status: done\n\nText.\n"},
		{"# Task: A", "Status", "done", "# Task: A\n\n## Metadata\n- Status: done\n"},
		{"", "Status", "done", "## Metadata\n- Status: done\n"},
		{"It works now.\nReally", "Status", "done", "It works now.\nReally\n\n## Metadata\n- Status: done\n"},
		{"\ufeffIt works.\r\n\r\n## Notes\r\n", "Status", "done",
			"\ufeffIt works.\r\n\r\n## Metadata\r\n- Status: done\r\n\r\n## Notes\r\n"},
		{"Status: wip\nText.\n", "Status", "done", "Status: done\nText.\n"},
		{"# TASK-V01\n\n**Status**: in_progress\n\n## Log\n", "Status", "completed", "# TASK-V01\n\n**Status**: completed\n\n## Log\n"},
		{"# 修复\r\n**Status:** wip\r\n## Log\r\n", "Completed", "y", "# 修复\r\n**Status:** wip\r\n- Completed: y\r\n## Log\r\n"},
		{"# A\n\nThe status: done by Bob.\n", "Status", "failed", "# A\n\n## Metadata\n- Status: failed\n\nThe status: done by Bob.\n"},
		{"# A\n\n## Metadata\n- Status: done\n\nAll done.\n", "Completed", "y", "# A\n\n## Metadata\n- Status: done\n- Completed: y\n\nAll done.\n"},
		{"# Task: A\n\n## Metadata", "Status", "done", "# Task: A\n\n## Metadata\n- Status: done\n"},
	}
	for _, test := range tests {
		got := string(SetJournalField([]byte(test.text), test.key, test.value))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("SetJournalField(%q, %s, %s) (-want +got):\n%s", test.text, test.key, test.value, diff)
		}
	}
}

func TestSetHandoff(t *testing.T) {
	t.Parallel()
	section := []byte("## Handoff\n\nnew\n")
	tests := []struct{ text, want string }{
		{"# Task: A\n", "# Task: A\n\n## Handoff\n\nnew\n"},
		{"# Task: A\n\n## Notes\nn\n", "# Task: A\n\n## Handoff\n\nnew\n\n## Notes\nn\n"},
		{"# Task: A\n\n## Handoff\n\nold\n\n## Notes\nn\n", "# Task: A\n\n## Handoff\n\nnew\n\nold\n\n## Notes\nn\n"},
		{"## Handoff\n\na\nb\n\n| Outcome | x |\n\n- c\n- d\n\n- Summary: s\n  t\n\n  u\n\n```yaml\ne: 1\n\nf\n```\ng\n",
			"## Handoff\n\nnew\n\na\nb\n\n- c\n- d\n"},
		{"# Task: A\r\n\r\n## Handoff\r\nold", "# Task: A\r\n\r\n## Handoff\r\n\r\nnew\r\n\r\nold\r\n"},
		{"", "## Handoff\n\nnew\n"},
		{"# Task: A", "# Task: A\n\n## Handoff\n\nnew\n"},
		{"# Task: A\n```go\nleft open\n", "# Task: A\n```go\nleft open\n```\n\n## Handoff\n\nnew\n"},
		{"# Task: A\n<!-- left open", "# Task: A\n<!-- left open\n-->\n\n## Handoff\n\nnew\n"},
	}
	for _, test := range tests {
		got := string(SetHandoff([]byte(test.text), section))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("SetHandoff(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestJournalID(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{"003": "task-003", "task-003": "task-003", "TASK-V01": "task-TASK-V01"} {
		if got := JournalID(task); got != want {
			t.Errorf("JournalID(%q) = %q, want %q", task, got, want)
		}
	}
}

// FuzzJournalEdit sets a field and a handoff in any text: both must be read back,
// and setting them again must change nothing.
func FuzzJournalEdit(f *testing.F) {
	f.Add(docExample(f, "journal", "task-003.md"))
	f.Add(docExample(f, "journal", "task-004.md"))
	f.Add([]byte("# A\n## Metadata\n## Handoff\n"))
	f.Add([]byte("~~~"))
	f.Add([]byte("# Task: a\n\n## Metadata\n- Completed:*"))
	f.Add([]byte("# A\n\n```yaml\nx: 1\n"))
	section := appendHandoff(nil, Handoff{Outcome: "completed", Summary: "Done."})
	cr := []byte("\r") // a text without a line break gets one, which tells how the next are written
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, edit := range []func([]byte) []byte{
			func(text []byte) []byte { return SetJournalField(text, "Completed", "now") },
			func(text []byte) []byte { return SetHandoff(text, section) },
		} {
			once := edit(text)
			if twice := edit(once); !bytes.Equal(bytes.ReplaceAll(once, cr, nil), bytes.ReplaceAll(twice, cr, nil)) {
				t.Errorf("%q becomes %q, and then %q", text, once, twice)
			}
		}
	})
}

// TestHandoffText writes handoffs as a table where that holds all they say, and else
// as YAML; either is read back as it was.
func TestHandoffText(t *testing.T) {
	t.Parallel()
	plain := Handoff{
		Outcome: "complete", Summary: "Done.", Files: []HandoffFile{{Path: "a.go"}},
		Patterns: []HandoffPattern{{Pattern: "p"}}, Gotchas: []HandoffGotcha{{Issue: "g"}},
	}
	for _, test := range []struct {
		label  string
		change func(h *Handoff)
		isYAML bool
	}{
		{"nothing more", func(*Handoff) {}, false},
		{"a blocker", func(h *Handoff) { h.Blockers = []string{"b"} }, false},
		{"lines of a file", func(h *Handoff) { h.Files = []HandoffFile{{Path: "a.go", Lines: "1-2"}} }, true},
		{"the place of a pattern", func(h *Handoff) { h.Patterns = []HandoffPattern{{Pattern: "p", Location: "b.go"}} }, true},
		{"the cure of a gotcha", func(h *Handoff) { h.Gotchas = []HandoffGotcha{{Issue: "g", Mitigation: "m"}} }, true},
		{"next steps", func(h *Handoff) { h.NextSteps = []string{"n"} }, true},
	} {
		h := plain
		test.change(&h)
		text := HandoffText(h)
		if isYAML := bytes.Contains(text, []byte("```yaml")); isYAML != test.isYAML {
			t.Errorf("%s: as YAML: %t, want %t\n%s", test.label, isYAML, test.isYAML, text)
		}
		again, problems := ParseHandoff(text)
		if diff := cmp.Diff(h, again); diff != "" || len(problems) > 0 {
			t.Errorf("%s, read again (-want +got):\n%s\nproblems %v", test.label, diff, problems)
		}
	}
}

// TestSetHandoffSubsections replaces a handoff, and leaves the sections below it.
func TestSetHandoffSubsections(t *testing.T) {
	t.Parallel()
	const text = "# Task: A\n\n## Handoff\n\nold\n\n### Own notes\nn\n"
	got := string(SetHandoff([]byte(text), []byte("## Handoff\n\nnew\n")))
	if want := "# Task: A\n\n## Handoff\n\nnew\n\nold\n\n### Own notes\nn\n"; got != want {
		t.Errorf("SetHandoff(%q) = %q, want %q", text, got, want)
	}
}
