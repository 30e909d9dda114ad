package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestLoop plays one loop of the file-based communication document: five tasks are
// started, agents write by command and by hand while the orchestrator waits,
// handoffs are read, knowledge is harvested, the next issues are looked at, a
// snapshot is taken. What it may cost its orchestrator is promised; the document
// that defines the channels reckons with twice as much.
func TestLoop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	mustRun(t, dir, "run", "start", "--focus", "security, performance", "--loops", "2")
	for i := 1; i <= 7; i++ {
		mustRun(t, dir, "issue", "add", fmt.Sprintf("Requests of part %d are not limited", i), "--type", "security", "--priority", "high",
			"--file", fmt.Sprintf("src/part%d/limit.go", i), "--details", strings.Repeat(fmt.Sprintf("Part %d lets every request through. ", i), 5))
	}
	writeWork(t, dir, "before\n")
	for i := 1; i <= 5; i++ {
		task := fmt.Sprintf("%03d", i)
		mustRun(t, dir, "issue", "next", "--claim", "--agent", "orchestrator")
		mustRun(t, dir, "context", fmt.Sprintf("Limit the requests of part %d", i), "--complexity", "easy", "--max-tokens", "200")
		mustRun(t, dir, "task", "start", task, "--title", fmt.Sprintf("Limit part %d", i))
	}
	waited := make(chan string)
	go func() { waited <- waitFor(t, dir, "001", "002", "003", "004", "005") }()
	work(t, dir)
	checkWaited(t, <-waited)

	for i := 1; i <= 5; i++ {
		task := fmt.Sprintf("%03d", i)
		handoff := mustRun(t, dir, "task", "show", task)
		if !strings.Contains(handoff, "| Outcome |") && !strings.Contains(handoff, "outcome:") || strings.Contains(handoff, "Progress Log") {
			t.Errorf("the handoff of %s:\n%s", task, handoff)
		}
		mustRun(t, dir, "knowledge", "harvest", task, "--add", "new")
	}
	mustRun(t, dir, "issue", "done", "ISSUE-"+today(t, dir)+"-001", "--agent", "orchestrator")
	mustRun(t, dir, "issue", "list", "--max-tokens", "300")
	mustRun(t, dir, "snapshot", "take")
	mustRun(t, dir, "run", "loop")
	mustRun(t, dir, "status")
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
	if out := mustRun(t, dir, "sync", "--dry-run"); strings.TrimSpace(out) != "" {
		t.Errorf("after the loop files and store differ: %s", out)
	}
	checkLoopBudget(t, dir)
}

// writeWork changes what the agents work on.
func writeWork(t *testing.T, dir, text string) {
	t.Helper()
	file := filepath.Join(dir, "src", "part1", "limit.go")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		t.Error(err)
	}
}

// work plays five agents at once: three use commands, two write files by hand.
func work(t *testing.T, dir string) {
	var agents sync.WaitGroup
	for i := 1; i <= 5; i++ {
		agents.Go(func() {
			task := fmt.Sprintf("%03d", i)
			writeWork(t, dir, "after\n")
			if i > 3 {
				workByHand(t, dir, task)
				return
			}
			for step := range 5 {
				tell(t, dir, "task", "note", task, fmt.Sprintf("Step %d of part %d: %s", step, i, strings.Repeat("looked at a handler; ", 20)))
			}
			tell(t, dir, "task", "done", task, "--summary", fmt.Sprintf("Part %d is limited per key, 600 a minute", i),
				"--files", fmt.Sprintf("src/part%d/limit.go", i), "--pattern", fmt.Sprintf("Part %d takes its clock as an argument", i),
				"--gotcha", fmt.Sprintf("The health check of part %d has no key and must be let through", i))
		})
	}
	agents.Wait()
}

