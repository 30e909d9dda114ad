package layout

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestStateExamples(t *testing.T) {
	t.Parallel()
	const run = "run-2026-03-02-1"
	tests := []struct {
		file string
		want State
	}{
		{"session_state.md", State{
			RunID: run, Started: "2026-03-02T09:00:00Z", Loop: "2 of 5", Focus: "security, performance",
			Running:   []Agent{{ID: "agent-71c", Task: "task-004", Model: "sonnet", Started: "10:15:00"}},
			Completed: []Agent{{ID: "agent-5d0", Task: "task-003", Outcome: "completed", Duration: "48m"}},
			History:   []string{"Loop 1: 4/5 tasks completed"},
		}},
		{"lists.md", State{
			RunID: run, Loop: "2 of 5",
			Running:   []Agent{{ID: "agent-71c", Task: "task-004", Model: "sonnet"}},
			Completed: []Agent{{ID: "agent-5d0", Task: "task-003", Outcome: "completed"}},
		}},
		{"plain.md", State{
			RunID: run, Loop: "2",
			Running: []Agent{{ID: "agent-71c", Task: "task-004"}},
		}},
	}
	for _, test := range tests {
		text := docExample(t, "session-state", test.file)
		got, problems := ParseState(text)
		if diff := cmp.Diff(test.want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s: problems %v, state (-want +got):\n%s", test.file, problems, diff)
		}
		facts, _ := parseOne(t, states, "session_state.md", text)
		if facts.Run != run || facts.Loop != "2" {
			t.Errorf("%s: run %q and loop %q, want %q and 2", test.file, facts.Run, facts.Loop, run)
		}
	}
	text := docExample(t, "session-state", "session_state.md")
	state, _ := ParseState(text)
	if again := appendState(nil, state); !bytes.Equal(again, text) {
		t.Errorf("appendState of the example:\n%s", cmp.Diff(string(text), string(again)))
	}
}

func TestStateForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       State
	}{
		{"empty", "", State{}},
		{"crlf, bom", "\ufeff# State\r\n## Current Run\r\n- **Run ID**: r\r\n- Loop: 3\r\n", State{RunID: "r", Loop: "3"}},
		{"none", "## Running Agents\nNone\n## Completed Agents\n| ID | Task |\n|---|---|\n| None | None |\n## Loop History\nnone yet\n", State{History: []string{"none yet"}}},
		{"columns in another order", "## Completed\n| Outcome | Task | Agent |\n|-|-|-|\n| done | t \\| u | a1 |\n",
			State{Completed: []Agent{{ID: "a1", Task: "t | u", Outcome: "done"}}}},
		{"ids alone", "running_agents: [a1, a2]\ncompleted:\n- a3\n", State{Running: []Agent{{ID: "a1"}, {ID: "a2"}}, Completed: []Agent{{ID: "a3"}}}},
		{"nested run", "current_run:\n  id: x\n  run_id: r\n  loop: 1\nhistory:\n  - one\n  - two\n",
			State{RunID: "r", Loop: "1", History: []string{"one", "two"}}},
		{"unknown section", "## Configuration\n- Max Loops: 5\n- Focus: a\n", State{Focus: "a"}},
		{"the run's section decides", "## Current Run\n- Loop: 2\n## Configuration\n- Loop: 5\n- Ended: no\n",
			State{Loop: "2"}},
		{"prose", "## Running Agents\nOne agent: it works.\n- a1: task-004\n",
			State{Running: []Agent{{ID: "a1: task-004"}}}},
		{"tables in a row", "## Running\n| ID |\n|-|\n| a1 |\n\nSecond wave\n| Task | ID |\n|-|-|\n| t | a2 |\n",
			State{Running: []Agent{{ID: "a1"}, {ID: "a2", Task: "t"}}}},
		{"comments between plain lines", "# the run\nrun_id: r\n# who is at work\nrunning_agents:\n  - id: a1\n",
			State{RunID: "r", Running: []Agent{{ID: "a1"}}}},
		{"fenced run", "## Current Run\n\n```yaml\nrun_id: r\nfocus: a\n```\n", State{RunID: "r", Focus: "a"}},
	}
	for _, test := range tests {
		got, _ := ParseState([]byte(test.text))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: state of %q (-want +got):\n%s", test.name, test.text, diff)
		}
	}
}

func TestStateProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"# S\n\n## Running Agents\n| ID | Task |\n|---|---|\n| a |\n| b | c |\n", []string{`s.md:6: agent row "| a |" has 1 cells instead of 2`}},
		{"run_id: r\n   x: y\n", []string{`s.md:2: unexpected "x: y"`}},
		{"# S\n## Completed Agents\n\n```yaml\n- id: a\n     b: c\n```\n", []string{`s.md:6: unexpected "b: c"`}},
	}
	for _, test := range tests {
		_, problems := parseOne(t, states, "s.md", []byte(test.text))
		if diff := cmp.Diff(test.want, problems); diff != "" {
			t.Errorf("problems of %q (-want +got):\n%s", test.text, diff)
		}
	}
}

func FuzzState(f *testing.F) {
	for _, file := range []string{"session_state.md", "lists.md", "plain.md"} {
		f.Add(docExample(f, "session-state", file))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, _ := ParseState(text)
		once, _ := ParseState(appendState(nil, first))
		written := appendState(nil, once)
		twice, problems := ParseState(written)
		if diff := cmp.Diff(once, twice, cmpopts.EquateEmpty()); diff != "" || len(problems) > 0 {
			t.Fatalf("%q is read with %v as (-want +got):\n%s", written, problems, diff)
		}
	})
}
