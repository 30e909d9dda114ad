package run

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/mirror"
)

// A commit is a commit with those of the files asked for that it changed.
type commit struct {
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
func Commits(ctx context.Context, root string, since time.Time, files, variables []string) []commit {
	if top, _ := mirror.GitFolder(root); len(files) == 0 || top == "" {
		return nil
	}
	g, err := newGit(root, variables, "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1") // a search asks no server
	if err != nil {
		return nil
	}
	names := g.tracked(ctx, files)
	if len(names) == 0 {
		return nil
	}
	var all []commit
	last := 0
	const maxCommits = 1000 // how many commits are read at most, of those that touch a file asked for
	g.log(ctx, slices.Sorted(maps.Keys(names)), func(n int, at time.Time, p string) {
		if len(names[p]) == 0 {
			return
		}
		if n != last {
			all = append(all, commit{Time: at})
		}
		last = n
		of := &all[len(all)-1]
		of.Files = append(of.Files, names[p]...)
	}, "--since="+since.UTC().Format(time.RFC3339), "-n", strconv.Itoa(maxCommits))
	return all
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
		if info, err := os.Lstat(filepath.Join(g.Dir, filepath.FromSlash(clean))); err != nil {
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

// log visits what the commits that changed any of some paths have changed, the
// newest first, with the number of the commit from 1 on and its time. It goes on as
// long as the context does.
func (g *gitTree) log(
	ctx context.Context, paths []string, visit func(n int, at time.Time, path string), args ...string,
) {
	args = slices.Concat([]string{
		"log", "--format=%x01%ct", "--name-only", "--relative", "--no-renames", "--no-follow", "--no-show-signature",
		"--no-ext-diff",
	}, args, []string{"--"}, paths)
	var at time.Time
	n := 0
	g.lines(ctx, func(line string) {
		if text, found := strings.CutPrefix(line, "\x01"); found {
			seconds, _ := strconv.ParseInt(text, 10, 64) // git prints nothing else
			at = time.Unix(seconds, 0)
			n++
		} else if line != "" {
			visit(n, at, line)
		}
	}, args...)
}

// lines runs git and calls visit with each line that it prints, as long as the
// context goes on. What git does not say for whatever reason is not visited.
func (g *gitTree) lines(ctx context.Context, visit func(line string), args ...string) {
	read := func(line []byte) error {
		visit(unquotePath(strings.TrimSuffix(string(line), "\n")))
		return ctx.Err()
	}
	_ = g.Stream(ctx, nil, linesTo(read), args...) // what was read before an error counts
}

// LastChanged tells when files of a folder last changed: by git where it tracks
// them, and by their own times where they differ from what git has or there is no
// git. Paths are slash-separated, below the folder; those where nothing stands are
// left out, as are folders that git does not know. The variables are the
// environment for git, as of os.Environ.
func LastChanged(ctx context.Context, root string, files, variables []string) (map[string]time.Time, error) {
	changed, there := fileTimes(root, files)
	g, err := newGit(root, variables, "GIT_LITERAL_PATHSPECS=1")
	if err != nil || len(there) == 0 {
		return changed, ctx.Err()
	}
	dirty, err := g.paths(ctx, there, "diff", "--name-only", "--relative", "HEAD")
	if err != nil {
		return changed, ctx.Err() // no repository, or nothing committed yet: the files' own times stand
	}
	tracked, err := g.paths(ctx, there, "ls-files")
	if err != nil {
		return changed, ctx.Err()
	}
	there = slices.DeleteFunc(there, func(file string) bool {
		return slices.Contains(dirty, file) || !slices.ContainsFunc(tracked, func(p string) bool { return concerns(p, file) })
	})
	if len(there) > 0 {
		g.lastCommits(ctx, there, changed)
	}
	return changed, ctx.Err()
}

// fileTimes returns which of some files and folders are there, and the times of
// the files.
func fileTimes(root string, files []string) (times map[string]time.Time, there []string) {
	times = map[string]time.Time{}
	for _, file := range files {
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			continue
		}
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			continue // it names no file here
		}
		there = append(there, file)
		if !info.IsDir() {
			times[file] = info.ModTime()
		}
	}
	return times, there
}

// concerns reports whether a path is a file, or lies in it if that is a folder.
func concerns(p, file string) bool {
	file = path.Clean(file)
	return file == "." || isBelow(p, []string{file})
}

// paths runs git about some files, and returns the paths that it prints.
func (g *gitTree) paths(ctx context.Context, files []string, args ...string) ([]string, error) {
	out, err := g.Run(ctx, nil, nil, slices.Concat(args, []string{"-z", "--"}, files)...)
	return strings.Split(string(out), "\x00"), err
}

// lastCommits sets the times of files to those of the last commits that changed
// them. What git cannot tell stays as it is. All files are found in one walk, which
// ends with the last of them.
func (g *gitTree) lastCommits(ctx context.Context, files []string, changed map[string]time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	left := slices.Clone(files)
	g.log(ctx, files, func(_ int, at time.Time, p string) {
		left = slices.DeleteFunc(left, func(file string) bool {
			is := concerns(p, file)
			if is {
				changed[file] = at
			}
			return is
		})
		if len(left) == 0 {
			cancel() // the rest of the history is of no interest
		}
	})
}

// Changed returns the files of a folder that differ from the last commit, or are new to git.
// Paths are slash-separated, below the folder. The variables are the environment for git.
func Changed(ctx context.Context, root string, variables []string) ([]string, error) {
	g, err := newGit(root, variables)
	if err != nil {
		return nil, err
	}
	changed, err := g.paths(ctx, nil, "diff", "--name-only", "--relative", "HEAD")
	fresh, err2 := g.paths(ctx, nil, "ls-files", "--others", "--exclude-standard")
	all := slices.DeleteFunc(append(changed, fresh...), func(p string) bool { return p == "" })
	return all, cmp.Or(err2, err)
}
