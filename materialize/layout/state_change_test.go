package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
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
	fields := []*string{&s.RunID, &s.Started, &s.Loop, &s.Focus, &s.Ended}
	for _, p := range c.Set {
		*fields[stateFieldOf(p.Key)] = p.Value
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

// TestStateChanges changes the three forms of the page, step by step: each step
// must say what it should, in the canonical form.
func TestStateChanges(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"session_state.md", "lists.md", "plain.md"} {
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
		{"table with other columns", "# S\nhello\n\n## Running\n| Started | Agent | Note |\n|--|--|--|\n| 9 | a1 | x |\n\nbye\n", start,
			"# S\nhello\n\n## Running\n| ID | Task | Model | Started | Note |\n|----|------|-------|---------|------|\n| a1 |  |  | 9 | x |\n| a2 | t2 | m | 10:00:00 |  |\n\nbye\n"},
		{"columns of the same name", "## Running\n| ID | Agent | Note | Note |\n|--|--|--|--|\n| a1 | fd | x | y |\n",
			start,
			"## Running\n| ID | Task | Model | Started | Note | Note_ | Agent |\n|----|------|-------|---------|------|-------|-------|\n| a1 |  |  |  | x | y | fd |\n| a2 | t2 | m | 10:00:00 |  |  |  |\n"},
		{"row of None", "## Running Agents\n| ID | Task |\n|---|---|\n| None | - |\n", start,
			"## Running Agents\n" + running + "| a2 | t2 | m | 10:00:00 |\n"},
		{"the word None", "## Running Agents\nNone\n\n## Notes\nkeep\n", start,
			"## Running Agents\n" + running + "| a2 | t2 | m | 10:00:00 |\n\n## Notes\nkeep\n"},
		{"a row that is too short", "## Running Agents\n| ID | Task |\n|---|---|\n| a1 |\n| b | c |\n", start,
			"## Running Agents\n" + running + "| b | c |  |  |\n| a2 | t2 | m | 10:00:00 |\n\n" + tableEnd +
				"\n| a1 |\n"},
		{"no such section", "# S\n\n## Notes\nkeep", start,
			"# S\n\n## Notes\nkeep\n\n## Running Agents\n" + running + "| a2 | t2 | m | 10:00:00 |\n"},
		{"fenced list", "## Running Agents\n```yaml\n- agent_id: a1\n  issue: t1\n```\nkeep\n\n## Completed Agents\n\n## Notes\n", done,
			"## Running Agents\n" + running + "\nkeep\n\n## Completed Agents\n" + completed +
				"| a1 | t1 | completed | 5s |\n\n## Notes\n"},
		{"fence with more", "## Running Agents\n\n```yaml\n# by hand\n- a1\n```\n", done,
			"## Running Agents\n\n" + running + "\n```yaml\n# by hand\n\n```\n\n## Completed Agents\n" + completed +
				"| a1 | t1 | completed | 5s |\n"},
		{"a fence that holds headings",
			"## Running Agents\n- a1\n\n````markdown\n## Running Agents\n- a7\n```\n- Loop: 7\n```\n````\n", done,
			"## Running Agents\n" + running +
				"\n````markdown\n## Running Agents\n- a7\n```\n- Loop: 7\n```\n````\n\n## Completed Agents\n" +
				completed + "| a1 | t1 | completed | 5s |\n"},
		{"keys of a list", "running_agents:\n- agent_id: a1 # first\n  issue: t1\n  files: [x, y]\nother: 1\n", start,
			"    # first\n\nother: 1\n\n# Session State\n\n## Running Agents\n| ID | Task | Model | Started | files |\n|----|------|-------|---------|-------|\n| a1 | t1 |  |  | x, y |\n| a2 | t2 | m | 10:00:00 |  |\n"},
		{"flow list", "running_agents: [a1, a3]\nother: 1\n", done,
			"other: 1\n\n# Session State\n\n## Running Agents\n" + running +
				"| a3 |  |  |  |\n\n## Completed Agents\n" + completed + "| a1 | t1 | completed | 5s |\n"},
		{"a list over two lines", "run_id: r\nrunning_agents: [a1,\n  a2]\n", start,
			"# Session State\n\n## Current Run\n- Run ID: r\n\n## Running Agents\n" + running +
				"| a1 |  |  |  |\n| a2 |  |  |  |\n| a2 | t2 | m | 10:00:00 |\n"},
		{"bold keys", "# S\n## Current Run\n- **Loop:** 1 of 3\n- **Other**: x\n\n## Loop History\nNone\n", loop,
			"# S\n## Current Run\n- Loop: 2 of 3\n\n- **Other**: x\n\n## Loop History\n- Loop 1: 1/1 tasks completed\n"},
		{"history of its own form", "## Loop History\n1. first\n   - more\n\n```\nlog\n```\n",
			StateChange{History: []string{"Loop 2"}},
			"## Loop History\n1. first\n   - more\n- Loop 2\n\n```\nlog\n```\n"},
		{"a new run", "## Loop History\n- first\n\n```\nlog\n```\n- second\n",
			StateChange{Clear: true, History: []string{"Loop 2"}},
			"## Loop History\n- Loop 2\n\n```\nlog\n```\n"},
		{"comment behind a value", "loop: 1 of 3 # planned\n", loop,
			"    # planned\n\n# Session State\n\n## Current Run\n- Loop: 2 of 3\n\n## Loop History\n- Loop 1: 1/1 tasks completed\n"},
		{"nested run", "current_run:\n  run_id: r\n  started: now\nnote: x\n", loop,
			"note: x\n\n# Session State\n\n## Current Run\n- Run ID: r\n- Started: now\n- Loop: 2 of 3\n\n## Loop History\n- Loop 1: 1/1 tasks completed\n"},
		{"properties below the title",
			"# State\nRead me first.\n\n- Run ID: r\n- Loop: 1\n- Other: x\n\n## Notizen\n- Loop: bleibt\n\n## Loop History\n", loop,
			"# State\nRead me first.\n\n- Other: x\n\n## Notizen\n- Loop: bleibt\n\n## Current Run\n- Run ID: r\n- Loop: 2 of 3\n\n## Loop History\n- Loop 1: 1/1 tasks completed\n"},
		{"front matter", "---\nloop: 1\nkeep: x\n---\n# S\n", loop,
			"---\n\nkeep: x\n---\n# S\n\n## Current Run\n- Loop: 2 of 3\n\n## Loop History\n- Loop 1: 1/1 tasks completed\n"},
		{"byte order mark", "\ufeffloop: 1\n", StateChange{Set: []Property{{"Loop", "2"}}},
			"\ufeff# Session State\n\n## Current Run\n- Loop: 2\n"},
		{"text alone", "hello\n", StateChange{Set: []Property{{"Loop", "2"}}},
			"hello\n\n# Session State\n\n## Current Run\n- Loop: 2\n"},
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
	text := "run_id: r\n```\nopen\n"
	change := StateChange{Start: []Agent{{ID: "a9"}}}
	edited, kept := change.Apply([]byte(text))
	if kept || !strings.HasSuffix(string(edited), "\n\n## Earlier Text\n\n````text\n"+text+"````\n") {
		t.Errorf("%q becomes, kept %t, %q", text, kept, edited)
	}
	if edited, kept = change.Apply(edited); !kept || strings.Count(string(edited), "| a9 |") != 2 {
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

// TestStatesLoseNothing changes texts of all kinds of pieces: each word that only
// one piece has must be there after it, each line that is not understood as it
// was, and a second change must leave all but its own as it is.
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
		edited := checkLostNothing(t, []byte(text), StateChange{Start: []Agent{{ID: "new-agent"}}})
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
			if len(word) == 4 && !strings.Contains(string(edited), word) && !strings.Contains(text, "run-"+word) &&
				!strings.Contains(text, word+" of 9") && !strings.Contains(text, "f"+word) {
				t.Fatalf("%s is gone: %q becomes %q", word, text, edited)
			}
		}
	}
}

