package layout

import (
	"strings"
	"testing"

	"filebus/store/record"
)

func TestParseProfile(t *testing.T) {
	t.Parallel()
	for _, p := range Profiles() {
		if got, err := ParseProfile(p.Name); err != nil || got != p {
			t.Errorf("ParseProfile(%q) = %+v, %v", p.Name, got, err)
		}
	}
	_, err := ParseProfile("nope")
	if err == nil || !strings.Contains(err.Error(), `"nope"`) || !strings.Contains(err.Error(), "claude, seed, orchestrator, blue") {
		t.Errorf("ParseProfile(nope): error %v, want the name and the known ones", err)
	}
}

func TestProfilePath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		profile Profile
		kind    record.Kind
		id      string
		want    string
	}{
		{Claude(), "marker", "task-003", ".claude/agent_complete/task-003.done"},
		{Claude(), "handoff", "task-003", ".claude/journal/task-003.md"},
		{Claude(), "handoff", "task-003~2", ".claude/journal/task-003.md"},
		{Claude(), "handoff", "sub/proj/task-003", "sub/proj/.claude/journal/task-003.md"},
		{Claude(), "handoff", "sub/.orchestrator/task-003", "sub/.orchestrator/journal/task-003.md"},
		{Claude(), "result", "c1/call_9", ".claude/agent_tool_results/c1/call_9.md"},
		{Claude(), "issue", "ISSUE-20260302-001", ".claude/issue_queue.md"},
		{Claude(), "task", "BUILD-001", ".claude/task_queue.md"},
		{Claude(), "knowledge", "pattern-001", ".claude/knowledge_graph.md"},
		{Claude(), "component", "src/auth", ".claude/journal/index.md"},
		{Claude(), "note", "docs/a.md", "docs/a.md"},
		{Claude(), "note", "~/a.md", "~/a.md"},
		{Claude(), "frame", ".claude/lessons/a.md", ".claude/lessons/a.md"},
		{Claude(), "state", "session_state", ".claude/session_state.md"},
		{Claude(), "snapshot", "run-1/loop-2/diff.patch", ".claude/loop_snapshots/run-1/loop-2/diff.patch"},
		{Claude(), "turn", "s/round-0/muffin", ".claude/dialogues/s/round-0/muffin.md"},
		{Claude(), "dialogue", "s/scoreboard.md", ".claude/dialogues/s/scoreboard.md"},
		{Claude(), "artifact", "build/k7/plan", ".claude/sessions/build/k7/plan.md"},
		{Claude(), "artifact", "pr_reviews/pr_7/context", ".claude/sessions/pr_reviews/pr_7_context.md"},
		{seed(), "result", "c1/call_9", "~/.qark/agent_tool_results/c1/call_9.md"},
		{seed(), "turn", "s/round-0/muffin", "/tmp/blue-dialogue/s/round-0/muffin.md"},
		{seed(), "turn", ".claude/s/round-0/muffin", ".claude/dialogues/s/round-0/muffin.md"},
		{seed(), "handoff", "task-003", ".claude/journal/task-003.md"},
		{orchestrator(), "marker", "BUILD-001", ".orchestrator/complete/BUILD-001.done"},
		{orchestrator(), "marker", "BUILD-001.failed", ".orchestrator/complete/BUILD-001.failed"},
		{orchestrator(), "handoff", "BUILD-001-loop-001", ".orchestrator/reports/BUILD-001-loop-001.json"},
		{orchestrator(), "task", "BUILD-001", ".orchestrator/task_queue.md"},
		{blue(), "turn", "s/round-0/muffin", ".blue/dialogues/s/round-0/muffin.md"},
		{blue(), "dialogue", "docs/a.md", ".blue/docs/dialogues/a.md"},
		{ProfileBelow("work/agents/"), "marker", "x", "work/agents/agent_complete/x.done"},
	}
	for _, test := range tests {
		got, err := test.profile.Path(test.kind, test.id)
		if err != nil || got != test.want {
			t.Errorf("%s: Path(%s, %q) = %q, %v, want %q", test.profile.Name, test.kind, test.id, got, err, test.want)
			continue
		}
		if test.kind.IsEntry() || strings.HasSuffix(test.id, "~2") {
			continue // recognised as the aggregate, and as the first task of the name
		}
		if place := test.profile.Recognize(got); place.Kind != test.kind || place.ID != test.id {
			t.Errorf("%s: Recognize(%q) = %s/%s, want %s/%s", test.profile.Name, got, place.Kind, place.ID, test.kind, test.id)
		}
	}
}

func TestProfilePathErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		profile  Profile
		kind     record.Kind
		id, want string
	}{
		{Claude(), "handoff", "", "the id is empty"},
		{Claude(), "handoff", "a/../task-1", `segment ".."`},
		{Claude(), "handoff", "login", "task-{id}"},
		{Claude(), "state", "other", "session_state"},
		{Claude(), "result", "x", "too few segments"},
		{Claude(), "turn", "s/1/muffin", "round-{n}"},
		{Claude(), "turn", "round-0/muffin", "too few segments"},
		{Claude(), "snapshot", "run-1/diff.patch", "too few segments"},
		{Claude(), "artifact", "plan", "{type}/{session}/{artifact}"},
		{Claude(), "marker", "~/docs/a.md", "no marker lies at"},
		{Claude(), "widget", "x", "unknown kind"},
		{seed(), "result", "a/c1/x", "lies outside"},
		{Profile{Name: "bare", Root: ".x"}, "result", "c1/x", "bare has no root"},
	}
	for _, test := range tests {
		got, err := test.profile.Path(test.kind, test.id)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Path(%s, %q) = %q, error %v, want one with %q", test.profile.Name, test.kind, test.id, got, err, test.want)
		}
	}
}

// TestProfilesKnowTheirOwn holds that the plain names of a profile are those
// of its own roots.
func TestProfilesKnowTheirOwn(t *testing.T) {
	t.Parallel()
	names := map[record.Kind]string{
		"marker": "t", "handoff": "task-1", "state": "session_state", "snapshot": "r/loop-1/f", "turn": "s/round-0/a",
		"dialogue": "s/verdict.md", "artifact": "build/k/plan", "result": "c/x",
	}
	for _, p := range testProfiles() {
		for kind, id := range names {
			path, err := p.Path(kind, id)
			if err != nil {
				t.Errorf("%s: Path(%s, %q): %v", p.Name, kind, id, err)
				continue
			}
			if place := p.Recognize(path); place.Kind != kind || place.ID != id {
				t.Errorf("%s: Recognize(%q) = %s/%s, want %s/%s", p.Name, path, place.Kind, place.ID, kind, id)
			}
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		profile Profile
		path    string
		kind    record.Kind
		id      string
	}{
		{Claude(), "journal/task-1.md", "handoff", "task-1"},
		{Claude(), "agent_complete/B-1.done", "marker", "B-1"},
		{Claude(), "issue_queue.md", "frame", "issue_queue.md"},
		{Claude(), "lessons/a.md", "frame", "lessons/a.md"},
		{Claude(), "agent_tool_results/c/x.md", "result", "c/x"},
		{Claude(), "dialogues/s/round-0/a.md", "turn", "s/round-0/a"},
		{Claude(), "sessions/build/k/plan.md", "artifact", "build/k/plan"},
		{Claude(), "commands/fix.md", "note", "commands/fix.md"},
		{Claude(), ".claude/journal/task-1.md", "handoff", ".claude/task-1"},
		{Claude(), "../x.md", "note", "../x.md"},
		{seed(), "s/round-0/a.md", "turn", "s/round-0/a"},
		{seed(), "s/scoreboard.md", "dialogue", "s/scoreboard.md"},
		{seed(), "s/expert-pool.json", "dialogue", "s/expert-pool.json"},
		{seed(), "c/x.md", "result", "c/x"},
		{seed(), "journal/task-1.md", "handoff", "task-1"},
		{seed(), "x.md", "note", "x.md"},
		{orchestrator(), "complete/B-1.done", "marker", "B-1"},
		{orchestrator(), "reports/B-1-loop-001.json", "handoff", "B-1-loop-001"},
		{blue(), "dialogues/s/round-0/a.md", "turn", "s/round-0/a"},
		{blue(), "docs/dialogues/a.md", "dialogue", "docs/a.md"},
	}
	for _, test := range tests {
		if got := test.profile.Within(test.path); got.Kind != test.kind || got.ID != test.id {
			t.Errorf("%s: Within(%q) = %s/%s, want %s/%s", test.profile.Name, test.path, got.Kind, got.ID, test.kind, test.id)
		}
	}
}
