package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"filebus/materialize/layout"
)

// TestManyAgents ends many agents from as many processes at once, while an agent
// writes to the state by hand before: every row must be there, once.
func TestManyAgents(t *testing.T) {
	t.Parallel()
	agents := manyProcesses(t)
	dir := t.TempDir()
	state := layout.StateChange{Set: []layout.Property{{Key: "Run ID", Value: "run-1"}, {Key: "Loop", Value: "1"}}}
	for i := range agents {
		state.Start = append(state.Start, layout.Agent{ID: fmt.Sprintf("a%d", i), Task: fmt.Sprintf("task-%03d", i), Started: "10:00:00"})
	}
	file := filepath.Join(dir, ".claude", "session_state.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	text, _ := state.Apply(nil)
	if err := os.WriteFile(file, append(text, "\n## Notes\nby hand\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, "init")
	var wg sync.WaitGroup
	for i := range agents {
		wg.Go(func() {
			if out, err := filebusCommand(t, dir, "run", "agent", "done", fmt.Sprintf("a%d", i), "--lock-wait", "2m").CombinedOutput(); err != nil {
				t.Errorf("run agent done a%d: %v: %s", i, err, out)
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, problems := layout.ParseState(text)
	count := map[string]int{}
	for _, a := range got.Completed {
		if want := "task-0" + fmt.Sprintf("%02s", strings.TrimPrefix(a.ID, "a")); a.Task != want {
			t.Errorf("%s has the task %s, want %s", a.ID, a.Task, want)
		}
		count[a.ID]++
	}
	if len(count) != agents || len(got.Completed) != agents || len(got.Running) != 0 || len(problems) > 0 {
		t.Errorf("%d agents in %d rows, %d at work, problems %v:\n%s", len(count), len(got.Completed), len(got.Running), problems, text)
	}
	if !strings.HasSuffix(string(text), "\n## Notes\nby hand\n") {
		t.Errorf("what was written by hand is gone:\n%s", text)
	}
	stored := mustRun(t, dir, "get", "state/session_state")
	if stored != string(text) {
		t.Errorf("the store has\n%s\nthe file\n%s", stored, text)
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
}

// TestManyTasks starts and ends tasks of one agent from many processes at once: each
// must be in the state once.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	const tasks = 8
	dir := t.TempDir()
	mustRun(t, dir, "run", "start", "--id", "r1")
	for _, args := range [][]string{{"start"}, {"done", "--summary", "It works"}} {
		var wg sync.WaitGroup
		for i := range tasks {
			wg.Go(func() {
				line := append([]string{"task", args[0], fmt.Sprintf("T-%d", i), "--lock-wait", "2m"}, args[1:]...)
				if args[0] == "start" {
					line = append(line, "--agent", "one")
				}
				if out, err := filebusCommand(t, dir, line...).CombinedOutput(); err != nil || strings.Contains(string(out), "not told") {
					t.Errorf("%q: %v: %s", line, err, out)
				}
			})
		}
		wg.Wait()
	}
	text, err := os.ReadFile(filepath.Join(dir, ".claude", "session_state.md"))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := layout.ParseState(text)
	if ended := layout.OutcomesOf(got.Completed, got.Running)[layout.StatusComplete]; len(ended) != tasks || len(got.Completed) != tasks {
		t.Errorf("%d tasks have ended, in %d rows, of %d:\n%s", len(ended), len(got.Completed), tasks, text)
	}
}
