package layout

import (
	"slices"
	"strings"
	"testing"

	"filebus/store/record"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, word, want string
		ok               bool
	}{
		{"round-0", "round-", "0", true}, {"round-007", "round-", "7", true}, {"round-000", "round-", "0", true}, {"loop-12", "loop-", "12", true},
		{"round-", "round-", "", false}, {"round-x", "round-", "", false}, {"round--1", "round-", "", false}, {"round-+1", "round-", "", false},
		{"loop-1", "round-", "", false}, {"round-1a", "round-", "", false}, {"round-1_0", "round-", "", false}, {"", "", "", false},
		{"round-1234567890123456789", "round-", "", false}, {"round-٣", "round-", "", false},
	}
	for _, test := range tests {
		if got, ok := number(test.text, test.word); got != test.want || ok != test.ok {
			t.Errorf("number(%q, %q) = %q, %t, want %q, %t", test.text, test.word, got, ok, test.want, test.ok)
		}
	}
}

func TestReportPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id, task, loop string
		ok             bool
	}{
		{"BUILD-001-loop-001", "BUILD-001", "1", true},
		{"a-loop-2-loop-3", "a-loop-2", "3", true},
		{"-loop-1", "", "", false}, {"BUILD-001", "", "", false}, {"BUILD-001-loop-", "", "", false}, {"BUILD-loop-x", "", "", false}, {"a/b-loop-1", "", "", false},
	}
	for _, test := range tests {
		place, ok := familyReports.read(test.id + ".json")
		if ok != test.ok || place.Facts.Task != test.task || place.Facts.Loop != test.loop {
			t.Errorf("%s.json: %+v, %t, want %q, %q, %t", test.id, place, ok, test.task, test.loop, test.ok)
		}
	}
}

// TestArtifactIDs holds that the last segment of an artifact's id and the name
// of its file determine each other.
func TestArtifactIDs(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, id string }{
		{"plan.md", "plan"}, {"plan", "plan~"}, {"plan~", "plan~~"}, {"plan~.md", "plan~.md"}, {"plan.json", "plan.json"}, {"plan.json.md", "plan.json.md"},
		{".md", ".md"}, {".agent_log", ".agent_log"}, {"v1.2.md", "v1.2.md"}, {"~", "~~"}, {"~.md", "~.md"}, {"plan.MD", "plan.MD"}, {"plan.", "plan."},
		{"plan.md.md", "plan.md.md"}, {"naïve.md", "naïve"}, {"a b.md", "a b"},
	}
	seen := make(map[string]string)
	for _, test := range tests {
		id := artifactID(test.file)
		if file := artifactFile(id); id != test.id || file != test.file {
			t.Errorf("artifactID(%q) = %q, want %q; back it is %q", test.file, id, test.id, file)
		}
		if other, taken := seen[id]; taken {
			t.Errorf("%q and %q are both %q", test.file, other, id)
		}
		seen[id] = test.file
	}
}

func TestDialogueParts(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, part, round string }{
		{"s/scoreboard.md", "scoreboard", ""}, {"s/tensions.md", "tensions", ""}, {"s/verdict.md", "verdict", ""},
		{"s/expert-pool.json", "expert-pool", ""}, {"s/round-2/panel.json", "panel", "2"}, {"s/round-10.summary.md", "summary", "10"},
		{"s/round-2/scone.prompt.md", "prompt", "2"}, {"s/scone.prompt.md", "", ""}, {"s/round-x.summary.md", "", ""}, {"s/notes.md", "", ""},
		{"s/round-2/data.csv", "", "2"}, {"s/round-2/.prompt.md", "", "2"}, {"s/round-2/a/b.md", "", "2"},
	}
	for _, test := range tests {
		place := Recognize(".claude/dialogues/" + test.file)
		got := place.Facts.Attributes
		if got["part"] != test.part || got["round"] != test.round || got["dialogue"] != "s" {
			t.Errorf("%s has the attributes %v, want part %q, round %q", test.file, got, test.part, test.round)
		}
	}
}

