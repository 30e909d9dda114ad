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
		{"plain.md", State{RunID: run, Loop: "2"}},
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
	if again := writeState([]byte(emptyState), state); !bytes.Equal(again, text) {
		t.Errorf("the example is written as (-want +got):\n%s", cmp.Diff(string(text), string(again)))
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
		{"bom before plain lines", "\ufeffrun_id: r\nloop_count: 3\n", State{RunID: "r", Loop: "3"}},
		{"none", "## Running Agents\nNone\n## Completed Agents\n| ID | Task |\n|---|---|\n| None | None |\n## Loop History\nnone yet\n", State{}},
		{"columns in another order", "## Completed Agents\n| Outcome | Task | ID |\n|-|-|-|\n| done | t \\| u | a1 |\n",
			State{Completed: []Agent{{ID: "a1", Task: "t | u", Outcome: "done"}}}},
		{"unknown section", "## Current Run\n- Loop: 2\n## Configuration\n- Max Loops: 5\n- Focus: a\n", State{Loop: "2"}},
		{"another table above", "## Running Agents\n| Wave |\n|-|\n| 1 |\n\n| Task | ID |\n|-|-|\n| t | a2 |\n",
			State{Running: []Agent{{ID: "a2", Task: "t"}}}},
		{"plain lines among others", "note: x\nrun_id: r\nsource_type: spec\n", State{RunID: "r"}},
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
		{"# S\n## Completed Agents\n\n- id: a\n", []string{"s.md:2: Completed Agents has no table with a column ID"}},
		{"# S\n\n## Running Agents\n| Name | Job |\n|---|---|\n| x | y |\n", []string{"s.md:3: Running Agents has no table with a column ID"}},
		{"# S\n\n## Current Run\n- Focus: alpha\n- Focus: second\n", []string{"s.md:5: field Focus is given again (first at line 4)"}},
	}
	for _, test := range tests {
		_, problems := parseOne(t, states, "s.md", []byte(test.text))
		if diff := cmp.Diff(test.want, problems); diff != "" {
			t.Errorf("problems of %q (-want +got):\n%s", test.text, diff)
		}
	}
}

func FuzzState(f *testing.F) {
	for _, file := range []string{"session_state.md", "plain.md"} {
		f.Add(docExample(f, "session-state", file))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, _ := ParseState(text)
		once, _ := ParseState(writeState([]byte(emptyState), first))
		written := writeState([]byte(emptyState), once)
		twice, problems := ParseState(written)
		if diff := cmp.Diff(once, twice, cmpopts.EquateEmpty()); diff != "" || len(problems) > 0 {
			t.Fatalf("%q is read with %v as (-want +got):\n%s", written, problems, diff)
		}
	})
}
