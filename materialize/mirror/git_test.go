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
	t.Parallel()
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
			g := NewRepository(dir, os.Environ())
			ctx := t.Context()
			got := answer{g.Tracks(ctx, name), g.HasBytes(ctx, name), g.Ignores(ctx, name), g.Had(ctx, name)}
			if got != want || g.Err() != nil || !g.Has() {
				t.Errorf("%s of %s: %+v, %v; want %+v", name, dir, got, g.Err(), want)
			}
		}
	}
	ask(top, "")
	ask(filepath.Join(top, "sub"), "sub/") // a root need not be the top

	if g := NewRepository(t.TempDir(), os.Environ()); g.Has() || g.Tracks(t.Context(), "a.md") || g.Err() != nil {
		t.Error("a folder without git has a repository")
	}
	if err := os.WriteFile(filepath.Join(top, ".git", "index"), []byte("DIRC, no index"), 0o666); err != nil {
		t.Fatal(err)
	}
	g := NewRepository(top, os.Environ())
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
		g := NewRepository(top, os.Environ())
		if !g.Tracks(t.Context(), "a.md") || g.Err() == nil {
			t.Errorf("git that does %q is believed: %v", says, g.Err())
		}
	}
}

// TestAuthored asks for the dates of files in a repository with another within it: of a
// change, a rename, a merge, of what is not committed, and of what git does not have.
func TestAuthored(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	top := t.TempDir()
	commit := func(dir, day string, args ...string) {
		t.Helper()
		gitIn(t, dir, "add", "-A", ".")
		gitIn(t, dir, append([]string{"commit", "-qm", "x", "--date", day + "T10:00:00Z"}, args...)...)
	}
	gitIn(t, top, "init", "-q", "-b", "main")
	writeAll(t, top, map[string]string{"old name.md": "the text\n", "sub/ä.md": "a\n", "sub/two.md": "1\n", "gone.md": "g\n", "staged.md": "s\n"})
	commit(top, "2021-01-01")
	gitIn(t, top, "mv", "old name.md", "sub/moved.md")
	commit(top, "2022-01-01")
	gitIn(t, top, "rm", "-q", "gone.md")
	commit(top, "2022-02-01")
	gitIn(t, top, "checkout", "-q", "-b", "side")
	writeAll(t, top, map[string]string{"side.md": "s\n", "both.md": "side\n"})
	commit(top, "2023-01-01")
	gitIn(t, top, "checkout", "-q", "main")
	writeAll(t, top, map[string]string{"sub/two.md": "2\n", "both.md": "main\n"})
	commit(top, "2024-01-01")
	commit(top, "2024-02-01", "--allow-empty")
	gitIn(t, top, "merge", "-q", "-s", "ours", "--no-commit", "side")
	writeAll(t, top, map[string]string{"side.md": "s\n", "both.md": "by hand\n"})
	commit(top, "2025-01-01")
	for setting, value := range map[string]string{"diff.orderFile": "none", "log.showRoot": "false", "i18n.logOutputEncoding": "UTF-16"} {
		gitIn(t, top, "config", setting, value)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	gitIn(t, top, "clone", "-q", "--depth", "2", "file://"+filepath.ToSlash(top), shallow)

	inner := filepath.Join(top, "sub", "inner")
	writeAll(t, inner, map[string]string{"deep.md": "d\n"})
	gitIn(t, inner, "init", "-q")
	commit(inner, "2020-05-05")
	writeAll(t, top, map[string]string{"new.md": "n\n", "staged.md": "changed\n", "added.md": "a\n"})
	gitIn(t, top, "add", "staged.md", "added.md")
	for label, test := range map[string]struct{ dir, want string }{
		"all": {top, "added.md:- both.md:2025 new.md:- side.md:2023 staged.md:- sub/inner/deep.md:2020 sub/moved.md:2021 sub/two.md:2024 sub/ä.md:2021"},
		// The rename came from outside of the folder.
		"a folder":      {filepath.Join(top, "sub"), "inner/deep.md:2020 moved.md:2022 two.md:2024 ä.md:2021"},
		"a shallow one": {shallow, "side.md:0001 staged.md:0001 sub/moved.md:0001 sub/two.md:0001 sub/ä.md:0001"},
		"no git":        {t.TempDir(), ""},
	} {
		var got []string
		for _, field := range strings.Fields(test.want) {
			p, _, _ := strings.Cut(field, ":")
			got = append(got, p)
		}
		dates := NewRepository(test.dir, os.Environ()).Authored(t.Context(), got)
		for i, p := range got {
			year := "-"
			if at, isGits := dates[p]; isGits {
				year = at.UTC().Format("2006")
			}
			got[i] = p + ":" + year
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s\nwant %s", label, got, test.want)
		}
	}
}
