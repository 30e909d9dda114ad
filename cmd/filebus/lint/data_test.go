package lint_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/lint"
	"filebus/materialize/layout"
)

// journal returns a journal with a status and, if it has an outcome, a handoff.
func journal(status string, handoff *layout.Handoff) string {
	return string(layout.AppendJournal(nil, layout.Journal{Task: "T", Status: status, Started: "2026-03-02T10:00:00Z", Handoff: handoff}))
}

func complete() *layout.Handoff { return &layout.Handoff{Outcome: "completed", Summary: "All done"} }

// under puts files below the root of a profile, with its folder for markers.
func under(root, markers string, files map[string]string) map[string]string {
	placed := map[string]string{}
	for name, text := range files {
		placed[root+"/"+strings.Replace(name, "MARKERS/", markers+"/", 1)] = text
	}
	return placed
}

func TestTasks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  []string // as found, below the root
	}{
		{"a task that is done", map[string]string{"journal/task-003.md": journal("completed", complete()), "MARKERS/003.done": "done"}, nil},
		{"one at work", map[string]string{"journal/task-003.md": journal("in_progress", nil)}, nil},
		{"one with a form to fill in", map[string]string{"journal/task-003.md": journal("in_progress", &layout.Handoff{})}, nil},
		{"no marker", map[string]string{"journal/task-003.md": journal("completed", complete())}, []string{"journal/task-003.md:4 journal-marker"}},
		{"no handoff", map[string]string{"journal/task-003.md": journal("failed", nil), "MARKERS/task-003.done": ""}, []string{"journal/task-003.md:4 journal-handoff"}},
		{"an incomplete handoff", map[string]string{
			"journal/task-003.md": journal("blocked", &layout.Handoff{Outcome: "blocked", Summary: "Stuck"}), "MARKERS/003.done": "",
		}, []string{"journal/task-003.md:9 handoff-incomplete"}},
		{"an outcome, but a status that was forgotten", map[string]string{"journal/task-003.md": journal("in_progress", complete())}, []string{"journal/task-003.md:4 journal-marker"}},
		{"no journal", map[string]string{"MARKERS/003.done": "done"}, []string{"MARKERS/003.done:1 marker-journal"}},
		{"another name", map[string]string{"journal/task-V01.md": journal("completed", complete()), "MARKERS/analysis-TASK-V01.done": "done"},
			[]string{"MARKERS/analysis-TASK-V01.done:1 marker-name"}},
		{"another spelling", map[string]string{"journal/task-003.md": journal("completed", complete()), "MARKERS/Task_3.done": "done"},
			[]string{"MARKERS/Task_3.done:1 marker-name"}},
		{"another ending", map[string]string{"journal/task-003.md": journal("completed", complete()), "MARKERS/003.txt": "done"},
			[]string{"MARKERS/003.txt:1 marker-name"}},
		{"another place", map[string]string{"journal/task-003.md": journal("completed", complete()), "done/003.done": "done"},
			[]string{"done/003.done:1 marker-name"}},
		{"two tasks", map[string]string{
			"journal/task-003.md": journal("completed", complete()), "MARKERS/003.done": "done",
			"journal/task-004.md": journal("completed", complete()), "MARKERS/xyz.done": "done",
		}, []string{"MARKERS/xyz.done:1 marker-journal", "journal/task-004.md:4 journal-marker"}},
		{"a queued task's marker", map[string]string{"task_queue.md": "# Task Queue\n\n### B-1: Build\n\n**Status:** pending\n", "MARKERS/b1.done": ""},
			[]string{"MARKERS/b1.done:1 marker-name"}},
	}
	for _, profile := range []struct{ root, markers string }{{".claude", "agent_complete"}, {".orchestrator", "complete"}} {
		for _, test := range tests {
			t.Run(profile.root+"/"+test.name, func(t *testing.T) {
				want := []string{}
				for _, line := range test.want {
					want = append(want, profile.root+"/"+strings.Replace(line, "MARKERS/", profile.markers+"/", 1))
				}
				dir := write(t, under(profile.root, profile.markers, test.files))
				if diff := cmp.Diff(want, found(t, dir, lint.Options{})); diff != "" {
					t.Errorf("files %q: findings (-want +got):\n%s", test.files, diff)
				}
			})
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 120)
	head := "# Session State\n\n## Current Run\n- Run ID: run-1\n- Loop: 1 of 2\n"
	table := "\n## Completed Agents\n| ID | Task | Outcome | Duration |\n|----|------|---------|----------|\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a state", head + table + "| a | 003 | completed | 45s |\n\n## Loop History\n- Loop 1: 4/5 tasks completed\n", nil},
		{"YAML", head + "\n## Running Agents\n```yaml\n- id: a\n  task: 003\n```\n", nil},
		{"YAML without its name", head + "\n## Running Agents\n```\n- id: a\n  task: 003\n```\n", nil},
		{"a long value", head + "- Focus: " + long + "\n", []string{"6 state-output"}},
		{"a long cell", head + table + "| a | 003 | " + long + " | 45s |\n", []string{"10 state-output"}},
		{"prose", head + "\n## Notes\n" + strings.Repeat("The agent found that this is so.\n", 20), []string{"8 state-output"}},
		{"a note", head + "\n## Notes\nResume with loop 2.\n", nil},
		{"code", head + "\n```go\n" + strings.Repeat("func main() {}\n", 40) + "```\n", []string{"8 state-output"}},
		{"little code", head + "\n```go\nfunc main() {}\n```\n", nil},
		{"a transcript", head + "\n## Agents\n" + strings.Repeat("Assistant: I looked at it.\nHuman: go on\n", 20), []string{"8 state-output"}},
		{"JSON of a transcript", head + strings.Repeat("\n{\"type\":\"assistant\",\"message\":{}}\n", 20), []string{"7 state-output"}},
		{"the seed's field", head + "- final_output: It works\n", []string{"6 state-output"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := write(t, map[string]string{".claude/session_state.md": test.text})
			want := []string{}
			for _, line := range test.want {
				want = append(want, ".claude/session_state.md:"+line)
			}
			if diff := cmp.Diff(want, found(t, dir, lint.Options{Rules: []string{"state-output"}})); diff != "" {
				t.Errorf("state\n%s\nfindings (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	issue := func(id string) string { return "### " + id + "\n\n**Summary:** It is slow\n\n---\n" }
	dir := write(t, map[string]string{
		".claude/issue_queue.md":             "# Issue Queue\n\n" + issue("ISSUE-20260301-001") + issue("ISSUE-20260301-001"),
		".orchestrator/issue_queue.md":       issue("ISSUE-20260301-001"),
		"sub/.claude/issue_queue.md":         issue("ISSUE-20260301-001"), // another project
		".claude/knowledge_graph.md":         "### pattern-001\n- Content: x\n\n### pattern-001\n- Content: y\n",
		".claude/task_queue.md":              "### B-1: a\n\n### B-1: b\n",
		".claude/journal/index.md":           strings.Repeat("x", 4*25_000+4),
		".claude/agent_complete/a.done/f":    "",
		".claude/loop_snapshots/r/loop-1/d":  strings.Repeat("x", 4*25_000+4), // nobody reads it in a loop
		".claude/agent_tool_results/c/d.md":  strings.Repeat("x", 4*25_000+4),
		"src/session_state.md":               strings.Repeat("x", 4*25_000+4),
		".claude/agent_tool_results/c/ok.md": "fine",
	})
	want := []string{
		".claude/agent_complete/a.done:1 marker-file",
		".claude/agent_tool_results/c/d.md:1 large-file",
		".claude/issue_queue.md:8 duplicate-id",
		".claude/journal/index.md:1 large-file",
		".claude/knowledge_graph.md:4 duplicate-id",
		".claude/task_queue.md:3 duplicate-id",
		".orchestrator/issue_queue.md:1 duplicate-id",
	}
	rules := []string{"duplicate-id", "large-file", "marker-file"}
	if diff := cmp.Diff(want, found(t, dir, lint.Options{Rules: rules})); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	got := found(t, filepath.Join(dir, ".claude"), lint.Options{Rules: []string{"duplicate-id"}})
	if diff := cmp.Diff([]string{"issue_queue.md:8 duplicate-id", "knowledge_graph.md:4 duplicate-id", "task_queue.md:3 duplicate-id"}, got); diff != "" {
		t.Errorf("findings in .claude itself (-want +got):\n%s", diff)
	}
}

func TestOwnRoot(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{".agents/state/journal/task-003.md": journal("completed", complete())})
	got := found(t, dir, lint.Options{Profile: layout.ProfileBelow(".agents/state")})
	if diff := cmp.Diff([]string{".agents/state/journal/task-003.md:4 journal-marker"}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		".claude/journal/task-001.md": "no heading\n",
		".claude/knowledge_graph.md":  "### gotcha-001\n- Type: gotcha\n- Confidence: high\n",
		".claude/issue_queue.md": "# Issue Queue\n\n### ISSUE-20260301-001\n**Status:** pending\n**Type:** bug\n" +
			"**Priority:** high\n**Summary:** x\n### ISSUE-20260301-002\n\n| Field | Value |\n|-------|-------|\n| Status | odd |\n\n**Summary:** x\n\n---\n",
	})
	report, err := lint.Check(t.Context(), dir, lint.Options{Rules: []string{"layout"}})
	if err != nil {
		t.Fatal(err)
	}
	remedies := map[string]string{}
	for _, f := range report.Findings {
		remedies[f.File] = f.Remedy
	}
	want := map[string]string{
		".claude/journal/task-001.md": "by hand: correct the line in .claude/journal/task-001.md",
		".claude/knowledge_graph.md":  "filebus knowledge edit gotcha-001 --content CONTENT",
		".claude/issue_queue.md":      "by hand: correct the line in .claude/issue_queue.md",
	}
	if diff := cmp.Diff(want, remedies); diff != "" {
		t.Errorf("remedies (-want +got):\n%s", diff)
	}
}

// TestOdd gives Check what it cannot read.
func TestOdd(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		".claude/session_state.md": "\x00\x01binary\x00", "CLAUDE.md": "", "AGENTS.md": strings.Repeat("```\n> - | # Never:\n", 20000),
	})
	if runtime.GOOS != "windows" {
		if err := os.MkdirAll(filepath.Join(dir, ".claude/agent_complete"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/zero", filepath.Join(dir, ".claude/agent_complete/003.done")); err != nil {
			t.Fatal(err)
		}
	}
	got := found(t, dir, lint.Options{Rules: []string{"layout", "marker-file"}})
	want := []string{".claude/agent_complete/003.done:1 marker-file", ".claude/session_state.md:1 layout"}
	if runtime.GOOS == "windows" {
		want = want[1:]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if _, err := lint.Check(t.Context(), filepath.Join(dir, "absent"), lint.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check of no folder: %v", err)
	}
	if _, err := lint.Check(t.Context(), filepath.Join(dir, "CLAUDE.md"), lint.Options{}); err == nil {
		t.Errorf("Check of a file: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lint.Check(ctx, dir, lint.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Check, cancelled: %v", err)
	}
}

// TestRulesPage compares the rules with docs/lint.md.
func TestRulesPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash("../../../docs/lint.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(text)) {
		if rule, about, found := strings.Cut(line, "`: "); found && strings.HasPrefix(rule, "- `") {
			got = append(got, rule[3:]+": "+strings.TrimSpace(about))
		}
	}
	for _, r := range lint.Rules() {
		want = append(want, r.ID+": "+r.About)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/lint.md (-program +document):\n%s", diff)
	}
}
