package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
)

// TestPromisedGrowth counts what commands allocate in a store of a few records and in one of twenty times as many: what they
// do follows from what is asked, not from what is there. A look at every name shows, whatever else the machine does.
func TestPromisedGrowth(t *testing.T) {
	bound := promised(t, "growth/allocations")
	least := func(records int, lines []string) (counts []uint64) {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, "old", ".claude"), 0o777))
		graph := "# Knowledge Graph\n\n## Patterns\n"
		for i := range records {
			text := fmt.Sprintf("# Report %d\n\nWhat number%d found of common things.\n", i, i)
			must(t, os.WriteFile(filepath.Join(dir, "old", fmt.Sprintf("%d.md", i)), []byte(text), 0o666))
			graph += fmt.Sprintf("\n### pattern-%05d\n- Type: pattern\n- Tags: [tag-%d]\n- Content: Number %d.\n", i, i, i)
		}
		must(t, os.WriteFile(filepath.Join(dir, "old", ".claude", "knowledge_graph.md"), []byte(graph), 0o666))
		call := func(line string) uint64 {
			var out bytes.Buffer
			env := docEnviron(dir, &out)
			env.In = strings.NewReader("a text\n")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			code := run(t.Context(), env, strings.Fields(line))
			runtime.ReadMemStats(&after)
			if code != cli.ExitDone {
				t.Fatalf("filebus %s: exit %d\n%s", line, code, out.String())
			}
			return after.Mallocs - before.Mallocs
		}
		for _, line := range []string{"init", "capture --tree lib old", "task start first", "search number7", "reindex"} {
			call(line)
		}
		for _, line := range lines {
			count := uint64(0)
			for i := range 3 {
				if n := call(strings.ReplaceAll(line, "@", fmt.Sprint(i))); i == 0 || n < count {
					count = n
				}
			}
			counts = append(counts, count)
		}
		return counts
	}
	lines := []string{
		"put - --name note/@", "put - --conversation c --call @", "task start @", "task done @ --summary done", "issue add t@ --type bug",
		"issue next", "issue list", "task list", "session list", "conversation list", "get result/c/1", "show result/c/1",
		"log --limit 5", "knowledge list tag-7", "search number9", "context --task 1", "status",
	}
	few, many := least(100, lines), least(2000, lines)
	for i, line := range lines {
		if ratio := float64(many[i]) / float64(few[i]); ratio > bound {
			t.Errorf("filebus %s allocates %d times beside 100 records, %d beside 2,000: %.2f times as often", line, few[i], many[i], ratio)
		} else {
			t.Logf("filebus %s: %d, %d, %.2f", line, few[i], many[i], ratio)
		}
	}
}
