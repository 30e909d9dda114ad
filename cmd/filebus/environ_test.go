package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// TestNoTimeToLook reads a store when there is no time to look for changed files: that is said.
func TestNoTimeToLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	for i := range 50 {
		name := filepath.Join(dir, ".claude", "sessions", "build", strconv.Itoa(i), "plan.md")
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, []byte("# Plan\n"), 0o666))
	}
	var out, said bytes.Buffer
	env := docEnviron(dir, &out)
	env.Err, env.Now, env.SyncBudget = &said, time.Now, time.Nanosecond
	if code := run(t.Context(), env, []string{"list"}); code != cli.ExitDone || !strings.Contains(said.String(), "not checked for changed files; filebus sync checks them") {
		t.Errorf("exit code %d, it says %q", code, said.String())
	}
}
