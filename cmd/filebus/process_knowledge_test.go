package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestManyLearn adds knowledge and touches components from many processes at once:
// no entry and no row may be lost, no id may be given twice, and the files must be
// what the store has.
func TestManyLearn(t *testing.T) {
	t.Parallel()
	processes := manyProcesses(t)
	dir := t.TempDir()
	mustRun(t, dir, "init")
	var wg sync.WaitGroup
	run := func(args ...string) {
		wg.Go(func() {
			if out, err := filebusCommand(t, dir, append(args, "--lock-wait", "2m")...).CombinedOutput(); err != nil {
				t.Errorf("filebus %s: %v: %s", strings.Join(args, " "), err, out)
			}
		})
	}
	for p := range processes {
		run("knowledge", "add", "--type", "pattern", "--tag", fmt.Sprintf("t%d", p), "--content", fmt.Sprintf("Content of process %d", p))
		run("component", "touch", fmt.Sprintf("src/c%d/", p), "--task", fmt.Sprintf("task-%d", p), "--notes", fmt.Sprintf("notes %d", p))
	}
	wg.Wait()
	graph, graphErr := os.ReadFile(filepath.Join(dir, ".claude", "knowledge_graph.md"))
	index, indexErr := os.ReadFile(filepath.Join(dir, ".claude", "journal", "index.md"))
	if graphErr != nil || indexErr != nil {
		t.Fatal(graphErr, indexErr)
	}
	for p := range processes {
		for _, want := range []struct{ text, part string }{
			{string(graph), fmt.Sprintf("### pattern-%03d\n", p+1)},
			{string(graph), fmt.Sprintf("- Content: Content of process %d\n", p)},
			{string(index), fmt.Sprintf("| src/c%d/ | task-%d | notes %d |\n", p, p, p)},
		} {
			if n := strings.Count(want.text, want.part); n != 1 {
				t.Errorf("%q stands %d times in its file", want.part, n)
			}
		}
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify = %s", out)
	}
	for file, name := range map[string]string{"knowledge_graph.md": string(graph), "journal/index.md": string(index)} {
		if out := mustRun(t, dir, "get", "frame/.claude/"+file); out != name {
			t.Errorf("the store has of %s\n%s\nthe file is\n%s", file, out, name)
		}
	}
}