// tell runs filebus for an agent, from any goroutine.
func tell(t *testing.T, dir string, args ...string) {
	if out, err := filebusCommand(t, dir, args...).CombinedOutput(); err != nil {
		t.Errorf("filebus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// workByHand writes journal and marker as the document tells agents to.
func workByHand(t *testing.T, dir, task string) {
	journal := filepath.Join(dir, ".claude", "journal", "task-"+task+".md")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Error(err)
		return
	}
	done := strings.Replace(string(text), "in_progress", "completed", 1) +
		"- [10:00] Found the middleware\n\n## Handoff\n\n| Field | Value |\n|-------|-------|\n| Outcome | completed |\n" +
		"| Summary | Limited by hand in " + task + " |\n| Files Changed | src/part" + task[2:] + "/limit.go |\n| Blockers | None |\n" +
		"| Patterns Discovered | None |\n| Gotchas | None |\n"
	marker := filepath.Join(dir, ".claude", "agent_complete", task+".done")
	if err := errors.Join(os.WriteFile(journal, []byte(done), 0o666), os.WriteFile(marker, []byte("done"), 0o666)); err != nil {
		t.Error(err)
	}
}

// waitFor waits for tasks and returns what is printed.
func waitFor(t *testing.T, dir string, tasks ...string) string {
	out, err := filebusCommand(t, dir, append([]string{"wait", "--timeout", "1m"}, tasks...)...).CombinedOutput()
	if err != nil {
		t.Errorf("wait: %v\n%s", err, out)
	}
	return string(out)
}

func checkWaited(t *testing.T, out string) {
	t.Helper()
	for i := 1; i <= 5; i++ {
		if !strings.Contains(out, fmt.Sprintf("task-%03d  complete", i)) {
			t.Errorf("wait does not say how task %d ended:\n%s", i, out)
		}
	}
}

// today returns the date that ids of issues have.
func today(t *testing.T, dir string) string {
	t.Helper()
	_, rest, _ := strings.Cut(mustRun(t, dir, "list", "issue", "--limit", "1"), "ISSUE-")
	date, _, _ := strings.Cut(rest, "-")
	return date
}

// checkLoopBudget reads what the loop has cost.
func checkLoopBudget(t *testing.T, dir string) {
	t.Helper()
	var state struct{ Run string }
	_, run, _ := strings.Cut(mustRun(t, dir, "run", "show"), "run-")
	state.Run = "run-" + strings.Fields(run)[0]
	out := mustRun(t, dir, "budget", "--run", state.Run, "--json")
	var budget struct {
		Tokens, Reads int
		Inline        struct{ Tokens int }
	}
	if err := json.Unmarshal([]byte(out), &budget); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	most := promised(t, "tokens/loop")
	if budget.Reads < 10 || budget.Tokens == 0 || float64(budget.Tokens) > most {
		t.Errorf("the loop has cost ≈%d tokens in %d reads, want at most %v:\n%s", budget.Tokens, budget.Reads, most, out)
	}
	if budget.Inline.Tokens <= budget.Tokens {
		t.Errorf("inline the loop would have cost ≈%d tokens, by reference ≈%d", budget.Inline.Tokens, budget.Tokens)
	}
}

// TestLoopByShell waits with the line of the document itself.
func TestLoopByShell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the document's line needs sh")
	}
	dir := t.TempDir()
	mustRun(t, dir, "task", "start", "007", "--title", "Wait for me")
	wait := exec.Command("sh", "-c", "while [ ! -f '.claude/agent_complete/007.done' ]; do sleep 0.1; done && echo 'done'")
	wait.Dir = dir
	out, err := wait.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := wait.Start(); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, "task", "block", "007", "--summary", "No access", "--blocker", "the key is missing")
	said := make([]byte, 16)
	n, _ := out.Read(said) // Wait tells of errors
	if err := wait.Wait(); err != nil || string(said[:n]) != "done\n" {
		t.Errorf("the line of the document ends with %v and %q", err, said[:n])
	}
	text, err := os.ReadFile(filepath.Join(dir, ".claude", "agent_complete", "007.done"))
	if err != nil || strings.TrimSpace(string(text)) != "done" {
		t.Errorf("the marker holds %q, %v", text, err)
	}
}
