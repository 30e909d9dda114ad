package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManyDialogues makes one dialogue from many processes at once: each has a slug and
// folders of its own. Then as many agents are launched in one round.
func TestManyDialogues(t *testing.T) {
	t.Parallel()
	processes := manyProcesses(t)
	dir := t.TempDir()
	mustRun(t, dir, "init")
	var agents []string
	for i := range processes {
		agents = append(agents, "agent"+string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	printed := inProcesses(t, dir, processes, func(int) []string {
		return []string{"dialogue", "new", "Who retries?", "--agents", strings.Join(agents, ",")}
	})
	var slugs []string
	for _, out := range printed {
		slug, folder, _ := strings.Cut(strings.TrimSpace(out), "  ")
		slugs = append(slugs, slug)
		if info, err := os.Stat(filepath.Join(folder, "round-0")); err != nil || !info.IsDir() {
			t.Errorf("%s has no folder of round 0: %v", slug, err)
		}
	}
	if n := distinct(slugs); n != processes {
		t.Errorf("%d processes have made %d slugs: %v", processes, n, slugs)
	}
	inProcesses(t, dir, processes, func(i int) []string { return []string{"dialogue", "prompt", "who-retries", "0", agents[i], "--save"} })
	panel, err := os.ReadFile(filepath.Join(dir, ".claude", "dialogues", "who-retries", "round-0", "panel.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range agents {
		if !strings.Contains(string(panel), `"name": "`+agent+`"`) {
			t.Errorf("%s was launched and is not in the panel", agent)
		}
	}
	mustRun(t, dir, "verify")
}
