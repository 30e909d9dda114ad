package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestManyNotes notes progress from many processes at once, while the task's agent
// appends to the journal by hand.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	processes, byHand := manyProcesses(t), 10
	dir := t.TempDir()
	journal := filepath.Join(dir, ".claude", "journal", "task-003.md")
	mustRun(t, dir, "task", "start", "003")
	var hand sync.WaitGroup
	hand.Go(func() {
		for i := range byHand {
			f, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0o666)
			if err == nil {
				_, err = fmt.Fprintf(f, "- [10:00] by hand %d.\n", i)
				_ = f.Close() // what was written is looked for below
			}
			if err != nil {
				t.Errorf("appending by hand: %v", err)
			}
		}
	})
	inProcesses(t, dir, processes, func(i int) []string {
		return []string{"task", "note", "003", fmt.Sprintf("by command %d.", i)}
	})
	hand.Wait()
	mustRun(t, dir, "task", "done", "003", "--summary", "All there")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string]int{"command": processes, "hand": byHand} {
		for i := range n {
			line := fmt.Sprintf("] by %s %d.\n", what, i)
			if got := strings.Count(string(text), line); got != 1 {
				t.Errorf("%q stands %d times in\n%s", line, got, text)
			}
		}
	}
	mustRun(t, dir, "sync")
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
	if stored := mustRun(t, dir, "get", "003"); stored != string(text) {
		t.Errorf("the store has\n%s\nthe file\n%s", stored, text)
	}
}
