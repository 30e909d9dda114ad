package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestRecognize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		kind record.Kind
		id   string
	}{
		{".claude/agent_complete/BUILD-015.done", "marker", "BUILD-015"},
		{".claude/agent_complete/BUILD-015.failed", "marker", "BUILD-015.failed"},
		{".claude/agent_complete/a.failed.done", "marker", "~/.claude/agent_complete/a.failed.done"},
		{".orchestrator/complete/BUILD-015.done", "marker", ".orchestrator/BUILD-015"},
		{"orchestrator/complete/BUILD-015.done", "marker", "orchestrator/BUILD-015"},
		{".claude/agent_complete/.done", "note", ".claude/agent_complete/.done"},
		{".claude/agent_complete/a/b.done", "note", ".claude/agent_complete/a/b.done"},
		{".claude/agent_complete/a.txt", "note", ".claude/agent_complete/a.txt"},

		{".claude/journal/task-1.md", "handoff", "task-1"},
		{"claude/journal/task-1.md", "handoff", "claude/task-1"},
		{".orchestrator/journal/task-1.md", "handoff", ".orchestrator/task-1"},
		{"sub/proj/.claude/journal/task-1.md", "handoff", "sub/proj/task-1"},
		{"sub/proj/claude/journal/task-1.md", "handoff", "sub/proj/claude/task-1"},
		{".claude/.claude/journal/task-1.md", "handoff", ".claude/task-1"},
		{"claude/.claude/journal/task-1.md", "handoff", "~/claude/.claude/journal/task-1.md"},
		{"~/.claude/journal/task-1.md", "handoff", "~/~/.claude/journal/task-1.md"},
		{".claude/journal/task-003~2.md", "handoff", "~/.claude/journal/task-003~2.md"},
		{".claude/journal/host/task-1.md", "note", ".claude/journal/host/task-1.md"},
		{".claude/journal/task-.md", "note", ".claude/journal/task-.md"},
		{"journal/task-1.md", "note", "journal/task-1.md"},
		{"xclaude/journal/task-1.md", "note", "xclaude/journal/task-1.md"},
		{".orchestrator/reports/BUILD-001-loop-001.json", "handoff", "BUILD-001-loop-001"},
		{"orchestrator/reports/BUILD-001-loop-001.json", "handoff", "orchestrator/BUILD-001-loop-001"},
		{".orchestrator/reports/task-3-loop-001.json", "handoff", "task-3-loop-001"},
		{".claude/journal/task-3-loop-001.md", "handoff", "~/.claude/journal/task-3-loop-001.md"},
		{".orchestrator/reports/summary.json", "note", ".orchestrator/reports/summary.json"},

		{".claude/issue_queue.md", "frame", ".claude/issue_queue.md"},
		{"sub/.orchestrator/task_queue.md", "frame", "sub/.orchestrator/task_queue.md"},
		{"claude/knowledge_graph.md", "frame", "claude/knowledge_graph.md"},
		{".claude/knowledge_graph.json", "frame", ".claude/knowledge_graph.json"},
		{".claude/journal/index.md", "frame", ".claude/journal/index.md"},
		{".claude/lessons/testing.md", "frame", ".claude/lessons/testing.md"},
		{".claude/lessons/a/b/c.md", "frame", ".claude/lessons/a/b/c.md"},
		{".claude/lessons/a.txt", "note", ".claude/lessons/a.txt"},
		{"issue_queue.md", "note", "issue_queue.md"},
		{".claude/session_state.md", "state", "session_state"},
		{".orchestrator/session_state.md", "state", ".orchestrator/session_state"},
		{"a/.claude/session_state.md", "state", "a/session_state"},

		{".claude/loop_snapshots/run-2026-03-02-1/loop-2/diff.patch", "snapshot", "run-2026-03-02-1/loop-2/diff.patch"},
		{".claude/loop_snapshots/r/loop-2/a/b.md", "snapshot", "r/loop-2/a/b.md"},
		{"p/.claude/loop_snapshots/r/loop-2/f", "snapshot", "p/r/loop-2/f"},
		{".claude/loop_snapshots/a/loop-1/r/loop-1/f", "snapshot", "a/loop-1/r/loop-1/f"},
		{"a/loop-1/.claude/loop_snapshots/r/loop-1/f", "snapshot", "~/a/loop-1/.claude/loop_snapshots/r/loop-1/f"},
		{".claude/loop_snapshots/r/latest/f", "note", ".claude/loop_snapshots/r/latest/f"},

		{".claude/dialogues/s/round-0/Muffin.md", "turn", "s/round-0/Muffin"},
		{"blue-dialogue/s/round-0/muffin.md", "turn", "blue-dialogue/s/round-0/muffin"},
		{".blue/dialogues/s/round-0/muffin.md", "turn", ".blue/s/round-0/muffin"},
		{".claude/dialogues/s/round-0/muffin.prompt.md", "dialogue", "s/round-0/muffin.prompt.md"},
		{".claude/dialogues/s/round-0/panel.json", "dialogue", "s/round-0/panel.json"},
		{".claude/dialogues/s/round-0.summary.md", "dialogue", "s/round-0.summary.md"},
		{".claude/dialogues/s/scoreboard.md", "dialogue", "s/scoreboard.md"},
		{".claude/dialogues/docs/x.md", "dialogue", "docs/x.md"},
		{".claude/dialogues/README.md", "note", ".claude/dialogues/README.md"},
		{".blue/docs/dialogues/x.dialogue.md", "dialogue", ".blue/docs/x.dialogue.md"},
		{".blue/dialogues/docs/x.md", "dialogue", "~/.blue/dialogues/docs/x.md"},
		{"p/.claude/dialogues/s/tensions.md", "dialogue", "p/s/tensions.md"},
		{".claude/dialogues/s/x/tensions.md", "dialogue", "~/.claude/dialogues/s/x/tensions.md"},

		{".claude/sessions/build/k7/plan.md", "artifact", "build/k7/plan"},
		{".claude/sessions/build/k7/plan", "artifact", "build/k7/plan~"},
		{".claude/sessions/build/k7/plan~", "artifact", "build/k7/plan~~"},
		{".claude/sessions/build/k7/plan~.md", "artifact", "build/k7/plan~.md"},
		{".claude/sessions/build/k7/a.json", "artifact", "build/k7/a.json"},
		{".claude/sessions/build/k7/a.json.md", "artifact", "build/k7/a.json.md"},
		{".claude/sessions/build/k7/.agent_log", "artifact", "build/k7/.agent_log"},
		{".claude/sessions/build/plan.md", "artifact", "build/plan"},
		{"p/.claude/sessions/build/k7/plan.md", "artifact", "p/build/k7/plan"},
		{"p/.claude/sessions/build/plan.md", "artifact", "~/p/.claude/sessions/build/plan.md"},
		{".orchestrator/sessions/build/plan.md", "artifact", ".orchestrator/build/plan"},
		{".claude/sessions/pr_reviews/pr_7_context.md", "artifact", "pr_reviews/pr_7/context"},
		{".claude/sessions/pr_reviews/pr_7/context.md", "artifact", "pr_reviews/pr_7/context.md"},
		{".claude/sessions/pr_reviews/pr_7_a.b.md", "artifact", "pr_reviews/pr_7_a.b.md"},
		{".claude/sessions/pr_reviews/pr_7_diff.patch", "artifact", "pr_reviews/pr_7_diff.patch"},
		{".claude/sessions/pr_reviews/pr_7/diff.patch", "artifact", "pr_reviews/pr_7/diff.patch"},
		{".claude/sessions/pr_reviews/pr_x_context.md", "artifact", "pr_reviews/pr_x_context"},
		{".claude/sessions/index.md", "note", ".claude/sessions/index.md"},
		{"orchestrator/sessions/store/store.go", "note", "orchestrator/sessions/store/store.go"},

		{".claude/agent_tool_results/c1/call_9.md", "result", "c1/call_9"},
		{"agent_tool_results/c1/call_9.md", "result", "agent_tool_results/c1/call_9"},
		{"home/.qark/agent_tool_results/c1/x.md", "result", "home/.qark/agent_tool_results/c1/x"},
		{".claude/agent_tool_results/c1/x.json", "note", ".claude/agent_tool_results/c1/x.json"},
		{".claude/agent_tool_results/c1/d/x.md", "note", ".claude/agent_tool_results/c1/d/x.md"},
		{".claude/agent_tool_results/x.md", "note", ".claude/agent_tool_results/x.md"},

		{"README.md", "note", "README.md"},
		{".claude/settings.json", "note", ".claude/settings.json"},
		{".claude/sessions/build//context.md", "note", ".claude/sessions/build//context.md"},
		{"/tmp/blue-dialogue/s/round-0/a.md", "note", "/tmp/blue-dialogue/s/round-0/a.md"},
		{"/.claude/issue_queue.md", "note", "/.claude/issue_queue.md"},
		{"/.claude/journal/task-1.md", "note", "/.claude/journal/task-1.md"},
		{"../.claude/journal/task-1.md", "note", "../.claude/journal/task-1.md"},
		{"\xff\xfe/\r\n.md", "note", "\xff\xfe/\r\n.md"},
		{"", "note", ""},
	}
	for _, test := range tests {
		got := Recognize(test.path)
		if got.Kind != test.kind || got.ID != test.id {
			t.Errorf("Recognize(%q) = %s/%s, want %s/%s", test.path, got.Kind, got.ID, test.kind, test.id)
		}
		if got.Layout == nil {
			t.Errorf("Recognize(%q) has no layout", test.path)
		}
	}
}

