package materialize_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWatch waits for files that appear in a folder that was missing.
func TestWatch(t *testing.T) {
	w := newWorkspace(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wake, err := w.Watch(ctx, ".claude/agent_complete")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"task-001.done", "task-002.done"} {
		file := filepath.Join(w.Root, ".claude", "agent_complete", name)
		if err := os.WriteFile(file, []byte("done\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		select {
		case _, open := <-wake:
			if !open {
				t.Fatal("the watch has ended")
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing woke for %s", name)
		}
	}
	cancel()
	for range wake { // it is closed soon
	}
}

func TestWatchNoFolder(t *testing.T) {
	w := newWorkspace(t)
	if err := os.WriteFile(filepath.Join(w.Root, ".claude"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Watch(t.Context(), ".claude/agent_complete"); err == nil {
		t.Error("a file stands where the folder should be, and nothing is said")
	}
}
