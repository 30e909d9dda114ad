package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"filebus/cmd/filebus/issue"
)

// inProcesses runs the program n times at once and returns what each has printed.
// They wait for each other for as long as a slow disk needs.
func inProcesses(t *testing.T, dir string, n int, args func(i int) []string) []string {
	t.Helper()
	printed := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			cmd := filebusCommand(t, dir, append(args(i), "--lock-wait", "3m")...)
			var errors strings.Builder
			cmd.Stderr = &errors
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("filebus %q: %v\n%s", args(i), err, errors.String())
			}
			printed[i] = string(out)
		})
	}
	wg.Wait()
	return printed
}

// distinct returns how many of the texts are not empty and differ.
func distinct(texts []string) int {
	texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
	slices.Sort(texts)
	return len(slices.Compact(texts))
}

// TestManyIssues adds issues from many processes at once, while an agent appends to
// the file by hand, and then claims them from many processes at once.
func TestManyIssues(t *testing.T) {
	t.Parallel()
	processes, byHand := manyProcesses(t), 10
	dir := t.TempDir()
	queue := filepath.Join(dir, ".claude", "issue_queue.md")
	mustRun(t, dir, "init")
	if err := os.MkdirAll(filepath.Dir(queue), 0o777); err != nil {
		t.Fatal(err)
	}
	var hand sync.WaitGroup
	hand.Go(func() {
		for i := range byHand {
			text := fmt.Sprintf("\n### ISSUE-HAND-%d\n\n- **Status**: pending\n- **Type**: ux\n\n**Summary:** by hand %d\n\n---\n", i, i)
			f, err := os.OpenFile(queue, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
			if err == nil {
				_, err = f.WriteString(text)
				_ = f.Close() // what was written is looked for below
			}
			if err != nil {
				t.Errorf("appending by hand: %v", err)
			}
		}
	})
	ids := inProcesses(t, dir, processes, func(i int) []string {
		return []string{"issue", "add", fmt.Sprintf("Fault number%d of part%d", i, i), "--type", "bug"}
	})
	hand.Wait()
	if n := distinct(ids); n != processes {
		t.Errorf("%d ids of %d issues: %q", n, processes, ids)
	}
	mustRun(t, dir, "issue", "list") // takes in what was appended last
	claimed := inProcesses(t, dir, processes, func(i int) []string {
		return []string{"issue", "next", "--claim", "--type", "bug", "--agent", fmt.Sprintf("agent-%d", i), "--json"}
	})
	for i, text := range claimed {
		var got issue.Issue
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Agent != fmt.Sprintf("agent-%d", i) {
			t.Errorf("agent-%d has claimed %q: %v", i, text, err)
		}
		claimed[i] = got.ID
	}
	if n := distinct(claimed); n != processes {
		t.Errorf("%d of %d claimed issues differ: %q", n, processes, claimed)
	}
	checkQueue(t, dir, queue, processes, byHand)
}

// checkQueue compares the file with the store, and with what must be there.
func checkQueue(t *testing.T, dir, queue string, claimed, byHand int) {
	t.Helper()
	mustRun(t, dir, "sync")
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
	text, err := os.ReadFile(queue)
	if err != nil {
		t.Fatal(err)
	}
	if n, hand := strings.Count(string(text), "\n| Claimed By | agent-"), strings.Count(string(text), "\n### ISSUE-HAND-"); n != claimed || hand != byHand {
		t.Errorf("the file has %d claims and %d issues by hand, want %d and %d", n, hand, claimed, byHand)
	}
	mustRun(t, dir, "materialize", "--tree", ".", "--to", "copy")
	if _, same, err := sameFile(queue, filepath.Join(dir, "copy", ".claude", "issue_queue.md")); err != nil || !same {
		t.Errorf("the file is that of the store: %t, %v", same, err)
	}
	var listing struct{ Issues []issue.Issue }
	if err := json.Unmarshal([]byte(mustRun(t, dir, "issue", "list", "--max-tokens", "0", "--json")), &listing); err != nil || len(listing.Issues) != claimed+byHand {
		t.Errorf("%d issues are listed, %v; want %d", len(listing.Issues), err, claimed+byHand)
	}
}