func TestRecognizeFacts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		want Facts
	}{
		{".claude/agent_complete/003.done", Facts{Task: "task-003", Status: "complete"}},
		{".claude/agent_complete/B-1.failed", Facts{Task: "B-1", Status: "failed"}},
		{".claude/journal/task-003.md", Facts{Task: "task-003"}},
		{".orchestrator/reports/B-1-loop-012.json", Facts{Task: "B-1", Loop: "12"}},
		{".claude/loop_snapshots/run-1/loop-03/state.md", Facts{Run: "run-1", Loop: "3"}},
		{".claude/dialogues/s/round-01/Muffin.md", Facts{Agent: "muffin", Attributes: map[string]string{"dialogue": "s", "round": "1"}}},
		{".claude/dialogues/s/round-1/scone.prompt.md", Facts{Agent: "scone", Attributes: map[string]string{"dialogue": "s", "round": "1", "part": "prompt"}}},
		{".claude/dialogues/s/round-1.summary.md", Facts{Attributes: map[string]string{"dialogue": "s", "round": "1", "part": "summary"}}},
		{".claude/dialogues/s/expert-pool.json", Facts{Attributes: map[string]string{"dialogue": "s", "part": "expert-pool"}}},
		{".claude/sessions/build/k7/plan.md", Facts{Session: "k7", Attributes: map[string]string{"workflow": "build"}}},
		{".claude/sessions/pr_reviews/pr_7_security_report.md", Facts{Session: "pr_7", Agent: "security", Attributes: map[string]string{"workflow": "pr_reviews"}}},
		{".claude/sessions/pr_reviews/pr_7_diff.patch", Facts{Session: "pr_7", Attributes: map[string]string{"workflow": "pr_reviews"}}},
		{".claude/agent_tool_results/c1/x.md", Facts{Conversation: "c1"}},
		{".claude/agent_tool_results/c\n1/x.md", Facts{}}, // no field of a record holds a line break
		{"notes/x.md", Facts{}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, Recognize(test.path).Facts); diff != "" {
			t.Errorf("facts of %q (-want +got):\n%s", test.path, diff)
		}
	}
}

