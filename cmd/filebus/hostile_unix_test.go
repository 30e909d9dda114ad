//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// A plant puts something in place of a file or folder of filebus.
type plant struct {
	kind string
	put  func(at, victims string) error
}

func plants() []plant {
	return []plant{
		{"a link to a file", func(at, victims string) error { return os.Symlink(filepath.Join(victims, "victim"), at) }},
		{"a link to a folder", func(at, victims string) error { return os.Symlink(victims, at) }},
		{"a link to nothing", func(at, victims string) error { return os.Symlink(filepath.Join(victims, "new"), at) }},
		{"a link to itself", func(at, _ string) error { return os.Symlink(filepath.Base(at), at) }},
		{"a pipe", func(at, _ string) error { return syscall.Mkfifo(at, 0o600) }},
		{"a folder", func(at, _ string) error { return os.MkdirAll(filepath.Join(at, "in it"), 0o700) }},
		{"a file", func(at, _ string) error { return os.WriteFile(at, []byte("in its place"), 0o600) }},
	}
}

// TestPlanted puts each thing in place of each file and folder below .filebus, and runs
// commands. Each ends in time; what the links lead to stays as it is; and a command that
// fails names what is in its way. It is a sample, unless FILEBUS_PLANTED=all.
func TestPlanted(t *testing.T) {
	t.Parallel()
	env, _, _ := fakeEnviron(t)
	large := strings.Repeat("0123456789abcdef\n", 1<<17)
	if err := os.WriteFile(filepath.Join(env.Dir, "large.md"), []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"list"}, {"get", "note/docs/a.md"}, {"search", "words"}, {"put", "--name", "note/docs/b.md", "a.md"},
		{"put", "--name", "note/docs/large.md", "large.md"}, {"sync"}, {"exec", "--", "true"}, {"reindex"}, {"verify"},
	}
	must(t, os.WriteFile(filepath.Join(env.Dir, "a.md"), []byte("words\n"), 0o600))
	for _, args := range append([][]string{{"put", "--name", "note/docs/a.md", "a.md"}}, commands...) {
		if code := run(t.Context(), env, args); code != cli.ExitDone {
			t.Fatalf("%v before: code %d", args, code)
		}
	}
	at, err := env.Locate()
	must(t, err)
	sound := filepath.Join(t.TempDir(), "sound")
	must(t, os.CopyFS(sound, os.DirFS(at.Store)))
	current, err := os.ReadFile(filepath.Join(sound, "index", "CURRENT"))
	must(t, err)
	generation := "index/" + strings.TrimSpace(string(current))
	targets := []string{
		"lock", "gate", "store.db", "tmp", "bodies", "index", "index/lock", "index/gate", "index/CURRENT", generation,
		generation + "/manifest.json", generation + "/bleve", generation + "/bleve/root.bolt", "index/superseded.json",
		"mirror", "mirror/lock", "spool", "config.toml", "reads.log", ".gitignore",
	}
	for n, target := range targets {
		for k, plant := range plants() {
			for c, args := range commands {
				if os.Getenv("FILEBUS_PLANTED") != "all" && (n+3*k+c)%13 > 0 {
					continue
				}
				must(t, os.RemoveAll(at.Store))
				must(t, os.CopyFS(at.Store, os.DirFS(sound)))
				victims := t.TempDir()
				must(t, os.WriteFile(filepath.Join(victims, "victim"), []byte("mine"), 0o640))
				place := filepath.Join(at.Store, target)
				must(t, os.RemoveAll(place))
				must(t, plant.put(place, victims))
				runPlanted(t, env, fmt.Sprintf("%v with %s in place of %s", args, plant.kind, target), args, filepath.Base(target))
				if !isUntouched(victims) {
					t.Errorf("%v with %s in place of %s: what it leads to has changed", args, plant.kind, target)
				}
			}
		}
	}
}

func runPlanted(t *testing.T, env *cli.Environ, what string, args []string, name string) {
	t.Helper()
	next, out, stderr := fakeEnviron(t)
	next.Dir = env.Dir
	ended := make(chan int, 1)
	go func() { ended <- run(t.Context(), next, args) }()
	select {
	case code := <-ended:
		said := stderr.String() + out.String()
		if strings.Contains(said, "goroutine ") || code == cli.ExitUsage {
			t.Errorf("%s: code %d, %.300s", what, code, said)
		}
		if code != cli.ExitDone && !strings.Contains(said, name) && !strings.Contains(said, "reindex") {
			t.Errorf("%s: code %d, and it is not named: %.300s", what, code, said)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s does not end", what)
	}
}

// isUntouched reports whether a folder of a victim is as it was.
func isUntouched(victims string) bool {
	text, err := os.ReadFile(filepath.Join(victims, "victim"))
	entries, readErr := os.ReadDir(victims)
	info, statErr := os.Stat(filepath.Join(victims, "victim"))
	return err == nil && readErr == nil && statErr == nil && string(text) == "mine" && len(entries) == 1 &&
		info.Mode() == fs.FileMode(0o640)
}