func TestReviewSessions(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, session, agent string }{
		{"pr_reviews/pr_7_context.md", "pr_7", ""},
		{"pr_reviews/pr_7/context.md", "pr_7", ""},
		{"pr_reviews/pr_7_code_quality_report.md", "pr_7", "code_quality"},
		{"pr_reviews/pr_7/security_report.md", "pr_7", "security"},
		{"pr_reviews/summary.md", "", ""},
		{"pr_reviews/pr__x.md", "", ""},
		{"pr_reviews/pr_7_.md", "pr_7", ""},
		{"build/pr_7_context.md", "", ""},
		{"build/k7/test_report.md", "k7", ""},
	}
	for _, test := range tests {
		got := Recognize(".claude/sessions/" + test.file).Facts
		if got.Session != test.session || got.Agent != test.agent {
			t.Errorf("%s: session %q and agent %q, want %q and %q", test.file, got.Session, got.Agent, test.session, test.agent)
		}
	}
}

func TestLayoutsOfPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		want Layout
	}{
		{".claude/issue_queue.md", issueQueue}, {".claude/task_queue.md", taskQueue}, {".claude/knowledge_graph.md", knowledgeGraph},
		{".claude/knowledge_graph.json", knowledgeJSON{}}, {".claude/lessons/a.md", lessons}, {".claude/journal/index.md", contextMap{}},
		{".claude/journal/task-1.md", journals}, {".orchestrator/reports/a-loop-1.json", reports}, {".claude/agent_complete/a.done", completions},
		{".claude/session_state.md", states}, {".claude/loop_snapshots/r/loop-1/f",
			snapshots}, {".claude/dialogues/s/round-0/a.md", turns},
		{".claude/dialogues/s/verdict.md", dialogues}, {".claude/sessions/build/k/plan.md",
			artifacts}, {".claude/sessions/build/k/.agent_log", agentLogs},
		{".claude/sessions/build/k/x.agent_log", agentLogs}, {".claude/agent_tool_results/c/x.md",
			results}, {"a.md", notes},
	}
	for _, test := range tests {
		place := Recognize(test.path)
		if place.Layout != test.want {
			t.Errorf("the layout of %s is %T, want %T", test.path, place.Layout, test.want)
		}
		if _, aggregate := place.Layout.(Aggregate); aggregate != (place.Kind == record.KindFrame) {
			t.Errorf("%s is a %s, and its layout %T an aggregate: %t", test.path, place.Kind, place.Layout, aggregate)
		}
	}
}

func TestCutSegments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		head, root, prefix string
		ok                 bool
	}{
		{".claude/journal", ".claude/journal", "", true},
		{"a/b/.claude/journal", ".claude/journal", "a/b", true},
		{"a/.claude", ".claude", "a", true},
		{"work/agents", "work/agents", "", true},
		{"xwork/agents", "work/agents", "", false},
		{"a.claude", ".claude", "", false},
		{"journal", "journal/journal", "", false},
		{"", ".claude", "", false},
		{"a", "", "", false},
	}
	for _, test := range tests {
		prefix, ok := cutSegments(test.head, test.root)
		if ok != test.ok || ok && prefix != test.prefix {
			t.Errorf("cutSegments(%q, %q) = %q, %t, want %q, %t", test.head, test.root, prefix, ok, test.prefix,
				test.ok)
		}
	}
}

// TestTemplates holds that the patterns of a template have the same variables, which
// are known, in the same order.
func TestTemplates(t *testing.T) {
	t.Parallel()
	names := func(p pattern) (out []string) {
		for _, rest := range strings.Split(string(p), "{")[1:] {
			name, _, _ := strings.Cut(rest, "}")
			name = strings.TrimSuffix(name, "...")
			if _, known := variables[name]; !known {
				t.Errorf("the variable %s of %s is not known", name, p)
			}
			out = append(out, name)
		}
		return out
	}
	for _, row := range templates {
		if path, id := names(row.path), names(row.id); row.id != "" && row.refusal == "" && !slices.Equal(path, id) {
			t.Errorf("%s and %s have other variables", row.path, row.id)
		}
	}
}
