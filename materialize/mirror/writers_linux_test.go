package mirror

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestClosedBesideForks writes files in a process that starts others all the time: a child has what is open until it
// runs its program. What is closed is not being written, and what is open is.
func TestClosedBesideForks(t *testing.T) {
	t.Parallel()
	m := open(t, "a")
	file := filepath.Join(m.Dir, "a.md")
	var over atomic.Bool
	var starting sync.WaitGroup
	for range 2 {
		starting.Go(func() {
			for !over.Load() {
				_ = exec.Command("true").Run() // it may not be there
			}
		})
	}
	defer starting.Wait()
	defer over.Store(true)
	for range 300 {
		if err := os.WriteFile(file, []byte("text"), 0o666); err != nil {
			t.Fatal(err)
		}
		if isWritten, _ := m.IsBeingWritten(t.Context(), "a.md"); isWritten {
			t.Fatal("a file that is closed is said to be written")
		}
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if isWritten, known := m.IsBeingWritten(t.Context(), "a.md"); known && !isWritten {
		t.Error("a file that is open is said not to be written")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
