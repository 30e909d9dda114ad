package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stateChanges is a run from its first agent to its end.
func stateChanges() []StateChange {
	return []StateChange{
		{Start: []RunningAgent{{"agent-9", "task-009", "opus", "11:00:00"}}},
		{Done: []CompletedAgent{{"agent-71c", "task-004", "failed", "45s"}}},
		{Set: []Property{{"Loop", "3 of 5"}}, History: []string{"Loop 2: 1/2 tasks completed"}},
		{Set: []Property{{"Focus", "a | b: c # d"}, {PropertyEnded, "2026-03-02T12:00:00Z"}}},
		{Done: []CompletedAgent{{"agent-9", "task-009", "completed", "1h 5m"}}},
		{Clear: true, Set: []Property{{"Run ID", "run-2"}, {"Started", "now"}, {"Loop", "1"}, {"Focus", ""}, {PropertyEnded, ""}}},
		{Start: []RunningAgent{{"a|b", "x: y", "", "09:00:00"}}},
	}
}

// TestStateChangesKeepTheForm changes the three forms of the page, step by step:
// each step must say what it should and keep every line that it is not about.
func TestStateChangesKeepTheForm(t *testing.T) {
	for _, file := range []string{"session_state.md", "lists.md", "plain.md"} {
		for _, eol := range []string{"\n", "\r\n"} {
			text := []byte(strings.ReplaceAll(string(docExample(t, "session-state", file)), "\n", eol))
			for i, change := range stateChanges() {
				before, _ := ParseState(text)
				edited, kept := change.Apply(text)
				got, problems := ParseState(edited)
				if want := before.with(change); !got.holds(want) || !kept || len(problems) > 0 {
					t.Fatalf("%s, change %d: kept %t, problems %v\n%s\ngives\n%s\nwant %+v", file, i, kept, problems, text, edited, want)
				}
				if eol == "\r\n" && strings.Count(string(edited), "\n") != strings.Count(string(edited), "\r\n") {
					t.Errorf("%s, change %d: mixed line endings in %q", file, i, edited)
				}
				text = edited
			}
		}
	}
}

