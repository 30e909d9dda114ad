package layout

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestNormalizeStatus(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"completed", "complete"}, {"Complete", "complete"}, {"DONE", "complete"}, {"done ✅", "complete"}, {"**done**", "complete"},
		{"success", "complete"}, {"Completed with caveats", "complete"}, {"complete (12 tests)", "complete"},
		{"in_progress", "in_progress"}, {"In Progress", "in_progress"}, {"in-progress", "in_progress"}, {"wip", "in_progress"},
		{"failed", "failed"}, {"Failure: timeout", "failed"}, {"blocked", "blocked"}, {"partial", "partial"}, {"partially done", "partial"},
		{"pending", "pending"}, {"TODO", "pending"}, {"not started", "pending"},
		{"", ""}, {"✅", ""}, {"see notes", ""}, {"in_progress | completed", ""}, {"progress", ""}, {"\xff", ""},
	}
	for _, test := range tests {
		if got := NormalizeStatus(test.text); got != test.want {
			t.Errorf("NormalizeStatus(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestTaskID(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"003", "task-003"}, {"task-003", "task-003"}, {"BUILD-001", "BUILD-001"}, {" x ", "x"}, {"", ""}, {"a\nb", ""},
		{"+1", "+1"}, {"1234567890123456789", "1234567890123456789"},
	}
	for _, test := range tests {
		if got := TaskID(test.text); got != test.want {
			t.Errorf("TaskID(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"Web Researcher", "web_researcher"}, {"@Web-Researcher", "web_researcher"}, {"web_researcher", "web_researcher"},
		{"  Source   Deep Diver (v2)", "source_deep_diver_v2"}, {"Éclair", "éclair"}, {"研究者", "研究者"}, {"!!", ""}, {"", ""}, {"a\xffb", "a_b"},
	}
	for _, test := range tests {
		if got := Slug(test.text); got != test.want {
			t.Errorf("Slug(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestCutProperty(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, key, value string
		ok               bool
	}{
		{"- Status: done", "Status", "done", true},
		{"* **Status**: done", "Status", "done", true},
		{"**Status:** done", "Status", "done", true},
		{"Status: a: b", "Status", "a: b", true},
		{"Status:", "Status", "", true},
		{"  - Run ID:   x\r\n", "Run ID", "x", true},
		{"http://example.org", "", "", false},
		{"10:15", "", "", false},
		{"| a: b |", "", "", false},
		{"- plain", "", "", false},
		{": x", "", "", false},
		{strings.Repeat("long ", 20) + ": x", "", "", false},
	}
	for _, test := range tests {
		got, ok := cutProperty(test.line)
		if want := (Property{test.key, test.value}); got != want || ok != test.ok {
			t.Errorf("cutProperty(%q) = %+v, %t, want %+v, %t", test.line, got, ok, want, test.ok)
		}
	}
}

// singleLayouts are the layouts of files that are one record each.
func singleLayouts() map[string]Layout {
	return map[string]Layout{
		"a.md": results, "task-1.md": journals, "r.json": reports, "x.done": completions, "session_state.md": states,
		"r/loop-1/state.md": snapshots, "r/loop-1/diff.patch": snapshots, "r/loop-1/issues_completed.md": snapshots,
		"r/loop-1/manifest.json": snapshots, "s/round-0/a.md": turns, "s/scoreboard.md": dialogues, "s/expert-pool.json": dialogues,
		"plan.md": artifacts, "metadata.json": artifacts, ".agent_log": agentLogs, "n.md": notes,
	}
}

func TestAwkwardTexts(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "\n", "\r\n", "\ufeff", "\x00", "\xff\xfe\xfd", "a", "# ", "---", "---\n", "---\nid: x", "|", "| a", "[", "]", "[RESOLVED", "{", "}", "null", "[]",
		"\ufeff# Task: x\r\n", strings.Repeat("[TENSION ", 100), strings.Repeat("#\n", 100), "@@ -1,9 +1,9 @@\n", "`", "```", "<!--",
	}
	for path, layout := range singleLayouts() {
		for _, text := range texts {
			file, problems := layout.Parse(path, []byte(text))
			if got := file.Append(nil); string(got) != text {
				t.Errorf("%T: the parts of %q are %q", layout, text, got)
			}
			if n := len(file.Entries()); n != 1 || file.Entries()[0].ID != "" || file.Path != path {
				t.Errorf("%T: %q gives %d entries in %q, want 1 without an id in %q", layout, text, n, file.Path, path)
			}
			for _, p := range problems {
				if p.File != path || p.Line < 1 || p.Line > 1+strings.Count(text, "\n") {
					t.Errorf("%T: problem %v of %q lies outside of it", layout, p, text)
				}
			}
			checkFacts(t, file)
		}
	}
}

// FuzzSingle holds for every layout of single records that its parts are the
// file and its facts can be stored.
func FuzzSingle(f *testing.F) {
	for _, page := range [][2]string{
		{"results", "call_8f2c.md"}, {"reports", "BUILD-007-loop-002.json"}, {"session-state", "plain.md"}, {"snapshots", "diff.patch"},
		{"dialogue", "muffin.md"}, {"sessions", ".agent_log"}, {"notes", "2026-03-02-handover.md"},
	} {
		f.Add(docExample(f, page[0], page[1]))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for path, layout := range singleLayouts() {
			file, _ := layout.Parse(path, text)
			if got := file.Append(nil); !bytes.Equal(got, text) {
				t.Fatalf("%T: the parts of %q are %q", layout, text, got)
			}
			checkFacts(t, file)
		}
	})
}

// parseOne reads one file and returns its facts and problems as text.
func parseOne(t *testing.T, layout Layout, path string, text []byte) (facts Facts, problems []string) {
	t.Helper()
	file, wrong := layout.Parse(path, text)
	if got := file.Append(nil); !bytes.Equal(got, text) {
		t.Errorf("the parts of %s are %q, want %q", path, got, text)
	}
	for _, p := range wrong {
		problems = append(problems, p.Error())
	}
	return file.Entries()[0].Facts, problems
}

func TestFileFacts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path     string
		layout   Layout
		text     string
		want     Facts
		problems []string
	}{
		{"a.md", results, string(docExample(t, "results", "call_8f2c.md")),
			Facts{Agent: "web_researcher", Tags: []string{"rate-limiting", "http"}}, nil},
		{"a.md", results, "plain\n", Facts{}, nil},
		{"n.md", notes, string(docExample(t, "notes", "2026-03-02-handover.md")),
			Facts{Agent: "planner", Session: "k7m2p9", Conversation: "billing-migration", Tags: []string{"billing", "migration"},
				Attributes: map[string]string{"id": "msg-0412"}}, nil},
		{"n.md", notes, "---\ntask: 7\nstatus: Draft\nagent:\n---\n", Facts{Task: "task-7", Status: "draft"}, nil},
		{"n.md", notes, "---\nagent: " + strings.Repeat("x", 2000) + "\n---\n", Facts{}, nil},
		{"pr_42_security_report.md", artifacts, string(docExample(t, "sessions", "pr_42_security_report.md")),
			Facts{Agent: "security-scanner", Tags: []string{"security", "pr-42"}}, nil},
		{"m.json", artifacts, "{\"a\": 1}\n", Facts{}, nil},
		{"m.json", artifacts, "{\n\"a\": 1,\n}\n", Facts{},
			[]string{"m.json:3: invalid character '}' looking for beginning of object key string"}},
		{"m.md", artifacts, "{\n", Facts{}, nil},
		{"x.done", completions, string(docExample(t, "markers", "task-003.done")), Facts{}, nil},
		{"x.done", completions, "", Facts{}, nil},
		{"x.done", completions, string(docExample(t, "markers", "task-004.done")),
			Facts{Status: "partial", Summary: "Partial: the copy is done, the reads still go to the old table."}, nil},
	}
	for _, test := range tests {
		got, problems := parseOne(t, test.layout, test.path, []byte(test.text))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: facts of %q (-want +got):\n%s", test.path, test.text, diff)
		}
		if diff := cmp.Diff(test.problems, problems); diff != "" {
			t.Errorf("%s: problems of %q (-want +got):\n%s", test.path, test.text, diff)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want Completion
	}{
		{"done", Completion{"done", "complete"}}, {"done\n", Completion{"done", "complete"}}, {"\ufeff done\r\n", Completion{"done", "complete"}},
		{"", Completion{}}, {"failed: no disk", Completion{"failed: no disk", "failed"}}, {"see journal", Completion{"see journal", ""}},
	}
	for _, test := range tests {
		got := ParseCompletion([]byte(test.text))
		if got != test.want {
			t.Errorf("ParseCompletion(%q) = %+v, want %+v", test.text, got, test.want)
		}
		if again := ParseCompletion(AppendCompletion(nil, got)); got.Text != "" && again != got {
			t.Errorf("written and read again, %+v is %+v", got, again)
		}
	}
	if got := string(AppendCompletion([]byte("x"), Completion{})); got != "xdone" {
		t.Errorf("AppendCompletion of nothing = %q, want %q", got, "xdone")
	}
}

func TestEveryPlaceParses(t *testing.T) {
	t.Parallel()
	for _, path := range pathsOf(Claude()) {
		place := Recognize(path)
		if place.Kind == record.KindFrame {
			continue
		}
		file, _ := place.Parse(path, []byte("text\n"))
		if entries := file.Entries(); len(entries) != 1 || entries[0].Kind != place.Kind {
			t.Fatalf("%s is read as %+v, want one entry of kind %s", path, entries, place.Kind)
		}
	}
}

func TestHasEnded(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{
		StatusComplete: true, StatusPartial: true, StatusBlocked: true, StatusFailed: true,
		StatusPending: false, StatusInProgress: false, "": false,
	} {
		if got := HasEnded(status); got != want {
			t.Errorf("HasEnded(%q) = %t, want %t", status, got, want)
		}
	}
}
