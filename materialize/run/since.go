package run

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxCommits is how many commits are read at most, of those that touch a file asked
// for.
const maxCommits = 1000

// A Commit is a commit with those of the files asked for that it changed.
type Commit struct {
	Time  time.Time // of the committer, whole seconds
	Files []string  // as they were asked for
}

// Commits returns the commits of the repository around a folder that are not older
// than since and changed any of some files, newest first. Files are named as texts
// name them: by their path below the folder, or by the end of it where one tracked
// file alone ends so; names that are none of a file are left out. It looks at 1000
// commits at most, and as long as the context goes on, so that of a long history the
// older part may be missing. Without git, or outside of a work tree, there are no
// commits. The variables are the environment for git, as of os.Environ.
func Commits(ctx context.Context, root string, since time.Time, files, variables []string) []Commit {
	if len(files) == 0 || !inWorkTree(root) {
		return nil
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	g := &gitTree{program: program, root: root, env: append(gitEnvironment(variables), "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1")} // a search asks no server
	names := g.tracked(ctx, files)
	if len(names) == 0 {
		return nil
	}
	return g.commits(ctx, since, names)
}

// inWorkTree reports whether a folder, or one above it, looks like the top of a
// work tree, so that git need not be started to find out that there is none.
func inWorkTree(root string) bool {
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// tracked returns the paths that files are, each with the names that mean it. Git
// lists its files only for names that are no path as they stand.
func (g *gitTree) tracked(ctx context.Context, files []string) map[string][]string {
	names := map[string][]string{}
	open := map[string][]string{} // by base name
	for _, name := range files {
		clean := path.Clean(name)
		if !filepath.IsLocal(filepath.FromSlash(clean)) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(g.root, filepath.FromSlash(clean))); err != nil {
			open[path.Base(clean)] = append(open[path.Base(clean)], name)
		} else if !info.IsDir() {
			names[clean] = append(names[clean], name)
		}
	}
	if len(open) == 0 {
		return names
	}
	found := map[string][]string{} // paths, by name
	g.lines(ctx, func(file string) {
		for _, name := range open[path.Base(file)] {
			if clean := path.Clean(name); file == clean || strings.HasSuffix(file, "/"+clean) {
				found[name] = append(found[name], file)
			}
		}
	}, "ls-files", "--cached")
	for name, paths := range found {
		if len(paths) == 1 && ctx.Err() == nil { // a list that was cut off does not tell that there is no other
			names[paths[0]] = append(names[paths[0]], name)
		}
	}
	return names
}

// commits reads the commits that changed any of some paths, which names says the
// names of.
func (g *gitTree) commits(ctx context.Context, since time.Time, names map[string][]string) []Commit {
	args := []string{
		"log", "--since=" + since.UTC().Format(time.RFC3339), "-n", strconv.Itoa(maxCommits), "--format=%x01%ct", "--name-only",
		"--relative", "--no-renames", "--no-follow", "--no-show-signature", "--no-ext-diff", "--",
	}
	for p := range names {
		args = append(args, p)
	}
	slices.Sort(args[len(args)-len(names):])
	var all []Commit
	g.lines(ctx, func(line string) {
		if seconds, found := strings.CutPrefix(line, "\x01"); found {
			n, _ := strconv.ParseInt(seconds, 10, 64) // git prints nothing else
			all = append(all, Commit{Time: time.Unix(n, 0)})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.Files = append(last.Files, names[line]...)
		}
	}, args...)
	return slices.DeleteFunc(all, func(c Commit) bool { return len(c.Files) == 0 })
}

// lines runs git and calls visit with each line that it prints, as long as the
// context goes on. What git does not say for whatever reason is not visited.
func (g *gitTree) lines(ctx context.Context, visit func(line string), args ...string) {
	cmd := g.command(ctx, nil, args...)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	cut := func(line []byte) error {
		visit(unquotePath(strings.TrimSuffix(string(line), "\n")))
		return ctx.Err()
	}
	_ = eachLine(out, cut)          // what was read before an error counts
	_, _ = io.Copy(io.Discard, out) // as above
	_ = cmd.Wait()                  // it may have been stopped
}
