package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInitAsks makes stores in the home folder, where somebody types an answer.
func TestInitAsks(t *testing.T) {
	for answer, isMade := range map[string]bool{"y\n": true, "Yes\r\n": true, "n\n": false, "\n": false, "": false} {
		home := t.TempDir()
		var out, errs bytes.Buffer
		env := &environ{
			in: strings.NewReader(answer), out: &out, err: &errs, dir: home, now: time.Now, inTerminal: true,
			getenv: func(name string) string { return map[string]string{"HOME": home, "FILEBUS_STATE": "off"}[name] },
		}
		exit := run(t.Context(), env, []string{"init"})
		_, err := os.Stat(filepath.Join(home, ".filebus", "store.db"))
		if (exit == 0) != isMade || (err == nil) != isMade || !strings.Contains(errs.String(), "make a store here? [y/N]") {
			t.Errorf("answer %q: exit code %d, %v\n%s", answer, exit, err, errs.String())
		}
	}
}

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
	if found, _ := look(root, 0); len(found) > 0 {
		t.Errorf("without time: %v", found)
	}
	if found, _ := look(filepath.Join(root, "missing"), time.Minute); len(found) > 0 {
		t.Errorf("without a folder: %v", found)
	}
	found, _ := look(root, time.Minute)
	if text := foundText(found); text != "3 files that agents wrote, or notes (b/.claude: 1, notes: 1, research: 1)" {
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