// checkLostNothing makes a change, and makes sure that the lines that are not
// understood are there after it, and that another one has nothing else to write.
func checkLostNothing(t *testing.T, text []byte, c StateChange) []byte {
	t.Helper()
	edited, _ := c.Apply(text)
	counts := map[string]int{}
	for line := range strings.Lines(string(edited)) {
		counts[strings.TrimRight(strings.TrimPrefix(line, markdown.ByteOrderMark), "\r\n")]++
	}
	for _, p := range readState(text).parts {
		for line := range strings.Lines(p.heading + p.before + p.after) {
			line = strings.TrimRight(line, "\r\n")
			if counts[line]--; counts[line] < 0 && strings.TrimSpace(line) != "" &&
				bytes.Contains(text, []byte(line)) && !c.Clear {
				t.Fatalf("the line %q of %q is gone in %q", line, text, edited)
			}
		}
	}
	if again, kept := (StateChange{}).Apply(edited); !kept || !bytes.Equal(again, edited) {
		t.Fatalf("%q becomes %q and, kept %t, %q", text, edited, kept, again)
	}
	return edited
}

// FuzzStateChange makes sure that a change says what it should, whatever the text
// is, and that nothing is lost.
func FuzzStateChange(f *testing.F) {
	for _, file := range []string{"session_state.md", "lists.md", "plain.md"} {
		f.Add(docExample(f, "session-state", file))
	}
	f.Add([]byte("## Running Agents\n```\n- a\n"))
	f.Add([]byte("# S\n\n## Running Agents\n| ID | Task |\n|--|--|\n| agent-71c | t |\n| agent-71c | 4 |\n"))
	f.Add([]byte("---\nrunning: [a, b]\n---\n# S\n## Completed\n- x\n  y\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, change := range stateChanges() {
			before, _ := ParseState(text)
			edited := checkLostNothing(t, text, change)
			got, _ := ParseState(edited)
			want := before.with(change)
			want.Focus, got.Focus = "", "" // a section of its own may say another one
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%q becomes %q (-want +got):\n%s", text, edited, diff)
			}
			text = edited
		}
	})
}

