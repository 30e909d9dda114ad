package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLook looks at workspaces with less time, or at more files, than it takes to see all:
// what was not seen whole is not proposed.
func TestLook(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"notes/a.md", "research/deep/er/b.md", "b/.claude/journal/task-1.md"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if found, _ := Look(root, 0); len(found) > 0 {
		t.Errorf("without time: %v", found)
	}
	if found, _ := Look(filepath.Join(root, "missing"), time.Minute); len(found) > 0 {
		t.Errorf("without a folder: %v", found)
	}
	found, _ := Look(root, time.Minute)
	if text := FoundText(found); text != "3 files that agents wrote, or notes (b/.claude: 1, notes: 1, research: 1)" {
		t.Errorf("with time: %s", text)
	}
	s := &survey{root: root, until: time.Now().Add(time.Minute), left: 4, agents: map[string]int{}, others: map[string]tally{}}
	if s.read("."); !s.isOver() {
		_, _ = s.read("notes")
	}
	if _, isWhole := s.read("research"); isWhole {
		t.Error("a folder for which nothing was left counts as whole")
	}
}