func TestPlaceParse(t *testing.T) {
	t.Parallel()
	path := ".claude/journal/task-003.md"
	file, problems := Recognize(path).Parse(path, []byte("# Task: Fix login\n\n## Metadata\n- Status: completed\n"))
	if len(problems) != 0 || len(file.Entries()) != 1 {
		t.Fatalf("Parse(%s) = %d entries, problems %v", path, len(file.Entries()), problems)
	}
	want := Facts{Task: "task-003", Status: "complete", Title: "Fix login"}
	if diff := cmp.Diff(want, file.Entries()[0].Facts); diff != "" {
		t.Errorf("facts of %s (-want +got):\n%s", path, diff)
	}
}

func TestFactsOr(t *testing.T) {
	t.Parallel()
	a := Facts{Task: "a", Tags: []string{"x"}, Attributes: map[string]string{"k": "a"}}
	b := Facts{Task: "b", Run: "r", Tags: []string{"y"}, Attributes: map[string]string{"k": "b", "l": "b"}}
	want := Facts{Task: "a", Run: "r", Tags: []string{"x", "y"}, Attributes: map[string]string{"k": "a", "l": "b"}}
	if diff := cmp.Diff(want, a.Or(b)); diff != "" {
		t.Errorf("Or (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"k": "a"}, a.Attributes); diff != "" {
		t.Errorf("Or changed its receiver (-want +got):\n%s", diff)
	}
}

// pathsOf makes paths of every combination of the words that templates know,
// and some that they do not, so that whatever can collide does.
func pathsOf(p Profile) []string {
	roots := []string{
		"", p.Root, p.Markers, p.Results, p.Dialogues, p.Sessions, "agent_tool_results", "blue-dialogue",
		".claude", "claude", ".orchestrator", ".blue", ".blue/docs/dialogues",
	}
	folders := []string{"", "agent_complete", "complete", "journal", "reports", "loop_snapshots", "dialogues", "sessions", "agent_tool_results"}
	files := []string{
		"x.done", "x.failed", "x.failed.done", "task-1.md", "task-1~2.md", "task-1-loop-1.json", "task-1-loop-1.md",
		"session_state.md", "issue_queue.md", "index.md", "a/b.md", "a/b", "a/b~", "a/round-0/b.md",
		"a/round-0/b.prompt.md", "a/round-0/b", "a/loop-1/b.md", "a/loop-1/a/loop-1/b.md", "a/b/c.md", "a/b/c/d.md",
		"pr_reviews/pr_7_a.md", "pr_reviews/pr_7/a.md", "pr_reviews/pr_7/a", "docs/b.md", "README.md",
	}
	prefixes := []string{"", "a/b/", "~/", "claude/", ".blue/", "a/loop-1/", "a/round-0/"}
	var paths []string
	for _, root := range roots {
		for _, folder := range folders {
			for _, file := range files {
				for _, prefix := range prefixes {
					if isOutside(root) && prefix != "" {
						continue
					}
					paths = append(paths, prefix+join(root, folder, file))
				}
			}
		}
	}
	return paths
}

func testProfiles() []Profile {
	odd := Profile{Name: "odd", Root: "work/agents", Markers: "work/agents", Results: "work/agents/out", Dialogues: "claude/dialogues", Sessions: "work"}
	return append(Profiles(), ProfileBelow(".agents"), odd)
}

// TestNamesAreUnique holds that no two paths have one name, and that a name
// leads back to its path, for every profile.
func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	for _, p := range testProfiles() {
		t.Run(p.Name, func(t *testing.T) {
			byName := make(map[string]string)
			literals := 0
			for _, path := range pathsOf(p) {
				place := p.Recognize(path)
				name := fmt.Sprintf("%s/%s", place.Kind, place.ID)
				if other, taken := byName[name]; taken && other != path {
					t.Errorf("%q and %q are both %s", path, other, name)
				}
				byName[name] = path
				if strings.HasPrefix(place.ID, literal) && place.Kind != record.KindNote && place.Kind != record.KindFrame {
					literals++
				}
				if back, err := p.Path(place.Kind, place.ID); record.CheckID(place.ID) == nil && (err != nil || back != path) {
					t.Errorf("Path(%s) = %q, %v, want %q", name, back, err, path)
				}
			}
			if literals == 0 || literals > len(byName)/2 {
				t.Errorf("%d of %d names are literal", literals, len(byName))
			}
		})
	}
}