// What a text says twice, or in a form that no property has, is not lost when a command
// writes the state.
func TestChangeKeepsWhatIsSaidTwice(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a key again":     "# S\n\n## Current Run\n- Run ID: r1\n- Loop: 1\n- Focus: alpha\n- Focus: second\n",
		"front matter":    "---\nrun_id: front\nloop: 3\n---\n# S\n\n## Current Run\n- Run ID: r1\n- Loop: 1\n- Focus: alpha\n",
		"a section again": "# S\n\n## Current Run\n- Focus: alpha\n\n## Current Run\n- Focus: beta\n",
		"items below":     "# S\n\n## Current Run\n- Run ID: r1\n- Focus:\n  - punkt eins\n  - punkt zwei\n- Loop: 1\n",
		"a YAML list":     "# S\n\n## Current Run\n```yaml\nrun_id: r1\nfocus: [eins, zwei]\nloop: 1\n```\n",
		"Windows lines":   "# S\r\n\r\n## Current Run\r\n- Focus: alpha\r\n- Focus: zwei\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := ParseState([]byte(text))
			edited, _ := StateChange{Set: []Property{{"Loop", "7"}}}.Apply([]byte(text))
			after, _ := ParseState(edited)
			before.Loop = "7"
			if !reflect.DeepEqual(after, before) {
				t.Errorf("is read as %+v, not %+v, in\n%s", after, before, edited)
			}
			for _, word := range []string{"alpha", "second", "front", "3", "beta", "eins", "zwei", "punkt"} {
				if strings.Contains(text, word) && !strings.Contains(string(edited), word) {
					t.Errorf("%q is gone from\n%s", word, edited)
				}
			}
		})
	}
	_, problems := ParseState([]byte("# S\n\n## Current Run\n- Focus: alpha\n- Focus: second\n"))
	if len(problems) != 1 || problems[0].Line != 5 {
		t.Errorf("a key that is given again is reported as %v", problems)
	}
	_, problems = ParseState([]byte("# S\n\n## Running Agents\n| Name | Job |\n|---|---|\n| x | y |\n"))
	if len(problems) != 1 || problems[0].Line != 4 {
		t.Errorf("a table without a known column is reported as %v", problems)
	}
}
