package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// stateChanges is a run from its first agent to its end.
func stateChanges() []StateChange {
	return []StateChange{
		{Start: []Agent{{ID: "agent-9", Task: "task-009", Model: "opus", Started: "11:00:00"}}},
		{Done: []Agent{{ID: "agent-71c", Task: "task-004", Outcome: "failed", Duration: "45s"}}},
		{Set: []Property{{"Loop", "3 of 5"}}, History: []string{"Loop 2: 1/2 tasks completed"}},
		{Set: []Property{{"Focus", "a | b: c # d"}, {"Ended", "2026-03-02T12:00:00Z"}}},
		{Done: []Agent{{ID: "agent-9", Task: "task-009", Outcome: "completed", Duration: "1h 5m"}}},
		{Clear: true, Set: []Property{{"Run ID", "run-2"}, {"Started", "now"}, {"Loop", "1"}, {"Focus", ""},
			{"Ended", ""}}},
		{Start: []Agent{{ID: "a|b", Task: "x: y", Model: "", Started: "09:00:00"}}},
	}
}

// with returns the state that a change should lead to.
func (s State) with(c StateChange) State {
	if c.Clear {
		s.Running, s.Completed, s.History = nil, nil, nil
	}
	fields := map[string]*string{"Run ID": &s.RunID, "Started": &s.Started, "Loop": &s.Loop, "Focus": &s.Focus, "Ended": &s.Ended}
	for _, p := range c.Set {
		*fields[p.Key] = p.Value
	}
	s.Running = append(slices.Clone(s.Running), c.Start...)
	s.Completed = append(slices.Clone(s.Completed), c.Done...)
	for _, done := range c.Done {
		s.Running = slices.DeleteFunc(s.Running, func(a Agent) bool {
			return a.ID == done.ID && (a.Task == "" || JournalID(a.Task) == JournalID(done.Task))
		})
	}
	s.History = append(slices.Clone(s.History), c.History...)
	return s
}