func TestWithinNamesAreUnique(t *testing.T) {
	t.Parallel()
	for _, p := range testProfiles() {
		byName := make(map[string]string)
		for _, path := range pathsOf(p) {
			if strings.HasPrefix(path, "/") {
				continue
			}
			place := p.Within(path)
			name := fmt.Sprintf("%s/%s", place.Kind, place.ID)
			if other, taken := byName[name]; taken && other != path {
				t.Errorf("profile %s: within the root %q and %q are both %s", p.Name, path, other, name)
			}
			byName[name] = path
		}
	}
}

func TestRecognizeIsBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a/", "claude/", ".claude/journal/", "agent_tool_results/", "dialogues/", "loop-1/"} {
		path := strings.Repeat(unit, 4000/len(unit)) + "x.md"
		if place := Recognize(path); place.Kind == "" {
			t.Errorf("Recognize(%q x %d) has no kind", unit, 4000/len(unit))
		}
	}
	long := ".claude/journal/task-" + strings.Repeat("x", record.MaxID) + ".md"
	if place := Recognize(long); place.Kind != record.KindNote {
		t.Errorf("a path of %d bytes is a %s, want a note", len(long), place.Kind)
	}
}

// FuzzRecognize holds for any two paths what TestNamesAreUnique holds for those
// made of templates.
func FuzzRecognize(f *testing.F) {
	for i, path := range pathsOf(Claude()) {
		if i%61 == 0 {
			f.Add(path, "sub/"+path)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, p := range Profiles() {
			for _, path := range []string{a, b} {
				place := p.Recognize(path)
				if place.Kind == record.KindNote && place.ID != path {
					t.Fatalf("the note %q has the id %q", path, place.ID)
				}
				if record.CheckID(path) != nil {
					continue
				}
				if back, err := p.Path(place.Kind, place.ID); err != nil || back != path {
					t.Fatalf("%s: Path(%s, %q) = %q, %v, want %q", p.Name, place.Kind, place.ID, back, err, path)
				}
			}
			x, y := p.Recognize(a), p.Recognize(b)
			if a != b && x.Kind == y.Kind && x.ID == y.ID {
				t.Fatalf("%s: %q and %q are both %s/%s", p.Name, a, b, x.Kind, x.ID)
			}
			x, y = p.Within(a), p.Within(b)
			if a != b && x.Kind == y.Kind && x.ID == y.ID {
				t.Fatalf("%s: within the root, %q and %q are both %s/%s", p.Name, a, b, x.Kind, x.ID)
			}
		}
	})
}

func BenchmarkRecognize(b *testing.B) {
	paths := []string{".claude/journal/task-003.md", "docs/notes/2026/retention.md", ".claude/dialogues/retry/round-0/muffin.md", "src/a/b/c/d.go"}
	for i := range b.N {
		Recognize(paths[i%len(paths)])
	}
}
