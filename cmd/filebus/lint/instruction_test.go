package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/lint"
)

// write makes a folder with files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// found returns the findings of a folder as "file:line rule".
func found(t *testing.T, dir string, opts lint.Options) []string {
	t.Helper()
	report, err := lint.Check(t.Context(), dir, opts)
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	lines := []string{}
	for _, f := range report.Findings {
		lines = append(lines, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Rule))
		if f.Message == "" || !strings.HasPrefix(f.Remedy, "filebus ") && !strings.HasPrefix(f.Remedy, "mv -n ") && !strings.HasPrefix(f.Remedy, "by hand: ") {
			t.Errorf("finding without a message or a remedy: %+v", f)
		}
	}
	return lines
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	const marker = ".claude/agent_complete/{task}.done"
	tests := []struct {
		name, text string
		want       []string // "line rule"
	}{
		// The tools that return conversations.
		{"a call in prose", "Use TaskOutput to collect the result.", []string{"1 agent-output"}},
		{"a call in code", "```python\nresult = AgentOutputTool(agent_id, block=True)\n```", []string{"2 agent-output"}},
		{"a call in code under neutral words", "Then do this:\n\n```\nAgentOutputTool(id)\n```", []string{"4 agent-output"}},
		{"a list of tools", "---\nname: x\ntools: Read, TaskOutput\n---\nHello.", []string{"3 agent-output"}},
		{"a YAML list of tools", "---\nallowed-tools:\n  - Read\n  - TaskOutput\n---\n", []string{"4 agent-output"}},
		{"tools that are denied", "---\ndisallowed-tools: TaskOutput\n---\n", nil},
		{"never", "NEVER use `AgentOutputTool`: it is too much.", nil},
		{"never, wrapped", "Never, under any circumstances,\nuse `AgentOutputTool`.", nil},
		{"enumerated", "Do not sleep, poll, or call TaskOutput.", nil},
		{"another order", "Do not sleep, use TaskOutput.", []string{"1 agent-output"}},
		{"another sentence", "Do not sleep. Use TaskOutput.", []string{"1 agent-output"}},
		{"another clause", "Do not sleep; call TaskOutput instead.", []string{"1 agent-output"}},
		{"do not forget", "Do not forget to call TaskOutput at the end.", []string{"1 agent-output"}},
		{"instead of", "Read the handoff instead of calling TaskOutput.", nil},
		{"said after", "Calling AgentOutputTool is forbidden here.", nil},
		{"for example", "Never use a tool, e.g. TaskOutput, that returns all.", nil},
		{"a heading", "## DO NOT USE: AgentOutputTool\n\n```python\nr = AgentOutputTool(id)\n```", nil},
		{"a heading above", "## Prohibited\n\n### Outputs\n\nCall TaskOutput.\n\n### Instead\n\nCall TaskOutput.", []string{"9 agent-output"}},
		{"after the heading's section", "## Prohibited\n\nCall TaskOutput.\n\n## Steps\n\nCall TaskOutput.", []string{"7 agent-output"}},
		{"a bad comment", "```python\n# BAD - all of it\nr = AgentOutputTool(id)\n\n# ALSO BAD\nAgentOutputTool(id)\n```", nil},
		{"a good comment", "## Never\n\n```python\n# BAD\nAgentOutputTool(id)\n\n# GOOD\nAgentOutputTool(id)\n```", []string{"8 agent-output"}},
		{"a comment behind", "```python\nr = TaskOutput(id)  # NEVER\n```", nil},
		{"a neutral comment", "```python\n# Wait for it\nr = TaskOutput(id)\n```", []string{"3 agent-output"}},
		{"a list that is forbidden", "You must never:\n\n- call TaskOutput\n- use AgentOutputTool\n\nCall TaskOutput.", []string{"6 agent-output"}},
		{"an item alone", "- Never paste.\n- Use TaskOutput.", []string{"2 agent-output"}},
		{"an item with items", "- Never:\n  - call TaskOutput\n- Use TaskOutput.", []string{"3 agent-output"}},
		{"a lead-in to code", "Never do this:\n\n```\nTaskOutput(id)\n```\n\nTaskOutput(id)", []string{"7 agent-output"}},
		{"a sign", "❌ Use TaskOutput\n\n✅ Use the handoff", nil},
		{"a table", "| Do not | Do |\n|---|---|\n| call TaskOutput(id) | read the handoff |", nil},
		{"a table of orders", "| Step | What |\n|---|---|\n| 1 | call TaskOutput(id) |", []string{"3 agent-output"}},
		{"what it costs", "- With AgentOutputTool: 5 agents × 50k = 250,000 tokens", nil},
		{"a type of the same name", "```go\ntype TaskOutput struct{}\nfunc NewTaskOutput() {}\n```", nil},
		{"steps in a fence", "```\n1. START: all agents\n2. COLLECT: Use TaskOutput with block=true\n```", []string{"3 agent-output"}},
		{"must not", "The lead MUST NOT use TaskOutput to read results: use messages.", nil},
		{"a condition", "If there is no marker, use TaskOutput to check its status.", []string{"1 agent-output"}},
		{"a call in words", "1. Wait for all agents with `AgentOutputTool(block=true)`", []string{"1 agent-output"}},
		{"a class", "```python\nclass TaskOutput(Base):\n    pass\n```", nil},
		{"a comment of HTML", "<!-- Use TaskOutput -->\n<!--\nUse TaskOutput\n-->", nil},
		{"two rules allowed", "<!-- filebus lint: allow agent-output -->\n<!-- filebus lint: allow polling, filebus lint: allow agent-output -->\n" +
			"Use TaskOutput. Check the marker file every 10 seconds.", nil},
		{"two rules allowed, a line too far", "<!-- filebus lint: allow agent-output -->\n<!-- filebus lint: allow polling -->\n" +
			"Use TaskOutput. Check the marker file every 10 seconds.", []string{"3 agent-output"}},
		{"allowed", "<!-- filebus lint: allow agent-output -->\nUse TaskOutput.\nMore.\n\nUse TaskOutput.", []string{"5 agent-output"}},

		// Polling.
		{"the line that blocks", "```\nBash(\"while [ ! -f '" + marker + "' ]; do sleep 10; done && echo 'done'\", timeout: 600000)\n```", nil},
		{"a loop of lines", "```bash\nwhile [ ! -f " + marker + " ]; do\n  sleep 5\ndone\n```", []string{"2 polling"}},
		{"a loop of lines with a bound", "```bash\ntries=0\nwhile [ ! -f " + marker + " ] && [ $tries -lt 60 ]; do\n  sleep 5\n  tries=$((tries+1))\ndone\n```", nil},
		{"a loop that lists", "```bash\nwhile true; do ls .claude/agent_complete; sleep 5; done\n```", []string{"2 polling"}},
		{"a loop for a server", "```bash\nwhile ! curl -s localhost:8080; do sleep 1; done\n```", nil},
		{"Glob in a loop", "```python\nwhile not Glob(\"" + marker + "\"):\n    sleep(5)\n```", []string{"2 polling", "2 polling"}},
		{"Glob in a loop of words", "```\n# Poll silently with Glob, not Bash\nWHILE Glob(marker).length == 0:\n    Bash(\"sleep 5\")\n```",
			[]string{"2 polling", "3 polling"}},
		{"Glob over sources", "```python\nfor f in Glob(\"**/*.go\"):\n    read(f)\n```", nil},
		{"sleep, then Glob", "After launching, loop: sleep 10, then Glob for `agent_complete/*.done` until all are there.", []string{"1 polling"}},
		{"every few seconds", "Check the marker file every 10 seconds until it appears.", []string{"1 polling"}},
		{"every few seconds, first", "Every 30 seconds, check whether the agents are done.", []string{"1 polling"}},
		{"a server's health", "The server performs a health check every 30 seconds for all agents.", nil},
		{"by Glob", "The orchestrator polls with Glob for completion.", []string{"1 polling"}},
		{"by Glob, but the section blocks", "Reader: orchestrator (polling via Glob)\n\n```\nBash(\"while [ ! -f '" + marker + "' ]; do sleep 10; done\")\n```", nil},
		{"never poll", "Never poll with Glob for markers. Do not check for a marker every 5 seconds.", nil},
		{"what polling costs", "- With Glob polling loop: 10 min × 12/min × 2 calls = ~20,000 tokens/agent", nil},
		{"sleep between looks", "```\nBash(\"sleep 30\")\nGlob(\"" + marker + "\")\n```", []string{"2 polling", "3 polling"}},
		{"sleep for a server", "```\nBash(\"sleep 5\")\nBash(\"curl localhost\")\n```", nil},

		// Journals.
		{"a journal", "```python\ncontent = Read(\".claude/journal/task-{id}.md\")\nprocess(content)\n```", []string{"2 whole-journal"}},
		{"a journal and its section", "```python\ncontent = Read(\".claude/journal/task-{id}.md\")\nhandoff = extractSection(content, \"## Handoff\")\n```", nil},
		{"a journal in prose", "Read `.claude/journal/task-003.md` when it is done.", []string{"1 whole-journal"}},
		{"its handoff in prose", "Read the Handoff section of `.claude/journal/task-003.md`.", nil},
		{"the entire journal", "Read the entire task journal first.", []string{"1 whole-journal"}},
		{"not the entire journal", "Don't read the entire journal, only its handoff.", nil},
		{"a journal that is written", "Write your journal to `.claude/journal/task-003.md`.", nil},
		{"cat and sed", "```\nsed -n '/## Handoff/,$p' .claude/journal/task-003.md\n```", nil},
		{"cat", "```\ncat .claude/journal/task-003.md\n```", []string{"2 whole-journal"}},
		{"all of them", "Read all files in journal/", []string{"1 whole-journal"}},
		{"cat of all", "```\ncat .claude/journal/*.md\n```", []string{"2 whole-journal"}},
		{"every journal", "1. Start by reading every task's journal.", []string{"1 whole-journal"}},
		{"the folder", "Go through the journal folder and read everything.", []string{"1 whole-journal"}},
		{"the journals of all", "Load the journals of all tasks into your context.", []string{"1 whole-journal"}},
		{"each that Glob finds", "Glob(\".claude/journal/*.md\") and read each file.", []string{"1 whole-journal"}},
		{"a loop over all", "```sh\nfor f in .claude/journal/*.md; do cat \"$f\"; done\n```", []string{"2 whole-journal"}},
		{"CRLF", "Read all journals before you begin.\r\n", []string{"1 whole-journal"}},
		{"not all of them", "Do not read all journals. Never cat .claude/journal/*.md.", nil},
		{"the handoffs of all", "Read the Handoff section of all journals.", nil},
		{"the heads of all", "```\nhead -50 .claude/journal/*.md\n```", nil},
		{"all of something else", "Review all of the code and note it in your journal. Archive all journals at the end.", nil},

		// What was said and printed is no instruction.
		{"a quotation", "As it was said:\n\n> rm -rf build\n> Use TaskOutput.\n> Read all journals.\n\nUse TaskOutput.", []string{"7 agent-output"}},
		{"a quotation with code", "> ```\n> TaskOutput(id)\n> ```\n", nil},
		{"a session in a fence", "```\n$ cat .claude/journal/task-003.md\nTaskOutput(id)\n```\n\n```\nTaskOutput(id)\n```", []string{"7 agent-output"}},
		{"a session that begins later", "```\nTaskOutput(id)\n● Read(.claude/journal/task-003.md)\n  ⎿  212 lines\n\nRead all journals.\n```\n", nil},
		{"a fence of output", "```console\nTaskOutput(id)\n```\n\n~~~log\nUse TaskOutput\n~~~\n\nUse TaskOutput.", []string{"9 agent-output"}},
		{"a fence that is never closed", "```jsonl\nUse TaskOutput.\n\n# More\nUse TaskOutput.", nil},
		{"a conversation", "# Last week\n\nHuman: Use TaskOutput.\n\n**Assistant:** I use TaskOutput.\n\nThen I call TaskOutput.\n\n# Now\n\nUse TaskOutput.", []string{"11 agent-output"}},
		{"lines of a session", "$ cat .claude/journal/*.md\n⏺ Use TaskOutput.\n{\"type\":\"assistant\",\"text\":\"Use TaskOutput\"}", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := write(t, map[string]string{".claude/agents/a.md": test.text + "\n"})
			want := []string{}
			for _, w := range test.want {
				if line := ".claude/agents/a.md:" + w; len(want) == 0 || want[len(want)-1] != line {
					want = append(want, line)
				}
			}
			if diff := cmp.Diff(want, found(t, dir, lint.Options{})); diff != "" {
				t.Errorf("text\n%s\nfindings (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

// TestInstructionFiles tells which files are read as instructions.
func TestInstructionFiles(t *testing.T) {
	t.Parallel()
	const text = "Use TaskOutput.\n"
	all := []string{
		"CLAUDE.md", "sub/AGENTS.md", "GEMINI.md", ".claude/commands/x/go.md", ".claude/orchestrate.md", ".orchestrator/prompts/a.md",
		"agents/a.md", ".cursor/rules/a.mdc",
	}
	none := []string{
		"README.md", "docs/agents.md", ".claude/agent_tool_results/c/d.md", ".claude/journal/old.md", ".claude/sessions/build/s1/plan.md",
		"node_modules/x/CLAUDE.md", ".claude/transcripts/a.md", ".claude/commands/logs/b.md", "agents/reports/c.md", ".orchestrator/history/d.md", ".git/CLAUDE.md", ".claude/settings.json", "src/agents/x.go",
	}
	files := map[string]string{}
	for _, name := range append(all, none...) {
		files[name] = text
	}
	got := map[string]bool{}
	for _, line := range found(t, write(t, files), lint.Options{}) {
		got[strings.TrimSuffix(line, ":1 agent-output")] = true
	}
	want := map[string]bool{}
	for _, name := range all {
		want[name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files with findings (-want +got):\n%s", diff)
	}
}
