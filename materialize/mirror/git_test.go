package mirror

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitIn runs git in a folder.
func gitIn(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func writeAll(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepository asks about files that git tracks, has changed, ignores, had once and has
// never seen, some of them in a repository within the first.
func TestRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	top := t.TempDir()
	gitIn(t, top, "init", "-q")
	writeAll(t, top, map[string]string{
		".gitignore": "logs/\n/inner/\n", "sub/wie immer.md": "a\n", "sub/ändern.md": "a\n", "sub/fort.md": "a\n", "new.md": "n\n",
	})
	gitIn(t, top, "add", ".gitignore", "sub")
	gitIn(t, top, "commit", "-qm", "one")
	gitIn(t, top, "rm", "-q", "sub/fort.md")
	gitIn(t, top, "commit", "-qm", "two")
	writeAll(t, top, map[string]string{"sub/ändern.md": "b\n", "inner/x/deep.md": "d\n"})
	gitIn(t, filepath.Join(top, "inner"), "init", "-q")
	gitIn(t, filepath.Join(top, "inner"), "add", ".")

	type answer struct{ tracks, hasBytes, ignores, had bool }
	ask := func(dir, prefix string) {
		for p, want := range map[string]answer{
			"sub/wie immer.md": {true, true, false, true},
			"sub/ändern.md":    {true, false, false, true},
			"sub/fort.md":      {false, false, false, true},
			"new.md":           {false, false, false, false},
			"logs/never.txt":   {false, false, true, false},
			"inner/x/deep.md":  {true, true, false, false},
		} {
			name, inside := strings.CutPrefix(p, prefix)
			if !inside {
				continue
			}
			g := newRepository(dir, os.Environ())
			ctx := t.Context()
			got := answer{g.Tracks(ctx, name), g.HasBytes(ctx, name), g.Ignores(ctx, name), g.Had(ctx, name)}
			if got != want || g.Err() != nil || !g.Has() {
				t.Errorf("%s of %s: %+v, %v; want %+v", name, dir, got, g.Err(), want)
			}
		}
	}
	ask(top, "")
	ask(filepath.Join(top, "sub"), "sub/") // a root need not be the top

	if g := newRepository(t.TempDir(), os.Environ()); g.Has() || g.Tracks(t.Context(), "a.md") || g.Err() != nil {
		t.Error("a folder without git has a repository")
	}
	if err := os.WriteFile(filepath.Join(top, ".git", "index"), []byte("DIRC, no index"), 0o666); err != nil {
		t.Fatal(err)
	}
	g := newRepository(top, os.Environ())
	if !g.Tracks(t.Context(), "new.md") || g.HasBytes(t.Context(), "sub/wie immer.md") || g.Err() == nil {
		t.Errorf("a damaged index: %v; want every file to count as git's, and the reason", g.Err())
	}
}

// TestRepositoryOfLiar does not believe a program that calls itself git and says nothing,
// or anything.
func TestRepositoryOfLiar(t *testing.T) {
	bin, top := t.TempDir(), t.TempDir()
	for _, says := range []string{"exit 0", "echo yes", "echo broken >&2; exit 3"} {
		writeAll(t, top, map[string]string{".git/HEAD": "ref: refs/heads/main\n"})
		if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n"+says+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		if path, err := exec.LookPath("git"); err != nil || filepath.Dir(path) != bin {
			t.Skip("a script is no program here")
		}
		g := newRepository(top, os.Environ())
		if !g.Tracks(t.Context(), "a.md") || g.Err() == nil {
			t.Errorf("git that does %q is believed: %v", says, g.Err())
		}
	}
}