// TestStateChanges changes both forms of the page, step by step: each step must say what it should.
func TestStateChanges(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"session_state.md", "plain.md"} {
		for _, eol := range []string{"\n", "\r\n"} {
			text := []byte(strings.ReplaceAll(string(docExample(t, "session-state", file)), "\n", eol))
			for i, change := range stateChanges() {
				before, _ := ParseState(text)
				edited, kept := change.Apply(text)
				got, problems := ParseState(edited)
				if diff := cmp.Diff(before.with(change), got, cmpopts.EquateEmpty()); diff != "" || !kept ||
					len(problems) > 0 {
					t.Fatalf("%s, change %d: kept %t, problems %v\n%s\ngives\n%s\n(-want +got):\n%s", file, i, kept,
						problems, text, edited, diff)
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
	t.Parallel()
	start := StateChange{Start: []Agent{{ID: "a2", Task: "t2", Model: "m", Started: "10:00:00"}}}
	done := StateChange{Done: []Agent{{ID: "a1", Task: "t1", Outcome: "completed", Duration: "5s"}}}
	loop := StateChange{Set: []Property{{"Loop", "2 of 3"}}, History: []string{"Loop 1: 1/1 tasks completed"}}
	const running, completed = "| ID | Task | Model | Started |\n|----|------|-------|---------|\n",
		"| ID | Task | Outcome | Duration |\n|----|------|---------|----------|\n"
	tests := []struct {
		name, text string
		change     StateChange
		want       string
	}{
		{"table with other columns", "# S\nhello\n\n## Running Agents\n| Started | ID | Note |\n|--|--|--|\n| 9 | a1 | x |\n\nbye\n", start,
			"# S\nhello\n\n## Running Agents\n| Started | ID | Note | Task | Model |\n|--|--|--|------|-------|\n| 9 | a1 | x | | |\n| 10:00:00 | a2 |  | t2 | m |\n\nbye\n"},
		{"row of None", "## Running Agents\n" + running + "| None | - | - | - |\n", start,
			"## Running Agents\n" + running + "| None | - | - | - |\n| a2 | t2 | m | 10:00:00 |\n"},
		{"the word None", "## Running Agents\nNone\n\n## Notes\nkeep\n", start,
			"## Running Agents\n" + running + "| a2 | t2 | m | 10:00:00 |\n\nNone\n\n## Notes\nkeep\n"},
		{"a row that is too short", "## Running Agents\n" + running + "| a1 |\n| b | c | | |\n", start,
			"## Running Agents\n" + running + "| a1 |\n| b | c | | |\n| a2 | t2 | m | 10:00:00 |\n"},
		{"no such section", "# S\n\n## Notes\nkeep", start,
			"# S\n\n## Notes\nkeep\n\n## Running Agents\n" + running + "| a2 | t2 | m | 10:00:00 |\n"},
		{"another form", "## Running Agents\n- a1\n\n## Notes\n", done,
			"## Running Agents\n- a1\n\n## Notes\n\n## Completed Agents\n" + completed + "| a1 | t1 | completed | 5s |\n"},
		{"a row that goes", "## Running Agents\n| ID | Note |\n|--|--|\n| a0 | x |\n| a1 | y |\n## Completed Agents\nsee below\n", done,
			"## Running Agents\n| ID | Note |\n|--|--|\n| a0 | x |\n## Completed Agents\n" + completed +
				"| a1 | t1 | completed | 5s |\n\nsee below\n"},
		{"a fence that holds headings", "````markdown\n## Running Agents\n- Loop: 7\n````\n", start,
			"````markdown\n## Running Agents\n- Loop: 7\n````\n\n## Running Agents\n" + running + "| a2 | t2 | m | 10:00:00 |\n"},
		{"bold keys", "# S\n## Current Run\n- **Loop:** 1 of 3\n- **Other**: x\n\n## Loop History\nNone\n", loop,
			"# S\n## Current Run\n- **Loop:** 2 of 3\n- **Other**: x\n\n## Loop History\n- Loop 1: 1/1 tasks completed\nNone\n"},
		{"history with other text", "## Loop History\n- first\n   - more\n\n```\nlog\n```\n",
			StateChange{History: []string{"Loop 2"}},
			"## Loop History\n- first\n- Loop 2\n   - more\n\n```\nlog\n```\n"},
		{"a new run", "## Loop History\n- first\n\n```\nlog\n```\n- second\n",
			StateChange{Clear: true, History: []string{"Loop 2"}},
			"## Loop History\n\n```\nlog\n```\n- Loop 2\n"},
		{"plain lines", "note: x\nloop_count: 1 of 3\nsource_type: spec\n", loop,
			"note: x\nloop_count: 2 of 3\nsource_type: spec\n\n## Loop History\n- Loop 1: 1/1 tasks completed\n"},
		{"a new plain line", "run_id: r\nnote: x", StateChange{Set: []Property{{"Focus", "a"}}}, "run_id: r\nFocus: a\nnote: x\n"},
		{"byte order mark", "\ufeffloop: 1\n", StateChange{Set: []Property{{"Loop", "2"}}}, "\ufeffloop: 2\n"},
		{"text alone", "hello\n", StateChange{Set: []Property{{"Loop", "2"}}},
			"hello\n\n## Current Run\n- Loop: 2\n"},
	}
	for _, test := range tests {
		got, kept := test.change.Apply([]byte(test.text))
		if diff := cmp.Diff(test.want, string(got)); diff != "" || !kept {
			t.Errorf("%s: kept %t, %q changed (-want +got):\n%s", test.name, kept, test.text, diff)
		}
	}
}

// TestStateOfAnotherForm changes a text that a section cannot follow: it stands
// as it was behind a new state, and is no part of it.
func TestStateOfAnotherForm(t *testing.T) {
	t.Parallel()
	text := "run_id: r\n<!-- open\n```\n"
	change := StateChange{Start: []Agent{{ID: "-->"}}}
	edited, kept := change.Apply([]byte(text))
	if kept || !strings.HasSuffix(string(edited), "\n\n## Earlier Text\n\n````text\n"+text+"````\n") {
		t.Errorf("%q becomes, kept %t, %q", text, kept, edited)
	}
	if edited, kept = change.Apply(edited); !kept || strings.Count(string(edited), "| --> |") != 2 {
		t.Errorf("changed again, kept %t:\n%s", kept, edited)
	}
}

func TestLoopNumber(t *testing.T) {
	t.Parallel()
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

// statePieces are what the texts of TestStatesLoseNothing are made of: %d stands
// for a number that nothing else has.
var statePieces = []string{
	"# Session State\n", "## Current Run\n", "## Running Agents\n", "## Completed\n", "## Loop History\n",
	"## Zustand %d\n", "### Wave %d\n",
	"Underlined %d\n---\n", "- Run ID: run-%d\n", "- **Loop:** %d of 9\n", "focus: f%d # why%d\n", "- Note: n%d\n",
	"note_%d: x # y%d\n",
	"| ID | Task | Note%d |\n|--|--|--|\n| a%d | t%d | n%d |\n", "| a%d | t%d | n%d |\n", "| short%d |\n",
	"- id: a%d\n  task: t%d\n  files%d: [x%d, y%d]\n",
	"```yaml\n# c%d\n- a%d # d%d\n```\n", "```go\n## In a fence %d\n- Loop: %d\n```\n", "<!-- hidden %d -->\n",
	"Prose %d: more of it.\n", "  indented%d: x\n",
	"- Loop %d: 1/2\n", "running_agents:\n  - id: a%d\n    pid: %d\n  - a%d # e%d\n", "None\n",
	"- id: none\n  task: t%d\n", "***\n", "\n", "\n", "| None | t%d | n%d |\n", "* star%d\n",
}

// TestStatesLoseNothing changes texts of all kinds of pieces: each line must be there after it, and a second change must
// leave all but its own as it is.
func TestStatesLoseNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 4_000 {
		text, number := "", 1000
		for range 1 + random.IntN(12) {
			for piece := statePieces[random.IntN(len(statePieces))]; piece != ""; {
				before, after, found := strings.Cut(piece, "%d")
				if text, piece = text+before, after; found {
					text += fmt.Sprint(number)
					number++
				}
			}
		}
		if random.IntN(4) == 0 {
			text = "\ufeff" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\r\n")
		}
		edited := checkSettled(t, []byte(text), StateChange{Start: []Agent{{ID: "new-agent"}}})
		counts := map[string]int{}
		for line := range strings.Lines(string(edited)) {
			counts[strings.TrimRight(strings.TrimPrefix(line, markdown.ByteOrderMark), "\r\n")]++
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(strings.TrimPrefix(line, markdown.ByteOrderMark), "\r\n")
			if counts[line]--; counts[line] < 0 {
				t.Fatalf("the line %q of %q is gone in %q", line, text, edited)
			}
		}
	}
}

// checkSettled makes a change, and makes sure that another one has nothing else to write.
func checkSettled(t *testing.T, text []byte, c StateChange) []byte {
	t.Helper()
	edited, _ := c.Apply(text)
	if again, kept := (StateChange{}).Apply(edited); !kept || !bytes.Equal(again, edited) {
		t.Fatalf("%q becomes %q and, kept %t, %q", text, edited, kept, again)
	}
	return edited
}

// FuzzStateChange makes sure that a change says what it should, whatever the text
// is.
func FuzzStateChange(f *testing.F) {
	for _, file := range []string{"session_state.md", "plain.md"} {
		f.Add(docExample(f, "session-state", file))
	}
	f.Add([]byte("## Running Agents\n```\n- a\n"))
	f.Add([]byte("# S\n\n## Running Agents\n| ID | Task |\n|--|--|\n| agent-71c | t |\n| agent-71c | 4 |\n"))
	f.Add([]byte("---\nrunning: [a, b]\n---\n# S\n## Completed\n- x\n  y\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, change := range stateChanges() {
			before, _ := ParseState(text)
			edited := checkSettled(t, text, change)
			got, _ := ParseState(edited)
			want := before.with(change)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%q becomes %q (-want +got):\n%s", text, edited, diff)
			}
			text = edited
		}
	})
}
