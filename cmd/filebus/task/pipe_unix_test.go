//go:build unix

package task_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
)

// TestPipeForJournal waits for a task whose journal is a pipe that nobody writes
// to: its marker counts, and nobody waits for the pipe.
func TestPipeForJournal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, layout.Claude())
	journal := d.work.FilePath(".claude/journal/task-T1.md")
	if err := os.MkdirAll(filepath.Dir(journal), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(journal, 0o666); err != nil {
		t.Skip("no pipes here: ", err)
	}
	d.write(t, ".claude/agent_complete/T1.done", "done\n")
	ended, err := d.Wait(t.Context(), task.WaitRequest{IDs: []task.ID{"T1"}, Waiter: mirror.Waiter{Limit: time.Minute}})
	if err != nil || len(ended) != 1 || ended[0].Journal != "" {
		t.Errorf("waiting for a task with a pipe for its journal: %+v, %v", ended, err)
	}
}
