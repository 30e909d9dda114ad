package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
)

// TestManySessions starts sessions of two types from many processes at once: each has
// an id and a folder of its own.
func TestManySessions(t *testing.T) {
	t.Parallel()
	processes := manyProcesses(t)
	dir := t.TempDir()
	mustRun(t, dir, "init", "--profile", "blue")
	ids := inProcesses(t, dir, processes, func(i int) []string {
		return []string{"session", "start", []string{"build", "review"}[i%2]}
	})
	if n := distinct(ids); n != processes {
		t.Errorf("%d processes have started %d sessions", processes, n)
	}
	for i, id := range ids {
		folder := filepath.Join(dir, ".blue", "sessions", []string{"build", "review"}[i%2], strings.TrimSpace(id))
		if _, err := os.Stat(filepath.Join(folder, "metadata.json")); err != nil {
			t.Errorf("session %d: %v", i, err)
		}
	}
	if out := mustRun(t, dir, "verify"); !strings.HasPrefix(out, fmt.Sprint(processes, " records")) || !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
}

// TestManyEvents writes to the log of a session from many processes at once, while
// an agent appends to it by hand.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	processes := manyProcesses(t)
	dir := t.TempDir()
	id := strings.TrimSpace(mustRun(t, dir, "session", "start", "build"))
	log := filepath.Join(dir, ".claude", "sessions", "build", id, ".agent_log")
	mustRun(t, dir, "session", "log", id, "START", "first")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("2026-03-02T09:00:00Z | SUCCESS | by-hand | no line end")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	inProcesses(t, dir, processes, func(i int) []string {
		return []string{"session", "log", id, "START", fmt.Sprintf("agent-%d", i), "a | b"}
	})
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for i := range processes {
		if n := strings.Count(string(text), fmt.Sprintf(" | START | agent-%d | a | b\n", i)); n != 1 {
			t.Errorf("agent-%d stands %d times in\n%s", i, n, text)
		}
	}
	if n := strings.Count(string(text), "\n"); n != processes+2 || !strings.Contains(string(text), "| no line end\n") {
		t.Errorf("%d lines, want %d:\n%s", n, processes+2, text)
	}
}

// TestSessionIDs has sessions that somebody else's tool has made go by their ids, whatever these
// are, in every command.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file cannot have such a name there")
	}
	dir := t.TempDir()
	mustRun(t, dir, "init")
	text := filepath.Join(dir, "context.md")
	writeFile(t, text, []byte("# Context\n"))
	ids := []string{
		"会话-审查-1", "my session", "550e8400-e29b-41d4-a716-446655440000", "2025-11-06T09:00:00", "feat.login", "ISSUE-20251212-001",
	}
	for _, id := range ids {
		folder := filepath.Join(".claude", "sessions", "workflow", id)
		must(t, os.MkdirAll(filepath.Join(dir, folder, "notes"), 0o777))
		writeFile(t, filepath.Join(dir, folder, "context.md"), []byte("# "+id+"\n"))
		writeFile(t, filepath.Join(dir, folder, "notes", "01_a.md"), []byte("text\n"))
		said := ""
		for _, args := range [][]string{
			{"session", "check", id, "context", "notes/01_a"},
			{"session", "put", id, "report", "--agent", "Fact-Checker", text},
			{"session", "log", "workflow/" + id, "START", "fact_checker"},
			{"session", "log", id, "SUCCESS", "FactChecker"},
			{"session", "summary", id},
			{"session", "show", id},
			{"session", "path", id, "report"},
			{"session", "end", id},
			{"session", "put", "workflow/" + id, "plan", text},
			{"session", "replay", id, "--steps"},
			{"materialize", "--session", id, "--closure", "--to", filepath.Join(dir, "out-"+id)},
		} {
			_, errText, code := ranIn(t, dir, args...)
			if said += errText; code != cli.ExitDone {
				t.Errorf("filebus %s: exit code %d\n%s", strings.Join(args, " "), code, errText)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "out-"+id, folder, "notes", "01_a.md")); err != nil {
			t.Errorf("%s is not laid out: %v", id, err)
		}
		if !strings.Contains(said, "in progress again") {
			t.Errorf("%s is not open again:\n%s", id, said)
		}
	}
}
