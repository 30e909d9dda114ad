//go:build unix

package result_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"filebus/cmd/filebus/result"
)

// TestCombineNoFile gives a combine what would make it wait, or cannot be read.
func TestCombineNoFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.file("a.txt", "a")
	if err := syscall.Mkfifo(filepath.Join(d.Root, "pipe"), 0o666); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	inputs := []string{"pipe", "a.txt", "/dev/null", "p*"}
	if os.Getuid() != 0 { // who may read anything
		if err := os.Chmod(d.file("secret.txt", "s"), 0); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, "secret.txt")
	}
	combined := d.mustCombine(result.CombineRequest{Inputs: inputs})
	if got := d.text(combined.File); got != "a" || len(combined.Unread) != len(inputs)-1 {
		t.Errorf("Combine(%q) = %q, unread %v; want the file alone", inputs, got, combined.Unread)
	}
	if _, err := d.combine(result.CombineRequest{Inputs: []string{"a.txt"}, Output: filepath.Join(d.Root, "pipe"), Force: true}); err == nil {
		t.Error("a named pipe was accepted as output")
	}
}
