package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
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
	out.Reset()
	code := run(t.Context(), env, []string{"list", "--json"})
	var answer struct {
		NotLookedAt cli.NotLookedAt `json:"not_looked_at"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || code != cli.ExitDone || answer.NotLookedAt.Folders == 0 {
		t.Errorf("exit code %d, %v, it prints %s", code, err, out.String())
	}
}

// TestLoadedLook lists files that were written by hand, beside two loops that never end: all of
// them are there.
func TestLoadedLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init")
	const files = 60
	for i := range files {
		name := filepath.Join(dir, ".claude", "sessions", fmt.Sprint("hand-", i), "plan.md")
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, fmt.Appendf(nil, "# Plan %d\n", i), 0o666))
	}
	var stop atomic.Bool
	defer stop.Store(true)
	for range 2 {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	var out bytes.Buffer
	env := docEnviron(dir, &out)
	env.Now, env.SyncBudget = time.Now, cli.UsualSyncBudget
	if code := run(t.Context(), env, []string{"list", "--limit", "0"}); code != cli.ExitDone || strings.Count(out.String(), "\n") != files {
		t.Errorf("exit code %d, %d of %d files", code, strings.Count(out.String(), "\n"), files)
	}
}
