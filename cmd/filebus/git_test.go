package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestGit runs testdata/git/*.txtar: what sync does after git, an editor or a hand
// has changed the files of a repository. docs/sync.md lists them. The
// store is found as a user's is, by the folder that a command runs in.
func TestGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	testscript.Run(t, scriptParams(t, "testdata/git", func(env *testscript.Env) {
		env.Setenv("HOME", env.WorkDir+"/home")
		env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
		env.Vars = append(env.Vars, quickGit()...)
		env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
		env.Setenv("GIT_EDITOR", ":")
		for _, role := range []string{"AUTHOR", "COMMITTER"} {
			env.Setenv("GIT_"+role+"_NAME", "Ada")
			env.Setenv("GIT_"+role+"_EMAIL", "ada@example.org")
		}
	}))
}

// quickGit are variables with which git does not look after each commit whether it should tidy
// up, which is a process more, and does not wait for the disk.
func quickGit() []string {
	return []string{
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0", "GIT_CONFIG_KEY_2=core.fsync", "GIT_CONFIG_VALUE_2=none",
	}
}

// TestSyncScenarios compares the list of docs/sync.md with the scripts that there
// are.
func TestSyncScenarios(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	scenario := regexp.MustCompile("(?m)^- .*: .* \\(`(\\w+)`\\)$")
	for _, m := range scenario.FindAllStringSubmatch(readDocument(t, "docs/sync.md"), -1) {
		rows[m[1]] = true
	}
	scripts, err := filepath.Glob("testdata/git/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("testdata/git: %d scripts, %v", len(scripts), err)
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".txtar")
		if !rows[name] {
			t.Errorf("docs/sync.md has no line for %s", name)
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("docs/sync.md has a line for %s, which is no script", name)
	}
}

// cmdRepeat is the script command "repeat N ARG...": filebus with these arguments and a
// number behind them, N times.
func cmdRepeat(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: repeat n arg...")
	}
	for i := range n {
		if code := runFilebus(ts, append(slices.Clone(args[1:]), strconv.Itoa(i))); code != 0 {
			ts.Fatalf("filebus %v %d ended with exit code %d", args[1:], i, code)
		}
	}
}

// cmdFlip is the script command "flip FILE TEXT": one bit of the text is another, wherever
// the file has it.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip file text")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	text := []byte(args[1])
	flipped := bytes.Clone(text)
	flipped[len(text)/2] ^= 1
	if !bytes.Contains(data, text) {
		ts.Fatalf("%s does not have %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.ReplaceAll(data, text, flipped), 0o600))
}

// cmdAged is the script command "aged FILE...": the files were last changed an hour
// ago, so that nobody can be writing to them.
func cmdAged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: aged file...")
	}
	then := time.Now().Add(-time.Hour)
	for _, name := range args {
		ts.Check(os.Chtimes(ts.MkAbs(name), then, then))
	}
}
