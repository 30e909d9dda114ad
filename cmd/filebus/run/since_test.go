package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

// TestCommits asks for files by path, by the end of a path and by names that are
// none, in a folder below the top of the repository.
func TestCommits(t *testing.T) {
	x := newBench(t, layout.Claude())
	x.git("init")
	x.git("config", "log.follow", "true")
	x.git("config", "log.showSignature", "true")
	start := time.Unix(1_700_000_000, 0)
	day := func(n int) time.Time { return start.Add(time.Duration(n) * 24 * time.Hour) }
	commit := func(n int, files ...string) {
		for _, file := range files {
			x.write("sub/"+file, fmt.Sprintf("day %d of %s", n, file))
		}
		t.Setenv("GIT_COMMITTER_DATE", day(n).Format(time.RFC3339))
		x.git("add", ".")
		x.git("commit", "-m", "words\nof it")
	}
	x.write("main.go", "one above the folder")
	commit(0, "src/auth/jwt.go", "src/main.go", "a/index.ts", "b/index.ts", "ü \"q\".go", "gone.go")
	commit(1, "src/auth/jwt.go")
	commit(2, "src/main.go", "a/index.ts")
	x.must(os.Remove(filepath.Join(x.dir, "sub", "gone.go")))
	commit(3, "src/auth/jwt.go", "ü \"q\".go")
	x.write("sub/src/auth/jwt.go", "not committed")

	tests := []struct {
		name  string
		since time.Time
		files []string
		want  []string
	}{
		{"a path", day(0), []string{"src/auth/jwt.go"}, []string{"3 [src/auth/jwt.go]", "1 [src/auth/jwt.go]", "0 [src/auth/jwt.go]"}},
		{"since", day(1).Add(time.Second), []string{"src/auth/jwt.go"}, []string{"3 [src/auth/jwt.go]"}},
		{"the end of a path", day(1), []string{"auth/jwt.go", "jwt.go", "main.go"}, []string{"3 [auth/jwt.go jwt.go]", "2 [main.go]", "1 [auth/jwt.go jwt.go]"}},
		{"two files end so", day(1), []string{"index.ts"}, nil},
		{"one of them", day(1), []string{"a/index.ts", "./b/index.ts"}, []string{"2 [a/index.ts]"}},
		{"strange", day(1), []string{"ü \"q\".go"}, []string{"3 [ü \"q\".go]"}},
		{"no files", day(0), []string{"and/or", "src/auth", "src", "*.go", "--all", "../main.go", "/etc/passwd", "", ".", "gone/gone.go"}, nil},
		{"none", day(0), nil, nil},
	}
	for _, test := range tests {
		var got []string
		for _, c := range Commits(t.Context(), filepath.Join(x.dir, "sub"), test.since, test.files, os.Environ()) {
			slices.Sort(c.Files)
			got = append(got, fmt.Sprintf("%d %v", int(c.Time.Sub(start).Hours())/24, c.Files))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: Commits(%q) (-want +got):\n%s", test.name, test.files, diff)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Commits(over, filepath.Join(x.dir, "sub"), day(0), []string{"jwt.go"}, os.Environ()); len(got) > 0 {
		t.Errorf("Commits in no time = %v; want none", got)
	}
}

// TestCommitsWithoutRepository asks in folders that git knows nothing of.
func TestCommitsWithoutRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := Commits(t.Context(), dir, time.Time{}, []string{"a.go"}, os.Environ()); got != nil {
		t.Errorf("Commits without a repository = %v; want none", got)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("no such thing"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := Commits(t.Context(), dir, time.Time{}, []string{"a.go"}, os.Environ()); got != nil {
		t.Errorf("Commits with a broken repository = %v; want none", got)
	}
}