func TestStateChangeTexts(t *testing.T) {
	start := StateChange{Start: []RunningAgent{{"a2", "t2", "m", "10:00:00"}}}
	done := StateChange{Done: []CompletedAgent{{"a1", "t1", "completed", "5s"}}}
	loop := StateChange{Set: []Property{{"Loop", "2 of 3"}}, History: []string{"Loop 1: 1/1 tasks completed"}}
	tests := []struct {
		name, text string
		change     StateChange
		want       string
	}{
		{"table with other columns", "# S\nhello\n\n## Running\n| Started | Agent | Note |\n|--|--|--|\n| 9 | a1 | x |\n\nbye\n", start,
			"# S\nhello\n\n## Running\n| Started | Agent | Note |\n|--|--|--|\n| 9 | a1 | x |\n| 10:00:00 | a2 |  |\n\nbye\n"},
		{"row of None", "## Running Agents\n| ID | Task |\n|---|---|\n| None | - |\n", start,
			"## Running Agents\n| ID | Task |\n|---|---|\n| a2 | t2 |\n"},
		{"the word None", "## Running Agents\nNone\n\n## Notes\nkeep\n", start,
			"## Running Agents\n| ID | Task | Model | Started |\n|----|------|-------|---------|\n| a2 | t2 | m | 10:00:00 |\n\n## Notes\nkeep\n"},
		{"no such section", "# S\n\n## Notes\nkeep", start,
			"# S\n\n## Notes\nkeep\n\n## Running Agents\n| ID | Task | Model | Started |\n|----|------|-------|---------|\n| a2 | t2 | m | 10:00:00 |\n"},
		{"fenced list", "## Running Agents\n```yaml\n- agent_id: a1\n  issue: t1\n```\nkeep\n\n## Completed Agents\n\n## Notes\n", done,
			"## Running Agents\n```yaml\n```\nkeep\n\n## Completed Agents\n| ID | Task | Outcome | Duration |\n|----|------|---------|----------|\n| a1 | t1 | completed | 5s |\n\n## Notes\n"},
		{"keys of the list", "running_agents:\n- agent_id: a1 # first\n  issue: t1\nother: 1\n", start,
			"running_agents:\n- agent_id: a1 # first\n  issue: t1\n- agent_id: a2\n  issue: t2\n  model: m\n  started: 10:00:00\nother: 1\n"},
		{"flow list", "running_agents: [a1, a3]\nother: 1\n", done,
			"running_agents:\n  - a3\nother: 1\ncompleted_agents:\n  - id: a1\n    task: t1\n    outcome: completed\n    duration: 5s\n"},
		{"empty flow list", "running_agents: []\n", start,
			"running_agents:\n  - id: a2\n    task: t2\n    model: m\n    started: 10:00:00\n"},
		{"bold keys", "# S\n## Current Run\n- **Loop:** 1 of 3\n- **Other**: x\n\n## Loop History\nNone\n", loop,
			"# S\n## Current Run\n- **Loop:** 2 of 3\n- **Other**: x\n\n## Loop History\n- Loop 1: 1/1 tasks completed\n"},
		{"comment behind a value", "loop: 1 of 3 # planned\n", loop,
			"loop: 2 of 3 # planned\nloop_history:\n  - \"Loop 1: 1/1 tasks completed\"\n"},
		{"nested run", "current_run:\n  run_id: r\n  started: now\nnote: x\n", loop,
			"current_run:\n  run_id: r\n  started: now\n  loop: 2 of 3\nnote: x\nloop_history:\n  - \"Loop 1: 1/1 tasks completed\"\n"},
		{"an agent's own properties", "run_id: r\nrunning_agents:\n  - id: a1\n    loop: 7\n", StateChange{Set: []Property{{"Loop", "2"}}},
			"run_id: r\nloop: 2\nrunning_agents:\n  - id: a1\n    loop: 7\n"},
		{"byte order mark", "\ufeffloop: 1\n", StateChange{Set: []Property{{"Loop", "2"}}}, "\ufeffloop: 2\n"},
		{"text alone", "hello\n", StateChange{Set: []Property{{"Loop", "2"}}}, "hello\n\n## Current Run\n- Loop: 2\n"},
	}
	for _, test := range tests {
		got, kept := test.change.Apply([]byte(test.text))
		if diff := cmp.Diff(test.want, string(got)); diff != "" || !kept {
			t.Errorf("%s: kept %t, %q changed (-want +got):\n%s", test.name, kept, test.text, diff)
		}
	}
}

// TestStateOfAnotherForm changes texts that no edit fits: they are written anew,
// with all that was read of them.
func TestStateOfAnotherForm(t *testing.T) {
	text := "run_id: r\nrunning_agents: [a1,\n  a2]\n"
	change := StateChange{Start: []RunningAgent{{ID: "a9"}}}
	before, _ := ParseState([]byte(text))
	edited, kept := change.Apply([]byte(text))
	got, _ := ParseState(edited)
	if kept || !got.holds(before.with(change)) {
		t.Errorf("%q becomes, kept %t, %q", text, kept, edited)
	}
}

func TestLoopNumber(t *testing.T) {
	tests := []struct {
		loop          string
		want, planned int
	}{
		{"", 0, 0}, {"3", 3, 0}, {"2 of 5", 2, 5}, {"2/5", 2, 5}, {"002 of 10", 2, 10}, {"one", 0, 0},
		{"99999999999999999999", 0, 0}, {"2 (review)", 2, 0},
	}
	for _, test := range tests {
		if n, planned := (State{Loop: test.loop}).LoopNumber(); n != test.want || planned != test.planned {
			t.Errorf("loop %q is %d of %d, want %d of %d", test.loop, n, planned, test.want, test.planned)
		}
	}
}

// FuzzStateChange makes sure that a change says what it should, whatever the text
// is.
func FuzzStateChange(f *testing.F) {
	for _, file := range []string{"session_state.md", "lists.md", "plain.md"} {
		f.Add(docExample(f, "session-state", file))
	}
	f.Add([]byte("## Running Agents\n```\n- a\n"))
	f.Add([]byte("---\nrunning: [a, b]\n---\n# S\n## Completed\n- x\n  y\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, change := range stateChanges() {
			before, _ := ParseState(text)
			edited, kept := change.Apply(text)
			if got, _ := ParseState(edited); kept && !got.holds(before.with(change)) {
				t.Fatalf("%q becomes %q", text, edited)
			}
			text = edited
		}
	})
}
