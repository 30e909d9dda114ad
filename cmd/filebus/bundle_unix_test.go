//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe that nobody writes to is not waited for.
func TestBundleApplyOfAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	mustRun(t, dir, "init")
	out, err := filebusCommand(t, dir, "bundle", "apply", "pipe").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is a pipe") {
		t.Errorf("%v: %s", err, out)
	}
}
